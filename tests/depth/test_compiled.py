"""A part of the compiled kernel: counts of earlier items."""

import numpy as np
import pytest

pytest.importorskip("numba")

from transvariation.depth.compiled.counting import _count_two


@pytest.mark.parametrize("n", [63, 64, 1_025, 16_385, 131_073])
def test_count_of_earlier_items_of_smaller_rank(n):
    rng = np.random.default_rng(n)
    rank, unit = rng.permutation(n), rng.random(n) < 0.7
    count = np.zeros(n, np.int32)
    _count_two(np.argsort(rank).astype(np.uint32), unit.astype(np.uint8), count)
    for t in rng.integers(0, n, 300):
        assert count[t] == np.count_nonzero(unit[:t] & (rank[:t] < rank[t]))
