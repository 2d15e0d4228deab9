r"""Compute tp of every row with respect to all rows, which are spread over partitions.

In one and two variables the plane is divided into slabs: by the second variable into k, by the first into k, with the
centre on a border of each. For a row in slab a of the first and slab b of the second variable, the units beyond it are

- those in slabs farther out in both: read from a table of k times k counts;
- those in its own slab b, in slabs farther out than a, and beyond it in the second variable: counted within slab b,
  with the number of the slab in place of the first variable;
- those in its own slab a and beyond it in both variables: counted within slab a.

Some rows may be marked as objects only: they are scored but not counted. Every row is moved twice, and
counted twice within a slab, whatever the number of slabs. With three variables and more, counts are added over all
pairs of partitions.
"""

from typing import Any

import numpy as np

from transvariation._typing import Floats
from transvariation.dask.partitions import Integers, Partitions
from transvariation.depth.counting import Transvariations, count_transvariations
from transvariation.depth.probability import ratio


def training_tp(rows: Partitions, m: Floats, sample: Floats, n_slabs: int, tau_max: str, ties: str) -> Partitions:
    """Compute tp of every row about m, in one or two variables, as partitions of one column in no particular order.

    The quantiles of `sample`, any sample of the rows, divide the rows into slabs of about equal size. Rows may have one
    column more than m: 1 marks a unit that is counted, 0 an object that is scored; then only the tp of objects is
    returned.
    """
    borders = [_borders(column, centre, n_slabs) for column, centre in zip(_plane(sample).T, _about(m), strict=True)]
    table = rows.total(_tile_counts, m, borders)
    sizes = table.shape
    by_second = rows.exchange(_split_by_second, sizes[1], m, borders)
    by_first = by_second.exchange(_count_in_second, max(sizes), m, borders, farther(table, borders, m))
    return by_first.derive(_finish, m, _by_side(table, borders, m), int(table.sum()), tau_max, ties)


def _units_and_objects(rows: Floats, p: int, marked: bool) -> tuple[Any, Any]:
    """Select the rows that are counted and those that are scored; without marks all rows are both."""
    return (rows[:, p] == 1, rows[:, p] == 0) if marked else (slice(None), slice(None))


def _plane(X: Floats) -> Floats:
    """Return two columns; a single variable becomes the second, beside a first one that is at the centre everywhere."""
    return X if X.shape[1] == 2 else np.column_stack([np.zeros(len(X)), X])


def _about(m: Floats) -> Floats:
    return m if len(m) == 2 else np.concatenate([[0.0], m])


def _borders(column: Floats, centre: float, n_slabs: int) -> Floats:
    """Compute the borders between slabs: quantiles, and the centre."""
    inner = np.quantile(column, np.linspace(0, 1, n_slabs + 1)[1:-1], method="lower")
    return np.unique(np.append(inner, centre))


def slab_of(values: Floats, borders: Floats, centre: float) -> Integers:
    """Number the slabs outwards: 1, 2, ... above the centre, -1, -2, ... below it, 0 for what is at the centre.

    Examples
    --------
    >>> slab_of(np.array([-9.0, -1.0, 0.0, 0.5, 2.0, 7.0]), borders=np.array([-5.0, 0.0, 2.0]), centre=0.0)
    array([-2, -1,  0,  1,  2,  2])
    """
    # A value on a border goes with those above it; at the centre, that makes the first slab above start beyond it.
    place = np.searchsorted(borders, values, side="right") - np.searchsorted(borders, centre)
    return np.where(values > centre, place, np.where(values < centre, place - 1, 0))


def _cells(rows: Floats, m: Floats, borders: list[Floats]) -> list[tuple[Integers, int]]:
    """Find the slab of every row in each variable, and the number of the slab at the centre, from the lowest."""
    plane, about = _plane(rows), _about(m)
    return [
        (slab_of(plane[:, u], borders[u], about[u]), int(np.searchsorted(borders[u], about[u])) + 1) for u in range(2)
    ]


def _tile_counts(rows: Floats, number: int, m: Floats, borders: list[Floats]) -> Integers:
    p = len(m)
    units, _ = _units_and_objects(rows, p, rows.shape[1] > p)
    (a, a0), (b, b0) = _cells(rows[units, :p], m, borders)
    shape = len(borders[0]) + 2, len(borders[1]) + 2
    return np.bincount((a + a0) * shape[1] + b + b0, minlength=shape[0] * shape[1]).reshape(shape)


def _split_by_second(rows: Floats, number: int, m: Floats, borders: list[Floats]) -> list[Floats]:
    _, (b, b0) = _cells(rows[:, : len(m)], m, borders)
    return _split(rows, b + b0, len(borders[1]) + 2)


def _split(rows: Floats, labels: Integers, n_parts: int) -> list[Floats]:
    order = np.argsort(labels.astype(np.uint16 if n_parts < 1 << 16 else np.int64), kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=n_parts))
    moved = rows[order]
    return [moved[start:end] for start, end in zip(np.append(0, ends[:-1]), ends, strict=True)]


def farther(table: Integers, borders: list[Floats], m: Floats) -> Integers:
    """Count, for each tile, the rows in slabs farther out in every variable in which the tile is not at the centre."""
    result = table
    for axis, (edges, centre) in enumerate(zip(borders, _about(m), strict=True)):
        at = int(np.searchsorted(edges, centre)) + 1
        along = np.moveaxis(result, axis, 0)
        out = np.empty_like(along)
        total = np.cumsum(along, axis=0)
        out[:at] = total[:at] - along[:at]
        out[at] = total[-1]
        out[at + 1 :] = total[-1] - total[at + 1 :]
        result = np.moveaxis(out, 0, axis)
    return result


def _count_in_second(rows: Floats, number: int, m: Floats, borders: list[Floats], outside: Integers) -> list[Floats]:
    """Count within a slab of the second variable; this completes the rows at the centre in the first one."""
    p = len(m)
    units, objects = _units_and_objects(rows, p, rows.shape[1] > p)
    (a, a0), (b, b0) = _cells(rows[:, :p], m, borders)
    n_parts = max(outside.shape)
    plane, about = _plane(rows[:, :p]), _about(m)
    coded = np.column_stack([a.astype(float), plane[:, 1]])
    beyond, at = np.zeros(len(rows)), np.zeros(len(rows))
    if len(known := coded[units]) and len(coded[objects]):
        counts = count_transvariations(known, np.array([0.0, about[1]]), coded[objects])
        beyond[objects], at[objects] = counts.beyond, counts.at
    # A row at the centre in the second variable is compared in the first one only, within its slab of that variable.
    beyond = np.where(b != 0, beyond, 0) + outside[a + a0, b + b0]
    # Completed rows are not compared again; they stay spread over the parts.
    part = np.where(a == 0, number, a + a0)
    return _split(np.column_stack([rows, beyond, at]), part, n_parts)


def _by_side(table: Integers, borders: list[Floats], m: Floats) -> Integers:
    """Count the rows below, at and above the centre in each variable: a table of 3 times 3."""
    for axis, (edges, centre) in enumerate(zip(borders, _about(m), strict=True)):
        at = int(np.searchsorted(edges, centre)) + 1
        along = np.moveaxis(table, axis, 0)
        table = np.moveaxis(np.stack([along[:at].sum(axis=0), along[at], along[at + 1 :].sum(axis=0)]), 0, axis)
    return table


def _finish(rows: Floats, number: int, m: Floats, sides: Integers, n: int, tau_max: str, ties: str) -> Floats:
    """Count within a slab of the first variable, and divide."""
    p = len(m)
    known, objects = _units_and_objects(rows, p, rows.shape[1] == p + 3)
    plane, about = _plane(rows[:, :p]), _about(m)
    units = plane[known]
    units = np.ascontiguousarray(units[units[:, 0] != about[0]])
    plane, beyond, at = plane[objects], rows[objects, -2].copy(), rows[objects, -1].copy()
    sign = np.sign((plane > about) * 1 - (plane < about) * 1)
    doing = np.flatnonzero(sign[:, 0] != 0)
    at[doing] = 0
    if len(doing) and len(units):
        scored = units if isinstance(objects, slice) else np.ascontiguousarray(plane[doing])
        counts = count_transvariations(units, about, scored)
        beyond[doing] += counts.beyond
        at[doing] = counts.at
    # In a variable in which the row is at the centre, every side counts.
    side, centre = np.empty(len(plane), dtype=np.int64), np.empty(len(plane), dtype=np.int64)
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            those = (sign[:, 0] == i) & (sign[:, 1] == j)
            first, second = slice(None) if i == 0 else i + 1, slice(None) if j == 0 else j + 1
            side[those] = sides[first, second].sum()
            centre[those] = sides[slice(None) if i == 0 else 1, slice(None) if j == 0 else 1].sum()
    n_open = (sign != 0).sum(axis=1)
    at[n_open == 0] = n  # with no variable left to compare, every unit is at the row
    counted = Transvariations(beyond.astype(np.int64), at.astype(np.int64), side, centre, n_open)
    return ratio(counted, n, p, tau_max, ties)[:, None]
