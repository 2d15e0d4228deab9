import itertools

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


@pytest.mark.parametrize("power", [0.5, 1.5, 2.5, 3.5, 5.0, 7.0])
def test_the_labels_of_the_axis_do_not_overlap(power):
    figure, axes = plt.subplots(figsize=(4.8, 3.6), layout="constrained")
    LikelihoodRatioDisplay.from_predictions({"v17 / 5": {"transvariation": power}}, ax=axes)
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert len(boxes) >= 3
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_a_case_without_background_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="need a background"):
        LikelihoodRatioDisplay({"Q1": {}})
