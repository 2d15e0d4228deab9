import numpy as np
import pytest

from transvariation.density import bandwidth
from transvariation.density.bandwidth import plug_in_bandwidth

TWO_OR_THREE = [
    *("glass_k_mg", "glass_si_mg", "glass_pc89", "blobs2", "banana2", "skew2"),
    *("glass_na_mg_al3", "blobs3"),
]


@pytest.mark.parametrize("name", TWO_OR_THREE)
def test_matrix_of_ks(reference, name):
    H = np.array(reference.case("case03_kde")[name]["H"])
    own = plug_in_bandwidth(reference.table(name), functionals="ks")
    assert np.linalg.norm(own - H) < 1e-3 * np.linalg.norm(H)


@pytest.mark.parametrize("name", ["glass_mg1", "mix1"])
def test_bandwidth_of_ks_in_one_dimension(reference, name):
    h = reference.case("case03_kde")[name]["h_fine_grid"]
    assert np.sqrt(plug_in_bandwidth(reference.table(name), functionals="ks")[0, 0]) == pytest.approx(h, rel=1e-3)


def normal_scale(n, p):
    """The best H for a standard normal density."""
    return (4 / (n * (p + 2))) ** (2 / (p + 4))


@pytest.mark.parametrize("p", [1, 2, 3])
def test_finds_the_best_bandwidth_of_a_normal_density(p):
    n = 20_000
    X = np.random.default_rng(p).normal(size=(n, p))
    assert np.diag(plug_in_bandwidth(X)) == pytest.approx(normal_scale(n, p), rel=0.1)


def test_functionals_are_those_of_the_kernel_estimate():
    # psi_r of order 4 is the integral of f'' g'' for the estimate with bandwidth g / sqrt(2): by quadrature.
    z = np.random.default_rng(1).normal(size=(30, 1))
    g = 0.6
    x = np.linspace(-8, 8, 4001)
    u = (x - z) / (g / np.sqrt(2))
    second = ((u**2 - 1) * np.exp(-(u**2) / 2)).mean(axis=0) / np.sqrt(2 * np.pi) / (g / np.sqrt(2)) ** 3
    psi = bandwidth._functionals(z, 4, g)[(4,)]
    assert psi == pytest.approx(np.trapezoid(second**2, x), rel=1e-10)


@pytest.mark.parametrize("p", [2, 3])
def test_follows_linear_maps(p):
    # Shift, rotation and scale of the data do the same to H; the numbers of ks do not, because of its indices.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, p)) ** 3
    A = rng.normal(size=(p, p))
    assert plug_in_bandwidth(X @ A.T + 7) == pytest.approx(A @ plug_in_bandwidth(X) @ A.T, rel=1e-5)


def test_ties_and_zero_quartile_range():
    x = np.r_[np.zeros(30), 1.0, 2.0, 5.0][:, None]
    assert 0 < plug_in_bandwidth(x)[0, 0] < 1


def test_invalid_input_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 4))
    with pytest.raises(ValueError, match="p=4 variables are too many"):
        plug_in_bandwidth(X)
    with pytest.raises(ValueError, match="functionals='best' is unknown"):
        plug_in_bandwidth(X[:, :2], functionals="best")
    with pytest.raises(ValueError, match="column 1 constant"):
        plug_in_bandwidth(np.column_stack([X[:, 0], np.full(20, 0.1)]))
