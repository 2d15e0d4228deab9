"""Calibration displays: bands and groups."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import beta

from transvariation.displays import CalibrationDisplay


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


def test_measured_shares_are_those_that_predict_accepts(classifier):
    new = np.random.default_rng(5).normal(size=(300, classifier.n_features_in_))
    display = CalibrationDisplay.from_estimator(classifier, new)
    for nominal in (0.6, 0.9, 0.95):
        accepted = np.mean(classifier.set_sensitivity(nominal).predict(new) == 1)
        assert display.lower[np.argmin(np.abs(display.nominal - nominal))] == accepted
    assert display.n == 300


def test_several_classifiers_share_axes(classifier):
    new = np.random.default_rng(5).normal(size=(50, classifier.n_features_in_))
    _, ax = plt.subplots()
    CalibrationDisplay.from_estimator(classifier, new, ax=ax)
    CalibrationDisplay.from_p_values(np.linspace(0, 1, 101), name="uniform", ax=ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["nominal = true", "NeighborTOCC", "uniform"]
    assert np.allclose(ax.lines[2].get_ydata(), ax.lines[2].get_xdata(), atol=0.011)  # a hundred even p-values
