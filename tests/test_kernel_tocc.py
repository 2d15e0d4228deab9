"""KernelTOCC: its formula from SciPy's parts, its contract, and the promise on fresh objects."""

import warnings

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp
from scipy.stats import multivariate_normal
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import TOCC, DensityTOCC, KernelTOCC, load_glass, make_scenario, spatial_median
from transvariation.conformal import RejectsNothing


@parametrize_with_checks([KernelTOCC(), KernelTOCC(crowding=0.0, calibration="resubstitution")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("crowding", [0.0, 0.5, 1.0])
def test_the_rating_is_the_stated_sum(crowding):
    X, Z = make_scenario("b", 60, random_state=0)
    rule = KernelTOCC(crowding=crowding, calibration="resubstitution").fit(X)
    m, h = spatial_median(X), X.std(axis=0, ddof=1) * len(X) ** (-1 / 6)
    side = np.where(m > Z, -1, 1)[:, None, :]
    beyond, orthant = (log_ndtr(side * (X - at) / h).sum(axis=2) for at in (Z[:, None, :], m))
    log_tp = logsumexp(beyond, axis=1) - logsumexp(orthant, axis=1)
    density = np.mean([multivariate_normal(x, rule.bandwidth_).pdf(Z) for x in X], axis=0)
    expected = (1 - crowding) * log_tp + crowding * np.log(density)
    np.testing.assert_allclose(rule.score_samples(Z), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(rule.transvariation_probability(Z), np.exp(log_tp), rtol=1e-8)


def test_far_objects_still_rank():
    X, _ = make_scenario("a", random_state=1)
    far = np.outer([20.0, 50.0, 1e3, 1e5], [1.0, -1.0])
    scores = KernelTOCC().fit(X).score_samples(far)
    assert (np.diff(scores) < 0).all()
    assert np.isfinite(scores).all()


def test_it_holds_on_fresh_targets_and_rejects_where_counting_cannot():
    accepted, rejected = [], []
    for seed in range(12):
        target, _ = make_scenario("e", random_state=seed)
        fresh, other = make_scenario("e", 400, random_state=1000 + seed)
        rule = KernelTOCC().fit(target)
        accepted.append(np.mean(rule.predict(fresh) == 1))
        rejected.append(np.mean(rule.predict(other) == -1))
    assert abs(np.mean(accepted) - 0.9) < 0.03
    assert np.mean(rejected) > 0.65
    with pytest.warns(RejectsNothing, match="use NeighborTOCC"):
        assert (TOCC(calibration="loo").fit(target).predict(other) == 1).all()


def test_nine_variables_and_explanations():
    glass = load_glass()
    rule = KernelTOCC(calibration="split").fit(glass.control)
    assert np.mean(rule.predict(glass.recovered) == -1) > 0.8
    assert len(rule.explain(glass.recovered)) == 51 * 9


@pytest.mark.parametrize("calibration", ["resubstitution", "loo", "cv", "split"])
def test_a_variable_that_does_not_vary_rejects_what_differs_there(calibration):
    x = np.random.default_rng(0).normal(size=(40, 1))
    alone = KernelTOCC(calibration=calibration).fit(x)
    rule = KernelTOCC(calibration=calibration).fit(np.column_stack([x, np.full(40, 0.3)]))
    Z = np.linspace(-4, 4, 17)[:, None]
    same, other = np.column_stack([Z, np.full(17, 0.1 + 0.2)]), np.column_stack([Z, np.full(17, 0.31)])
    np.testing.assert_array_equal(rule.score_samples(same), alone.score_samples(Z))
    np.testing.assert_array_equal(rule.p_values(same), alone.p_values(Z))
    assert (rule.predict(other) == -1).all()
    assert (rule.transvariation_probability(other) == 0).all()
    assert np.isfinite(rule.score_samples(other)).all()
    table = rule.explain(other)
    assert (table.tp[table.feature == "x1"] == 0).all()


def test_nothing_varies():
    rule = KernelTOCC().fit(np.ones((20, 2)))
    assert rule.predict([[1.0, 1.0], [1.0, 1.1]]).tolist() == [1, -1]


def test_a_value_that_one_object_alone_has():
    """Without that object the variable is constant."""
    X = np.column_stack([np.random.default_rng(1).normal(size=60), np.zeros(60)])
    X[7, 1] = 0.4
    rule = KernelTOCC(calibration="loo").fit(X)
    assert rule.p_values(X[[7]])[0] <= 3 / 61
    assert np.mean(rule.predict(np.column_stack([np.linspace(-1, 1, 9), np.zeros(9)])) == 1) == 1


@pytest.mark.parametrize("n", [3, 5, 9, 12])
def test_fewer_objects_than_variables(n):
    glass = load_glass()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # so few cannot promise 0.9
        rule = KernelTOCC().fit(glass.control[:n])
    assert np.isfinite(rule.score_samples(glass.recovered)).all()
    assert (rule.p_values(glass.control[:n]) > 1 / (n + 1)).mean() >= 0.5


def test_one_object_far_beyond_all_others():
    X = np.vstack([np.random.default_rng(3).normal(size=(30, 2)), [[1e12, 1e12]]])
    assert np.isfinite(KernelTOCC().fit(X).score_samples(X)).all()


def test_variables_that_determine_each_other():
    x = np.random.default_rng(2).normal(size=(50, 1))
    rule = KernelTOCC().fit(np.hstack([x, 2 * x]))
    assert rule.predict([[0.1, 0.2], [9.0, 18.0]]).tolist() == [1, -1]


@pytest.mark.parametrize("rule", [KernelTOCC(calibration="resubstitution"), DensityTOCC(density="kde")])
def test_compiled_code_changes_no_verdict(rule, monkeypatch):
    """An object has one verdict, in a small table and in a large one, before and after any large call."""
    pytest.importorskip("numba")
    rng = np.random.default_rng(3)
    for _ in range(20):
        X = rng.normal(size=(60, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
        with monkeypatch.context() as plain:
            plain.setattr("transvariation.density.box_probability.compiled_mixture", lambda *sides: None)
            verdicts, ranks, alone = rule.fit(X).predict(X), rule.p_values(X), rule.explain(X)
        large = np.concatenate([X, np.zeros((2_000, 2))])
        np.testing.assert_array_equal(rule.predict(large)[:60], verdicts)
        np.testing.assert_array_equal(rule.p_values(large)[:60], ranks)
        np.testing.assert_array_equal(rule.explain(large)[:120].univariate_rejection, alone.univariate_rejection)


def test_crowding_is_checked():
    with pytest.raises(ValueError, match=r"crowding=2 must lie in \[0, 1\]"):
        KernelTOCC(crowding=2).fit(np.random.default_rng(0).normal(size=(20, 2)))
