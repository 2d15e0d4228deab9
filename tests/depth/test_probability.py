"""tp: R's counts, invariances, limits, and errors about arguments."""

import sys

import numpy as np
import pytest

from transvariation import acceleration
from transvariation import transvariation_probability as tp
from transvariation.depth.counting import count_transvariations
from transvariation.depth.probability import TAU_MAX

DATA = ["glass_k_mg", "glass_si_mg", "glass_pc89", "blobs2", "banana2", "skew2", "glass_mg1", "mix1"]
DATA += ["glass_na_mg_al3", "blobs3", "ties1", "ties1_even", "ties2", "ties3"]


def numbers(values):
    return np.array([np.nan if v is None else float(v) for v in values])


@pytest.mark.parametrize("name", DATA)
def test_counts_and_ratio_equal_those_of_r(reference, name):
    case = reference.case("case06_tp")[name]
    X = reference.table(name)
    parts = [X] + [reference.table(f"{name}_{part}") for part in ("query", "nontarget") if part in case["rows"]]
    Z = np.concatenate(parts)
    for about in case["centres"].values():
        m = np.atleast_1d(np.asarray(about["centre"], dtype=float))
        counts = count_transvariations(X, m, Z)
        opened = counts.n_open == case["p"]
        # R counts as printed: a coordinate shared with the center makes every product zero.
        np.testing.assert_array_equal(np.where(opened, counts.beyond, 0), about["s_X"])
        np.testing.assert_array_equal(np.where(opened, counts.side, 0), about["s_Y"])
        np.testing.assert_array_equal(counts.at, about["s0_X"])
        np.testing.assert_array_equal(counts.center, about["s0_Y"])
        expected = numbers(about["tp"])
        assert np.isnan(expected).sum() == about["undefined"]
        np.testing.assert_array_equal(tp(X, Z, m, ties="literal"), np.nan_to_num(expected, posinf=np.inf))  # 0/0 = 0
        proper = tp(X, Z, m)
        np.testing.assert_array_equal(proper[opened], np.nan_to_num(expected)[opened])
        assert ((proper >= 0) & (proper <= 1)).all()
        if "tp_discreta" in about:
            np.testing.assert_allclose(tp(X, Z, m, tau_max="half", ties="literal"), about["tp_discreta"], rtol=1e-15)


def test_shared_coordinates_by_hand():
    X = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0], [3.0, -1.0], [-1.0, 3.0]])
    m = np.zeros(2)
    # c = (1, 0): the second variable drops out; beyond 1 are {2, 3}, at 1 is one; right of 0 are three, at 0 is one.
    assert tp(X, [[1.0, 0.0]], m) == pytest.approx((2 + 1 / 2) / (3 + 1 / 2))
    # As printed only zero products count, at weight 1/2: one unit at 1, one at 0.
    assert tp(X, [[1.0, 0.0]], m, ties="literal") == 1.0
    assert tp(X, [[0.0, 0.0]], m) == 1.0
    assert tp(X[[1, 2]], [[-1.0, -1.0]], m) == 0.0  # 0/0: no unit on that side, none at the center


@pytest.mark.parametrize("tau_max", TAU_MAX)
@pytest.mark.parametrize("p", [1, 2, 3, 5])
def test_tp_is_between_0_and_1(tau_max, p):
    rng = np.random.default_rng(p)
    X, Z = np.round(rng.normal(size=(120, p)), 1), np.round(rng.normal(size=(80, p)), 1)
    for m in (None, X[0], np.median(X, axis=0), X.min(axis=0), X.max(axis=0) + 1):
        values = tp(X, np.concatenate([X, Z]), m, tau_max=tau_max)
        assert ((values >= 0) & (values <= 1)).all()


@pytest.mark.parametrize("ties", ["proper", "literal"])
@pytest.mark.parametrize("tau_max", TAU_MAX)
def test_invariances(tau_max, ties):
    rng = np.random.default_rng(4)
    X, Z = rng.integers(-20, 21, size=(150, 3)) / 8, rng.integers(-20, 21, size=(60, 3)) / 8
    m = X[7]
    expected = tp(X, Z, m, tau_max=tau_max, ties=ties)
    shift, scale = np.array([4.0, -1024.0, 0.5]), np.array([2.0, 1 / 64, 2.0**40])
    assert (tp(X + shift, Z + shift, m + shift, tau_max=tau_max, ties=ties) == expected).all()
    assert (tp(X * scale, Z * scale, m * scale, tau_max=tau_max, ties=ties) == expected).all()
    assert (tp(-X, -Z, -m, tau_max=tau_max, ties=ties) == expected).all()
    assert (tp(rng.permutation(X), Z, m, tau_max=tau_max, ties=ties) == expected).all()
    columns = [2, 0, 1]
    permuted = tp(X[:, columns], Z[:, columns], m[columns], tau_max=tau_max, ties=ties)
    np.testing.assert_allclose(permuted, expected, rtol=1e-15)  # "product" multiplies in another order


def test_product_multiplies_univariate_tp():
    rng = np.random.default_rng(5)
    X, Z = rng.normal(size=(50, 2)), rng.normal(size=(9, 2))
    each = [tp(X[:, u], Z[:, u], tau_max="half") for u in range(2)]
    np.testing.assert_array_equal(tp(X, Z, tau_max="product"), each[0] * each[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(X=[[1.0, np.nan]], Z=[[1.0, 2.0]]), "X has nan in row 0, column 1"),
        (dict(X=[[1.0, 2.0]], Z=[[np.inf, 2.0]]), "Z has inf in row 0, column 0"),
        (dict(X=[[1e308, 1e308], [np.inf, -np.inf]], Z=[[1.0, 2.0]]), "X has inf in row 1, column 0"),
        (dict(X=np.zeros((0, 2)), Z=[[1.0, 2.0]]), "X has no rows"),
        (dict(X=[[1.0, 2.0]], Z=[[1.0]]), "X has 2 variables and Z has 1"),
        (dict(X=np.zeros((2, 2, 2)), Z=[[1.0]]), "shape"),
        (dict(X=[[1.0, 2.0]], Z=[[1.0, 2.0]], center=[1.0]), "must be 2 finite numbers"),
        (dict(X=[[1.0, 2.0]], Z=[[1.0, 2.0]], center=[1.0, np.nan]), "must be 2 finite numbers"),
        (dict(X=[[1.0, 2.0]], Z=[[1.0, 2.0]], tau_max="most"), "tau_max='most' is unknown"),
        (dict(X=[[1.0, 2.0]], Z=[[1.0, 2.0]], ties="loose"), "ties='loose' is unknown"),
    ],
)
def test_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        tp(**arguments)


def test_hundreds_of_variables():
    X = np.random.default_rng(0).normal(size=(5, 300))
    assert np.isfinite(tp(X, X + 1.0)).all()


def test_one_unit_constant_columns_and_more_variables_than_units():
    assert tp([[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]).tolist() == [1.0, 0.0]
    X = np.column_stack([np.ones(20), np.arange(20.0)])
    values = tp(X, X)
    assert ((values > 0) & (values <= 1)).all()
    wide = np.random.default_rng(0).normal(size=(5, 80))
    assert tp(wide, wide).shape == (5,)
    assert (tp([1e308, -1e308, 1e308], [1e308]) >= 0).all()  # sums of such numbers overflow; they are finite


@pytest.mark.parametrize("ties", ["proper", "literal"])
@pytest.mark.parametrize("p", [2, 3])
def test_compiled_and_plain_tp_agree(p, ties, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(p)
    X, Z = np.round(rng.normal(size=(400, p)), 1), np.round(rng.normal(size=(90, p)) * 1.5, 1)
    m = np.median(X, axis=0)  # on the lattice: some objects share coordinates with it, some all of them
    Z[0] = m
    results = []
    for size in (0, sys.maxsize):
        monkeypatch.setattr(acceleration, "COMPILE_FROM", size)
        results.append([tp(X, objects, m, ties=ties) for objects in (X, Z)])
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, plain)
