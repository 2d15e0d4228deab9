"""Principal components and the distributions of distances."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from transvariation.baselines.principal_distances import principal_components, scaled_chi2


@pytest.mark.parametrize("rank", [2, 4])
def test_components_are_those_of_scikit_learn_up_to_the_rank(rank):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, rank)) @ rng.normal(size=(rank, 4)) + 5
    center, variances, loadings = principal_components(X)
    pca = PCA(rank).fit(X)
    assert variances.shape == (rank,)
    np.testing.assert_allclose(center, pca.mean_)
    np.testing.assert_allclose(variances, pca.explained_variance_)
    np.testing.assert_allclose(abs(loadings @ pca.components_.T), np.eye(rank), atol=1e-9)


@pytest.mark.parametrize("limits", ["classic", "robust"])
@pytest.mark.parametrize(("scale", "dof"), [(2.0, 3), (0.1, 12)])
def test_scale_and_degrees_of_freedom_of_a_chi_square_distribution_are_found(limits, scale, dof):
    distances = scale / dof * np.random.default_rng(0).chisquare(dof, 200_000)
    found = scaled_chi2(distances, limits)
    assert found == (pytest.approx(scale, rel=0.02), dof)


def test_distances_that_do_not_vary():
    assert scaled_chi2([0.0, 0.0]) == (1.0, 0)  # no components
    assert scaled_chi2([2.0, 2.0, 2.0])[0] == 2.0
