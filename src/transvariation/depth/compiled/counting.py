"""Count, for every object, the units beyond it as seen from the centre.

The rows of each orthant about the centre are mirrored so that beyond means greater in every feature. Within an orthant
that is reduced to permutations without ties: a unit lies beyond an object exactly if it comes before it in the order of
every feature. One kernel counts this for two features (n log n), one for three (n log^2 n), one for more (n^2 / 64).
"""

import numpy as np

from transvariation.acceleration import compiled, inlined

_FEW_PAIRS = 1 << 12  # units times objects of an orthant up to which comparing all is fastest
_STRETCH_BITS = 10  # three variables: in stretches of 2^10 items all pairs are compared
_BLOCK_UNITS = 1024  # four and more variables: units per table of bit sets, which stay in the second-level cache
_BLOCK_WORDS = _BLOCK_UNITS // 64
_ONE = np.uint64(1)
_N_LEVELS = 5
_LATER_LANES = 0x0001000100010000  # one in each lane after the first


def count_beyond(X, m, Z, same):
    """Count the rows of X beyond each row of Z and in its orthant about m; whether first values repeat in an orthant.

    With `same`, Z is X. Rows of Z that share a coordinate with m get zeros.
    """
    units, which, start = _fold(X, m)
    objects, names, first = (units, which, start) if same else _fold(Z, m)
    beyond, side, ties = np.zeros(len(Z), np.int64), np.zeros(len(Z), np.int64), False
    for k in range(len(start) - 2):  # the last group is in no orthant
        A, C = units[start[k] : start[k + 1]], objects[first[k] : first[k + 1]]
        if len(A) and len(C):
            if len(A) * len(C) <= _FEW_PAIRS:
                count, repeated = _compare_pairs(A, C, same)
            else:
                count, repeated = _count_by_order(A, C, same)
            here = names[first[k] : first[k + 1]]
            beyond[here], side[here] = count, len(A)
            ties |= repeated
    return beyond, side, ties


def _count_by_order(A, C, same):
    """Count the rows of A before each row of C in the orders of all features; whether first values repeat."""
    columns = np.ascontiguousarray(A.T if same else np.concatenate([A, C]).T)
    sequence, orders, ties = _permutations(columns)
    unit, count, out = (sequence < len(A)).view(np.uint8), np.zeros(len(sequence), np.int32), np.empty_like(sequence)
    if len(columns) == 2:
        _count_two(orders[0], unit, count)
    elif len(columns) == 3:
        _count_three(orders[0], orders[1], unit, count)
    else:
        _count_many(orders, unit, count)
    out[sequence] = count
    return out if same else out[len(A) :], ties


def _permutations(columns):
    """List the items in sequence; per further feature, greatest first, their places in it; whether values repeat.

    The sequence orders items by the first feature, greatest first, those of equal value with rising second value.
    Every other feature orders them greatest first, those of equal value from the end of the sequence to its beginning.
    So equal values never count as greater.
    """
    rising, ties = _order(columns[0])
    sequence = (np.lexsort((-columns[1], columns[0])) if ties else rising)[::-1]
    orders = [_order(column[sequence])[0][::-1] for column in columns[1:]]
    return sequence, np.array(orders, np.uint32), ties


def _order(values):
    """Order values stably; whether some are equal. Without equal ones any sort is stable, and the fastest will do."""
    order = values.argsort()
    ordered = values[order]
    ties = (ordered[1:] == ordered[:-1]).any()
    return values.argsort(kind="stable") if ties else order, ties


@compiled
def _fold(X, m):
    """Group rows by orthant, mirrored so that beyond means greater; the original rows; where each orthant starts.

    The last group, after the 2^p orthants, are the rows that share a coordinate with m.
    """
    n, p = X.shape
    label, start = np.empty(n, np.int32), np.zeros((1 << p) + 2, np.int64)
    for i in range(n):
        k, shared = 0, False
        for u in range(p):
            k |= np.int64(X[i, u] < m[u]) << u
            shared |= X[i, u] == m[u]
        label[i] = 1 << p if shared else k
        start[label[i] + 1] += 1
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    cursor, folded, which = start.astype(np.uint32), np.empty((n, p)), np.empty(n, np.uint32)
    for i in range(n):
        k = np.uint32(label[i])
        t = cursor[k]
        cursor[k] += np.uint32(1)
        which[t] = i
        for u in range(p):
            folded[t, u] = -X[i, u] if k >> u & 1 else X[i, u]
    return folded, which, start


@compiled
def _compare_pairs(A, C, same):
    count, ties = np.zeros(len(C), np.int64), False
    for i in range(len(C)):
        for j in range(len(A)):
            greater = True
            for u in range(A.shape[1]):
                greater &= A[j, u] > C[i, u]
            count[i] += greater
            ties |= A[j, 0] == C[i, 0] and not (same and i == j)
    return count, ties


@compiled
def _new_set(n):
    """Make an empty set of positions below n that counts its members before any position.

    It consists of bits, in words of 64; of counts within stretches of 4 words, 16 words and so on up to 2^16 positions,
    each the members before every quarter of a stretch, in the four 16-bit lanes of one word; and of the members before
    every 2^16 positions.
    """
    lanes, top = np.zeros((_N_LEVELS, (n >> 8) + 1), np.int64), np.zeros((n >> 16) + 1, np.int64)
    return np.zeros((n >> 6) + 1, np.int64), lanes, top


@inlined
def _count_before(bits, lanes, top, position):
    e = np.int64(position)
    total = np.int64(_popcount(np.uint64(bits[e >> 6] & ((1 << (e & 63)) - 1)))) + top[e >> 16]
    for level in range(_N_LEVELS):
        shift = 8 + 2 * level
        total += lanes[level, e >> shift] >> ((e >> shift - 2 & 3) << 4) & 0xFFFF
    return np.int32(total)


@inlined
def _add(bits, lanes, top, position):
    e = np.int64(position)
    bits[e >> 6] |= 1 << (e & 63)
    for level in range(_N_LEVELS):
        shift = 8 + 2 * level
        lanes[level, e >> shift] += _LATER_LANES << ((e >> shift - 2 & 3) << 4)
    for j in range((e >> 16) + 1, len(top)):
        top[j] += 1


@inlined
def _popcount(x):
    """Count the ones; compilers recognise this form and use the machine's instruction."""
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def _count_two(order, unit, count):
    """Go through the order of the second feature and count the units so far that are earlier in the sequence."""
    bits, lanes, top = _new_set(len(order))
    for s in range(len(order)):
        t = order[s]
        count[t] = _count_before(bits, lanes, top, t)
        if unit[t]:
            _add(bits, lanes, top, t)


@compiled
def _count_three(second, third, unit, count):
    """Divide the sequence, and count for each half of a stretch on its next half as in two features."""
    n = len(second)
    rank2, rank3 = np.empty(n, np.int16), np.empty(n, np.int16)  # narrow numbers: many comparisons at once
    _rank_within(second, _STRETCH_BITS, rank2)
    _rank_within(third, _STRETCH_BITS, rank3)
    for t in range(n):
        if not unit[t]:
            rank2[t] += 1 << _STRETCH_BITS  # an object is beyond nothing
    for t in range(n):
        start, own = t >> _STRETCH_BITS << _STRETCH_BITS, rank2[t] & ((1 << _STRETCH_BITS) - 1)
        count[t] = _both_less(rank2[start:t], rank3[start:t], np.int16(own), rank3[t])
    local, items, level = np.empty(n, np.int32), np.empty(n, np.int32), _STRETCH_BITS
    while 1 << level < n:
        level += 1
        _first_half_on_second(second, third, unit, level, local, items, count)


@compiled
def _both_less(u, v, a, b):
    total = np.int16(0)
    for s in range(len(u)):
        total = np.int16(total + np.int16((u[s] < a) & (v[s] < b)))
    return total


@compiled
def _rank_within(order, level, rank):
    """Rank the items of each stretch of 2^level by their order."""
    cursor = np.zeros((len(order) >> level) + 1, rank.dtype)
    for s in range(len(order)):
        t = order[s]
        rank[t] = cursor[t >> level]
        cursor[t >> level] += 1


@compiled
def _first_half_on_second(second, third, unit, level, local, items, count):
    """In each stretch of 2^level items, count the units of its first half beyond each item of its second half."""
    n = len(second)
    _rank_within(third, level, local)
    cursor = np.arange((n >> level) + 1) << level
    for s in range(n):  # the items of each stretch, by the second variable
        t = second[s]
        items[cursor[t >> level]] = t
        cursor[t >> level] += 1
    for start in range(0, n, 1 << level):
        middle, stop = start + (1 << level - 1), min(n, start + (1 << level))
        if middle >= stop:
            break
        bits, lanes, top = _new_set(stop - start)
        for s in range(start, stop):
            t = items[s]
            if t >= middle:
                count[t] += _count_before(bits, lanes, top, local[t])
            elif unit[t]:
                _add(bits, lanes, top, local[t])


@compiled
def _count_many(orders, unit, count):
    """Intersect, per block of units in the sequence, the sets of the units beyond in each further feature."""
    q, n = orders.shape
    sets, rank = np.zeros((q, _BLOCK_UNITS + 1, _BLOCK_WORDS), np.uint64), np.empty((n, q), np.int32)
    number = np.empty(n, np.int32)  # the bit of a unit: its place among the units of the block
    start = 0
    while start < n:
        stop, size = start, 0
        while stop < n and size < _BLOCK_UNITS:
            number[stop] = size
            size += unit[stop]
            stop += 1
        for u in range(q):  # for k = 0, 1, ... the set of the k outermost units; for each item how many are beyond it
            k = 0
            for s in range(n):
                t = orders[u, s]
                rank[t, u] = k
                if start <= t < stop and unit[t]:
                    for w in range(_BLOCK_WORDS):
                        sets[u, k + 1, w] = sets[u, k, w]
                    sets[u, k + 1, number[t] >> 6] |= _ONE << np.uint64(number[t] & 63)
                    k += 1
        for t in range(start, n):  # an item of the block itself follows only the earlier units
            count[t] += _common(sets, rank[t], number[t] if t < stop else size)
        start = stop


@compiled
def _common(sets, rank, n_bits):
    total = np.uint64(0)
    for w in range((n_bits + 63) >> 6):
        word = sets[0, rank[0], w]
        for u in range(1, len(rank)):
            word &= sets[u, rank[u], w]
        if (w + 1) << 6 > n_bits:
            word &= (_ONE << np.uint64(n_bits & 63)) - _ONE
        total += _popcount(word)
    return np.int64(total)
