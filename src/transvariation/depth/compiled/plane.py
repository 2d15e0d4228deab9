"""Two variables: sort each, then sweep outside in with a set that counts itself. O(n log n) time, O(n) memory."""

import numpy as np

from transvariation.acceleration import compiled
from transvariation.depth.compiled.bits import add, count_before, new_set
from transvariation.depth.compiled.order import order

_WORDS = 5  # machine words of room per item of the largest quadrant
# A block of at least so many words, 8 MB, of which only what is used is ever touched: from 4 MB on it gets large pages.
_AT_LEAST = 1 << 20
_NONE = np.empty((0, 2), np.int32)


def count_plane(X, m, Z, same):
    """Count the units beyond and at every row of Z that shares no coordinate with m; the others get zeros.

    With `same`, Z is X and each row is both a unit and an object. Also returned: the quadrant of each object and the
    number of units in each quadrant. Quadrant 4, with no units, is for rows that share a coordinate with m.
    """
    counts = np.zeros((len(Z), 2), np.int32)
    quadrant, n_units, _ = _run(X, m, Z, same, counts, np.empty(0))
    n_units[4] = 0
    return counts, quadrant, n_units


def tp_plane(X, m, Z, same):
    """Compute tp of every row of Z that shares no coordinate with m; and which are the others."""
    tp = np.empty(len(Z))
    quadrant, _, n_shared = _run(X, m, Z, same, _NONE, tp)
    return tp, np.flatnonzero(quadrant == 4) if n_shared else _NONE[:, 0]


def _run(X, m, Z, same, counts, tp):
    unit_quadrant = np.empty(len(X), np.uint8)
    n_units = quadrants(X, m, unit_quadrant)
    centre = int((X[unit_quadrant == 4] == m).all(axis=1).sum()) if n_units[4] else 0
    quadrant, n_objects = unit_quadrant, np.zeros(5, np.int64)
    if not same:
        quadrant = np.empty(len(Z), np.uint8)
        n_objects = quadrants(Z, m, quadrant)
    # NumPy's memory and not the compiled code's own: large arrays come in large pages, which cost less than the work.
    items, room = int((n_units + n_objects)[:4].sum()), int((n_units + n_objects)[:4].max())
    work = np.empty(max(2 * items + items // 2 + _WORDS * room + 8, _AT_LEAST), np.uint64)
    fill(X, m, Z, same, unit_quadrant, quadrant, n_units, n_objects, work, centre, counts, tp)
    return quadrant, n_units, int(n_units[4] if same else n_objects[4])


@compiled
def quadrants(X, m, quadrant):
    """Number the quadrant of each row, 4 for rows that share a coordinate with m; and count them."""
    x0, y0 = m[0], m[1]
    flat = X.reshape(-1)  # a step of two that the compiler can see
    left, below, both, shared = 0, 0, 0, 0
    for i in range(len(X)):
        x, y = flat[2 * i], flat[2 * i + 1]
        outside = (x == x0) | (y == y0)
        k = 4 if outside else (x < x0) | (y < y0) << 1
        quadrant[i] = np.uint8(k)
        left += k == 1
        below += k == 2
        both += k == 3
        shared += k == 4
    return np.array([len(X) - left - below - both - shared, left, below, both, shared])


@compiled
def fill(X, m, Z, same, unit_quadrant, quadrant, n_units, n_objects, work, centre, counts, tp):
    """Fill the counts, or tp where there is room for it, quadrant by quadrant."""
    start = np.zeros(5, np.int64)
    start[1:] = np.cumsum((n_units + n_objects)[:4])
    items = start[4]
    a, b = work[:items], work[items : 2 * items]
    who = work[2 * items : 2 * items + items // 2 + 1].view(np.int32)
    free = work[2 * items + items // 2 + 1 :]
    _fold(X, unit_quadrant, start, a, b, who)
    if not same:
        _fold(Z, quadrant, start[:4] + n_units[:4], a, b, who)
    for k in range(4):
        base_a, base_b = -m[0] if k & 1 else m[0], -m[1] if k & 2 else m[1]
        here, units, size = slice(start[k], start[k + 1]), n_units[k], start[k + 1] - start[k]
        names, first = who[here], 0 if same else units
        if first == size:
            continue
        folded_a, folded_b = a[here].view(np.float64), b[here].view(np.float64)
        room = free[: _WORDS * size].reshape((_WORDS, size))
        beyond, at = _sweep(units, base_a, base_b, folded_a, folded_b, room)
        if len(tp):
            largest = units + centre * 0.5
            largest = largest if largest > 0 else 1.0  # 0/0 is 0
            for i in range(first, size):
                tp[np.uint32(names[i])] = (beyond[i] + at[i] * 0.5) / largest
        else:
            for i in range(first, size):
                counts[np.uint32(names[i]), 0] = beyond[i]
                counts[np.uint32(names[i]), 1] = at[i]


@compiled
def _fold(X, quadrant, start, a, b, who):
    """Put the rows of each quadrant side by side, mirrored so that beyond means greater."""
    cursor = start.astype(np.uint32)
    flat = X.reshape(-1).view(np.uint64)  # to mirror a number is to turn its first bit
    for i in range(len(X)):
        k = np.uint64(quadrant[i])
        if k == 4:
            continue
        t = cursor[k]
        cursor[k] = t + np.uint32(1)
        a[t] = flat[2 * i] ^ k << np.uint64(63)
        b[t] = flat[2 * i + 1] ^ k >> np.uint64(1) << np.uint64(63)
        who[t] = i


@compiled
def _sweep(n_units, base_a, base_b, a, b, work):
    """Per item, the units (the first n_units items) greater in a and in b, and those equal in both."""
    n = len(a)
    b_by_a = work[0].view(np.float64)
    by_a, by_b = work[1].view(np.int32)[:n], work[1].view(np.int32)[n:]
    tied_a, tied_b = work[4].view(np.uint8)[:n], work[4].view(np.uint8)[n : 2 * n]
    ties = order(a, base_a, by_a, tied_a, work[2], work[3])
    for t in range(n):
        b_by_a[t] = b[np.uint32(by_a[t])]
    ties |= order(b_by_a, base_b, by_b, tied_b, work[2], work[3])
    # From here on items go by their order in a.
    beyond, at = work[2].view(np.int32)[:n], work[2].view(np.int32)[n:]
    if ties:
        _outside_in_ties(n_units, by_a, by_b, tied_a, tied_b, beyond, at)
    else:
        _outside_in(n_units, by_a, by_b, beyond)
    # Back to the order of the items before writing: going through memory out of order inside the sweep would stall it.
    here, equal = work[0].view(np.int32)[:n], work[0].view(np.int32)[n:]
    for t in range(n):
        here[np.uint32(by_a[t])] = beyond[t]
    if ties:
        for t in range(n):
            equal[np.uint32(by_a[t])] = at[t]
    else:
        for i in range(n):
            equal[i] = i < n_units
    return here, equal


@compiled
def _outside_in(n_units, by_a, by_b, beyond):
    """From the largest b on: count for each item the units of larger a that are in the set, then add it."""
    n = len(by_a)
    bits, words, blocks, chunks, rooms = new_set(n)
    for s in range(n - 1, -1, -1):
        t = np.uint32(by_b[s])
        place = np.uint32(n - 1) - t
        beyond[t] = count_before(bits, words, blocks, chunks, rooms, place)
        if n_units == n or by_a[t] < n_units:
            add(bits, words, blocks, chunks, rooms, place)


@compiled
def _outside_in_ties(n_units, by_a, by_b, tied_a, tied_b, beyond, at):
    """The same where values are equal: those of equal b are counted before any is added, those of equal a left out."""
    n = len(by_a)
    start = 0
    edges = np.empty(n, np.int32)  # where the items of equal a begin, seen from the largest
    for place in range(n):
        t = n - 1 - place
        if place > 0 and not tied_a[t + 1]:
            start = place
        edges[t] = start
    bits, words, blocks, chunks, rooms = new_set(n)
    seen = np.zeros(n, np.int32)
    stop = n
    while stop > 0:
        begin = stop - 1
        while tied_b[begin]:
            begin -= 1
        for s in range(begin, stop):
            seen[edges[by_b[s]]] += by_a[by_b[s]] < n_units
        for s in range(begin, stop):
            t = by_b[s]
            beyond[t] = count_before(bits, words, blocks, chunks, rooms, edges[t])
            at[t] = seen[edges[t]]
        for s in range(begin, stop):
            t = by_b[s]
            seen[edges[t]] = 0
            if by_a[t] < n_units:
                add(bits, words, blocks, chunks, rooms, n - 1 - t)
        stop = begin
