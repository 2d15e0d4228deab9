import numpy as np
import pytest

from transvariation import VIPSelector, load_glass
from transvariation.feature_selection.vip import importance_coefficients, unit_columns


def names(selector):
    return set(selector.get_feature_names_out())


def test_ci_by_hand():
    """Two projection vectors: (0.6, 0.8) and (1, 0), with standard deviations 4 and 3."""
    ci = importance_coefficients([[[0.6, 1.0], [0.8, 0.0]]], [4.0, 3.0])
    np.testing.assert_allclose(ci, [[2.4 / np.hypot(2.4, 2.4) + 1, 2.4 / np.hypot(2.4, 2.4)]], rtol=1e-15)


def test_ci_does_not_depend_on_units_as_a_whole():
    A = np.random.default_rng(0).standard_normal((3, 5, 2))
    s = np.arange(1.0, 6.0)
    np.testing.assert_allclose(importance_coefficients(A, s), importance_coefficients(A, s * 1e-200), rtol=1e-12)
    np.testing.assert_allclose((importance_coefficients(A[:, :, :1], s) ** 2).sum(axis=1), 1, rtol=1e-12)


def test_vip_is_the_median_ci_and_ranks():
    selector = VIPSelector(random_state=0).fit(load_glass().control)
    assert selector.ci_.shape == (101, 9)
    np.testing.assert_array_equal(selector.vip_, np.median(selector.ci_, axis=0))
    assert sorted(selector.ranking_) == list(range(1, 10))
    assert selector.ranking_[selector.vip_.argmax()] == 1
    assert selector.selected_.tolist() == np.argsort(-selector.vip_)[:2].tolist()


def test_kappa_vip_chooses_silicon_and_magnesium_on_glass():
    """In most seeds, as in the paper; the prototype counted 173 of 200."""
    chosen = [names(VIPSelector(2, kappa=0.5, random_state=seed).fit(load_glass().control)) for seed in range(30)]
    assert chosen.count({"Si", "Mg"}) >= 22


def test_kappa_passes_over_what_repeats_the_first():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 80))
    X = np.column_stack([10 * x, 10 * x + 0.1 * rng.standard_normal(80), 5 * y, np.full(80, 2.0)])
    assert VIPSelector(2, random_state=0).fit(X).get_support().tolist() == [True, True, False, False]
    adjusted = VIPSelector(2, kappa=0.5, random_state=0).fit(X)
    assert adjusted.get_support()[2]
    # Exactly one of the two that say the same.
    assert adjusted.get_support()[:2].sum() == 1
    with pytest.raises(ValueError, match=r"kappa=0.5 leaves only 2 of the n_features_to_select=4"):
        VIPSelector(4, kappa=0.5, random_state=0).fit(X)


def test_kappa_passes_over_what_does_not_vary():
    x, noise = np.random.default_rng(0).standard_normal((2, 80))
    X = np.column_stack([x, x + 0.1 * noise, np.full(80, 0.1)])
    assert VIPSelector(2, kappa=1.0, random_state=0).fit(X).get_support().tolist() == [True, True, False]
    with pytest.raises(ValueError, match=r"leaves only 1 .* or do not vary"):
        VIPSelector(2, kappa=0.5, random_state=0).fit(X)


def test_mean_correlation_is_taken_over_all_selected():
    """A candidate that repeats one of two selected variables exactly has mean correlation about 1/2 with them."""
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 500))
    X = np.column_stack([10 * x, 9 * y, 8 * x])
    assert VIPSelector(3, kappa=0.6, random_state=0).fit(X).get_support().all()
    with pytest.raises(ValueError, match="leaves only 2"):
        VIPSelector(3, kappa=0.4, random_state=0).fit(X)


def test_constant_and_mostly_zero_variables():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(60), np.full(60, 1e6 + 0.1), np.where(rng.random(60) < 0.95, 0, 1.0)])
    selector = VIPSelector(1, random_state=0).fit(X)
    # A variable that hardly ever differs from zero has MAD 0: compact projections lean on it, not on the constant.
    assert selector.get_support().tolist() == [False, False, True]
    np.testing.assert_allclose(selector.vip_[1], 0, atol=1e-6)
    assert (unit_columns(X)[:, 1] == 0).all()
    assert (VIPSelector(2, random_state=0).fit(np.ones((5, 3))).vip_ == 0).all()


def test_correlation_agrees_with_numpy():
    X = load_glass().control.to_numpy()
    unit = unit_columns(X)
    np.testing.assert_allclose(unit.T @ unit, np.corrcoef(X.T), atol=1e-12)


def test_one_and_two_variables():
    X = np.random.default_rng(0).standard_normal((20, 2))
    assert VIPSelector(1, n_components=1).fit(X[:, :1]).get_support().tolist() == [True]
    assert VIPSelector(2).fit(X).get_support().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features_to_select": 10}, "n_features_to_select=10 exceeds .* n_features=9"),
        ({"n_features_to_select": 0}, "n_features_to_select=0 must be a positive"),
        ({"kappa": 1.5}, "kappa=1.5 must be a correlation"),
        ({"n_components": 10}, "n_components=10 exceeds"),
    ],
)
def test_impossible_requests(options, message):
    with pytest.raises(ValueError, match=message):
        VIPSelector(**options).fit(load_glass().control)
