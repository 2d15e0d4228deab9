"""The compiled order and the set that counts itself, against NumPy."""

import numpy as np
import pytest

from transvariation.depth.precedence import earlier_in_both

pytest.importorskip("numba")

KINDS = {
    "bell": lambda rng, n: np.abs(rng.normal(size=n)),
    "rounded": lambda rng, n: np.round(np.abs(rng.normal(size=n)), 1),
    "heavy tail": lambda rng, n: np.abs(rng.standard_cauchy(n)) ** 3,
    "crowded far away": lambda rng, n: 1e9 + rng.integers(0, 50, n) * 1e-7,
    "one ulp apart": lambda rng, n: np.where(rng.random(n) < 0.5, 1.0, np.nextafter(1.0, 2.0)),
    "zeros of both signs": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "subnormal": lambda rng, n: rng.random(n) * 1e-310,
    "huge": lambda rng, n: rng.random(n) * 1.7e308,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 50, 400, 70_000])
def test_values_come_in_order_and_equal_ones_are_marked(kind, n):
    from transvariation.depth.compiled.order import order

    values = KINDS[kind](np.random.default_rng(n), n)
    for base in (0.0, values.min(), -1.7e308 if kind == "huge" else -1.0):
        positions, tied = np.empty(n, np.int32), np.empty(n, np.uint8)
        ties = order(values, base, positions, tied, *np.empty((2, n), np.uint64))
        ordered = values[positions]
        np.testing.assert_array_equal(ordered, np.sort(values))
        np.testing.assert_array_equal(np.bincount(positions), np.ones(n))
        equal = np.append(False, ordered[1:] == ordered[:-1])
        np.testing.assert_array_equal(tied != 0, equal)
        assert ties == equal.any()


@pytest.mark.parametrize("n", [63, 64, 1_025, 16_385, 131_073, (1 << 20) + (1 << 17) + 5])
def test_a_set_of_any_size_counts_its_members(n):
    from transvariation.depth.compiled.plane import _outside_in

    rank = np.random.default_rng(n).permutation(n).astype(np.int32)
    beyond = np.empty(n, np.int32)
    _outside_in(n, rank, rank, beyond)  # takes in the last one first
    from_largest = n - 1 - rank[::-1].astype(np.int64)
    np.testing.assert_array_equal(beyond[::-1], earlier_in_both(from_largest))
