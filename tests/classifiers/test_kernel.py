"""KernelTOCC: its formula from SciPy's parts, its contract, and the promise on fresh objects."""

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp
from scipy.stats import multivariate_normal
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import TOCC, KernelTOCC, load_glass, make_scenario, spatial_median


@parametrize_with_checks([KernelTOCC(), KernelTOCC(crowding=0.0, calibration="paper")])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("crowding", [0.0, 0.5, 1.0])
def test_the_rating_is_the_stated_sum(crowding):
    X, Z = make_scenario("b", 60, random_state=0)
    rule = KernelTOCC(crowding=crowding, calibration="paper").fit(X)
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
    assert (TOCC(calibration="loo").fit(target).predict(other) == 1).all()


def test_nine_variables_and_explanations():
    glass = load_glass()
    rule = KernelTOCC(calibration="split").fit(glass.control)
    assert np.mean(rule.predict(glass.recovered) == -1) > 0.8
    assert len(rule.explain(glass.recovered)) == 51 * 9


@pytest.mark.parametrize("X", [np.ones((20, 2)), np.column_stack([np.arange(20.0), np.zeros(20)])])
def test_no_spread_is_named(X):
    with pytest.raises(ValueError, match=r"constant|singular|determined|spread"):
        KernelTOCC().fit(X)


def test_crowding_is_checked():
    with pytest.raises(ValueError, match=r"crowding=2 must lie in \[0, 1\]"):
        KernelTOCC(crowding=2).fit(np.random.default_rng(0).normal(size=(20, 2)))
