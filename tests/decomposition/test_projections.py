import numpy as np
import pytest
from scipy import stats

from transvariation import load_glass, random_projections
from transvariation.decomposition.projections import generator, orthonormal


@pytest.mark.parametrize(("p", "d"), [(9, 2), (2, 2), (1, 1), (5, 5), (1000, 3)])
def test_columns_are_orthonormal(p, d):
    A = orthonormal(np.random.default_rng(0).standard_normal((4, p, d)))
    np.testing.assert_allclose(A.swapaxes(1, 2) @ A, np.broadcast_to(np.eye(d), (4, d, d)), atol=1e-13)


def test_directions_are_uniform_on_the_sphere():
    """The square of a coordinate of a uniform direction is Beta(1/2, (p - 1)/2), the sign is fair, in every column."""
    A = orthonormal(np.random.default_rng(1).standard_normal((4000, 5, 2)))
    for q in range(2):
        for u in range(5):
            assert stats.kstest(A[:, u, q] ** 2, stats.beta(0.5, 2).cdf).pvalue > 1e-4
            assert stats.binomtest(int((A[:, u, q] > 0).sum()), 4000).pvalue > 1e-4


@pytest.mark.parametrize("n", [40, 41])  # even and odd: the median of an even number is a mean
def test_the_best_candidate_by_hand(n):
    """Drawn again from the same streams and judged by SciPy's MAD."""
    X = load_glass().control.to_numpy()[:n]
    matrices, spread = random_projections(X, 3, 20, 2, rng=7)
    for i, stream in enumerate(np.random.default_rng(7).spawn(3)):
        candidates = orthonormal(stream.standard_normal((20, 9, 2)))
        mads = [stats.median_abs_deviation(X @ A, axis=0).sum() for A in candidates]
        np.testing.assert_array_equal(matrices[i], candidates[np.argmin(mads)])
        assert spread[i] == pytest.approx(min(mads), rel=1e-9)


def test_more_candidates_are_never_worse():
    X = load_glass().control.to_numpy()
    few = random_projections(X, 5, 5, rng=0).spread
    many = random_projections(X, 5, 50, rng=0).spread
    assert (many <= few).all()
    assert (many < few).any()


def test_seeded_and_nested():
    X = load_glass().control.to_numpy()
    ten, again, three = (random_projections(X, k, 10, rng=3) for k in (10, 10, 3))
    np.testing.assert_array_equal(ten.matrices, again.matrices)
    np.testing.assert_array_equal(ten.matrices[:3], three.matrices)
    assert not np.allclose(ten.matrices, random_projections(X, 10, 10, rng=4).matrices)


def test_blocks_do_not_change_the_result(monkeypatch):
    X = load_glass().control.to_numpy()
    whole = random_projections(X, 7, 10, rng=3)
    monkeypatch.setattr("transvariation.decomposition.projections._BLOCK_VALUES", 1)
    np.testing.assert_array_equal(whole.matrices, random_projections(X, 7, 10, rng=3).matrices)


def test_shift_and_rotation_in_two_variables():
    """With p = d = 2 a projection is a rotation; the criterion does not see a shift."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    near, far = random_projections(X, 5, rng=0), random_projections(X + 1e6, 5, rng=0)
    np.testing.assert_array_equal(near.matrices, far.matrices)
    np.testing.assert_allclose(np.abs(np.linalg.det(near.matrices)), 1, rtol=1e-12)


@pytest.mark.parametrize("unit", [2.0**-330, 2.0**330])
def test_extreme_units_choose_the_same(unit):
    X = np.random.default_rng(0).normal(size=(30, 4))
    one, other = (random_projections(A, 5, rng=1) for A in (X, X * unit))
    np.testing.assert_array_equal(one.matrices, other.matrices)


def test_constant_duplicated_and_mostly_zero_variables():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(50)
    X = np.column_stack([x, x, np.full(50, 3.0), np.where(rng.random(50) < 0.95, 0.0, 1.0)])
    found = random_projections(X, 11, 20, rng=0)
    assert np.isfinite(found.matrices).all()
    assert (found.spread >= 0).all()
    assert (random_projections(np.ones((5, 3)), 3, 4, rng=0).spread == 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 3}, "n_components=3 exceeds .* n_features=2; use at most 2"),
        ({"n_components": 0}, "n_components=0 must be a positive whole number"),
        ({"n_projections": 1.5}, "n_projections=1.5 must be a positive whole number"),
        ({"n_candidates": True}, "n_candidates=True must be"),
    ],
)
def test_impossible_requests(options, message):
    with pytest.raises(ValueError, match=message):
        random_projections([[1.0, 2.0], [3.0, 4.0]], **options)


@pytest.mark.parametrize("X", [[[np.nan, 1.0]], [1.0, 2.0], np.empty((0, 2))])
def test_impossible_data(X):
    with pytest.raises(ValueError, match="must hold finite numbers"):
        random_projections(X, n_components=1)


def test_generators_of_all_kinds():
    legacy = np.random.RandomState  # scikit-learn's users still pass them
    assert generator(3).random() == generator(np.int64(3)).random()
    assert generator(legacy(3)).random() == generator(legacy(3)).random()
    own = np.random.default_rng(0)
    assert generator(own) is own
    assert generator(None).random() != generator(None).random()
