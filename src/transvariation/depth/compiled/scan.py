"""Four variables and more: AND the bit sets of the units greater in each variable. O(n q p / 64) time, in blocks."""

import numpy as np

from transvariation.acceleration import compiled
from transvariation.depth.compiled.bits import popcount
from transvariation.depth.compiled.permutation import permutations

_BLOCK = 1024  # units per table: the tables of a few variables stay in the second-level cache
_WORDS = _BLOCK // 64
_ONE = np.uint64(1)


def greater_by_scan(A, C):
    """Count the rows of A that are greater than each row of C in every variable; whether first values repeat."""
    V, first = (A, 0) if C is A else (np.concatenate([A, C]), len(A))
    return _count(V, len(A), first)


@compiled
def _count(V, n_units, first):
    n, p = V.shape
    orders, ties = permutations(V)
    sequence = orders[0]
    count = np.zeros(n, np.int64)
    sets = np.zeros((p - 1, _BLOCK + 1, _WORDS), np.uint64)
    among = np.empty((n, p - 1), np.int32)
    start = 0
    while start < n:
        stop, size = start, 0  # the next stretch of the sequence that holds a block of units
        while stop < n and size < _BLOCK:
            size += sequence[stop] < n_units
            stop += 1
        for u in range(1, p):
            _fill(orders[u], sequence, n_units, start, stop, sets[u - 1], among[:, u - 1])
        seen = 0
        for t in range(start, n):
            inside = seen if t < stop else size  # only units earlier in the sequence: whole words, then single bits
            count[t] += _common(sets, among[t], inside)
            seen += t < stop and sequence[t] < n_units
        start = stop
    out = np.empty(n - first, np.int64)
    for t in range(n):
        if sequence[t] >= first:
            out[sequence[t] - first] = count[t]
    return out, ties


@compiled
def _fill(order, sequence, n_units, start, stop, sets, among):
    """For k = 0, 1, ...: the set of the k outermost units of the stretch; and for each item how many lie beyond it."""
    number = np.empty(stop - start, np.int32)  # a unit's bit: its place among the units of the stretch
    size = 0
    for t in range(start, stop):
        number[t - start] = size
        size += sequence[t] < n_units
    k = 0
    for s in range(len(order)):
        t = order[s]
        among[t] = k
        if start <= t < stop and sequence[t] < n_units:
            b = number[t - start]
            for w in range(_WORDS):
                sets[k + 1, w] = sets[k, w]
            sets[k + 1, b >> 6] |= _ONE << np.uint64(b & 63)
            k += 1


@compiled
def _common(sets, k, inside):
    total = np.uint64(0)
    for w in range((inside + 63) >> 6):
        word = sets[0, k[0], w]
        for u in range(1, len(k)):
            word &= sets[u, k[u], w]
        if (w + 1) << 6 > inside:
            word &= (_ONE << np.uint64(inside & 63)) - _ONE
        total += popcount(word)
    return np.int64(total)
