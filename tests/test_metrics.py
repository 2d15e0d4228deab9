"""The ROC curve: as scikit-learn has it, and with scores that are infinite."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_curve

from transvariation import auc, roc
from transvariation.metrics import count_extremes, type_ii_error


def test_the_curve_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    targets, others = rng.integers(3, 12, size=30) / 10, rng.integers(0, 9, size=40) / 10  # many ties
    labels, scores = np.repeat([1, 0], [30, 40]), np.concatenate([targets, others])
    false, true, thresholds = roc_curve(labels, scores, drop_intermediate=False)
    found = roc(targets, others)
    np.testing.assert_array_equal(found.thresholds, thresholds)
    np.testing.assert_allclose(found.sensitivity, true)
    np.testing.assert_allclose(found.specificity, 1 - false)


@pytest.mark.parametrize(
    ("targets", "others"), [([1.0], [np.inf]), ([np.inf, 2.0], [1.0, -np.inf]), ([np.inf, 1.0], [np.inf, 2.0])]
)
def test_the_curve_begins_by_accepting_none_also_where_scores_are_infinite(targets, others):
    found = roc(targets, others)
    assert (found.thresholds[0], found.sensitivity[0], found.specificity[0]) == (np.inf, 0, 1)
    assert (np.diff(found.thresholds) < 0).all()
    for threshold, sensitivity, specificity in list(zip(*found, strict=True))[1:]:
        assert sensitivity == np.mean(np.array(targets) >= threshold)
        assert specificity == np.mean(np.array(others) < threshold)
    assert np.trapezoid(found.sensitivity, 1 - found.specificity) == auc(targets, others)


def test_type_ii_error_counts_accepted_samples_per_level_and_sensitivity():
    p = [0.05, 0.2, 0.1, 0.5]
    table = type_ii_error(p, levels=["a", "a", "b", "b"], sensitivity=[0.9, 0.7])
    assert table["level"].tolist() == ["a", "a", "b", "b"]
    assert table["beta"].tolist() == [0.5, 0.0, 0.5, 0.5]  # a p-value of 0.1 is rejected at sensitivity 0.9
    assert ((table["low"] <= table["beta"]) & (table["beta"] <= table["high"])).all()


def test_interval_of_the_type_ii_error_is_that_of_scipy():
    row = type_ii_error([0.5] * 3 + [0.01] * 7).iloc[0]
    expected = binomtest(3, 10).proportion_ci(0.95, method="exact")
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))


def test_extremes_of_uniform_p_values_stay_within_the_tolerance():
    rng = np.random.default_rng(0)
    inside = [count_extremes(rng.uniform(size=50)).iloc[:-1].eval("low <= observed <= high").mean() for _ in range(200)]
    assert np.mean(inside) >= 0.95
    assert (count_extremes(rng.uniform(size=50) ** 3).eval("observed > high")).mean() > 0.5
