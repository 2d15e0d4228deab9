"""The parts of the compiled kernel: orders and counts of earlier items."""

import numpy as np
import pytest

pytest.importorskip("numba")

from transvariation.depth.compiled.counting import _count_two, _order

KINDS = {
    "bell": lambda rng, n: np.abs(rng.normal(size=n)),
    "rounded": lambda rng, n: np.round(np.abs(rng.normal(size=n)), 1),
    "heavy tail": lambda rng, n: np.abs(rng.standard_cauchy(n)) ** 5,
    "one far out": lambda rng, n: np.append(rng.random(n - 1), 1e30),
    "crowded far away": lambda rng, n: 1e9 + rng.integers(0, 50, n) * 1e-7,
    "one ulp apart": lambda rng, n: rng.choice([0.0, 1.0, np.nextafter(1.0, 2.0), 1e9], size=n),
    "zeros of both signs": lambda rng, n: rng.choice([0.0, -0.0], size=n),
    "subnormal": lambda rng, n: rng.integers(0, 18, size=n) * 5e-324,
    "subnormal and not": lambda rng, n: rng.choice([5e-324, 1e-323, 0.0, 1.0], size=n),
    "huge": lambda rng, n: rng.random(n) * 1.7e308,
    "constant": lambda rng, n: np.full(n, 7.0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 50, 400, 70_000])
def test_order_is_that_of_a_stable_sort(kind, n):
    rng = np.random.default_rng(n)
    values = KINDS[kind](rng, n)
    for base in (0.0, values.min(), -1.7e308 if kind == "huge" else -1.0):
        for items in (np.arange(n), rng.permutation(n)):
            out = np.empty(n, np.uint32)
            ties = _order(values, base, items.astype(np.uint32), *np.empty((2, n), np.uint64), out)
            expected = items[np.argsort(values[items], kind="stable")]
            np.testing.assert_array_equal(out, expected)
            assert ties == (np.diff(values[expected]) == 0).any()


@pytest.mark.parametrize("n", [63, 64, 1_025, 16_385, 131_073])
def test_count_of_earlier_items_of_smaller_rank(n):
    rng = np.random.default_rng(n)
    rank, unit = rng.permutation(n), rng.random(n) < 0.7
    count = np.zeros(n, np.int32)
    _count_two(np.argsort(rank).astype(np.uint32), unit.astype(np.uint8), count)
    for t in rng.integers(0, n, 300):
        assert count[t] == np.count_nonzero(unit[:t] & (rank[:t] < rank[t]))
