"""The kernel density against SciPy's and R's."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import gaussian_kde, multivariate_normal
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation.density.kernel_density import GaussianKernelDensity, log_kernel_density, rule_bandwidth


@parametrize_with_checks([GaussianKernelDensity()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["mix1", "blobs2", "blobs3"])
def test_scipy_agrees(reference, name):
    X, Z = reference.table(name), reference.table(f"{name}_query")
    ours, theirs = GaussianKernelDensity(diagonal=False).fit(X), gaussian_kde(X.T, "silverman")
    np.testing.assert_allclose(ours.bandwidth_, theirs.covariance, rtol=1e-12)
    np.testing.assert_allclose(ours.score_samples(Z), theirs.logpdf(Z.T), rtol=1e-10)
    lower, upper = X.min(axis=0), np.median(X, axis=0)
    # SciPy integrates by quasi Monte Carlo beyond one variable.
    assert ours.box_probability(lower, upper)[0] == pytest.approx(theirs.integrate_box(lower, upper), rel=2e-3)


@pytest.mark.parametrize("name", ["blobs2", "glass_k_mg"])
def test_the_density_of_r(reference, name):
    case = reference.case("case03_kde")[name]
    density = GaussianKernelDensity(bandwidth=case["H"]).fit(reference.table(name))
    truth = np.array(case["density_exact"])
    np.testing.assert_allclose(
        np.exp(density.score_samples(reference.table(f"{name}_query"))), truth, atol=1e-10 * truth.max()
    )


def test_diagonal_kernels_are_products():
    X = np.random.default_rng(0).normal(size=(40, 6))
    density = GaussianKernelDensity().fit(X)
    singles = [GaussianKernelDensity(bandwidth=np.sqrt(density.bandwidth_[u, u])) for u in range(6)]
    box = density.box_probability(np.zeros(6), np.full(6, np.inf))[0]
    per_kernel = [
        np.prod([s.fit(X[[i]][:, [u]]).box_probability([0.0], [np.inf])[0] for u, s in enumerate(singles)])
        for i in range(40)
    ]
    assert box == pytest.approx(np.mean(per_kernel), rel=1e-12)


def test_probabilities_are_smooth_and_never_zero():
    X = np.random.default_rng(1).normal(size=(30, 2))
    density = GaussianKernelDensity().fit(X)
    beyond = X.max(axis=0) + np.array([[0.5, 0.5], [5.0, 5.0], [50.0, 50.0]])
    logs = density.box_probability(beyond, np.inf, log=True)
    assert np.isfinite(logs).all()
    assert (np.diff(logs) < 0).all()


def test_samples_follow_the_density():
    X = np.random.default_rng(2).normal(size=(50, 2))
    density = GaussianKernelDensity(diagonal=False).fit(X)
    drawn = density.sample(20_000, random_state=0)
    share = (drawn > 0.3).all(axis=1).mean()
    assert share == pytest.approx(density.box_probability([0.3, 0.3], [np.inf, np.inf])[0], abs=0.01)


def test_bandwidths_given_as_numbers():
    X = np.random.default_rng(3).normal(size=(20, 2))
    np.testing.assert_array_equal(GaussianKernelDensity(bandwidth=0.5).fit(X).bandwidth_, 0.25 * np.eye(2))
    np.testing.assert_array_equal(GaussianKernelDensity(bandwidth=[1, 2]).fit(X).bandwidth_, np.diag([1.0, 4.0]))


@pytest.mark.parametrize(
    ("bandwidth", "message"),
    [("plug", "unknown"), (-1.0, "positive"), ([1, 2, 3], "3 x 3|2 x 2"), (np.ones((2, 2)), "positive eigenvalues")],
)
def test_bad_bandwidths_are_named(bandwidth, message):
    with pytest.raises(ValueError, match=message):
        GaussianKernelDensity(bandwidth=bandwidth).fit(np.random.default_rng(4).normal(size=(9, 2)))


def test_a_constant_variable_is_named():
    with pytest.raises(ValueError, match=r"column \d constant"):
        GaussianKernelDensity().fit([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="constant"):  # whose mean is not 0.1 to the last digit
        GaussianKernelDensity().fit(np.column_stack([np.arange(20.0), np.full(20, 0.1)]))


def test_a_matrix_that_is_not_symmetric_is_refused():
    with pytest.raises(ValueError, match="symmetric 2 x 2"):
        GaussianKernelDensity(bandwidth=[[1.0, 0.5], [0.0, 1.0]]).fit(np.eye(2))


def test_the_kernels_stay_where_they_were_put():
    X, H = np.random.default_rng(0).normal(size=(20, 2)), np.eye(2)
    density = GaussianKernelDensity(bandwidth=H).fit(X)
    before = density.score_samples(np.zeros((1, 2)))
    X += 9
    H *= 9
    assert density.score_samples(np.zeros((1, 2))) == before


def test_one_object_needs_a_bandwidth():
    with pytest.raises(ValueError, match="at least 2"):
        rule_bandwidth(np.zeros((1, 2)))
    assert GaussianKernelDensity(bandwidth=1.0).fit([[0.0]]).box_probability([0.0], [np.inf])[0] == 0.5


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
