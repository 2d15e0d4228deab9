"""Bounds of the true sensitivity: published sample sizes, exact distributions, simulation."""

import re
import warnings

import numpy as np
import pytest
from scipy.stats import binom, kstest

from transvariation import NeighborTOCC, required_n
from transvariation.certificate import (
    _grouped_margin,
    _hoeffding_bentkus,
    guaranteed_sensitivity,
    sensitivity_band,
    sensitivity_bound,
)
from transvariation.conformal import group_weights
from transvariation.conformal_calibration import ConformalCalibration
from transvariation.exceptions import TooFewSamples


@pytest.mark.parametrize(
    ("sensitivity", "confidence", "n"),
    [(0.90, 0.90, 22), (0.90, 0.95, 29), (0.95, 0.90, 45), (0.95, 0.95, 59), (0.99, 0.95, 299), (0.90, 0.99, 44)],
)
def test_required_n_is_the_published_size_for_nonparametric_tolerance_limits(sensitivity, confidence, n):
    """Wilks's one-sided tolerance limits, as tabulated in textbooks and standards (ISO 16269-6)."""
    assert required_n(sensitivity, confidence) == n
    assert guaranteed_sensitivity(n - 1, sensitivity, confidence) == 1
    assert guaranteed_sensitivity(n, sensitivity, confidence) == pytest.approx(n / (n + 1))


@pytest.mark.parametrize(("n", "k"), [(30, 2), (100, 10), (400, 39)])
def test_bound_is_where_a_binomial_tail_equals_the_error(n, k):
    """P(fewer than k of n calibration scores fall among the lowest 1 - bound) = 1 - confidence."""
    bound = sensitivity_bound(n, 1 - k / (n + 1), 0.95)
    assert binom.cdf(k - 1, n, 1 - bound) == pytest.approx(0.05)


def test_bound_holds_with_the_stated_confidence_and_is_sharp():
    u = np.sort(np.random.default_rng(0).random((20_000, 60)))
    k = int(0.1 * 61)
    assert np.mean(1 - u[:, k - 1] >= sensitivity_bound(60, 0.9, 0.95)) == pytest.approx(0.95, abs=0.006)


@pytest.mark.parametrize(
    ("n", "share", "mean", "p_value"),
    [
        (100, 0.05, 0.15, 0.004220546193593177),
        (100, 0.1, 0.2, 0.015484368840113737),
        (40, 0.025, 0.1, 0.1763347259567105),
        (300, 0.08, 0.12, 0.04522808969520693),
    ],
)
def test_bound_of_groups_is_that_of_mapie(n, share, mean, p_value):
    """`compute_hoeffding_bentkus_p_value` of MAPIE 1.6.0."""
    assert _hoeffding_bentkus(n, share, mean) == pytest.approx(p_value, rel=1e-12)


@pytest.mark.parametrize(("n", "rank"), [(60, 5), (100, 9), (400, 47)])
def test_guaranteed_threshold_is_at_least_as_high_as_mapies(n, rank):
    """`BinaryClassificationController("recall", 0.85, confidence_level=0.95)` of MAPIE 1.6.0, on n target scores."""
    calibration = ConformalCalibration(np.arange(1.0, n + 1))
    threshold = calibration.thresholds(calibration.guaranteed_sensitivity(0.85, 0.95))[0]
    assert threshold in (rank, rank + 1)  # exact, where MAPIE's bound is close to it


def groups_with_common_scores(rng, n_groups, size, alike):
    own = rng.random((n_groups, size))
    return np.where(rng.random((n_groups, 1)) < alike, own[:, :1], own).ravel()


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
def test_bound_with_groups_holds_whether_replicates_agree_or_not(alike):
    rng, n, size = np.random.default_rng(1), 80, 3
    weights = group_weights(np.repeat(np.arange(n), size))
    held, inside = [], []
    for _ in range(300):
        calibration = ConformalCalibration(groups_with_common_scores(rng, n, size, alike), weights=weights)
        report = calibration.coverage_report(0.85, confidence=0.9)
        held.append(1 - calibration.thresholds(0.85)[0] >= report.sensitivity_bound)
        thresholds, _, lower, upper = calibration.sensitivity_band(0.9)
        inside.append(((1 - thresholds >= lower) & (1 - thresholds <= upper)).all())
    assert np.mean(held) >= 0.9 - 0.03
    assert np.mean(inside) >= 0.9 - 0.03


@pytest.mark.parametrize("n", [9, 40, 500])
def test_band_holds_for_all_thresholds_with_exactly_the_confidence(n):
    u = np.sort(np.random.default_rng(n).random((4_000, n)))
    nominal, lower, upper = sensitivity_band(n, 0.9)
    true = 1 - u[:, np.round((1 - nominal) * (n + 1)).astype(int) - 1]
    assert np.mean(((true >= lower) & (true <= upper)).all(axis=1)) == pytest.approx(0.9, abs=0.02)


def test_band_is_narrower_in_the_tail_than_kolmogorovs():
    nominal, lower, _ = sensitivity_band(300, 0.95)
    at = np.argmin(np.abs(nominal - 0.95))
    assert lower[at] > 0.95 - kstest(np.linspace(0, 1, 300), "uniform").statistic - np.sqrt(np.log(40) / 600)
    assert _grouped_margin(300, 0.95) > np.sqrt(np.log(40) / 600)  # Dvoretzky, Kiefer, Wolfowitz, Massart


def test_a_guaranteed_threshold_keeps_its_promise_for_nineteen_in_twenty_classifiers():
    rng, held = np.random.default_rng(3), []
    for _ in range(100):
        classifier = NeighborTOCC(calibration="split").fit(rng.normal(size=(120, 2)))
        classifier.set_sensitivity(0.85, confidence=0.95)
        held.append(np.mean(classifier.predict(rng.normal(size=(1_500, 2))) == 1) >= 0.85)
        assert classifier.coverage_report().sensitivity_bound >= 0.85
    assert np.mean(held) >= 0.95 - 0.035


def test_too_few_samples_for_the_promise_are_named():
    classifier = NeighborTOCC().fit(np.random.default_rng(0).normal(size=(25, 2)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier.set_sensitivity(0.9, confidence=0.95)
    assert (classifier.predict([[0.0, 0.0], [1e6, -1e6]]) == 1).all()
    message = next(str(each.message) for each in caught if each.category is TooFewSamples)
    assert re.search(r"cannot be guaranteed with confidence=0\.95 by 25 .* at least 36", message)


def test_the_report_says_what_this_classifier_accepts():
    classifier = NeighborTOCC(calibration="split").fit(np.random.default_rng(0).normal(size=(200, 2)))
    assert "accepts at least 84.8% with 95% confidence" in str(classifier.coverage_report())
    for bad in (0, 1, "high"):
        with pytest.raises(ValueError, match="confidence="):
            classifier.coverage_report(bad)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["loo", "cv"])
def test_the_certificate_of_dependent_scores_holds_with_about_the_stated_confidence(mode):
    """Scores of several folds are not independent; the benchmark `certificate` measures more kinds of data."""
    rng, held = np.random.default_rng(4), []
    for _ in range(150):
        classifier = NeighborTOCC(calibration=mode).fit(rng.normal(size=(40, 4)))
        accepted = np.mean(classifier.predict(rng.normal(size=(1_000, 4))) == 1)
        held.append(accepted >= classifier.coverage_report(0.95).sensitivity_bound)
    assert np.mean(held) >= 0.95 - 0.035
