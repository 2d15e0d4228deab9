"""One Gaussian as a density, against SciPy."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import GaussianDensity


@parametrize_with_checks([GaussianDensity()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_scipy_agrees(reference):
    X, Z = reference.table("blobs2"), reference.table("blobs2_query")
    density = GaussianDensity().fit(X)
    theirs = multivariate_normal(X.mean(axis=0), np.cov(X, rowvar=False, bias=True))
    np.testing.assert_allclose(density.score_samples(Z), theirs.logpdf(Z), rtol=1e-12)
    assert density.box_probability(np.full(2, -np.inf), Z[0])[0] == pytest.approx(theirs.cdf(Z[0]), rel=1e-6)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.eye(3), "n_samples=3 samples cannot span p=3 variables"),
        (np.column_stack([np.arange(9.0), np.ones(9)]), "column 1 constant"),
        (np.column_stack([np.arange(9.0), 2 * np.arange(9.0)]), "columns 0, 1 determine each other"),
    ],
)
def test_singular_data_are_named(X, message):
    with pytest.raises(ValueError, match=message):
        GaussianDensity().fit(X)


def test_units_of_measurement_do_not_matter():
    X = np.random.default_rng(0).normal(size=(30, 2)) * [1e-9, 1e9]
    density = GaussianDensity().fit(X)
    assert density.box_probability(density.mean_, np.full(2, np.inf))[0] == pytest.approx(0.25, abs=0.1)
