"""P-value displays: the order of p-values and the declared samples."""

import numpy as np

from transvariation.displays import PValueDisplay


def test_p_values_are_in_order_and_the_declared_are_named(classifier):
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(5, 1, size=(15, 2)), rng.normal(size=(40, 2))])
    display = PValueDisplay.from_estimator(classifier, X, level=0.1)
    assert display.selected[:15].all()
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels[0].startswith(
        f"declared foreign: {display.selected.sum()}, of which at most {display.at_most_false} "
    )
