import numpy as np
import pytest

from transvariation.density.covariance import check_full_spread, covariance_root
from transvariation.density.gaussian import GaussianDensity


def test_root_is_a_root():
    X = np.random.default_rng(0).normal(size=(30, 3)) @ [[1.0, 0.2, 0], [0, 3, 1], [0, 0, 100]]
    root, inverse = covariance_root(X)
    assert root @ root == pytest.approx(np.cov(X, rowvar=False))
    assert root @ inverse == pytest.approx(np.eye(3), abs=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_names_the_columns_to_blame(offset):
    X = np.random.default_rng(0).normal(size=(30, 4)) + offset
    check_full_spread(X)
    with pytest.raises(ValueError, match=r"columns 1, 3 constant"):
        check_full_spread(np.where([False, True, False, True], offset + 0.1, X))
    X[:, 2] = 2 * X[:, 0] + 1
    with pytest.raises(ValueError, match=r"columns 0, 2 determine each other"):
        check_full_spread(X)
    with pytest.raises(ValueError, match=r"n_samples=4 samples cannot span p=4"):
        check_full_spread(X[:4])


def test_scales_do_not_matter():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1e-9, 1.0, 1e9]
    check_full_spread(X)


def test_full_rank_in_uneven_units():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(87, 5)) @ (rng.normal(size=(5, 5)) * 0.4 + np.eye(5)) + 5
    units = np.array([1e7, 0.003, 1e6, 1.0, 1e4])
    check_full_spread(X * units)
    root, inverse = covariance_root(X * units)
    assert root @ root / np.outer(units, units) == pytest.approx(np.cov(X, rowvar=False), abs=1e-6)
    assert root @ inverse == pytest.approx(np.eye(5), abs=1e-4)
    box = np.zeros(5), np.full(5, np.inf)
    even, uneven = (GaussianDensity().fit(A).box_probability(*box) for A in (X, X * units))
    assert uneven == pytest.approx(even, rel=1e-6)
