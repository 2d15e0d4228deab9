import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from transvariation.density.kernel_density import log_kernel_density

NAMES = ["glass_k_mg", "glass_si_mg", "glass_pc89", "blobs2", "banana2", "skew2", "glass_na_mg_al3", "blobs3"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("matrix", "values"), [("H", "density_exact"), ("H_diag", "density_diag_exact")])
def test_density_of_ks(reference, name, matrix, values):
    case = reference.case("case03_kde")[name]
    expected = np.array(case[values])
    own = np.exp(log_kernel_density(reference.table(name), np.array(case[matrix]), reference.table(f"{name}_query")))
    assert np.abs(own - expected).max() < 1e-10 * expected.max()


@pytest.mark.parametrize("name", ["glass_mg1", "mix1"])
def test_density_of_ks_in_one_dimension(reference, name):
    case = reference.case("case03_kde")[name]
    expected = np.array(case["density_exact"])
    H = np.full((1, 1), case["h"] ** 2)
    own = np.exp(log_kernel_density(reference.table(name), H, reference.table(f"{name}_query")))
    assert np.abs(own - expected).max() < 1e-10 * expected.max()


def test_ranks_points_beyond_underflow():
    rng = np.random.default_rng(0)
    X, H = rng.normal(size=(40, 2)), np.array([[0.1, 0.05], [0.05, 0.2]])
    Z = np.linspace(0, 1e4, 700)[:, None] * [1.0, 0.5]
    expected = logsumexp([multivariate_normal(x, H).logpdf(Z) for x in X], axis=0) - np.log(40)
    assert log_kernel_density(X, H, Z) == pytest.approx(expected, rel=1e-10)
    assert (np.diff(log_kernel_density(X, H, Z)[10:]) < 0).all()


@pytest.mark.parametrize("far", [1e154, 1e200, 1e307, -1.7e308])
def test_where_distances_are_too_large_for_a_number_the_density_is_zero(far):
    X = np.random.default_rng(3).normal(size=(20, 3))
    H = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, 0.9], [0.9, 0.9, 1.0]]) / 100
    Z = np.array([[far, far, -far], X[0]])
    assert log_kernel_density(X, H, Z)[0] == -np.inf
    assert log_kernel_density(X, H, Z)[1] == log_kernel_density(X, H, X[:1])[0]
