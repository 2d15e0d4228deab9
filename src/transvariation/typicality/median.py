"""The spatial median: the point with the smallest sum of distances to the sample.

Newton's method on the sum of distances, which converges quadratically, with the two places where that sum has no
second derivative treated exactly: a data point, and a sample on one line.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation.typicality.acceleration import worth_compiling
from transvariation.typicality.rows import as_rows

Floats = NDArray[np.float64]

_LARGE = 20_000  # from here on Newton starts from the median of a subsample
_SUBSAMPLE = 4_000
_BLOCK = 8_192  # rows of a pass in plain NumPy: their differences stay in the cache
_HUGE, _TINY = 1e140, 1e-140
_MAX_PASSES = 200  # never needed; a bound for every loop


def spatial_median(X: ArrayLike) -> Floats:
    r"""Find the point that minimises :math:`\sum_i \lVert x_i - m \rVert`.

    A data point that is the minimiser is returned exactly. In one dimension, and along the line of a collinear
    sample, it is the median: of an even number of points, the middle of the two central ones.

    Parameters
    ----------
    X : array-like of shape (n, p) or (n,)

    Returns
    -------
    ndarray of shape (p,)

    References
    ----------
    Vardi, Y. and Zhang, C.-H. (2000). The multivariate L1-median and associated data depth. PNAS 97, 1423-1426.

    Examples
    --------
    >>> spatial_median([[0, 0], [4, 0], [0, 4], [1, 1]])
    array([1., 1.])
    """
    return spatial_median_of_rows(as_rows(X, "X"))


def spatial_median_of_rows(X: Floats) -> Floats:
    """The same for rows that were checked already."""
    if X.shape[1] == 1:
        return np.median(X, axis=0)
    size = max(float(X.max()), -float(X.min()))
    # Squares of such numbers overflow or vanish. A power of two changes nothing else.
    if not _TINY < size < _HUGE and size > 0:
        unit = 2.0 ** min(-int(np.log2(size)), 1023)
        return spatial_median_of_rows(X * unit) / unit
    if len(X) <= 2:
        return X[0] + (X[-1] - X[0]) / 2
    sub = X[:: max(1, len(X) // _SUBSAMPLE)]
    compiled = worth_compiling(len(X))
    start = np.median(sub, axis=0)
    if len(X) > _LARGE:
        start = _newton(np.ascontiguousarray(sub), start, compiled)
    return _newton(np.ascontiguousarray(X), start, compiled)


class _Pass(NamedTuple):
    """What one pass over the data says about a point y that is not a data point, or with the units at y set apart."""

    objective: float
    resultant: Floats  # sum of unit vectors from y to the data
    hessian: NDArray[np.float64]
    weight: float  # sum of 1 / distance
    weight2: float  # sum of 1 / distance^2
    nearest: int  # the closest unit not at y
    pull: float  # sum of 1 / distance over that unit and all as close, its duplicates among them
    at: int  # units at y itself


def _pass(X: Floats, y: Floats, compiled: bool = False) -> _Pass:
    if compiled:
        from transvariation.typicality.compiled.spatial import fused_pass

        (objective, weight, weight2, at), resultant, moment, nearest, square, ties = fused_pass(X, y)
    else:
        (objective, weight, weight2, at), resultant, moment, nearest, square, ties = _blocked_pass(X, y)
    return _Pass(
        objective=float(objective),
        resultant=resultant,
        hessian=weight * np.eye(X.shape[1]) - moment,
        weight=float(weight),
        weight2=float(weight2),
        nearest=int(nearest),
        pull=float(ties / np.sqrt(square)) if ties else 0.0,
        at=int(at),
    )


def _blocked_pass(X: Floats, y: Floats) -> tuple[Floats, Floats, Floats, int, float, int]:
    """Sum over the rows not at y: distances d, 1/d, 1/d^2 (and count those at y); unit vectors; their products over d.

    Also the nearest of these rows, the square of its distance and how many are as near.
    """
    p = X.shape[1]
    sums, resultant, moment = np.zeros(4), np.zeros(p), np.zeros((p, p))
    smallest, nearest, ties = np.inf, 0, 0
    for start in range(0, len(X), _BLOCK):
        difference = np.subtract(X[start : start + _BLOCK].T, y[:, None], order="C")
        square = np.einsum("ui,ui->i", difference, difference)
        at = np.flatnonzero(square == 0)
        square[at] = np.inf
        least = square.min()
        if least <= smallest and least < np.inf:
            if least < smallest:
                smallest, nearest, ties = least, start + int(square.argmin()), 0
            ties += int(np.count_nonzero(square == smallest))
        distance = np.sqrt(square, out=square)
        inverse = 1.0 / distance
        distance[at] = 0.0
        sums += distance.sum(), inverse.sum(), inverse @ inverse, len(at)
        difference *= inverse
        resultant += difference.sum(axis=1)
        moment += (difference * inverse) @ difference.T
    return sums, resultant, moment, nearest, smallest, ties


def _newton(X: Floats, y: Floats, compiled: bool = False) -> Floats:
    scale = max(float(np.abs(X[:: max(1, len(X) // _SUBSAMPLE)] - y).mean()), np.finfo(float).tiny)
    here = _pass(X, y, compiled)
    tried: set[bytes] = set()  # data points already known not to be the median
    for _ in range(_MAX_PASSES):
        if here.at:
            leave = _step_off(here)
            if leave is None:
                return y
            tried.add(y.tobytes())
            y, here = _descend(X, y, here, leave, compiled)
            continue
        candidate = X[here.nearest]
        # The closest unit bends the sum of distances noticeably: the minimum may be that very point.
        if here.pull > 0.01 * here.weight and candidate.tobytes() not in tried:
            there = _pass(X, candidate, compiled)
            leave = _step_off(there)
            if leave is None:
                return candidate.copy()
            tried.add(candidate.tobytes())
            if there.objective < here.objective:
                y, here = _descend(X, candidate, there, leave, compiled)
                continue
        step = _newton_step(here)
        if step is None:
            return _median_on_line(X)
        length = float(np.linalg.norm(step))
        # Newton squares the error: what is left after this step is about length^2 times the curvature's change.
        if length * length * here.weight2 / here.weight <= 1e-13 * scale or length <= 1e-15 * np.linalg.norm(y):
            return y + step
        y_new, there = _descend(X, y, here, step, compiled)
        if y_new is y:
            return y
        y, here = y_new, there
    return y


def _step_off(here: _Pass) -> Floats | None:
    """The step away from a data point, or None where it is the median: the rest pulls no harder than it holds."""
    pull = float(np.linalg.norm(here.resultant))
    if pull <= here.at * (1 + 1e-14) + 1e-15:
        return None
    direction = here.resultant / pull
    curvature = float(direction @ here.hessian @ direction)
    # Along this ray the kink at the data point is linear, so that one Newton step accounts for it exactly.
    return direction * (pull - here.at) / (curvature if curvature > 0 else here.weight)


def _newton_step(here: _Pass) -> Floats | None:
    """The Newton step; None where the curvature is zero in some direction, which only a line of points brings about."""
    values, vectors = np.linalg.eigh(here.hessian)
    if values[0] <= 1e-12 * values[-1]:
        return None
    return vectors @ ((vectors.T @ here.resultant) / values)


def _descend(X: Floats, y: Floats, here: _Pass, step: Floats, compiled: bool) -> tuple[Floats, _Pass]:
    """Go along a descent direction, halving the step until the sum of distances is smaller."""
    for _ in range(60):
        there = _pass(X, y + step, compiled)
        # Rounding of the sum must not refuse a step that is right.
        if there.objective <= here.objective * (1 + 1e-15 * np.sqrt(len(X))):
            return y + step, there
        step = step / 2
    return y, here


def _median_on_line(X: Floats) -> Floats:
    """The median of a sample whose points all lie on one line."""
    far = X[np.argmax(np.abs(X - X[0]).sum(axis=1))] - X[0]
    order = np.argsort((X - X[0]) @ far, kind="stable")
    middle = X[order[[(len(X) - 1) // 2, len(X) // 2]]]
    return middle[0] if (middle[0] == middle[1]).all() else middle.mean(axis=0)
