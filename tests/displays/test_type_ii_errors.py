import numpy as np
import pytest

from transvariation.displays import TypeIIErrorDisplay


@pytest.mark.parametrize("levels", [[5, 5, 10, 10], ["a", "a", "b", "b"]])
def test_there_is_a_line_per_sensitivity(levels):
    display = TypeIIErrorDisplay.from_predictions([0.5, 0.02, 0.3, 0.02], levels, sensitivity=[0.9, 0.95])
    assert len(display.ax_.get_legend().get_texts()) == 2
    assert display.ax_.get_xlabel() == ("foreign class" if levels[0] == "a" else "level of adulteration")


def test_accepted_samples_are_those_that_predict_accepts(classifier):
    foreign = np.random.default_rng(2).normal(1.5, 1, size=(60, 2))
    table = TypeIIErrorDisplay.from_estimator(classifier, foreign).table
    assert table["beta"].tolist() == [np.mean(classifier.predict(foreign) == 1)]
