import matplotlib.pyplot as plt
import numpy as np
import pytest

from transvariation.displays import LikelihoodRatioDisplay


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_every_ratio_is_drawn_where_it_belongs():
    display = LikelihoodRatioDisplay.from_predictions({"Q1": {"a": 1.2, "b": 0.3}, "Q2": {"a": -2.4}})
    first, second = (np.asarray(dots.get_offsets()) for dots in display.ax_.collections)
    assert first[:, 0].tolist() == [1.2, -2.4]
    assert second[0, 0] == 0.3
    low, high = display.ax_.get_xlim()
    assert low <= -2.4
    assert high >= 2.4


def test_a_case_without_background_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="need a background"):
        LikelihoodRatioDisplay({"Q1": {}})
