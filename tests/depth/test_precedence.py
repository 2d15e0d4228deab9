"""Before an item in both of two orders: against the obvious count."""

import numpy as np
import pytest

from transvariation.depth import precedence
from transvariation.depth.precedence import earlier_in_both


def obvious(place, unit):
    rank = np.argsort(place)
    counts = [np.count_nonzero(unit[:t] & (rank[:t] < rank[t])) for t in range(len(rank))]
    return np.array(counts, dtype=np.int64)


@pytest.mark.parametrize("n", [0, 1, 2, 63, 64, 65, 1000, 2047, 2048, 5000])
@pytest.mark.parametrize("cells", [4, 0.1])
def test_every_size_of_block(n, cells, monkeypatch):
    monkeypatch.setattr(precedence, "_CELLS", cells)  # fewer cells, longer blocks
    monkeypatch.setattr(precedence, "_AT_ONCE", 512)
    rng = np.random.default_rng(n)
    for place in (rng.permutation(n), np.arange(n), np.arange(n)[::-1]):
        np.testing.assert_array_equal(earlier_in_both(place), obvious(place, np.ones(n, dtype=bool)))
        unit = rng.random(n) < 0.3
        np.testing.assert_array_equal(earlier_in_both(place, unit), obvious(place, unit))


def test_so_many_items_that_short_keys_would_overflow(monkeypatch):
    monkeypatch.setattr(precedence, "_CELLS", 0.001)
    n = (1 << 17) + 5  # in blocks of 2^14
    assert not earlier_in_both(np.arange(n)[::-1]).any()
    place = np.roll(np.arange(n), 1)  # the last one first in the second order: before no one, and no one before it
    np.testing.assert_array_equal(earlier_in_both(place), np.append(np.arange(n - 1), 0))
