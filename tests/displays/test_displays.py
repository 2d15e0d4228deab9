"""Displays: scikit-learn's form, and marks at the numbers they show."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.stats import beta

from transvariation import DriftAlarm, NeighborTOCC, exchangeability_test
from transvariation.displays import CalibrationDisplay, DriftDisplay, ExchangeabilityDisplay, PValueDisplay


@pytest.fixture(autouse=True)
def _close():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def classifier():
    return NeighborTOCC(calibration="split").fit(np.random.default_rng(0).normal(size=(160, 2)))


def test_calibration_band_lies_outside_the_pointwise_bound(classifier):
    display = CalibrationDisplay.from_estimator(classifier, confidence=0.9)
    at = np.argmin(np.abs(display.nominal - 0.9))
    k = round((1 - display.nominal[at]) * 81)
    assert display.lower[at] < beta.ppf(0.1, 81 - k, k) < display.upper[at]
    assert display.sensitivity == 0.9
    assert "in force: 0.9" in [line.get_label() for line in display.ax_.lines]


def test_calibration_from_scores_counts_groups():
    scores, groups = np.random.default_rng(1).normal(size=120), np.repeat(np.arange(40), 3)
    by_sample, by_group = (
        CalibrationDisplay.from_predictions(scores, **options) for options in ({}, {"groups": groups})
    )
    assert by_group.n == 40
    assert by_group.unit == "groups"
    assert (by_group.upper - by_group.lower).max() > (by_sample.upper - by_sample.lower).max()


def test_p_values_are_in_order_and_the_declared_are_named(classifier):
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(5, 1, size=(15, 2)), rng.normal(size=(40, 2))])
    display = PValueDisplay.from_estimator(classifier, X, level=0.1)
    assert display.selected[:15].all()
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels[0].startswith(
        f"declared foreign: {display.selected.sum()}, of which at most {display.at_most_false} "
    )


def test_drift_marks_every_alarm(classifier):
    rng = np.random.default_rng(3)
    stream = np.concatenate([rng.normal(size=(60, 2)), rng.normal(4, 1, size=(60, 2))])
    display = DriftDisplay.from_estimator(classifier, stream, restart=True, block_length=1)
    marks = [line for line in display.ax_.lines if line.get_label().startswith("alarm at")]
    assert [line.get_xdata()[0] for line in marks] == [each.at for each in display.alarm.alarms_]
    with pytest.raises(ValueError, match="times has 3 values for 120 samples"):
        DriftDisplay(display.alarm, times=[1, 2, 3])


def test_given_axes_are_used(classifier):
    walk = np.random.default_rng(4).normal(size=(50, 3)).cumsum(axis=0)
    alarm = DriftAlarm([], random_state=0).update(np.arange(30.0))
    drawn = [
        lambda ax: CalibrationDisplay.from_estimator(classifier, ax=ax),
        lambda ax: PValueDisplay.from_predictions([0.001, 0.5, 0.9], ax=ax),
        lambda ax: DriftDisplay(alarm).plot(ax),
        lambda ax: ExchangeabilityDisplay(exchangeability_test(walk)).plot(ax),
    ]
    figure = Figure()
    for draw, ax in zip(drawn, figure.subplots(2, 2).ravel(), strict=True):
        display = draw(ax)
        assert display.ax_ is ax
        assert display.figure_ is figure
