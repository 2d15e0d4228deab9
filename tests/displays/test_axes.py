"""Displays: scikit-learn's form, and marks at the numbers they show."""

import numpy as np
from matplotlib.figure import Figure

from transvariation import DriftAlarm, exchangeability_test
from transvariation.displays import CalibrationDisplay, DriftDisplay, ExchangeabilityDisplay, PValueDisplay


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
