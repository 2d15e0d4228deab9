"""How many target units lie beyond an object, seen from the centre.

For an object c and a centre m, a coordinate u is open when c_u differs from m_u. A unit x lies beyond c when, in every
open coordinate, x is strictly farther from m than c on c's side; it lies at c when it equals c in every open
coordinate. The denominator of tp asks the same with c moved to m: strictly on c's side of m, or at m. All four
counts compare the values as they stand: forming X - (m - c) in floating point would lose exact ties.

Objects are taken together that have the same open coordinates; the others are dropped, so that every problem below
this door is open in all. Only units in c's own orthant about m can lie beyond c: what is left are 2^p separate counts
of "greater in every variable", for which `dominance` has plain and `compiled` has compiled kernels.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation.acceleration import use_compiled
from transvariation.depth import dominance
from transvariation.depth.equality import count_equal
from transvariation.validation import blocks

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_FEW = 50  # so many objects are compared with every unit one by one: sorting would take longer
_SMALL = 1 << 17  # units times objects up to which comparing all is quickest
_SMALL_GROUP = 1 << 12  # the same inside one orthant
_NUMBERED = 12  # variables up to which every orthant has a number; beyond, only those that occur are listed
_CELLS = 1 << 18  # comparisons held at once


class Transvariations(NamedTuple):
    """The four counts of the multivariate equation for every object, and how many coordinates are open."""

    beyond: Counts  # s_X
    at: Counts  # s'_X
    side: Counts  # s_Y
    centre: Counts  # s'_Y
    n_open: Counts


def count_transvariations(X: Floats, m: Floats, Z: Floats) -> Transvariations:
    """Count the units of X beyond and at each row of Z, and on its side of m and at m.

    Where `X` and `Z` are one array (or views of the same memory), one sort serves both.
    """
    Z = X if are_one(X, Z) else Z
    q, p = Z.shape
    closed = is_closed(Z, m)
    every = _count_open(X, m, Z) if not closed.all() else _nothing(q)
    counts = Transvariations(*every, n_open=np.broadcast_to(np.int64(p), q))
    if not closed.any():
        return counts
    counts = Transvariations(*(np.array(column) for column in counts))
    for rows, columns in _by_open_coordinates(Z, m, np.flatnonzero(closed)):
        part = _count_open(X[:, columns], m[columns], Z[np.ix_(rows, columns)])
        for column, values in zip(counts, part, strict=False):
            column[rows] = values
        counts.n_open[rows] = len(columns)
    return counts


def is_closed(Z: Floats, m: Floats) -> NDArray[np.bool_]:
    """Say which rows share a coordinate with m."""
    closed = np.zeros(len(Z), dtype=bool)
    for u in range(Z.shape[1]):
        closed |= Z[:, u] == m[u]
    return closed


def are_one(X: Floats, Z: Floats) -> bool:
    """Say whether two arrays are one, or views of the same memory."""
    return Z is X or (X.ctypes.data, X.shape, X.strides) == (Z.ctypes.data, Z.shape, Z.strides)


def by_sorting(X: Floats, Z: Floats) -> bool:
    """Say whether the problem is too large to compare every object with every unit."""
    return len(Z) > _FEW and len(X) * len(Z) > _SMALL


def compiled_plane(X: Floats, Z: Floats) -> bool:
    """Say whether this is a problem for the compiled kernel in two variables."""
    return X.shape[1] == 2 and by_sorting(X, Z) and use_compiled(_n_rows(X, Z))


def _n_rows(X: Floats, Z: Floats) -> int:
    return len(X) if are_one(X, Z) else len(X) + len(Z)


def _count_one(X: Floats, m: Floats, c: Floats) -> tuple[int, int, int, int, int]:
    """The obvious version, against which every fast kernel is tested."""
    lower, opened = c < m, c != m
    beyond = np.where(lower, c > X, c < X)[:, opened].all(axis=1).sum()
    side = np.where(lower, m > X, m < X)[:, opened].all(axis=1).sum()
    return beyond, (c == X)[:, opened].all(axis=1).sum(), side, (m == X)[:, opened].all(axis=1).sum(), opened.sum()


def _by_open_coordinates(Z: Floats, m: Floats, rows: Counts) -> Iterator[tuple[Counts, Counts]]:
    """Rows of Z with the same open coordinates, and which these are."""
    open_ = Z[rows] != m
    codes = np.packbits(open_, axis=1)
    # Bytes sort faster than rows.
    _, first, group = np.unique(codes[:, 0] if len(m) <= 8 else codes, axis=0, return_index=True, return_inverse=True)
    for k, i in enumerate(first):
        yield rows[group.ravel() == k], np.flatnonzero(open_[i])


_Four = tuple[Counts, Counts, Counts, Counts]


def _nothing(q: int) -> _Four:
    return tuple(np.zeros(q, dtype=np.int64) for _ in range(4))  # type: ignore[return-value]


def _count_open(X: Floats, m: Floats, Z: Floats) -> _Four:
    """The counts for objects that share no coordinate with m; others may be among them and get any number."""
    (n, p), q = X.shape, len(Z)
    if p == 0:
        return tuple(np.full(q, n) for _ in range(4))  # type: ignore[return-value]
    centre = np.broadcast_to(np.int64(count_at(X, m)), q)
    if not by_sorting(X, Z):
        return *_compare_all(X, m, Z), centre
    if compiled_plane(X, Z):
        from transvariation.depth.compiled.plane import count_plane

        rows_x = np.ascontiguousarray(X)
        counts, quadrant, sides = count_plane(rows_x, m, rows_x if Z is X else np.ascontiguousarray(Z), Z is X)
        return counts[:, 0], counts[:, 1], sides[quadrant], centre
    beyond, at, side = (np.zeros(q, dtype=np.int64) for _ in range(3))
    for group in by_orthant(X, m, Z):
        beyond[group.objects], at[group.objects], side[group.objects] = group.beyond, group.at, group.side
    return beyond, at, side, centre


def count_at(X: Floats, m: Floats) -> int:
    """How many units are at m. One variable usually settles it."""
    at = np.flatnonzero(X[:, 0] == m[0])
    return int((X[at] == m).all(axis=1).sum())


def _compare_all(X: Floats, m: Floats, Z: Floats) -> tuple[Counts, Counts, Counts]:
    """Every object with every unit, in blocks."""
    (n, p), q = X.shape, len(Z)
    counts = np.empty((3, q), dtype=np.int64)
    columns = np.ascontiguousarray(X.T)
    for some in blocks(q, _CELLS // n):
        beyond, at, side = (np.ones((len(Z[some]), n), dtype=bool) for _ in range(3))
        for u in range(p):
            up = (Z[some, u] > m[u])[:, None]
            c = Z[some, u][:, None]
            beyond &= np.where(up, columns[u] > c, columns[u] < c)
            side &= np.where(up, columns[u] > m[u], columns[u] < m[u])
            at &= columns[u] == c
        counts[:, some] = beyond.sum(axis=1), at.sum(axis=1), side.sum(axis=1)
    return counts[0], counts[1], counts[2]


class Orthant(NamedTuple):
    """What was counted in one orthant for the objects there."""

    objects: Counts
    beyond: Counts
    at: Counts | int
    side: int


def by_orthant(X: Floats, m: Floats, Z: Floats) -> Iterator[Orthant]:
    """Count in each orthant about m that holds a unit and an object; all other counts are zero."""
    p, same = X.shape[1], are_one(X, Z)
    fast = p > 2 and use_compiled(_n_rows(X, Z))
    kernel = _kernel(p, fast)
    for A, C, objects in (_folded if fast and p <= _NUMBERED else _labelled)(X, m, Z):
        few = len(A) * len(C) <= _SMALL_GROUP
        beyond, ties = dominance.by_comparing(A, C) if few else kernel(A, C)
        yield Orthant(objects, beyond, count_equal(A, C) if ties else int(same), len(A))


def _kernel(p: int, fast: bool) -> Callable[[Floats, Floats], dominance.Counted]:
    if p <= 2:
        return dominance.on_line if p == 1 else dominance.in_plane
    if not fast:
        return dominance.by_bits
    from transvariation.depth.compiled.scan import greater_by_scan
    from transvariation.depth.compiled.space import greater_in_space

    return greater_in_space if p == 3 else greater_by_scan


_Mirrored = tuple[Floats, Floats, Counts]  # units and objects of an orthant, beyond being greater; which objects


def _folded(X: Floats, m: Floats, Z: Floats) -> Iterator[_Mirrored]:
    """Compiled, for variables so few that every orthant has a number."""
    from transvariation.depth.compiled.fold import fold

    units, rows, start = fold(X, m)
    objects, names, first = (units, rows, start) if are_one(X, Z) else fold(Z, m)
    for k in range(2 ** X.shape[1]):
        here = slice(first[k], first[k + 1])
        A = units[start[k] : start[k + 1]]
        C = A if objects is units else objects[here]
        if len(A) and len(C):
            yield A, C, names[here]


def _labelled(X: Floats, m: Floats, Z: Floats) -> Iterator[_Mirrored]:
    """Plain."""
    units = _columns(X)
    objects = units if are_one(X, Z) else _columns(Z)
    units_in, objects_in = _orthants(units, m, objects)
    for label, who in objects_in.items():
        if label in units_in:
            sign = np.where(objects[:, who[:1]] > m[:, None], 1.0, -1.0)
            A = (units.take(units_in[label], axis=1) * sign).T
            yield A, A if objects is units else (objects.take(who, axis=1) * sign).T, who


def _columns(X: Floats) -> Floats:
    """The transpose in memory of its own, where each step through a variable goes straight on."""
    # At least 8 MB, of which only what is used is ever touched: once such a block was given back, the C library keeps
    # what temporary arrays leave behind, and each new one need not be fetched page by page.
    columns = np.empty(max(X.size, 1 << 20))[: X.size].reshape(X.shape[::-1])
    columns[:] = X.T
    return columns


def _orthants(units: Floats, m: Floats, objects: Floats) -> tuple[dict[int, Counts], dict[int, Counts]]:
    """The units and objects in each orthant about m; one that shares a coordinate with m is in none."""
    p = len(m)
    if p <= 62:
        rows = _in_orthant(orthant_labels(units, m), units, m)
        return rows, rows if objects is units else _in_orthant(orthant_labels(objects, m), objects, m)
    # Too many orthants to number: number those that occur.
    sides = np.packbits(np.concatenate([units, objects], axis=1) > m[:, None], axis=0)
    labels = np.unique(sides, axis=1, return_inverse=True)[1].ravel()
    n = units.shape[1]
    return _in_orthant(labels[:n], units, m), _in_orthant(labels[n:], objects, m)


def orthant_labels(columns: Floats, m: Floats) -> NDArray[np.integer]:
    """Number the orthant about m that each unit is in, by the variables in which it is greater; up to 62 of them."""
    p = len(m)
    # The narrowest type sorts fastest.
    dtype: type[np.integer] = np.uint8 if p <= 8 else np.uint16 if p <= 16 else np.int64
    labels: NDArray[np.integer] = np.zeros(columns.shape[1], dtype=dtype)
    for u in range(p):
        labels |= (columns[u] > m[u]).astype(dtype) << dtype(u)
    return labels


def _in_orthant(labels: NDArray[np.integer], columns: Floats, m: Floats) -> dict[int, Counts]:
    inside = ~is_closed(columns.T, m)
    rows = None if inside.all() else np.flatnonzero(inside)
    order = np.argsort(labels if rows is None else labels[rows], kind="stable")
    rows = order if rows is None else rows[order]
    ordered = labels[rows]
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return {int(labels[here[0]]): here for here in np.split(rows, starts)} if len(rows) else {}
