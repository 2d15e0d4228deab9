"""Both kernels against the definition, on data that would catch an inexact one, and their parts."""

import subprocess
import sys
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from transvariation import acceleration
from transvariation.depth import counting
from transvariation.depth.counting import count_in_boxes, count_transvariations

KINDS = {
    "normal": lambda r, n, p: r.normal(size=(n, p)),
    "rounded": lambda r, n, p: np.round(r.normal(size=(n, p)), 1),
    "lattice with -0.0": lambda r, n, p: r.integers(-2, 3, size=(n, p)) * r.choice([-1.0, 1.0], size=(n, p)),
    "duplicates": lambda r, n, p: r.normal(size=(n // 5 + 1, p))[r.integers(0, n // 5 + 1, size=n)],
    "one-ulp gaps": lambda r, n, p: 1 + r.integers(-4, 5, size=(n, p)) * np.spacing(1.0),
    "Cauchy": lambda r, n, p: r.standard_cauchy(size=(n, p)),
    "denormal": lambda r, n, p: r.integers(-5, 6, size=(n, p)) * 5e-324,
    "huge": lambda r, n, p: r.normal(size=(n, p)) * 1e307,
    "all on one side": lambda r, n, p: np.abs(r.normal(size=(n, p))) + 1,
    "crowded far from the center": lambda r, n, p: (
        1e6 + r.choice([-1e3, 1e3], size=(n, 1)) + r.integers(-99, 99, size=(n, p)) * 1e-9
    ),
}


def count_one(X, m, c):
    """Count as the definition reads, for one object."""
    lower, opened = c < m, c != m
    beyond = np.where(lower, c > X, c < X)[:, opened].all(axis=1).sum()
    side = np.where(lower, m > X, m < X)[:, opened].all(axis=1).sum()
    return beyond, (c == X)[:, opened].all(axis=1).sum(), side, (m == X)[:, opened].all(axis=1).sum(), opened.sum()


def by_definition(X, m, Z):
    return np.array([count_one(X, m, c) for c in Z], dtype=np.int64).reshape(-1, 5).T


@pytest.fixture(params=["plain", "plain, divided", "compiled"])
def kernels(request, monkeypatch):
    """Run either kernel on small problems; let the plain one divide the units as if they were many."""
    if request.param == "compiled":
        pytest.importorskip("numba")
    monkeypatch.setattr(acceleration, "COMPILE_FROM", 0 if request.param == "compiled" else sys.maxsize)
    if request.param == "plain, divided":
        monkeypatch.setattr(counting, "_MAX_BITS", 1000)
        monkeypatch.setattr(counting, "_BLOCK_WORDS", 40)
        monkeypatch.setattr(counting, "_MANY_ROWS", 0)


# Compiled code counts in two and three variables.
KERNELS = [*product(["plain", "plain, divided"], [1, 2, 3, 4, 6]), ("compiled", 2), ("compiled", 3)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("kernels", "p"), KERNELS, indirect=["kernels"])
def test_every_kernel_equals_the_definition(kernels, kind, p):
    rng = np.random.default_rng(p)
    for n in (1, 2, 150):
        X = KINDS[kind](rng, n, p)
        outside = np.where(np.arange(p) == 0, X[0], X.min(axis=0) - 1)  # shares one coordinate with a unit
        for m in (np.median(X, axis=0), X[0], outside):
            Z = np.concatenate([X[::4], KINDS[kind](rng, 20, p), X[:1], m[None], -X[:2]])
            np.testing.assert_array_equal(count_transvariations(X, m, X), by_definition(X, m, X))
            np.testing.assert_array_equal(count_transvariations(X, m, Z), by_definition(X, m, Z))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [2, 3])
def test_compiled_and_plain_kernels_agree(kind, p, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    # In three variables an orthant must hold more than the 1024 items that are compared pair by pair.
    X, Z = KINDS[kind](rng, 12_000 if p == 3 else 6_000, p), KINDS[kind](rng, 500, p)
    m = np.median(X, axis=0)
    results = []
    for size in (0, sys.maxsize):
        monkeypatch.setattr(acceleration, "COMPILE_FROM", size)
        results.append([count_transvariations(X, m, X), count_transvariations(X, m, Z)])
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, plain)
    rows = rng.integers(0, len(Z), 30)
    np.testing.assert_array_equal(np.array(results[0][1])[:, rows], by_definition(X, m, Z[rows]))


lattice = st.sampled_from([-1.0, -0.0, 0.0, 5e-324, 1.0, 1.0 + 2**-52])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_small_lattice(data):
    p = data.draw(st.integers(1, 4))
    X = data.draw(arrays(float, (data.draw(st.integers(1, 12)), p), elements=lattice))
    Z = data.draw(arrays(float, (data.draw(st.integers(0, 8)), p), elements=lattice))
    m = data.draw(arrays(float, p, elements=lattice))
    for bits, many in ((1 << 20, 500), (p, 0)):
        with patch.object(counting, "_MAX_BITS", bits), patch.object(counting, "_MANY_ROWS", many):
            np.testing.assert_array_equal(count_transvariations(X, m, Z), by_definition(X, m, Z))
            np.testing.assert_array_equal(count_transvariations(X, m, X), by_definition(X, m, X))


@pytest.mark.parametrize("p", [1, 2, 3, 70])
def test_counts_do_not_depend_on_the_other_objects(kernels, p):
    rng = np.random.default_rng(1)
    X, Z = np.round(rng.normal(size=(90, p)), 1), np.round(rng.normal(size=(60, p)), 1)
    m = X[0]
    together = np.array(count_transvariations(X, m, Z))
    parts = [np.array(count_transvariations(X, m, Z[rows])) for rows in ([3], slice(0, 7), slice(7, 60))]
    np.testing.assert_array_equal(parts[0][:, 0], together[:, 3])
    np.testing.assert_array_equal(np.hstack(parts[1:]), together)
    as_sample = np.array(count_transvariations(X, m, X))
    np.testing.assert_array_equal(np.array(count_transvariations(X, m, X.copy())), as_sample)


def test_fortran_order_and_strides_do_not_matter(kernels):
    rng = np.random.default_rng(2)
    X = np.round(rng.normal(size=(240, 4)), 1)
    m = X[5]
    for view in (np.asfortranarray(X), X[::2], X[:, ::2]):
        center = m if view.shape[1] == 4 else m[::2]
        np.testing.assert_array_equal(count_transvariations(view, center, view), by_definition(view, center, view))


@pytest.mark.parametrize("p", [1, 2, 3, 5])
@pytest.mark.parametrize("bits", [10, 5000, 1 << 23])
def test_boxes_of_any_bounds(p, bits, monkeypatch):
    monkeypatch.setattr(counting, "_MAX_BITS", bits)
    rng = np.random.default_rng(p)
    n = 130
    order = np.array([rng.permutation(n) for _ in range(p)])
    bounds = np.sort(rng.integers(0, n + 1, size=(2, p, 200)), axis=0)
    bounds[:, 0, :50] = [[0], [n]]  # one variable excludes no unit
    places = np.argsort(order, axis=1)[:, :, None]
    expected = ((places >= bounds[0][:, None]) & (places < bounds[1][:, None])).all(axis=0).sum(axis=0)
    np.testing.assert_array_equal(count_in_boxes(order, bounds), expected)


def test_no_objects():
    counts = count_transvariations(np.zeros((3, 2)), np.zeros(2), np.zeros((0, 2)))
    assert all(len(column) == 0 for column in counts)


def test_small_problems_do_not_import_numba():
    code = (
        "import sys, numpy as np; from transvariation import transvariation_probability as tp;"
        "X = np.random.default_rng(0).normal(size=(5000, 2)); tp(X, X); tp(X[:, :1], X[:, :1]);"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
