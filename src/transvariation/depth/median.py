"""The spatial median: the point with the smallest sum of distances to the sample.

Newton's method on the sum of distances converges quadratically. The two places where that sum has no second derivative
are treated exactly: a data point, and a sample on one line.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.lapack import dposv

from transvariation._typing import Floats
from transvariation.acceleration import use_compiled
from transvariation.validation import as_rows, exponent_beyond

_LARGE = 20_000  # rows from which on Newton's method starts from the median of a subsample
_SUBSAMPLE = 4_000
_CHANCE, _ROUNDING = 5e-3, 1e-13  # accuracy, of the mean distance: what a subsample errs by anyway, and full precision
SUM_ROWS = 8_192  # rows summed together; fixed, so that partitioned rows give the same bits as one array
_WIDE = 50  # variables from which on fewer rows than variables are handled in the span of the rows
_TINIEST = float(np.finfo(float).tiny)
_MAX_PASSES = 200  # never needed; a bound for every loop


def spatial_median(X: ArrayLike) -> Floats:
    r"""Compute the spatial median of the rows of X: the point m that minimises :math:`\sum_i \lVert x_i - m \rVert`.

    If the minimum is at a data point, exactly that point is returned. With one variable, and on the line of a collinear
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
    transvariation.transvariation_probability : The measure, whose centre this is.

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


class Rows:
    """The rows of a sample, in one array. A subclass keeps them elsewhere; its spatial median has the same bits."""

    def __init__(self, X: Floats):
        self._X = np.ascontiguousarray(X)
        self.shape = X.shape

    def __len__(self) -> int:
        return self.shape[0]

    def max(self) -> float:
        """Return the largest value."""
        return float(self._X.max())

    def min(self) -> float:
        """Return the smallest value."""
        return float(self._X.min())

    def __getitem__(self, which: int | slice) -> Floats:
        """Return one row, or every k-th one for a slice ``[::k]``."""
        return self._X[which]

    def __mul__(self, unit: float) -> Rows:
        """Multiply every value."""
        return Rows(self._X * unit)

    def block_sums(self, y: Floats) -> Floats:
        """Return `sums_of_blocks` of all rows."""
        return sums_of_blocks(self._X, y, len(self))

    def median_on_line(self) -> Floats:
        """Return the median of rows that all lie on one line."""
        X = self._X
        if X.shape[1] == 1:
            return np.median(X, axis=0)
        far = X[np.argmax(distance_from(X, X[0]))]
        order = np.argsort(position_on_line(X, X[0], far), kind="stable")
        return midpoint(*X[order[[(len(X) - 1) // 2, len(X) // 2]]])


def spatial_median_of_rows(X: Floats | Rows) -> Floats:
    """Compute the spatial median of checked rows, in one array or elsewhere."""
    rows = X if isinstance(X, Rows) else Rows(X)
    if rows.shape[1] == 1:
        return rows.median_on_line()
    if exponent := exponent_beyond(max(rows.max(), -rows.min())):
        unit = 2.0 ** min(-exponent, 1023)
        return spatial_median_of_rows(rows * unit) / unit
    if len(rows) <= 2:
        return rows[0] + (rows[-1] - rows[0]) / 2
    if rows.shape[1] > max(len(rows), _WIDE):
        return _in_span(rows[::1])
    sub = np.ascontiguousarray(rows[:: max(1, len(rows) // _SUBSAMPLE)])
    start = np.sort(sub, axis=0)[[(len(sub) - 1) // 2, len(sub) // 2]].mean(axis=0)  # np.median takes longer
    if len(rows) > _LARGE:
        start = _newton(Rows(sub), start, exact=False)
    return _newton(rows, start)


def _in_span(X: Floats) -> Floats:
    """Compute the median of fewer rows than variables in coordinates of their span, of which there are few."""
    distinct, which = np.unique(X - np.median(X, axis=0), axis=0, return_inverse=True)
    coordinates = np.asarray(np.linalg.qr(distinct.T, mode="r")).T[which.ravel()]
    distance = np.linalg.norm(coordinates - spatial_median_of_rows(coordinates), axis=1)
    if not distance.all():
        return X[distance.argmin()].copy()
    # The median is the mean of the rows weighted by 1 / distance. Summing about a centre keeps constants exact.
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


def _pass(X: Rows, y: Floats) -> _Pass:
    p = len(y)
    blocks = X.block_sums(y)
    # One after the other: NumPy's own sums would take an order that depends on how many there are.
    sums = reduce(np.add, blocks[:, :-3])
    position, square, ties = zip(*blocks[:, -3:].tolist(), strict=True)
    least = min(square)
    k = square.index(least)
    resultant, hessian = sums[4 : 4 + p], sums[4 + p :].reshape(p, p)
    root, step, failed = dposv(hessian, resultant)
    pivots = root.diagonal().tolist()
    if failed or min(pivots) <= 1e-6 * max(pivots):
        step = None
    return _Pass(
        objective=float(sums[0]),
        resultant=resultant,
        hessian=hessian,
        step=step,
        weight=float(sums[1]),
        weight2=float(sums[2]),
        nearest=k * SUM_ROWS + int(position[k]),
        pull=sum(tie for tie, s in zip(ties, square, strict=True) if s == least) / math.sqrt(least),
        at=int(sums[3]),
    )


def sums_of_blocks(X: Floats, y: Floats, n_rows: int) -> Floats:
    """Sum over the rows that are not at y, in blocks of `SUM_ROWS` rows: one row of sums per block.

    The size of the whole sample, of which X may be a part, decides whether compiled code runs.

    The columns: the sums of distances d, 1/d and 1/d^2 and how many rows are at y; the sum of unit vectors (p); the
    Hessian (p x p); the nearest row within the block, the square of its distance, and how many are as near.
    """
    if use_compiled(n_rows):
        from transvariation.depth.compiled.median import fused_pass

        return fused_pass(X, y, SUM_ROWS)
    return np.array([_plain_sums(X[start : start + SUM_ROWS], y) for start in range(0, len(X), SUM_ROWS)])


def _plain_sums(X: Floats, y: Floats) -> Floats:
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


def _newton(X: Rows, y: Floats, exact: bool = True) -> Floats:
    """Minimise the sum of distances from a start y; `exact` finds a median that is a data point as such."""
    here = _pass(X, y)
    close = (_ROUNDING if exact else _CHANCE) * max(here.objective / len(X), _TINIEST)
    tried: set[bytes] = set()  # data points already known not to be the median
    for _ in range(_MAX_PASSES):
        step = here.step
        if step is None:
            return X.median_on_line()
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
                return X.median_on_line()
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


def _descend(X: Rows, y: Floats, here: _Pass, step: Floats) -> tuple[Floats, _Pass]:
    """Take a step in a descent direction, halving it until the sum of distances is smaller."""
    for _ in range(60):
        there = _pass(X, y + step)
        # A step that is right must not be refused because of rounding.
        if there.objective <= here.objective * (1 + 1e-15 * math.sqrt(len(X))):
            return y + step, there
        step = step / 2
    return y, here


def distance_from(X: Floats, point: Floats) -> Floats:
    """Compute the city-block distance of each row from a point."""
    return np.abs(X - point).sum(axis=1)


def position_on_line(X: Floats, first: Floats, far: Floats) -> Floats:
    """Project rows on the line through two of them. Sums column by column: the same bits for partitioned rows."""
    position = np.zeros(len(X))
    for u in range(X.shape[1]):
        position += (X[:, u] - first[u]) * (far[u] - first[u])
    return position


def midpoint(low: Floats, high: Floats) -> Floats:
    """Compute the midpoint of the two central points."""
    return low if (low == high).all() else np.mean([low, high], axis=0)
