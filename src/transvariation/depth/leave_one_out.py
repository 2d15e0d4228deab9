"""tp of every target unit with respect to the others, at about the cost of tp with respect to all.

Whether a unit lies beyond another depends on the centre through sides alone, and the centres without each unit are so
close together that few units stand on other sides of one than of another. All n counts are those about the common
centre, corrected for these few.
"""

import functools
import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from transvariation.depth.counting import Transvariations, count_transvariations, orthant_labels, without_itself
from transvariation.depth.median import spatial_median_of_rows
from transvariation.depth.medians_without_each import medians_without_each
from transvariation.depth.probability import ratio
from transvariation.validation import blocks

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Indices = NDArray[np.intp]

_SMALL = 1 << 17  # units squared up to which comparing all is quickest
_CELLS = 1 << 18  # comparisons held at once
_NUMBERED = 16  # variables up to which every orthant has a number; beyond, only those that occur
_FEW = 16  # values up to which comparing with each is quicker than a search


def leave_one_out_probability(
    X: Floats, center: Floats | None = None, *, tau_max: str = "count", ties: str = "proper"
) -> Floats:
    """Compute tp of each row of `X` with respect to the other rows, about the centre of those others.

    The result equals ``transvariation_probability(others, row, tau_max=tau_max, ties=ties)`` for every row. `center`
    is the spatial median of all rows, if it is known already.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> leave_one_out_probability(X).round(2)
    array([0.  , 0.33, 0.67, 1.  , 0.67, 0.33, 0.  ])
    """
    if tau_max == "product":
        return np.prod([leave_one_out_probability(x[:, None], tau_max="half", ties=ties) for x in X.T], axis=0)
    center = spatial_median_of_rows(X) if center is None else center
    counts = count_without_each(X, center, medians_without_each(X, center))
    return ratio(counts, len(X) - 1, X.shape[1], tau_max, ties)


def count_without_each(X: Floats, m: Floats, M: Floats) -> Transvariations:
    """Count the other units beyond and at each unit, on its side of its own centre `M[i]` and at that centre.

    `m` is any centre close to all of these.
    """
    n, p = X.shape
    if n * n <= _SMALL:
        return count_others(X, np.arange(n), M)
    common = count_transvariations(X, m, X)
    slabs = [(min(own.min(), u), max(own.max(), u)) for own, u in zip(M.T, m, strict=True)]
    moving = np.flatnonzero(_any((low <= x) & (x <= high) for x, (low, high) in zip(X.T, slabs, strict=True)))
    side, centre = _about_own_centres(X, m, M, slabs, moving)
    result = Transvariations(np.array(common.beyond), common.at - 1, side, centre, np.full(n, p))
    # Units that stand on another side of their own centre, or share a coordinate with it, are counted one by one,
    here, own = X[moving], M[moving]
    odd = ((here > own) != (here > m)) | ((here < own) != (here < m)) | (here == own)
    odd = moving[odd.any(axis=1)]
    # unless that centre is the common one.
    same = (M[odd] == m).all(axis=1)
    _put(result, odd[same], without_itself(common, odd[same]))
    _put(result, odd[~same], count_others(X, odd[~same], M[odd[~same]]))
    return result


def _any(tests: Iterable[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    return functools.reduce(np.logical_or, tests)


def _put(counts: Transvariations, rows: Indices, new: Iterable[Counts]) -> None:
    for column, values in zip(counts, new, strict=True):
        column[rows] = values


def count_others(X: Floats, rows: Indices, M: Floats) -> Transvariations:
    """Compare some rows with all others, each about its own row of `M`; in blocks."""
    n, p = X.shape
    columns = np.ascontiguousarray(X.T)
    counts = Transvariations(*np.empty((5, len(rows)), dtype=np.int64))
    for some in blocks(len(rows), _CELLS // n):
        C, centres = X[rows[some]], M[some]
        shut = centres == C
        signs = np.where(centres > C, -1.0, 1.0)
        four = np.ones((4, len(C), n), dtype=bool)
        for x, c, m, sign, closed in zip(columns, C.T, centres.T, signs.T, shut.T, strict=True):
            outwards, at, middle = sign[:, None] * x, (sign * c)[:, None], (sign * m)[:, None]
            tests = np.array([outwards > at, outwards == at, outwards > middle, outwards == middle])
            tests[:, closed] = True
            four &= tests
        sums = np.count_nonzero(four, axis=2)
        every = (*sums, p - np.count_nonzero(shut, axis=1))
        for kept, new in zip(counts, without_itself(every, slice(None)), strict=True):
            kept[some] = new
    return counts


def _about_own_centres(
    X: Floats, m: Floats, M: Floats, slabs: list[tuple[float, float]], moving: Indices
) -> tuple[Counts, Counts]:
    """How many other units lie strictly on each unit's side of its own centre, and how many at that centre.

    The centres lie in the slabs, one per variable, and only the moving units do so too. Meant for units that share no
    coordinate with their centres, and lie on the same sides of them as of m.
    """
    # Where a centre or a unit stands among the values in the slabs: odd numbers are values, even ones gaps.
    places, units, sizes = [], [], []
    for x, own, (low, high) in zip(X[moving].T, M.T, slabs, strict=True):
        values = np.unique(x[(low <= x) & (x <= high)])
        places.append(_place(values, own) + 1)
        units.append(np.where(x < low, 0, np.where(x > high, 2 * len(values) + 2, _place(values, x) + 1)))
        sizes.append(2 * len(values) + 3)
    orthant = _orthants(X, m)
    first, kind = _kinds([orthant, *places], [int(orthant.max()) + 1, *sizes])
    # Outside the slabs a unit lies in the same orthant about every centre.
    settled = np.bincount(orthant)
    settled -= np.bincount(orthant[moving], minlength=len(settled))
    side, centre = settled[orthant[first]] - 1, np.zeros(len(first), dtype=np.int64)
    own, upwards = np.column_stack([place[first] for place in places]), X[first] > m
    alike, which = _kinds(units, sizes)
    for *unit, how_many in zip(*(place[alike] for place in units), np.bincount(which), strict=True):
        side += how_many * np.where(upwards, own < unit, own > unit).all(axis=1)
        centre += how_many * (own == unit).all(axis=1)
    return side[kind], centre[kind]


def _orthants(X: Floats, m: Floats) -> NDArray[np.integer]:
    """Number the orthants about m, and which each unit is in."""
    if len(m) <= _NUMBERED:
        return orthant_labels(X.T, m)
    return np.unique(np.packbits(m < X, axis=1), axis=0, return_inverse=True)[1].ravel()


def _place(values: Floats, y: Floats) -> NDArray[np.integer]:
    """Twice the number of values below each y, and one more if y is itself a value."""
    if len(values) > _FEW:
        return np.searchsorted(values, y) + np.searchsorted(values, y, side="right")
    place = np.zeros(len(y), dtype=np.int8)
    for value in values:
        place += y > value
        place += y >= value
    return place


def _kinds(codes: list[NDArray[np.integer]], sizes: list[int]) -> tuple[Indices, Indices]:
    """Where there is one of each kind of columns of small numbers, and the kind of every column."""
    if math.prod(sizes) >= 1 << 62:
        return np.unique(np.column_stack(codes), axis=0, return_index=True, return_inverse=True)[1:]
    code = codes[0].astype(np.int64)
    for more, size in zip(codes[1:], sizes[1:], strict=True):
        code *= size
        code += more
    if math.prod(sizes) > 4 * len(code):
        return np.unique(code, return_index=True, return_inverse=True)[1:]
    example = np.full(math.prod(sizes), -1)
    example[code] = np.arange(len(code))
    number = np.cumsum(example >= 0) - 1
    return example[example >= 0], number[code]
