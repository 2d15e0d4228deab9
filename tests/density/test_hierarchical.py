"""Partitions to start from."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

from transvariation.density.hierarchical import agglomerate, quantile_classes, scaled_by_svd


def loss(X, labels):
    """Fraley's criterion, read off the partition itself."""
    alpha = ((X - X.mean(axis=0)) ** 2).sum() / X.size
    total = 0.0
    for k in np.unique(labels):
        Y = X[labels == k] - X[labels == k].mean(axis=0)
        W = Y.T @ Y
        total += len(Y) * np.log(max(np.linalg.det(W / len(Y)), 0) + (np.trace(W) + alpha) / len(Y))
    return total


def test_first_merges_are_the_cheapest():
    X = np.random.default_rng(0).normal(size=(9, 2))
    partitions = agglomerate(X, 9)
    for K in range(9, 1, -1):
        now = partitions[K]
        merged = [np.where(now == b, a, now) for a in range(K) for b in range(a + 1, K)]
        assert loss(X, partitions[K - 1]) == pytest.approx(min(loss(X, m) for m in merged))


@pytest.mark.parametrize("p", [2, 3])
def test_far_groups_are_found(p):
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(30, p)) + 100 * k for k in range(3)])
    labels = agglomerate(X, 5)[3]
    np.testing.assert_array_equal(labels, fcluster(linkage(X, "ward"), 3, "maxclust")[np.argsort(np.arange(90))] - 1)


def test_equal_rows_stay_together_and_bound_the_number():
    X = np.array([[0, 0], [1, 1], [0, 0], [2, 5], [1, 1]], dtype=float)
    partitions = agglomerate(X, 9)
    assert sorted(partitions) == [1, 2, 3]
    np.testing.assert_array_equal(partitions[3], [0, 1, 0, 2, 1])


def test_scaled_axes_have_the_spread_of_their_singular_values():
    X = np.random.default_rng(2).normal(size=(50, 3)) * [1, 100, 0.01]
    Z = scaled_by_svd(np.column_stack([X, np.ones(50), X[:, 0]]))
    assert Z.shape == (50, 3)
    gram = Z.T @ Z
    singular = np.linalg.svd(
        (X[:, [0, 1, 2, 0]] - X[:, [0, 1, 2, 0]].mean(axis=0)) / X[:, [0, 1, 2, 0]].std(axis=0, ddof=1)
    )[1]
    np.testing.assert_allclose(gram, np.diag(singular[:3]), atol=1e-8)


def test_quantiles_keep_equal_values_together():
    x = np.array([1.0, 1, 1, 1, 2, 3])
    assert len(np.unique(quantile_classes(x, 2)[:4])) == 1
