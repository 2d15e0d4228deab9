"""Three variables: divide the sequence, and conquer each half's effect on the next by a sweep. O(n log^2 n) time."""

import numpy as np

from transvariation.typicality.compiled import compiled
from transvariation.typicality.compiled.bits import add, count_before, new_set
from transvariation.typicality.compiled.permutation import permutations

_BASE = 10  # stretches of 2^10 items are compared pair by pair


def greater_in_space(A, C):
    """Count the rows of A that are greater than each row of C in all three variables; whether first values repeat."""
    V, first = (A, 0) if C is A else (np.concatenate([A, C]), len(A))
    return _count(V, len(A), first)


@compiled
def _count(V, n_units, first):
    n = len(V)
    orders, ties = permutations(V)
    sequence, second, third = orders[0], orders[1], orders[2]
    unit = np.empty(n, np.uint8)
    for t in range(n):
        unit[t] = sequence[t] < n_units
    count = np.zeros(n, np.int32)
    _compare_pairs(second, third, unit, count)
    local, items = np.empty(n, np.int32), np.empty(n, np.int32)
    level = _BASE
    while (1 << level) < n:
        level += 1
        _first_half_on_second(second, third, unit, level, local, items, count)
    out = np.empty(n - first, np.int64)
    for t in range(n):
        if sequence[t] >= first:
            out[sequence[t] - first] = count[t]
    return out, ties


@compiled
def _compare_pairs(second, third, unit, count):
    """In each stretch of 2^_BASE items, count the earlier units beyond each item by comparing ranks in the stretch."""
    n = len(second)
    rank2, rank3 = np.empty(n, np.int16), np.empty(n, np.int16)  # narrow numbers: sixteen comparisons at once
    cursor2, cursor3 = np.zeros((n >> _BASE) + 1, np.int16), np.zeros((n >> _BASE) + 1, np.int16)
    for s in range(n):
        t = np.uint32(second[s])
        rank2[t] = cursor2[t >> np.uint32(_BASE)]
        cursor2[t >> np.uint32(_BASE)] += np.int16(1)
        t = np.uint32(third[s])
        rank3[t] = cursor3[t >> np.uint32(_BASE)]
        cursor3[t >> np.uint32(_BASE)] += np.int16(1)
    as_unit = np.where(unit, rank2, np.int16(1 << _BASE)).astype(np.int16)  # an object only is beyond nothing
    for t in range(n):
        start = t >> _BASE << _BASE
        count[t] = _both_less(as_unit[start:t], rank3[start:t], rank2[t], rank3[t])


@compiled
def _both_less(u, v, a, b):
    total = np.int16(0)
    for s in range(len(u)):
        total = np.int16(total + np.int16((u[s] < a) & (v[s] < b)))
    return total


@compiled
def _first_half_on_second(second, third, unit, level, local, items, count):
    """In each stretch of 2^level items, count the units of its first half beyond each item of its second half."""
    n = len(second)
    n_stretches = (n >> level) + 1
    cursor = np.zeros(n_stretches, np.int32)
    for s in range(n):  # places in the third variable, counted within the stretch
        t = third[s]
        k = t >> level
        local[t] = cursor[k]
        cursor[k] += 1
    for k in range(n_stretches):
        cursor[k] = k << level
    for s in range(n):  # each stretch's items by the second variable
        t = second[s]
        k = t >> level
        items[cursor[k]] = t
        cursor[k] += 1
    bits, sums, blocks, chunks, rooms = new_set(min(n, 1 << level))
    for k in range(n_stretches):
        start, middle, stop = k << level, (k << level) + (1 << (level - 1)), min(n, (k + 1) << level)
        if middle >= stop:
            break
        if k > 0:
            bits[:] = 0
            sums[:] = 0
            blocks[:] = 0
            chunks[:] = 0
            rooms[:] = 0
        for s in range(start, stop):
            t = items[s]
            if t >= middle:
                count[t] += count_before(bits, sums, blocks, chunks, rooms, local[t])
            elif unit[t]:
                add(bits, sums, blocks, chunks, rooms, local[t])
