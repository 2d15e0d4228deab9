"""tp_f against R's values and closed forms."""

import numpy as np
import pytest
from scipy.stats import binom, expon, multivariate_normal, norm

from transvariation import GaussianDensity, density_transvariation_probability
from transvariation.density.box_probability import mixture_box_probability


class Mixture:
    """A mixture with R's parameters, which counts the boxes that it is asked for."""

    def __init__(self, case):
        self.parameters = case["pro"], np.array(case["means"]), np.array(case["sigmas"])
        self.asked = []

    def box_probability(self, lower, upper, *, log=False):
        self.asked.append(len(lower))
        return mixture_box_probability(*self.parameters, lower, upper, log=log)


class Plain(Mixture):
    """The least a density must have."""

    def box_probability(self, lower, upper):
        return super().box_probability(lower, upper)


DETERMINISTIC = ["glass_k_mg", "glass_si_mg", "glass_pc89", "blobs2", "banana2", "skew2", "glass_mg1", "mix1"]


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_tpf_of_r_in_one_and_two_variables(reference, name):
    case = reference.case("case04_tpf")[name]
    tp = density_transvariation_probability(Mixture(case), case["points"], case["centre"])
    np.testing.assert_allclose(tp, case["tpf_quadrature"], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", ["glass_na_mg_al3", "blobs3"])
def test_tpf_of_r_in_three_variables(reference, name):
    case = reference.case("case04_tpf")[name]
    tp = density_transvariation_probability(Mixture(case), case["points"], case["centre"])
    # R's TVPACK is good to 1e-11 absolutely, in the numerator and in the denominator.
    np.testing.assert_allclose(tp * case["denominator"], case["numerator"], rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["gauss5", "gauss9"])
def test_tpf_of_r_in_many_variables(reference, name):
    case = reference.case("case04_tpf")[name]
    tp = density_transvariation_probability(Mixture(case), case["points"], case["centre"])
    np.testing.assert_allclose(tp, case["tpf"], rtol=1e-3)


@pytest.mark.parametrize("name", ["glass_mg1", "mix1"])
def test_the_univariate_equation_of_r(reference, name):
    case = reference.case("case04_tpf")[name]
    tp = density_transvariation_probability(Mixture(case), case["points"], case["centre"], tau_max="half")
    # R lets tau exceed 1/2 about a center that is not the density's median; here tp stops at 1.
    np.testing.assert_allclose(tp, np.minimum(case["tpf_eq_tp_density"], 1), rtol=1e-9, atol=1e-13)


def test_one_denominator_for_each_orthant_met(reference):
    density = Mixture(reference.case("case04_tpf")["gauss5"])
    Z = np.vstack([np.full((30, 5), 2.0) + np.arange(30)[:, None], np.full((10, 5), -2.0)])
    density_transvariation_probability(density, Z, np.zeros(5))
    assert density.asked == [2 + 40]


def test_a_density_without_logarithms(reference):
    case = reference.case("case04_tpf")["blobs2"]
    plain = density_transvariation_probability(Plain(case), case["points"], case["centre"])
    np.testing.assert_allclose(plain, case["tpf_quadrature"], rtol=1e-9, atol=1e-13)
    far = density_transvariation_probability(Plain(case), [[1e6, 1e6]], case["centre"], log=True)
    assert far[0] == -np.inf


def test_far_objects_rank_on_the_log_scale(reference):
    case = reference.case("case04_tpf")["blobs2"]
    Z = np.array([[1e3, 1e3], [2e3, 2e3], [1e5, 1e5]])
    assert (density_transvariation_probability(Mixture(case), Z, case["centre"]) == 0).all()
    logs = density_transvariation_probability(Mixture(case), Z, case["centre"], log=True)
    assert np.isfinite(logs).all()
    assert (np.diff(logs) < 0).all()


def test_the_center_has_tp_one_and_tp_falls_outwards(reference):
    case = reference.case("case04_tpf")["banana2"]
    center = np.array(case["centre"])
    ray = center + np.linspace(0, 5, 20)[:, None] * np.array([1.0, -0.7])
    tp = density_transvariation_probability(Mixture(case), ray, center)
    assert tp[0] == 1
    assert (np.diff(tp) <= 0).all()


def test_scipy_distributions():
    Z = np.array([-2.0, 0.1, 3.0])
    m = [expon().median()]
    np.testing.assert_allclose(
        density_transvariation_probability(expon(), Z, m), [0, 2 * expon.cdf(0.1), 2 * expon.sf(3.0)], rtol=1e-14
    )
    below, above = density_transvariation_probability(binom(10, 0.5), [4.0, 6.0], 5.0)
    assert below == pytest.approx(above) == binom.cdf(4, 10, 0.5) / binom.cdf(5, 10, 0.5)
    with pytest.raises(ValueError, match="2 variables"):
        density_transvariation_probability(norm(), [[0.0, 1.0]], [0.0, 0.0])


def test_independent_variables_multiply():
    X = np.random.default_rng(0).normal(size=(500, 2))
    density = GaussianDensity().fit(X)
    density.covariance_ = np.diag(np.diag(density.covariance_))
    m = density.mean_
    Z = np.array([[1.0, 2.0], [-1.0, 0.5], [m[0], 3.0]])
    joint, product = (density_transvariation_probability(density, Z, m, tau_max=t) for t in ("integral", "product"))
    np.testing.assert_allclose(product, joint, rtol=1e-12)


def test_the_ratio_of_scipy_orthants():
    cov = np.array([[1.0, 0.6], [0.6, 2.0]])
    X = np.random.default_rng(1).multivariate_normal([0, 0], cov, size=200)
    density = GaussianDensity().fit(X)
    m = np.array([0.1, -0.2])
    c = np.array([-0.7, -1.0])
    cdf = multivariate_normal(density.mean_, density.covariance_).cdf
    assert density_transvariation_probability(density, [c], m)[0] == pytest.approx(cdf(c) / cdf(m), rel=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((norm(), [0.0], [0.0, 1.0]), "1 finite numbers"),
        ((norm(), [np.nan], [0.0]), "nan"),
        ((norm(), [0.0], [np.inf]), "finite"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        density_transvariation_probability(*arguments)


def test_unknown_choices_are_named():
    with pytest.raises(ValueError, match="tau_max='count'"):
        density_transvariation_probability(norm(), [0.0], [0.0], tau_max="count")
    with pytest.raises(TypeError, match="no box_probability"):
        density_transvariation_probability(object(), [0.0], [0.0])
