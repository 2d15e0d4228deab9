import numpy as np
import pytest

from transvariation.baselines import SVDD
from transvariation.baselines.svdd import ball_weights

NAMES = ["glass_k_mg", "glass_si_mg", "glass_pc89", "blobs2", "banana2", "skew2", "glass_na_mg_al3", "blobs3"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_solution_of_r(reference, name, kernel):
    case = reference.case("case07_svdd")[name]
    expected = case[kernel]
    X = reference.table(name)
    classifier = SVDD(kernel=kernel).fit(X)
    assert -classifier.score_samples(X) == pytest.approx(expected["data_distance2"], rel=1e-6)
    assert -classifier.score_samples(reference.table(f"{name}_query")) == pytest.approx(
        expected["query_distance2"], rel=1e-6
    )
    assert classifier.dual_objective_ == pytest.approx(expected["dual_objective"], rel=1e-6)
    if not case["duplicated_rows"]:
        assert classifier.weights_ == pytest.approx(expected["alpha"], abs=1e-4)
    if kernel == "rbf":
        assert classifier.gamma_ == pytest.approx(case["gamma"])
    else:
        assert classifier.center_ == pytest.approx(expected["centre"], rel=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [0.02, 0.1, 0.37, 1.0, 5.0])
def test_optimality_conditions(kernel, C):
    X = np.random.default_rng(0).normal(size=(50, 4)).round(1)
    X = np.vstack([X, X[:20]])  # duplicates
    classifier = SVDD(kernel=kernel, C=C).fit(X)
    distance2, weights = -classifier.score_samples(X), classifier.weights_
    assert weights.sum() == pytest.approx(1)
    assert weights.min() >= 0
    assert weights.max() <= C * (1 + 1e-9)
    assert distance2[weights < C * (1 - 1e-6)].max() <= distance2[weights > 1e-6 * C].min() * (1 + 1e-6)


def test_minimal_ball_of_a_right_triangle():
    classifier = SVDD(kernel="linear", C=1.0).fit([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    assert classifier.center_ == pytest.approx([1.5, 2.0])
    assert -classifier.score_samples([[0.0, 0.0]]) == pytest.approx(6.25)


def test_all_weights_at_the_bound():
    X = np.random.default_rng(0).normal(size=(10, 2))
    for kernel in ("linear", "rbf"):
        classifier = SVDD(kernel=kernel, C=0.1).fit(X)
        assert classifier.weights_ == pytest.approx(0.1)


def test_identical_objects():
    for kernel in ("linear", "rbf"):
        classifier = SVDD(kernel=kernel).fit(np.ones((20, 2)))
        assert classifier.score_samples([[1.0, 1.0]]) == pytest.approx(0, abs=1e-12)
        assert classifier.predict([[1.0, 1.0], [2.0, 1.0]]).tolist() == [1, -1]


def test_shift_changes_nothing():
    X = np.random.default_rng(0).normal(size=(60, 2))
    for kernel in ("linear", "rbf"):
        one, other = (SVDD(kernel=kernel).fit(A) for A in (X, X + 1e4))
        assert one.dual_objective_ == pytest.approx(other.dual_objective_, rel=1e-6)


def test_far_from_zero():
    X = np.random.default_rng(0).integers(0, 64, size=(100, 3)) / 8  # the shift rounds none of them
    one, other = (SVDD().fit(A) for A in (X, X + 2.0**27))
    assert one.dual_objective_ == pytest.approx(other.dual_objective_, rel=1e-9)


def test_weights_do_not_depend_on_the_order():
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert ball_weights(X[::-1], 0.1)[::-1] == pytest.approx(ball_weights(X, 0.1), abs=1e-6)


def test_invalid_input_is_refused():
    X = np.random.default_rng(0).normal(size=(8, 2))
    with pytest.raises(ValueError, match=r"C=0.1 is too small for n_samples=8.*at least 1 / n = 0.125"):
        SVDD().fit(X)
    with pytest.raises(ValueError, match="kernel='poly' is unknown"):
        SVDD(kernel="poly", C=1).fit(X)
    with pytest.raises(ValueError, match="gamma=-1 must be a positive number"):
        SVDD(gamma=-1, C=1).fit(X)
