"""Two variables: sort each, then sweep outside in with a set that counts itself. O(n log n) time, O(n) memory."""

import numpy as np

from transvariation.typicality.compiled import compiled
from transvariation.typicality.compiled.bits import add, count_before, new_set
from transvariation.typicality.compiled.order import order


@compiled
def count_plane(X, m, Z, same):
    """Count the units beyond and at every row of Z that shares no coordinate with m; the others get zeros.

    With `same`, Z is X and each row is both a unit and an object. Also returned: the quadrant of each object and the
    number of units in each quadrant. Quadrants from 4 on, with no units, are for rows that share a coordinate with m.
    """
    unit_quadrant, n_units = _quadrants(X, m)
    if same:
        quadrant, n_objects = unit_quadrant, np.zeros(8, np.int64)
    else:
        quadrant, n_objects = _quadrants(Z, m)
    counts = np.zeros((len(Z), 2), np.int32)  # beyond and at side by side: one visit to memory writes both
    room = (n_units + n_objects).max() + 1
    floats, words = np.empty((3, room)), np.empty((2, room), np.uint64)
    integers, flags = np.empty((5, room), np.int32), np.empty((2, room), np.uint8)
    for k in range(4):
        n = _mirror(X, unit_quadrant, k, 0, floats, integers[0])
        first = 0 if same else n
        n = n if same else _mirror(Z, quadrant, k, n, floats, integers[0])
        if n > first:
            base_a, base_b = -m[0] if k & 1 else m[0], -m[1] if k & 2 else m[1]
            _sweep(n, first, n_units[k], base_a, base_b, floats, words, integers, flags, counts)
    return counts, quadrant, n_units


@compiled
def _quadrants(X, m):
    quadrant = np.empty(len(X), np.uint8)
    x0, y0 = m[0], m[1]
    flat = X.reshape(-1)  # a step of two that the compiler can see
    for i in range(len(X)):
        x, y = flat[2 * i], flat[2 * i + 1]
        quadrant[i] = np.uint8(x < x0) | np.uint8(y < y0) << 1 | np.uint8((x == x0) | (y == y0)) << 2
    sizes = np.zeros(8, np.int64)
    for k in range(4):
        size = 0
        for i in range(len(X)):
            size += quadrant[i] == k
        sizes[k] = size
    return quadrant, sizes


@compiled
def _mirror(X, quadrant, k, start, floats, who):
    """Append the rows in quadrant k, mirrored so that beyond means greater; return where they end."""
    stop = start
    for i in range(len(X)):  # write always, advance when it counts: no branch to guess wrongly
        who[stop] = i
        stop += quadrant[i] == k
    sx, sy = 1.0 - 2.0 * (k & 1), 1.0 - 2.0 * (k >> 1)
    flat = X.reshape(-1)
    for t in range(start, stop):
        floats[0, t] = sx * flat[2 * who[t]]
        floats[1, t] = sy * flat[2 * who[t] + 1]
    return stop


@compiled
def _sweep(n, first, n_units, base_a, base_b, floats, words, integers, flags, counts):
    """Per item from `first` on, the units (items before n_units) greater in a and in b, and those equal in both."""
    a, b, b_by_a = floats[0, :n], floats[1, :n], floats[2, :n]
    who, by_a, by_b, place, edge = integers[0], integers[1, :n], integers[2, :n], integers[3, :n], integers[4, :n]
    tied_a, tied_b = flags[0, :n], flags[1, :n]
    order(a, base_a, by_a, tied_a, words[0, :n], words[1, :n])
    for t in range(n):
        b_by_a[t] = b[by_a[t]]
    order(b_by_a, base_b, by_b, tied_b, words[0, :n], words[1, :n])
    # From here on items go by their order in a. Their places in the set: greatest b first.
    for s in range(n):
        place[by_b[n - 1 - s]] = s
    if tied_b.any():
        start = 0
        for s in range(n):
            if s > 0 and not tied_b[n - s]:
                start = s
            edge[by_b[n - 1 - s]] = start
    else:
        edge = place
    beyond, at = words[0].view(np.int32)[:n], words[1].view(np.int32)[:n]
    _outside_in(n_units, by_a, tied_a, place, edge, beyond, at)
    # Back to the order of the items before writing: going through memory out of order inside the sweep would stall it.
    here, equal = place, by_b
    for t in range(n):
        here[by_a[t]] = beyond[t]
        equal[by_a[t]] = at[t]
    for i in range(first, n):
        counts[who[i], 0] = here[i]
        counts[who[i], 1] = equal[i]


@compiled
def _outside_in(n_units, by_a, tied_a, place, edge, beyond, at):
    """Count for each item the units already in the set before its place, then add it, outermost first."""
    n = len(place)
    bits, sums, blocks, chunks = new_set(n)
    seen = np.zeros(n if tied_a.any() else 0, np.int32)
    stop = n
    while stop > 0:
        begin = stop - 1
        if not tied_a[begin]:
            beyond[begin] = count_before(bits, sums, blocks, chunks, edge[begin])
            at[begin] = by_a[begin] < n_units
            if by_a[begin] < n_units:
                add(bits, sums, blocks, chunks, place[begin])
            stop = begin
            continue
        # Items of equal a: none is beyond another, so all are counted before any is added.
        while tied_a[begin]:
            begin -= 1
        for t in range(begin, stop):
            seen[edge[t]] += by_a[t] < n_units
        for t in range(begin, stop):
            beyond[t] = count_before(bits, sums, blocks, chunks, edge[t])
            at[t] = seen[edge[t]]
        for t in range(begin, stop):
            seen[edge[t]] = 0
            if by_a[t] < n_units:
                add(bits, sums, blocks, chunks, place[t])
        stop = begin
