"""The ROC curve: as scikit-learn has it, and with scores that are infinite."""

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from transvariation import auc, roc


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
