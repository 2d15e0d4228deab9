"""Count the target units that lie beyond an object, as seen from the center.

For an object c and a center m, a coordinate u is open when c_u differs from m_u. A unit x lies beyond c when, in every
open coordinate, x is strictly farther from m than c on c's side; it lies at c when it equals c in all of these.
The denominator of tp counts the same with c moved to m: strictly on c's side of m, or at m. All four counts compare the
original values: forming X - (m - c) in floating point would lose exact ties.

Each count is the number of units in a box. Along each feature, a box is an interval of places in the order of the
units, and it holds all of them if the coordinate is not open. `count_in_boxes` counts in any boxes with plain NumPy;
`compiled` is faster for many units in two or three features.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation._typing import Bools, Floats
from transvariation.acceleration import use_compiled
from transvariation.validation import blocks

Counts = NDArray[np.int64]
Places = NDArray[np.int32]

_COMPILED_VARIABLES = (2, 3)  # with more, compiled code saves less than a tenth of a second at 100,000 rows
_MANY_ROWS = 500  # from which on objects are grouped by direction, which takes longer than counting few
_MAX_BITS = 1 << 23  # in the bit sets of all variables
_BLOCK_WORDS = 1 << 13  # in the sets that are intersected at once, which stay in the cache


class Transvariations(NamedTuple):
    """The four counts of the multivariate equation for every object, and the number of its open coordinates."""

    beyond: Counts  # s_X
    at: Counts  # s'_X
    side: Counts  # s_Y
    center: Counts  # s'_Y
    n_open: Counts


def count_transvariations(X: Floats, m: Floats, Z: Floats) -> Transvariations:
    """Count the units of X beyond and at each row of Z, and on its side of m and at m.

    Where `X` and `Z` hold the same rows, as when the training samples are scored, one sort serves both.
    """
    same = np.array_equal(X, Z)
    if len(m) in _COMPILED_VARIABLES and use_compiled(len(X) if same else len(X) + len(Z)):
        return _count_compiled(X, m, Z, same)
    return _count_plain(X, m, Z, same)


def _count_plain(X: Floats, m: Floats, Z: Floats, same: bool) -> Transvariations:
    units, objects = np.ascontiguousarray(X.T), np.ascontiguousarray(Z.T)
    (p, n), q, m = units.shape, len(Z), m[:, None]
    order = units.argsort(axis=1)
    up, down = objects > m, objects < m
    # The last columns are objects moved to the center, one for each combination of directions.
    moved, combination = _directions(up, down)
    columns = np.concatenate([np.arange(q), moved])
    up, down = up.take(columns, axis=1), down.take(columns, axis=1)
    is_open = up | down
    less, not_greater = ranks = np.empty((2, p, len(columns)), dtype=np.int32)
    for u in range(p):
        values = units[u].take(order[u])
        rising = order[u] if same else objects[u].argsort()
        sought = values if same else objects[u].take(rising)  # searching in rising order is faster than in any other
        less[u, rising] = values.searchsorted(sought)
        not_greater[u, rising] = values.searchsorted(sought, side="right")
    ranks[:, :, q:] = np.array([units < m, units <= m]).sum(axis=2, keepdims=True)

    bounds = np.zeros((2, p, 2, len(columns)), dtype=np.int32)
    bounds[1] = n
    beyond, at = bounds[:, :, 0], bounds[:, :, 1]
    np.copyto(beyond[0], not_greater, where=up)
    np.copyto(beyond[1], less, where=down)
    np.copyto(at, ranks, where=is_open)
    if same:  # an object whose value is unique in some variable is the only unit at itself
        single = (at[1, :, :q] - at[0, :, :q] == 1).any(axis=0)
        at[:, :, :q] *= ~single
    counts = count_in_boxes(order, bounds.reshape(2, p, -1)).reshape(2, -1)
    if same:
        counts[1, :q] += single
    side, center = counts[:, q:].take(combination, axis=1)
    return Transvariations(counts[0, :q], counts[1, :q], side, center, is_open[:, :q].sum(axis=0))


def _directions(up: Bools, down: Bools) -> tuple[Counts, Counts]:
    """List an object for each combination of directions, or every object, and the place of each in this list."""
    p, q = up.shape
    if q <= _MANY_ROWS or p >= 40:  # 3^40 is no 64-bit number
        return (every := np.arange(q)), every
    codes = 3 ** np.arange(p) @ (up.astype(np.int8) - down)
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    return first, place


def count_in_boxes(order: Counts, bounds: Places, depth: int = 0) -> Counts:
    """Count the units whose places, in the orders of all features, lie within the bounds of each box.

    If at most one feature excludes any units, the number that it leaves is the count. For the other boxes many units
    are divided into halves by one feature after the other, few are counted with bit sets. A half usually lies outside
    the box or leaves it fewer features: in two features, n units and as many boxes take n log n steps.

    Parameters
    ----------
    order : ndarray of shape (p, n)
        The units in the order of each feature.
    bounds : ndarray of shape (2, p, q)
        The first place in each box, and the first place after it.
    depth : int
        How often the units were divided.

    Examples
    --------
    >>> order = np.array([[0, 1, 2, 3], [2, 1, 3, 0]])
    >>> count_in_boxes(order, np.array([[[0, 1], [0, 1]], [[4, 4], [4, 3]]], dtype=np.int32))
    array([4, 2])
    """
    p, n = order.shape
    inside = bounds[1] - bounds[0]
    counts = inside.min(axis=0).astype(np.int64)
    undecided = ((counts > 0) & (inside.sum(axis=0) < counts + n * (p - 1))).nonzero()[0]
    if not len(undecided):
        return counts
    bounds = bounds.take(undecided, axis=2)
    if n * n * p <= _MAX_BITS:
        counts[undecided] = _count_with_sets(order, bounds)
        return counts
    counts[undecided] = 0
    in_first = np.zeros(order[0].max() + 1, dtype=bool)
    in_first[order[depth % p, : n // 2]] = True
    mask = in_first.take(order)
    places = np.zeros((p, n + 1), dtype=np.int32)
    np.cumsum(mask, axis=1, out=places[:, 1:])
    first_bounds = np.empty_like(bounds)
    for u in range(p):
        first_bounds[:, u] = places[u].take(bounds[:, u])
    for half, its_bounds in ((mask, first_bounds), (~mask, bounds - first_bounds)):
        half_order = order.ravel().take(np.flatnonzero(half)).reshape(p, -1)
        counts[undecided] += count_in_boxes(half_order, its_bounds, depth + 1)
    return counts


def _count_with_sets(order: Counts, bounds: Places) -> Counts:
    """Count with bit sets: the units at the first k places of a feature, for each k.

    The units within two bounds are the difference of two sets, those in a box the intersection over all features.
    """
    p, n = order.shape
    number = np.empty(order[0].max() + 1, dtype=np.int64)
    number[order[0]] = np.arange(n)
    bit = number.take(order)
    sets = np.zeros((p, n + 1, -(-n // 64)), dtype=np.uint64)
    sets[np.arange(p)[:, None], np.arange(1, n + 1), bit >> 6] = np.uint64(1) << (bit & 63).astype(np.uint64)
    np.bitwise_or.accumulate(sets, axis=1, out=sets)
    counts = np.empty(bounds.shape[2], dtype=np.int64)
    for some in blocks(len(counts), _BLOCK_WORDS // sets.shape[2]):
        common = np.bitwise_xor(*sets[0].take(bounds[:, 0, some], axis=0))
        for u in range(1, p):
            common &= np.bitwise_xor(*sets[u].take(bounds[:, u, some], axis=0))
        counts[some] = np.bitwise_count(common).sum(axis=1)
    return counts


def _count_compiled(X: Floats, m: Floats, Z: Floats, same: bool) -> Transvariations:
    from transvariation.depth.compiled import count_beyond

    X = np.ascontiguousarray(X)
    Z = X if same else np.ascontiguousarray(Z)
    beyond, side, ties = count_beyond(X, m, Z, same)
    at = _count_equal(X, Z, same) if ties else np.broadcast_to(np.int64(same), len(Z))
    at_m = np.count_nonzero(_equal_coordinates(X, m).all(axis=0))
    center, n_open = (np.broadcast_to(np.int64(number), len(Z)) for number in (at_m, len(m)))
    counts = Transvariations(beyond, at, side, center, n_open)
    if len(closed := np.flatnonzero(_equal_coordinates(Z, m).any(axis=0))):
        counts = Transvariations(*(np.array(column) for column in counts))
        for column, values in zip(counts, _count_plain(X, m, Z[closed], False), strict=True):
            column[closed] = values
    return counts


def _equal_coordinates(V: Floats, m: Floats) -> Bools:
    """Compare rows with m: shape (p, n), which NumPy reduces much faster than (n, p)."""
    return np.array([V[:, u] == m[u] for u in range(len(m))])


def _count_equal(X: Floats, Z: Floats, same: bool) -> Counts:
    """Count the rows of X equal to each row of Z."""
    V = X if same else np.concatenate([X, Z])
    order = np.lexsort(V.T)
    group = np.zeros(len(V), dtype=np.int64)
    group[order[1:]] = np.cumsum((V[order[1:]] != V[order[:-1]]).any(axis=1))
    sizes = np.bincount(group[: len(X)], minlength=len(V))
    return sizes[group if same else group[len(X) :]]
