"""Every kernel against the obvious count, on data that would catch an inexact one."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from transvariation import acceleration
from transvariation.depth import counting, dominance
from transvariation.depth.counting import _count_one, count_transvariations
from transvariation.depth.equality import count_equal

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
    "crowded far from the centre": lambda r, n, p: (
        1e6 + r.choice([-1e3, 1e3], size=(n, 1)) + r.integers(-99, 99, size=(n, p)) * 1e-9
    ),
}


def obvious(X, m, Z):
    return np.array([_count_one(X, m, c) for c in Z], dtype=np.int64).reshape(-1, 5).T


@pytest.fixture(params=["plain", "compiled", "as it comes"])
def kernels(request, monkeypatch):
    """Force the large-problem kernels on small problems."""
    if request.param == "compiled":
        pytest.importorskip("numba")
    if request.param != "as it comes":
        monkeypatch.setattr(acceleration, "COMPILE_FROM", 0 if request.param == "compiled" else sys.maxsize)
        for name in ("_FEW", "_SMALL", "_SMALL_GROUP"):
            monkeypatch.setattr(counting, name, 0)
        monkeypatch.setattr(dominance, "_BLOCK", 64)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1, 2, 3, 4, 6])
def test_every_kernel_equals_the_obvious_count(kernels, kind, p):
    rng = np.random.default_rng(p)
    for n in (1, 2, 150):
        X = KINDS[kind](rng, n, p)
        outside = np.where(np.arange(p) == 0, X[0], X.min(axis=0) - 1)  # shares one coordinate with a unit
        for m in (np.median(X, axis=0), X[0], outside):
            Z = np.concatenate([X[::4], KINDS[kind](rng, 20, p), X[:1], m[None], -X[:2]])
            np.testing.assert_array_equal(count_transvariations(X, m, X), obvious(X, m, X))
            np.testing.assert_array_equal(count_transvariations(X, m, Z), obvious(X, m, Z))


@pytest.mark.parametrize("kind", ["normal", "rounded", "duplicates", "Cauchy", "crowded far from the centre"])
@pytest.mark.parametrize("p", [2, 3, 5])
def test_compiled_and_plain_agree_to_the_last_bit(kind, p, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    X, Z = KINDS[kind](rng, 6_000, p), KINDS[kind](rng, 500, p)
    m = np.median(X, axis=0)
    results = []
    for size in (0, sys.maxsize):
        monkeypatch.setattr(acceleration, "COMPILE_FROM", size)
        results.append([count_transvariations(X, m, X), count_transvariations(X, m, Z)])
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, plain)
    rows = rng.integers(0, len(Z), 30)
    np.testing.assert_array_equal(np.array(results[0][1])[:, rows], obvious(X, m, Z[rows]))


lattice = st.sampled_from([-1.0, -0.0, 0.0, 5e-324, 1.0, 1.0 + 2**-52])


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_small_lattice(data):
    p = data.draw(st.integers(1, 4))
    X = data.draw(arrays(float, (data.draw(st.integers(1, 12)), p), elements=lattice))
    Z = data.draw(arrays(float, (data.draw(st.integers(0, 8)), p), elements=lattice))
    m = data.draw(arrays(float, p, elements=lattice))
    few, small, group = counting._FEW, counting._SMALL, counting._SMALL_GROUP
    try:
        for limit in (few, 0):
            counting._FEW, counting._SMALL, counting._SMALL_GROUP = limit, small * bool(limit), group * bool(limit)
            np.testing.assert_array_equal(count_transvariations(X, m, Z), obvious(X, m, Z))
            np.testing.assert_array_equal(count_transvariations(X, m, X), obvious(X, m, X))
    finally:
        counting._FEW, counting._SMALL, counting._SMALL_GROUP = few, small, group


@pytest.mark.parametrize("p", [1, 2, 3, 70])
def test_a_result_does_not_depend_on_its_batch(kernels, p):
    rng = np.random.default_rng(1)
    X, Z = np.round(rng.normal(size=(300, p)), 1), np.round(rng.normal(size=(60, p)), 1)
    m = X[0]
    together = np.array(count_transvariations(X, m, Z))
    parts = [np.array(count_transvariations(X, m, Z[rows])) for rows in ([3], slice(0, 7), slice(7, 60))]
    np.testing.assert_array_equal(parts[0][:, 0], together[:, 3])
    np.testing.assert_array_equal(np.hstack(parts[1:]), together)
    as_sample = np.array(count_transvariations(X, m, X))
    np.testing.assert_array_equal(np.array(count_transvariations(X, m, X.copy())), as_sample)


def test_columns_in_fortran_order_and_strided_rows(kernels):
    rng = np.random.default_rng(2)
    X = np.round(rng.normal(size=(240, 4)), 1)
    m = X[5]
    for view in (np.asfortranarray(X), X[::2], X[:, ::2]):
        centre = m if view.shape[1] == 4 else m[::2]
        np.testing.assert_array_equal(count_transvariations(view, centre, view), obvious(view, centre, view))


def test_no_objects():
    counts = count_transvariations(np.zeros((3, 2)), np.zeros(2), np.zeros((0, 2)))
    assert all(len(column) == 0 for column in counts)


def test_equal_rows_by_hand():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 1.0], [0.0, 2.0]])
    assert count_equal(X, X).tolist() == [2, 2, 1, 1]
    assert count_equal(X, np.array([[0.0, 1.0], [5.0, 1.0]])).tolist() == [2, 0]


def test_small_problems_do_not_even_import_the_compiler():
    code = (
        "import sys, numpy as np; from transvariation import transvariation_probability as tp;"
        "X = np.random.default_rng(0).normal(size=(5000, 2)); tp(X, X); tp(X[:, :1], X[:, :1]);"
        "assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
