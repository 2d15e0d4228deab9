"""Three variables: divide the sequence, and conquer each half's effect on the next by a sweep. O(n log^2 n) time."""

import numpy as np

from transvariation.acceleration import compiled
from transvariation.depth.compiled.bits import add, add_in_chunk, count_before, count_in_chunk, new_set
from transvariation.depth.compiled.permutation import permutations

_BASE = 10  # stretches of 2^10 items are compared pair by pair
_STRETCH = 15  # in stretches of 2^15, a tree over these blocks has a set for each node
_NODES = 1 << (_STRETCH - _BASE)


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
    _earlier_blocks(second, third, unit, local, items, count)
    level = _STRETCH
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
    _rank_within(second, _BASE, rank2)
    _rank_within(third, _BASE, rank3)
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
def _earlier_blocks(second, third, unit, local, items, count):
    """In each stretch of 2^_STRETCH items, count the units of earlier blocks beyond each item.

    The blocks are the leaves of a Fenwick tree. Its nodes are sets of places in the third variable; items come in the
    order of the second.
    """
    n = len(second)
    _within(second, third, _STRETCH, local, items)
    bits = np.zeros(_NODES << (_STRETCH - 6), np.uint64)
    words, blocks = np.zeros(_NODES << (_STRETCH - 6), np.uint16), np.zeros(_NODES << (_STRETCH - 10), np.uint16)
    halves = np.zeros(_NODES << (_STRETCH - 14), np.uint32)  # at each second chunk, the members in the first
    for start in range(0, n, 1 << _STRETCH):
        if start > 0:
            bits[:] = 0
            words[:] = 0
            blocks[:] = 0
            halves[:] = 0
        for s in range(start, min(n, start + (1 << _STRETCH))):
            t = np.uint32(items[s])
            place = np.uint32(local[t])
            block = (t >> np.uint32(_BASE)) & np.uint32(_NODES - 1)
            node = block
            total = np.int32(0)
            while node:
                e = node << np.uint32(_STRETCH) | place
                total += np.int32(count_in_chunk(bits, words, blocks, e) + halves[e >> np.uint32(14)])
                node &= node - np.uint32(1)
            count[t] += total
            if unit[t]:
                node = block + np.uint32(1)
                while node < np.uint32(_NODES):
                    e = node << np.uint32(_STRETCH) | place
                    add_in_chunk(bits, words, blocks, e)
                    halves[e >> np.uint32(14) | np.uint32(1)] += np.uint32(1) - (e >> np.uint32(14) & np.uint32(1))
                    node += node & (~node + np.uint32(1))


@compiled
def _within(second, third, level, local, items):
    """In stretches of 2^level items: each one's place in the third variable; and the items by the second."""
    _rank_within(third, level, local)
    cursor = np.arange((len(second) >> level) + 1).astype(np.uint32) << np.uint32(level)
    for s in range(len(second)):
        t = np.uint32(second[s])
        place = np.uint32(cursor[t >> np.uint32(level)])
        cursor[t >> np.uint32(level)] = place + np.uint32(1)
        items[place] = t


@compiled
def _rank_within(order, level, rank):
    """Each item's rank in an order among the items of its stretch of 2^level."""
    cursor = np.zeros((len(order) >> level) + 1, rank.dtype)
    for s in range(len(order)):
        t = np.uint32(order[s])
        place = cursor[t >> np.uint32(level)]
        cursor[t >> np.uint32(level)] = place + 1
        rank[t] = place


@compiled
def _first_half_on_second(second, third, unit, level, local, items, count):
    """In each stretch of 2^level items, count the units of its first half beyond each item of its second half."""
    n = len(second)
    n_stretches = (n >> level) + 1
    _within(second, third, level, local, items)
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
