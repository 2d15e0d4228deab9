"""The spatial medians of every sample with one object less, where the variables are many.

Without one of many objects the sum of distances bends nearly as it did. So the medians are found side by side, by steps
that take the Hessian of the whole sample for everyone's: one matrix is inverted, not n, and there are no third
derivatives, which are p x p x p.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from transvariation.depth.collinear import middles_without_each, order_on_line
from transvariation.depth.median import spatial_median_of_rows
from transvariation.depth.span import WIDE, spanned, weighted_mean
from transvariation.validation import blocks

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_STEPS = 40  # where they converge a dozen do
_SETTLED, _MARGIN = 1e-13, 1e-12  # of the mean distance, of the mean deviation of a variable
_CELLS = 1_000_000  # numbers worked on at a time


def is_wide(n: int, p: int) -> bool:
    """Say whether third derivatives would take longer than a dozen steps for everyone."""
    return p > WIDE and p * p > 4 * n


def wide_medians_without_each(X: Floats) -> Floats:
    """Find the spatial median of the other rows, for every row of `X`.

    Examples
    --------
    >>> wide_medians_without_each(np.array([[0.0, 0], [4, 0], [0, 4], [4, 4], [1, 2]])).round(3)[4]
    array([2., 2.])
    """
    C, center, n = spanned(X), np.median(X, axis=0), len(X)
    m = spatial_median_of_rows(C)
    distance = np.linalg.norm(C - m, axis=1)
    at, medians, doubt = distance == 0, np.empty_like(X), np.ones(n, dtype=bool)
    inverse = np.divide(1.0, distance, out=np.zeros(n), where=~at)
    unit = (C - m) * inverse[:, None]
    hessian = inverse.sum() * np.eye(C.shape[1]) - (unit.T * inverse) @ unit
    bends = np.linalg.eigvalsh(hessian)
    if bends[0] <= 1e-12 * bends[-1]:
        return middles_without_each(X, order_on_line(X))
    if at.any():
        # The median is an object, and stays it where the others pull no harder than it holds.
        pull = np.linalg.norm(unit.sum(axis=0) - unit, axis=1)
        doubt = pull > (at.sum() - at) * (1 - 1e-12)
        medians[:] = X[at.argmax()]
    else:
        back, margin = np.linalg.inv(hessian), _MARGIN * np.abs(X - center).mean(axis=0)
        for some in blocks(n, _CELLS // X.size):
            weights, doubt[some] = _weights(C, m, back, np.arange(n)[some], _SETTLED * distance.mean())
            medians[some] = weighted_mean(X, center, weights)
            # On which side of a value so close a median lies is for itself to say.
            away = np.abs(X - medians[some, None])
            doubt[some] |= ((away > 0) & (away <= margin)).any(axis=(1, 2))
    for i in np.flatnonzero(doubt):
        medians[i] = spatial_median_of_rows(np.delete(X, i, axis=0))
    return medians


@np.errstate(all="ignore")  # a median that comes to lie on an object makes no sense here, and shows it
def _weights(C: Floats, m: Floats, back: Floats, left_out: Indices, settled: float) -> tuple[Floats, NDArray[np.bool_]]:
    """What the rows weigh, one by their distance, for the medians without each of some; and which are in doubt."""
    Y = np.tile(m, (len(left_out), 1))
    for _ in range(_STEPS):
        weights = 1 / cdist(Y, C)
        weights[np.arange(len(Y)), left_out] = 0.0
        step = (weights @ C - weights.sum(axis=1, keepdims=True) * Y) @ back
        Y += step
        length = np.linalg.norm(step, axis=1)
        if not (length > settled).any():
            break
    return weights, ~(length <= settled)
