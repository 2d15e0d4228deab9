"""The spatial median: the point with the smallest sum of distances to the sample.

Newton's method on the sum of distances converges quadratically. The two places where that sum has no second derivative
are treated exactly: a data point, and a sample on one line.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dposv

from transvariation._typing import Floats
from transvariation.validation import as_rows, blocks, exponent_beyond

_LARGE_SAMPLE = 20_000  # rows from which on Newton's method starts from the median of a subsample
_SUBSAMPLE_ROWS = 4_000
_SUBSAMPLE_ERROR, _ROUNDING_ERROR = (
    5e-3,
    1e-13,
)  # accuracy, of the mean distance: what a subsample errs by anyway, and full precision
_BLOCK_ROWS = 8_192  # rows whose distances are held at a time: they stay in the cache
_WIDE_ROWS = 50  # variables from which on fewer rows than variables are handled in the span of the rows
_SMALLEST_FLOAT = float(np.finfo(float).tiny)
_MAX_PASSES = 200  # never needed; a bound for every loop


def spatial_median(X: ArrayLike) -> Floats:
    r"""Compute the spatial median of the rows of X: the point m that minimizes :math:`\sum_i \lVert x_i - m \rVert`.

    If the minimum is at a data point, exactly that point is returned. With one feature, and on the line of a collinear
    sample, it is the median: of an even number of points, the midpoint of the two central ones.

    Parameters
    ----------
    X : array-like of shape (n, p) or (n,)
        The points.

    Returns
    -------
    ndarray of shape (p,)

    See Also
    --------
    transvariation.transvariation_probability : The measure, whose center this is.

    References
    ----------
    Vardi, Y. and Zhang, C.-H. (2000). The multivariate L1-median and associated data depth. PNAS 97, 1423-1426.

    Examples
    --------
    >>> from transvariation import spatial_median
    >>> spatial_median([[0, 0], [4, 0], [0, 4], [1, 1]])
    array([1., 1.])
    """
    return spatial_median_of_rows(as_rows(X, "X"))


def spatial_median_of_rows(X: Floats) -> Floats:
    """Compute the spatial median of checked rows."""
    if X.shape[1] == 1:
        return np.median(X, axis=0)
    if exponent := exponent_beyond(float(max(X.max(), -X.min()))):
        unit = 2.0 ** min(-exponent, 1023)
        return spatial_median_of_rows(X * unit) / unit
    if len(X) <= 2:
        return X[0] + (X[-1] - X[0]) / 2
    if X.shape[1] > max(len(X), _WIDE_ROWS):
        return _in_span(X)
    sub = np.ascontiguousarray(X[:: max(1, len(X) // _SUBSAMPLE_ROWS)])
    start = np.sort(sub, axis=0)[[(len(sub) - 1) // 2, len(sub) // 2]].mean(axis=0)  # np.median takes longer
    if len(X) > _LARGE_SAMPLE:
        start = _newton(sub, start, exact=False)
    return _newton(np.ascontiguousarray(X), start)


def _median_on_line(X: Floats) -> Floats:
    """Compute the median of rows that all lie on one line."""
    far = X[np.abs(X - X[0]).sum(axis=1).argmax()]
    order = ((X - X[0]) @ (far - X[0])).argsort(kind="stable")
    low, high = X[order[[(len(X) - 1) // 2, len(X) // 2]]]
    return low if (low == high).all() else (low + high) / 2


def _in_span(X: Floats) -> Floats:
    """Compute the median of fewer rows than features in coordinates of their span, of which there are few."""
    distinct, which = np.unique(X - np.median(X, axis=0), axis=0, return_inverse=True)
    coordinates = np.asarray(np.linalg.qr(distinct.T, mode="r")).T[which.ravel()]
    distance = np.linalg.norm(coordinates - spatial_median_of_rows(coordinates), axis=1)
    if not distance.all():
        return X[distance.argmin()].copy()
    # The median is the mean of the rows weighted by 1 / distance. Summing about a center keeps constants exact.
    center, weights = np.median(X, axis=0), 1 / distance
    return center + weights @ (X - center) / weights.sum()


class _Pass(NamedTuple):
    """The sum of distances from y and its derivatives; units at y itself are set apart."""

    objective: float
    resultant: Floats  # sum of unit vectors from y to the data
    hessian: Floats
    step: Floats | None  # Newton's; None where the curvature vanishes in some direction, as on a line
    weight: float  # sum of 1 / distance
    weight2: float  # sum of 1 / distance^2
    nearest: int  # the closest unit not at y
    pull: float  # sum of 1 / distance over that unit and all as close, its duplicates among them
    at: int  # units at y itself


def _pass(X: Floats, y: Floats) -> _Pass:
    p = len(y)
    sums = np.array([_sums(X[block], y) for block in blocks(len(X), _BLOCK_ROWS)])
    position, square, ties = sums[:, -3:].T
    k = square.argmin()
    total = sums[:, :-3].sum(axis=0)
    resultant, hessian = total[4 : 4 + p], total[4 + p :].reshape(p, p)
    root, step, failed = dposv(hessian, resultant)
    pivots = root.diagonal().tolist()
    if failed or min(pivots) <= 1e-6 * max(pivots):
        step = None
    return _Pass(
        objective=float(total[0]),
        resultant=resultant,
        hessian=hessian,
        step=step,
        weight=float(total[1]),
        weight2=float(total[2]),
        nearest=int(k * _BLOCK_ROWS + position[k]),
        pull=float(ties[square == square[k]].sum() / np.sqrt(square[k])),
        at=int(total[3]),
    )


def _sums(X: Floats, y: Floats) -> Floats:
    """Sum over the rows that are not at y.

    The sums of distances d, 1/d and 1/d^2 and how many rows are at y; the sum of unit vectors (p); the Hessian (p x p);
    the nearest row, the square of its distance, and how many are as near.
    """
    p = len(y)
    difference = np.subtract(X.T, y[:, None], order="C")
    square = np.einsum("ui,ui->i", difference, difference)
    at = len(square) - np.count_nonzero(square)
    if at:
        square[square == 0] = np.inf
    nearest = square.argmin()
    inverse = 1.0 / np.sqrt(square)
    unit = difference * inverse
    sums = np.empty(7 + p + p * p)
    sums[:4] = np.vdot(unit, difference), inverse.sum(), inverse @ inverse, at
    sums[4 : 4 + p] = unit.sum(axis=1)
    sums[4 + p : -3] = np.dot(unit * -inverse, unit.T).ravel()
    sums[4 + p : -3 : p + 1] += sums[1]
    sums[-3:] = nearest, square[nearest], np.count_nonzero(square == square[nearest])
    return sums


def _newton(X: Floats, y: Floats, exact: bool = True) -> Floats:
    """Minimize the sum of distances from a start y; `exact` finds a median that is a data point as such."""
    here = _pass(X, y)
    close = (_ROUNDING_ERROR if exact else _SUBSAMPLE_ERROR) * max(here.objective / len(X), _SMALLEST_FLOAT)
    tried: set[bytes] = set()  # data points already known not to be the median
    for _ in range(_MAX_PASSES):
        step = here.step
        if step is None:
            return _median_on_line(X)
        if here.at:
            leave = _step_off(here)
            if leave is None:
                return y
            tried.add(y.tobytes())
            y, here = _descend(X, y, here, leave)
            continue
        candidate = X[here.nearest]
        # The closest unit contributes much of the curvature, and the sum does not rise towards it: the minimum may be
        # that very point.
        if (
            exact
            and here.pull > 0.01 * here.weight
            and here.resultant @ (candidate - y) >= 0
            and candidate.tobytes() not in tried
        ):
            there = _pass(X, candidate)
            leave = _step_off(there)
            if there.step is None:  # on a line it may be one end of an interval of minima
                return _median_on_line(X)
            if leave is None:
                return candidate.copy()
            tried.add(candidate.tobytes())
            if there.objective < here.objective:
                y, here = _descend(X, candidate, there, leave)
                continue
        length = math.sqrt(step @ step)
        # Newton squares the error: what is left after this step is about length^2 times the curvature's change.
        if length * length * here.weight2 / here.weight <= close or length <= 1e-15 * math.hypot(*y):
            return y + step
        y_new, there = _descend(X, y, here, step)
        if y_new is y:
            return y
        y, here = y_new, there
    return y


def _step_off(here: _Pass) -> Floats | None:
    """Compute the step away from a data point; None if it is the median: the pull of the others is no larger."""
    pull = math.sqrt(here.resultant @ here.resultant)
    if pull <= here.at * (1 + 1e-14) + 1e-15:
        return None
    direction = here.resultant / pull
    curvature = float(direction @ here.hessian @ direction)
    # Along this ray the distance to the data point is linear, so that one Newton step accounts for it exactly.
    return direction * (pull - here.at) / (curvature if curvature > 0 else here.weight)


def _descend(X: Floats, y: Floats, here: _Pass, step: Floats) -> tuple[Floats, _Pass]:
    """Take a step in a descent direction, halving it until the sum of distances is smaller."""
    for _ in range(60):
        there = _pass(X, y + step)
        # A step that is right must not be refused because of rounding.
        if there.objective <= here.objective * (1 + 1e-15 * math.sqrt(len(X))):
            return y + step, there
        step = step / 2
    return y, here
