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

from transvariation.typicality import dominance
from transvariation.typicality.acceleration import worth_compiling
from transvariation.typicality.equality import count_equal

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


def compiled_plane(X: Floats, Z: Floats) -> bool:
    """Say whether this is a problem for the compiled kernel in two variables."""
    n, q = len(X), len(Z)
    return X.shape[1] == 2 and q > _FEW and n * q > _SMALL and worth_compiling(n if are_one(X, Z) else n + q)


def compiled_space(X: Floats, Z: Floats) -> bool:
    """Say whether this is a problem for the compiled kernels in more variables, few enough to number the orthants."""
    n, q, p = len(X), len(Z), X.shape[1]
    return 3 <= p <= _NUMBERED and q > _FEW and n * q > _SMALL and worth_compiling(n if are_one(X, Z) else n + q)


def _count_one(X: Floats, m: Floats, c: Floats) -> tuple[int, int, int, int, int]:
    """The obvious version, against which every fast kernel is tested."""
    lower, opened = c < m, c != m
    beyond = np.where(lower, c > X, c < X)[:, opened].all(axis=1).sum()
    side = np.where(lower, m > X, m < X)[:, opened].all(axis=1).sum()
    return beyond, (c == X)[:, opened].all(axis=1).sum(), side, (m == X)[:, opened].all(axis=1).sum(), opened.sum()


def _by_open_coordinates(Z: Floats, m: Floats, rows: Counts) -> Iterator[tuple[Counts, Counts]]:
    """Rows of Z with the same open coordinates, and which these are."""
    patterns, group = np.unique(Z[rows] != m, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        yield rows[group.ravel() == k], np.flatnonzero(pattern)


_Four = tuple[Counts, Counts, Counts, Counts]


def _nothing(q: int) -> _Four:
    return tuple(np.zeros(q, dtype=np.int64) for _ in range(4))  # type: ignore[return-value]


def _count_open(X: Floats, m: Floats, Z: Floats) -> _Four:
    """The counts for objects that share no coordinate with m; others may be among them and get any number."""
    (n, p), q = X.shape, len(Z)
    if p == 0:
        return tuple(np.full(q, n) for _ in range(4))  # type: ignore[return-value]
    centre = np.broadcast_to(np.int64(count_at(X, m)), q)
    if q <= _FEW or n * q <= _SMALL:
        return *_compare_all(X, m, Z), centre
    rows = n if Z is X else n + q
    if compiled_plane(X, Z):
        from transvariation.typicality.compiled.plane import count_plane

        rows_x = np.ascontiguousarray(X)
        counts, quadrant, sides = count_plane(rows_x, m, rows_x if Z is X else np.ascontiguousarray(Z), Z is X)
        return counts[:, 0], counts[:, 1], sides[quadrant], centre
    if compiled_space(X, Z):
        beyond, at, side = (np.zeros(q, dtype=np.int64) for _ in range(3))
        for group in by_compiled_orthant(X, m, Z):
            beyond[group.objects], at[group.objects], side[group.objects] = group.beyond, group.at, group.side
        return beyond, at, side, centre
    return *_count_by_orthant(X, m, Z, rows), centre


def count_at(X: Floats, m: Floats) -> int:
    """How many units are at m. One variable usually settles it."""
    at = np.flatnonzero(X[:, 0] == m[0])
    return int((X[at] == m).all(axis=1).sum())


def _compare_all(X: Floats, m: Floats, Z: Floats) -> tuple[Counts, Counts, Counts]:
    """Every object with every unit, in blocks."""
    (n, p), q = X.shape, len(Z)
    counts = np.empty((3, q), dtype=np.int64)
    columns = np.ascontiguousarray(X.T)
    for start in range(0, q, max(_CELLS // n, 1)):
        some = slice(start, start + max(_CELLS // n, 1))
        beyond, at, side = (np.ones((len(Z[some]), n), dtype=bool) for _ in range(3))
        for u in range(p):
            up = (Z[some, u] > m[u])[:, None]
            c = Z[some, u][:, None]
            beyond &= np.where(up, columns[u] > c, columns[u] < c)
            side &= np.where(up, columns[u] > m[u], columns[u] < m[u])
            at &= columns[u] == c
        counts[:, some] = beyond.sum(axis=1), at.sum(axis=1), side.sum(axis=1)
    return counts[0], counts[1], counts[2]


def _count_by_orthant(X: Floats, m: Floats, Z: Floats, rows: int) -> tuple[Counts, Counts, Counts]:
    """One dominance count per orthant about m that holds an object."""
    kernel = _kernel(X.shape[1], rows)
    beyond, side = np.zeros(len(Z), dtype=np.int64), np.zeros(len(Z), dtype=np.int64)
    units_in, objects_in = _orthants(X, m, Z)
    for label, objects in objects_in.items():
        units = units_in.get(label)
        if units is None:
            continue
        sign = np.where(Z[objects[0]] > m, 1.0, -1.0)
        A = X.take(units, axis=0) * sign
        C = A if Z is X else Z.take(objects, axis=0) * sign
        beyond[objects] = kernel(A, C) if len(A) * len(C) > _SMALL_GROUP else dominance.by_comparing(A, C)
        side[objects] = len(units)
    return beyond, count_equal(X, Z), side


def _kernel(p: int, rows: int) -> Callable[[Floats, Floats], Counts]:
    if p <= 2:
        return dominance.on_line if p == 1 else dominance.in_plane
    if not worth_compiling(rows):
        return dominance.by_bits
    from transvariation.typicality.compiled.scan import greater_by_scan

    return lambda A, C: greater_by_scan(A, C)[0]


class Orthant(NamedTuple):
    """What was counted in one orthant for the objects there."""

    objects: Counts
    beyond: Counts
    at: Counts | int
    side: int


def by_compiled_orthant(X: Floats, m: Floats, Z: Floats) -> Iterator[Orthant]:
    """Count in each orthant that holds a unit and an object; all other counts are zero."""
    from transvariation.typicality.compiled.fold import fold
    from transvariation.typicality.compiled.scan import greater_by_scan
    from transvariation.typicality.compiled.space import greater_in_space

    kernel = greater_in_space if X.shape[1] == 3 else greater_by_scan
    same = are_one(X, Z)
    units, rows, start = fold(X, m)
    objects, names, first = (units, rows, start) if same else fold(Z, m)
    for k in range(2 ** X.shape[1]):
        here = slice(first[k], first[k + 1])
        A, C = units[start[k] : start[k + 1]], objects[here]
        C = A if same else C
        if not len(A) or not len(C):
            continue
        few = len(A) * len(C) <= _SMALL_GROUP
        beyond, ties = (dominance.by_comparing(A, C), True) if few else kernel(A, C)
        # Where no two share a first value, none are equal.
        yield Orthant(names[here], beyond, count_equal(A, C) if ties else int(same), len(A))


def _orthants(X: Floats, m: Floats, Z: Floats) -> tuple[dict[int, Counts], dict[int, Counts]]:
    """The rows of X and of Z in each orthant about m; a row that shares a coordinate with m is in none."""
    p = len(m)
    if p <= 62:
        units = _in_orthant(_labels(X, m), X, m)
        return units, units if Z is X else _in_orthant(_labels(Z, m), Z, m)
    # Too many orthants to number: number those that occur.
    sides = np.packbits(np.concatenate([X, Z]) > m, axis=1)
    labels = np.unique(sides, axis=0, return_inverse=True)[1].ravel()
    return _in_orthant(labels[: len(X)], X, m), _in_orthant(labels[len(X) :], Z, m)


def _labels(X: Floats, m: Floats) -> NDArray[np.integer]:
    p = len(m)
    # The narrowest type sorts fastest.
    dtype: type[np.integer] = np.uint8 if p <= 8 else np.uint16 if p <= 16 else np.int64
    labels: NDArray[np.integer] = np.zeros(len(X), dtype=dtype)
    for u in range(p):
        labels = labels | (X[:, u] > m[u]).astype(dtype) << dtype(u)
    return labels


def _in_orthant(labels: NDArray[np.integer], X: Floats, m: Floats) -> dict[int, Counts]:
    inside = np.ones(len(X), dtype=bool)
    for u in range(len(m)):
        inside &= X[:, u] != m[u]
    rows = None if inside.all() else np.flatnonzero(inside)
    order = np.argsort(labels if rows is None else labels[rows], kind="stable")
    rows = order if rows is None else rows[order]
    ordered = labels[rows]
    starts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return {int(labels[here[0]]): here for here in np.split(rows, starts)} if len(rows) else {}
