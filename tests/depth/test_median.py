"""The spatial median against R, at the places where Newton's method has no derivative, and its number of passes."""

import numpy as np
import pytest

from transvariation import TOCC, spatial_median
from transvariation.depth import median

CASES = ["odd1", "even1", "ties1", "glass_k_mg", "glass_pc89", "gauss5", "glass9", "cross2", "heavy_point2"]
CASES += ["just_inside2", "just_outside2", "just_inside5", "just_outside9", "double_point9", "collinear_odd2"]
CASES += ["collinear_odd5", "collinear_even2", "triangle_obtuse2", "triangle_acute2", "offset2"]


def objective(X, m):
    return float(np.linalg.norm(X - m, axis=1).sum())


def test_every_reference_case_is_tested(reference):
    assert set(reference.case("case05_spatial_median")) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_equals_r(reference, name):
    case = reference.case("case05_spatial_median")[name]
    X = reference.table(f"median_{name}")
    m, expected = spatial_median(X), np.atleast_1d(np.asarray(case["median"], dtype=float))
    assert objective(X, m) <= case["objective"] * (1 + 1e-12)
    if case["kind"] == "data point" and case["unique"]:
        np.testing.assert_array_equal(m, expected)
    elif case["unique"]:
        tolerance = 1e-4 if name.startswith("just_") else 1e-7
        np.testing.assert_allclose(m, expected, rtol=0, atol=tolerance * case.get("scale", 1.0))


@pytest.mark.parametrize(
    ("draw", "p"),
    [
        (lambda r, size: r.normal(size=size), 2),
        (lambda r, size: np.round(r.normal(size=size), 1), 2),
        (lambda r, size: r.standard_cauchy(size=size), 2),
        (lambda r, size: r.exponential(size=size), 5),
    ],
    ids=["normal", "rounded", "Cauchy", "exponential, five variables"],
)
def test_at_most_five_passes_over_a_large_sample(monkeypatch, draw, p):
    X = draw(np.random.default_rng(0), (200_000, p))
    calls, original = [], median._pass
    monkeypatch.setattr(median, "_pass", lambda X, *rest: calls.append(len(X)) or original(X, *rest))
    m = spatial_median(X)
    assert calls.count(len(X)) <= 5
    # Where it lies, the unit vectors to the sample cancel, but for what units at m itself may hold.
    difference = X - m
    distance = np.linalg.norm(difference, axis=1)
    pull = np.linalg.norm((difference[distance > 0] / distance[distance > 0, None]).sum(axis=0))
    assert pull <= np.count_nonzero(distance == 0) + 1e-7 * len(X)


def test_degenerate_samples():
    assert spatial_median([[2.0, 3.0]]).tolist() == [2.0, 3.0]
    assert spatial_median([[0.0, 0.0], [2.0, 4.0]]).tolist() == [1.0, 2.0]
    assert spatial_median(np.tile([0.1, 0.7], (50, 1))).tolist() == [0.1, 0.7]
    two = np.repeat([[0.0, 0.0], [1.0, 1.0]], [4, 6], axis=0)
    assert spatial_median(two).tolist() == [1.0, 1.0]
    signed = np.array([[-0.0, 0.0], [0.0, -0.0], [-0.0, -0.0], [1.0, 5.0], [-3.0, 2.0]])
    assert (spatial_median(signed) == 0).all()
    assert spatial_median(np.zeros((9, 3))).tolist() == [0.0, 0.0, 0.0]


def test_a_large_sample_on_one_line():
    t = np.random.default_rng(1).permutation(np.arange(-30_000.0, 30_001.0))
    np.testing.assert_array_equal(spatial_median(np.column_stack([t, 2 * t, -t])), 0.0)


@pytest.mark.parametrize("p", [2, 3, 8])
@pytest.mark.parametrize("seed", range(4))
def test_collinear_sample_has_the_midpoint_of_its_two_central_points(p, seed):
    rng = np.random.default_rng(seed)
    t = rng.normal(size=80_000)
    low, high = np.sort(t)[len(t) // 2 - 1 : len(t) // 2 + 1]
    along_axis = np.column_stack([t, *np.zeros((p - 1, len(t)))])
    np.testing.assert_allclose(spatial_median(along_axis)[0], (low + high) / 2, rtol=1e-14)
    origin, direction = rng.normal(size=(2, p))
    expected = origin + direction * (low + high) / 2
    np.testing.assert_allclose(spatial_median(origin + np.outer(t, direction)), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("power", [-1060, -1000, -600, 600, 1020])
def test_numbers_whose_squares_overflow_or_vanish(power):
    X = np.random.default_rng(2).integers(-8, 9, size=(99, 2)) / 4.0
    unit = 2.0**power
    atol = 1e-12 * unit + 5e-324  # where numbers are denormal, to the last bit
    np.testing.assert_allclose(spatial_median(X * unit), spatial_median(X) * unit, rtol=1e-12, atol=atol)


def test_rotation_and_shift_equivariance():
    X = np.random.default_rng(6).normal(size=(300, 3))
    m = spatial_median(X)
    rotation = np.linalg.qr(np.random.default_rng(7).normal(size=(3, 3)))[0]
    np.testing.assert_allclose(spatial_median(X @ rotation + 5.0), m @ rotation + 5.0, atol=1e-10)
    np.testing.assert_allclose(spatial_median(X[::-1]), m, atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 1e-9, 3.0])
def test_a_constant_variable_keeps_its_value(value):
    rng = np.random.default_rng(3)
    for p in (2, 3, 4):
        X = np.insert(rng.normal(size=(20, 80, p)) + 5, p // 2, value, axis=2)
        for sample in X:
            assert spatial_median(sample)[p // 2] == value


def test_a_constant_variable_changes_no_decision():
    rng = np.random.default_rng(0)
    X, Z = (rng.normal(size=(n, 2)).round(2) + 5 for n in (80, 200))
    X0, Z0 = (np.insert(A, 1, 0, axis=1) for A in (X, Z))
    for calibration in ("resubstitution", "loo"):
        classifiers = (
            TOCC(calibration=calibration, sensitivity=0.6).fit(X),
            TOCC(calibration=calibration, sensitivity=0.6),
        )
        np.testing.assert_array_equal(classifiers[1].fit(X0).predict(Z0), classifiers[0].predict(Z))


def test_fewer_objects_than_variables():
    rng = np.random.default_rng(0)
    turned = np.linalg.qr(rng.normal(size=(80, 80)))[0][:3]  # three dimensions, somewhere among 80
    for X in (rng.normal(size=(25, 3)), np.outer([0.0, 1, 5, 9], [1, 2, 3]), np.vstack([np.zeros((9, 3)), np.eye(3)])):
        np.testing.assert_allclose(spatial_median(X @ turned), spatial_median(X) @ turned, atol=1e-14)


def test_a_data_point_and_a_constant_are_exact_among_many_variables():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(20, 60)), np.full((15, 60), 0.1)])
    np.testing.assert_array_equal(spatial_median(X), X[-1])
    X[:, 7] = 0.3
    assert spatial_median(X[:20])[7] == 0.3


def test_few_rows_in_many_variables_need_little_memory():
    X = np.random.default_rng(2).normal(size=(20, 5_000))  # a matrix of all variables would hold 200 MB
    m = spatial_median(X)
    unit = (X - m) / np.linalg.norm(X - m, axis=1)[:, None]
    assert np.linalg.norm(unit.sum(axis=0)) < 1e-12
