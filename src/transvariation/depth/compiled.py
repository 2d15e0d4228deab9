"""Count, for every object, the units beyond it as seen from the center.

The rows of each orthant about the center are mirrored so that beyond means greater in every feature. Within an orthant
that is reduced to permutations without ties: a unit lies beyond an object exactly if it comes before it in the order of
every feature. One kernel counts this for two features (n log n), one for three (n log^2 n).
"""

import numpy as np

from transvariation.acceleration import compiled

_STRETCH_BITS = 10  # three variables: in stretches of 2^10 items all pairs are compared


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
            here = names[first[k] : first[k + 1]]
            beyond[here], repeated = _count_by_order(A, C, same)
            side[here] = len(A)
            ties |= repeated
    return beyond, side, ties


def _count_by_order(A, C, same):
    """Count the rows of A before each row of C in the orders of all features; whether first values repeat."""
    columns = np.ascontiguousarray(A.T if same else np.concatenate([A, C]).T)
    sequence, orders, ties = _permutations(columns)
    unit, count, out = (sequence < len(A)).view(np.uint8), np.zeros(len(sequence), np.int32), np.empty_like(sequence)
    if len(columns) == 2:
        _count_two(orders[0], unit, count)
    else:
        _count_three(*orders, unit, count)
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


@compiled()
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


@compiled()
def _count_before(tree, position):
    """Count the members of a set before a position; the set is a binary indexed tree."""
    total = np.int32(0)
    while position > 0:
        total += tree[position]
        position &= position - 1
    return total


@compiled()
def _add(tree, position):
    position += 1
    while position < len(tree):
        tree[position] += 1
        position += position & -position


@compiled()
def _count_two(order, unit, count):
    """Go through the order of the second feature and count the units so far that are earlier in the sequence."""
    tree = np.zeros(len(order) + 1, np.int32)
    for t in order:
        count[t] = _count_before(tree, np.int64(t))
        if unit[t]:
            _add(tree, np.int64(t))


@compiled()
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


@compiled()
def _both_less(u, v, a, b):
    total = np.int16(0)
    for s in range(len(u)):
        total = np.int16(total + np.int16((u[s] < a) & (v[s] < b)))
    return total


@compiled()
def _rank_within(order, level, rank):
    """Rank the items of each stretch of 2^level by their order."""
    cursor = np.zeros((len(order) >> level) + 1, rank.dtype)
    for s in range(len(order)):
        t = order[s]
        rank[t] = cursor[t >> level]
        cursor[t >> level] += 1


@compiled()
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
        tree = np.zeros(stop - start + 1, np.int32)
        for s in range(start, stop):
            t = items[s]
            if t >= middle:
                count[t] += _count_before(tree, np.int64(local[t]))
            elif unit[t]:
                _add(tree, np.int64(local[t]))
