"""The spatial median: the point with the smallest sum of distances to the sample.

Newton's method on the sum of distances, which converges quadratically, with the two places where that sum has no
second derivative treated exactly: a data point, and a sample on one line.
"""

import math
from abc import ABC, abstractmethod
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation.acceleration import use_compiled
from transvariation.depth.collinear import between, order_on_line
from transvariation.depth.span import WIDE, spanned, weighted_mean
from transvariation.validation import as_rows, exponent_beyond

Floats = NDArray[np.float64]

_LARGE = 20_000  # from here on Newton starts from the median of a subsample
_SUBSAMPLE = 4_000
_BY_CHANCE, _ROUNDING = 5e-3, 1e-13  # of the mean distance: what a subsample errs by anyway, and what a double can tell
BLOCK = 16_384  # rows whose sums are taken together; fixed, so that rows in several places add up to the same bits
_CACHED = 8_192  # rows of a pass in plain NumPy: their differences stay in the cache
_TINIEST = float(np.finfo(float).tiny)
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


class PartedRows(ABC):
    """A sample whose rows are not in one array. Its spatial median has the same bits as that of the one array."""

    shape: tuple[int, int]

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def max(self) -> float:
        """Find the largest value."""

    @abstractmethod
    def min(self) -> float:
        """Find the smallest value."""

    @overload
    def __getitem__(self, which: int) -> Floats: ...
    @overload
    def __getitem__(self, which: slice) -> Floats: ...
    @abstractmethod
    def __getitem__(self, which: int | slice) -> Floats:
        """Fetch one row, or every k-th one for a slice ``[::k]``."""

    @abstractmethod
    def __mul__(self, unit: float) -> "PartedRows":
        """Scale every value."""

    @abstractmethod
    def block_sums(self, y: Floats, compiled: bool) -> Floats:
        """Give `sums_of_blocks` of all rows in one array."""

    @abstractmethod
    def median_on_line(self) -> Floats:
        """Find the median of rows that all lie on one line."""


def spatial_median_of_rows(X: Floats | PartedRows) -> Floats:
    """The same for rows that were checked already, be they in one place or in several."""
    if X.shape[1] == 1:
        return np.median(X, axis=0) if isinstance(X, np.ndarray) else X.median_on_line()
    compiled = use_compiled(len(X))
    X = np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X
    if exponent := exponent_beyond(_size(X, compiled)):
        unit = 2.0 ** min(-exponent, 1023)
        return spatial_median_of_rows(X * unit) / unit
    if len(X) <= 2:
        return X[0] + (X[-1] - X[0]) / 2
    if X.shape[1] > max(len(X), WIDE):
        return _in_their_span(X if isinstance(X, np.ndarray) else X[::1])
    sub = np.ascontiguousarray(X[:: max(1, len(X) // _SUBSAMPLE)])
    if len(X) > _LARGE:
        few = np.sort(sub[::4], axis=0)
        start = _newton(sub, few[len(few) // 2], compiled, exact=False)
    else:
        start = np.median(sub, axis=0)
    return _newton(X, start, compiled)


def _in_their_span(X: Floats) -> Floats:
    """The median of fewer rows than variables, from as many coordinates as there are rows."""
    coordinates = spanned(X)
    distance = np.linalg.norm(coordinates - spatial_median_of_rows(coordinates), axis=1)
    if not distance.all():
        return X[distance.argmin()].copy()
    return weighted_mean(X, np.median(X, axis=0), 1 / distance)


def _size(X: Floats | PartedRows, compiled: bool) -> float:
    if compiled and isinstance(X, np.ndarray):
        from transvariation.depth.compiled.spatial import largest

        return largest(X)
    return max(float(X.max()), -float(X.min()))


class _Pass(NamedTuple):
    """What one pass over the data says about a point y that is not a data point, or with the units at y set apart."""

    objective: float
    resultant: Floats  # sum of unit vectors from y to the data
    hessian: Floats
    step: Floats | None  # Newton's; None where the curvature is zero in some direction: only a line of points does that
    weight: float  # sum of 1 / distance
    weight2: float  # sum of 1 / distance^2
    nearest: int  # the closest unit not at y
    pull: float  # sum of 1 / distance over that unit and all as close, its duplicates among them
    at: int  # units at y itself


def _pass(X: Floats | PartedRows, y: Floats, compiled: bool = False) -> _Pass:
    blocks = sums_of_blocks(X, y, compiled) if isinstance(X, np.ndarray) else X.block_sums(y, compiled)
    if compiled:
        from transvariation.depth.compiled.spatial import concluded

        *sums, resultant, hessian, step = concluded(blocks, len(y))
    else:
        *sums, resultant, hessian, step = _concluded(blocks, len(y))
    objective, weight, weight2, at, k, pull = sums
    return _Pass(
        objective=objective,
        resultant=resultant,
        hessian=hessian,
        step=step if len(step) else None,
        weight=weight,
        weight2=weight2,
        nearest=int(k) * BLOCK + int(blocks[int(k), -3]),
        pull=pull,
        at=int(at),
    )


def _concluded(blocks: Floats, p: int) -> tuple:
    """Add up the blocks: the four sums, the block of the nearest row, its pull; resultant, Hessian, Newton's step."""
    # One after the other: NumPy's own sums would take an order that depends on how many there are.
    sums = np.add.accumulate(blocks[:, :-3])[-1]
    square, ties = blocks[:, -2:].T
    k = int(square.argmin())
    resultant, hessian = sums[4 : 4 + p], sums[4 + p :].reshape(p, p)
    values, vectors = np.linalg.eigh(hessian)
    step = np.empty(0)
    if values[0] > 1e-12 * values[-1]:
        step = vectors @ ((vectors.T @ resultant) / values)
        step[constant(hessian, resultant)] = 0.0
    return *sums[:4].tolist(), k, float(ties[square == square[k]].sum() / np.sqrt(square[k])), resultant, hessian, step


def constant(hessian: Floats, resultant: Floats) -> NDArray[np.bool_]:
    """Which variables have the value of y throughout. Eigenvectors would move y there by a rounding of nothing."""
    return (resultant == 0) & (np.count_nonzero(hessian, axis=-1) == 1)


def sums_of_blocks(X: Floats, y: Floats, compiled: bool) -> Floats:
    """Sum over the rows that are not at y, of rows 0 to BLOCK, BLOCK to 2 BLOCK and so on: one block per row.

    The columns: the sums of distances d, 1/d and 1/d^2 and how many rows are at y; the sum of unit vectors (p); the
    Hessian (p x p); the nearest row within the block, the square of its distance, and how many are as near.
    """
    if compiled:
        from transvariation.depth.compiled.spatial import fused_pass

        return fused_pass(X, y, BLOCK)
    return np.array([_plain_sums(X[start : start + BLOCK], y) for start in range(0, len(X), BLOCK)])


def _plain_sums(X: Floats, y: Floats) -> Floats:
    p = X.shape[1]
    sums, resultant, moment = np.zeros(4), np.zeros(p), np.zeros((p, p))
    smallest, nearest, ties = np.inf, 0, 0
    for start in range(0, len(X), _CACHED):
        difference = np.subtract(X[start : start + _CACHED].T, y[:, None], order="C")
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
    hessian = sums[1] * np.eye(p) - moment
    return np.concatenate([sums, resultant, hessian.ravel(), [nearest, smallest, ties]])


def _newton(X: Floats | PartedRows, y: Floats, compiled: bool = False, exact: bool = True) -> Floats:
    here = _pass(X, y, compiled)
    close = (_ROUNDING if exact else _BY_CHANCE) * max(here.objective / len(X), _TINIEST)
    tried: set[bytes] = set()  # data points already known not to be the median
    for _ in range(_MAX_PASSES):
        step = here.step
        if step is None:
            return _on_line(X)
        if here.at:
            leave = _step_off(here)
            if leave is None:
                return y
            tried.add(y.tobytes())
            y, here = _descend(X, y, here, leave, compiled)
            continue
        candidate = X[here.nearest]
        # The closest unit bends the sum of distances noticeably: the minimum may be that very point.
        if exact and here.pull > 0.01 * here.weight and candidate.tobytes() not in tried:
            there = _pass(X, candidate, compiled)
            leave = _step_off(there)
            if there.step is None:  # on a line it may be only one end of a stretch of equally good points
                return _on_line(X)
            if leave is None:
                return candidate.copy()
            tried.add(candidate.tobytes())
            if there.objective < here.objective:
                y, here = _descend(X, candidate, there, leave, compiled)
                continue
        length = math.sqrt(step @ step)
        # Newton squares the error: what is left after this step is about length^2 times the curvature's change.
        if length * length * here.weight2 / here.weight <= close or length <= 1e-15 * math.hypot(*y):
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


def _descend(X: Floats | PartedRows, y: Floats, here: _Pass, step: Floats, compiled: bool) -> tuple[Floats, _Pass]:
    """Go along a descent direction, halving the step until the sum of distances is smaller."""
    for _ in range(60):
        there = _pass(X, y + step, compiled)
        # Rounding of the sum must not refuse a step that is right.
        if there.objective <= here.objective * (1 + 1e-15 * math.sqrt(len(X))):
            return y + step, there
        step = step / 2
    return y, here


def _on_line(X: Floats | PartedRows) -> Floats:
    """The median of a sample whose points all lie on one line."""
    if not isinstance(X, np.ndarray):
        return X.median_on_line()
    order = order_on_line(X)
    return between(*X[order[[(len(X) - 1) // 2, len(X) // 2]]])
