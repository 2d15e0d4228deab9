"""Leaving one out, quickly: the same numbers as n descriptions from scratch."""

import tracemalloc

import numpy as np
import pytest

from transvariation import TOCC, load_glass, make_scenario, spatial_median, transvariation_probability
from transvariation.depth.leave_one_out import leave_one_out_probability
from transvariation.depth.medians_without_each import medians_without_each


def by_hand(X, rows, **options):
    return [transvariation_probability(np.delete(X, i, axis=0), X[[i]], **options)[0] for i in rows]


def samples():
    rng = np.random.default_rng(0)
    yield "small", rng.normal(size=(30, 2))
    yield "plane", rng.normal(size=(400, 2))
    yield "rounded", rng.normal(size=(400, 2)).round(1)
    yield "skew", rng.lognormal(size=(300, 3))
    yield "many variables", rng.normal(size=(420, 18))
    yield "lattice", rng.integers(0, 5, size=(600, 2)).astype(float)
    yield "mirrored", np.vstack([half := rng.normal(size=(200, 2)), -half])
    yield "one off the line", np.vstack([np.outer(rng.normal(size=80), [1.0, 2.0]), [[0.0, 1.0]]])
    yield "five", rng.normal(size=(260, 5)) * [1, 10, 0.1, 1, 1000]
    yield "line", rng.normal(size=(250, 1)) @ np.ones((1, 2))
    yield "heavy point", np.vstack([np.zeros((150, 2)), rng.normal(size=(151, 2))])
    yield "one variable, odd", rng.normal(size=(251, 1)).round(2)
    yield "one variable, even", rng.normal(size=(250, 1)).round(2)
    yield "glass", load_glass().control[["Si", "Mg"]].to_numpy()
    yield "fewer objects than variables", rng.normal(size=(40, 90)).round(1)
    yield "many variables, constant and repeated", np.repeat(rng.normal(size=(50, 70)) * (np.arange(70) % 3 > 0), 2, 0)
    yield "many variables, heavy point", np.vstack([np.zeros((20, 60)), rng.normal(size=(21, 60))])
    yield "many variables, on a line", np.outer(rng.uniform(0.5, 2, 40), rng.normal(size=60))
    yield "many variables, two distinct rows", rng.normal(size=(2, 60))[np.arange(20) % 2]
    yield "many variables, mostly 0", (rng.random((150, 60)) < 0.02) * 1.0
    yield "many variables, one in a tiny unit", rng.normal(size=(40, 60)) * np.append(np.ones(59), 1e13)
    yield "a constant variable", np.insert(rng.normal(size=(80, 2)).round(2) + 5, 1, 0, axis=1)
    yield "two", rng.normal(size=(2, 2))
    yield "three", rng.normal(size=(3, 2))


@pytest.mark.parametrize(("name", "X"), list(samples()), ids=lambda value: value if isinstance(value, str) else "")
def test_equals_n_descriptions(name, X):
    rows = range(0, len(X), max(1, len(X) // 100))
    np.testing.assert_array_equal(leave_one_out_probability(X)[rows], by_hand(X, rows))


@pytest.mark.parametrize("options", [{"ties": "literal"}, {"tau_max": "half"}, {"tau_max": "product"}])
def test_every_option(options):
    X = np.random.default_rng(1).normal(size=(90, 2)).round(1)
    np.testing.assert_array_equal(leave_one_out_probability(X, **options), by_hand(X, range(90), **options))


@pytest.mark.parametrize("p", [2, 3, 14])
def test_medians_lie_between_the_same_values_as_the_medians(p):
    X = np.random.default_rng(2).standard_t(3, size=(1000, p))
    M = medians_without_each(X)
    for i in range(0, 1000, 50):
        median = spatial_median(np.delete(X, i, axis=0))
        np.testing.assert_array_equal((M[i] > X).sum(axis=0), (median > X).sum(axis=0))
        np.testing.assert_allclose(M[i], median, atol=1e-4)


def test_medians_that_come_to_lie_on_an_object_are_not_sought_one_by_one(monkeypatch):
    # Between two clusters one object is so close to the median that it is itself the median without some others.
    X = make_scenario("d", n_target=200, shift=1.0, random_state=0)[0]
    expected = np.array([spatial_median(np.delete(X, i, axis=0)) for i in range(200)])
    there = (expected[:, None] == X).all(axis=2).any(axis=1)
    assert there.sum() > 20
    sought, module = [], "transvariation.depth.medians_without_each"
    monkeypatch.setattr(f"{module}.spatial_median_of_rows", lambda X: sought.append(X) or spatial_median(X))
    M = medians_without_each(X, spatial_median(X))
    np.testing.assert_array_equal(M[there], expected[there])
    assert len(sought) <= 5
    np.testing.assert_array_equal(leave_one_out_probability(X), by_hand(X, range(200)))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_at_the_ends_of_the_range(scale):
    X = np.random.default_rng(3).normal(size=(60, 2))
    np.testing.assert_array_equal(leave_one_out_probability(X * scale), by_hand(X, range(60)))


@pytest.mark.parametrize("held", [True, False])
def test_few_medians_of_many_variables_are_sought_one_by_one(monkeypatch, held):
    rng = np.random.default_rng(6)
    X = (rng.random((200, 60)) < 0.005) * 1.0 if held else rng.normal(size=(100, 60)) * np.append(np.ones(59), 1e13)
    sought, module = [], "transvariation.depth.medians_of_wide"
    monkeypatch.setattr(f"{module}.spatial_median_of_rows", lambda X: sought.append(X) or spatial_median(X))
    medians_without_each(X)
    assert len(sought) < 20


def test_many_variables_take_no_cube_of_them():
    X = np.random.default_rng(5).normal(size=(30, 800))
    tracemalloc.start()
    medians = medians_without_each(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6 < 8 * 800**3
    np.testing.assert_allclose(medians[3], spatial_median(np.delete(X, 3, axis=0)), rtol=0, atol=1e-12)


def test_memory_does_not_grow_with_the_square():
    X = np.random.default_rng(4).normal(size=(20_000, 2))
    tracemalloc.start()
    TOCC(calibration="loo").fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * X.nbytes  # n^2 numbers would be 10 000 times
