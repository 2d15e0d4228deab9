"""Count the target units that lie beyond an object, as seen from the centre.

For an object c and a centre m, a coordinate u is open when c_u differs from m_u. A unit x lies beyond c when, in every
open coordinate, x is strictly farther from m than c on c's side; it lies at c when it equals c in all of these.
The denominator of tp counts the same with c moved to m: strictly on c's side of m, or at m. All four counts compare the
original values: forming X - (m - c) in floating point would lose exact ties.

Objects with the same open coordinates are counted together, and the other coordinates dropped. Only units in c's own
orthant about m can lie beyond c: this leaves 2^p separate counts of "greater in every variable", for which `dominance`
has plain and `compiled.counting` compiled kernels.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation.acceleration import use_compiled
from transvariation.depth.dominance import count_equal, count_greater
from transvariation.validation import blocks

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_FEW_OBJECTS = 50  # so many are compared with every unit: sorting the units would take longer
_FEW_PAIRS = 1 << 17  # the same for units times objects
_MAX_COMPILED = 12  # variables: the compiled kernel has a table of all 2^p orthants
_CELLS = 1 << 18  # comparisons held at once


class Transvariations(NamedTuple):
    """The four counts of the multivariate equation for every object, and the number of its open coordinates."""

    beyond: Counts  # s_X
    at: Counts  # s'_X
    side: Counts  # s_Y
    centre: Counts  # s'_Y
    n_open: Counts


def count_transvariations(X: Floats, m: Floats, Z: Floats) -> Transvariations:
    """Count the units of X beyond and at each row of Z, and on its side of m and at m.

    Where `X` and `Z` hold the same rows, as when the training samples are scored, one sort serves both.
    """
    Z = X if np.array_equal(X, Z) else Z
    if len(Z) <= _FEW_OBJECTS or len(X) * len(Z) <= _FEW_PAIRS:
        return _compare_all(X, m, Z)
    counts = Transvariations(*_count_by_sorting(X, m, Z), *_repeat((count_at(X, m), len(m)), len(Z)))
    closed = np.flatnonzero(_shares_coordinate(Z, m))
    if len(closed):
        counts = Transvariations(*(np.array(column) for column in counts))
        for rows, columns in _by_open_coordinates(Z, m, closed):
            part = count_transvariations(X[:, columns], m[columns], Z[np.ix_(rows, columns)])
            for column, values in zip(counts, part, strict=True):
                column[rows] = values
    return counts


def count_at(X: Floats, m: Floats) -> int:
    """Count the units at m."""
    at = np.arange(len(X))
    for u in range(len(m)):  # the first variable usually decides
        at = at[X[at, u] == m[u]]
    return len(at)


def _repeat(values: Sequence[int], n: int) -> list[Counts]:
    """Make columns of n equal values, which take no memory."""
    return [np.broadcast_to(np.int64(value), n) for value in values]


def _shares_coordinate(Z: Floats, m: Floats) -> NDArray[np.bool_]:
    closed = np.zeros(len(Z), dtype=bool)
    for u in range(Z.shape[1]):
        closed |= Z[:, u] == m[u]
    return closed


def _by_open_coordinates(Z: Floats, m: Floats, rows: Counts) -> Iterator[tuple[Counts, Counts]]:
    """Group rows of Z by their open coordinates."""
    open_ = Z[rows] != m
    _, first, group = np.unique(np.packbits(open_, axis=1), axis=0, return_index=True, return_inverse=True)
    for k, i in enumerate(first):
        yield rows[group.ravel() == k], np.flatnonzero(open_[i])


def _compare_all(X: Floats, m: Floats, Z: Floats) -> Transvariations:
    """Compare every object with every unit, in blocks."""
    counts = np.empty((5, len(Z)), dtype=np.int64)
    columns, on_side, at_m = np.ascontiguousarray(X.T), np.concatenate([m < X, m > X], axis=1).T, (m == X).T
    up, down = m < Z, m > Z
    open_ = up | down
    counts[4] = np.count_nonzero(open_, axis=1)
    n_open = counts[4, :, None].astype(np.float32)
    # On the lower side a unit lies beyond c unless it is at least c, that is, greater than the number before c.
    least = np.where(up, Z, np.where(down, np.nextafter(Z, -np.inf), -np.inf))
    for some in blocks(len(Z), _CELLS // len(X)):
        masks = np.ones((4, len(Z[some]), len(X)), dtype=bool)
        for u in range(len(m)):
            masks[0] &= (columns[u] > least[some, u, None]) ^ down[some, u, None]
            masks[1] &= (columns[u] == Z[some, u, None]) | ~open_[some, u, None]
        masks[2] = _common(np.concatenate([up[some], down[some]], axis=1), on_side) == n_open[some]
        masks[3] = _common(open_[some], at_m) == n_open[some]
        counts[:4, some] = masks.astype(float) @ np.ones(len(X))  # faster than np.count_nonzero
    return Transvariations(*counts)


def _common(A: NDArray[np.bool_], B: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Count what each row of A and each column of B have in common, by a matrix product."""
    return A.astype(np.float32) @ B.astype(np.float32)


def _count_by_sorting(X: Floats, m: Floats, Z: Floats) -> tuple[Counts, Counts, Counts]:
    """Count units beyond, at, and on the side of objects; one that shares a coordinate with m gets any number."""
    n, q, p, same = len(X), len(Z), X.shape[1], Z is X
    if p == 0:
        return tuple(_repeat((n, n, n), q))  # type: ignore[return-value]
    if 1 < p <= _MAX_COMPILED and use_compiled(n if same else n + q):
        from transvariation.depth.compiled.counting import count_beyond

        # Freeing a large block makes the C library keep freed memory; otherwise every array is fetched page by page,
        # which takes as long as the counting itself.
        np.empty(1 << 21)
        units = np.ascontiguousarray(X)
        beyond, side, ties = count_beyond(units, m, units if same else np.ascontiguousarray(Z), same)
    else:
        beyond, side, ties = _count_by_orthant(X, m, Z)
    return beyond, count_equal(X, Z) if ties else _repeat([int(same)], q)[0], side


def _count_by_orthant(X: Floats, m: Floats, Z: Floats) -> tuple[Counts, Counts, bool]:
    """Count units beyond and on the side of objects; whether units may be at objects other than themselves."""
    beyond, side = np.zeros((2, len(Z)), dtype=np.int64)
    ties = False
    units_in, objects_in = _orthants(X, m, Z)
    for label, objects in objects_in.items():
        if label in units_in:
            sign = np.where(Z[objects[0]] > m, 1.0, -1.0)
            A = X[units_in[label]] * sign
            beyond[objects], repeated = count_greater(A, A if Z is X else Z[objects] * sign)
            side[objects] = len(A)
            ties |= repeated
    return beyond, side, ties


def _orthants(X: Floats, m: Floats, Z: Floats) -> tuple[dict[int, Counts], dict[int, Counts]]:
    """List the units and the objects in each orthant about m; rows that share a coordinate with m are in none."""
    V = X if Z is X else np.concatenate([X, Z])
    labels: NDArray[np.integer]
    if len(m) <= 16:
        # NumPy sorts short integers in linear time.
        labels = (m < V).astype(np.uint16) @ (1 << np.arange(len(m))).astype(np.uint16)
    else:
        labels = np.unique(np.packbits(m < V, axis=1), axis=0, return_inverse=True)[1].ravel()
    units_in = _rows_by_label(labels[: len(X)], ~_shares_coordinate(X, m))
    return units_in, units_in if Z is X else _rows_by_label(labels[len(X) :], ~_shares_coordinate(Z, m))


def _rows_by_label(labels: NDArray[np.integer], inside: NDArray[np.bool_]) -> dict[int, Counts]:
    rows = np.flatnonzero(inside)
    rows = rows[np.argsort(labels[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(labels[rows].astype(np.int64))) + 1
    return {int(labels[group[0]]): group for group in np.split(rows, starts) if len(group)}
