"""Spatial medians and tp in a whole stack of small samples, such as the images of one sample in many projections.

A hundred samples of a hundred units cost, one by one, mostly the hundred calls. Here every object is compared with
every unit, all samples together: the work is the product of all sizes, so that this is for small samples only.
"""

import numpy as np
from numpy.typing import NDArray

from transvariation.depth.counting import Transvariations
from transvariation.depth.median import is_constant, spatial_median
from transvariation.depth.probability import ratio

Floats = NDArray[np.float64]

SMALL = 40_000  # comparisons per sample (objects times units) up to which the stack pays
_CHUNK = 200_000  # comparisons at a time, about what a cache holds
_MAX_PASSES = 12  # Newton needs about five; what needs more is done one by one


def stacked_spatial_median(X: Floats) -> Floats:
    """Find the spatial median of each sample of a stack.

    Newton's method on all samples at once, from the medians of the coordinates. Where it arrives, the gradient of the
    sum of distances vanishes, and because the sum is convex this is its minimum. The other samples, those whose median
    is a data point or that lie on one line among them, are left to :func:`transvariation.spatial_median`.

    Parameters
    ----------
    X : ndarray of shape (B, n, d)

    Returns
    -------
    ndarray of shape (B, d)

    Examples
    --------
    >>> stacked_spatial_median(np.array([[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0]]]))
    array([[1., 1.]])
    """
    medians = np.full((len(X), X.shape[2]), np.nan)
    if X.shape[2] > 1 and X.shape[1] > 2:
        _newton_stack(X, medians)
    for b in np.flatnonzero(np.isnan(medians[:, 0])):
        medians[b] = spatial_median(X[b])
    return medians


def _newton_stack(X: Floats, medians: Floats) -> None:
    """Fill in the medians that plain Newton steps reach."""
    left = np.arange(len(X))
    y = np.median(X, axis=1)
    scale = np.maximum(np.abs(X - y[:, None]).mean(axis=(1, 2)), np.finfo(float).tiny)
    for _ in range(_MAX_PASSES):
        difference = X[left] - y[:, None]
        distance = np.sqrt(np.einsum("bnd,bnd->bn", difference, difference))
        # A data point, or so close to one that it may be the median itself: not for here.
        clear = distance.min(axis=1) > 1e-6 * scale[left]
        left, y, difference, distance = left[clear], y[clear], difference[clear], distance[clear]
        if not len(left):
            return
        inverse = 1 / distance
        unit = difference * inverse[:, :, None]
        weight = inverse.sum(axis=1)
        hessian = weight[:, None, None] * np.eye(X.shape[2]) - (unit * inverse[:, :, None]).swapaxes(1, 2) @ unit
        values, vectors = np.linalg.eigh(hessian)
        resultant = unit.sum(axis=1)
        along = np.einsum("bij,bi->bj", vectors, resultant)
        safe = values[:, 0] > 1e-8 * values[:, -1]
        step = np.einsum("bij,bj->bi", vectors, along / np.where(safe[:, None], values, 1.0))
        step[is_constant(hessian, resultant)] = 0.0
        y = y + step
        # The same bound as for one sample: Newton squares the error.
        error = np.einsum("bd,bd->b", step, step) * (inverse**2).sum(axis=1) / weight
        done = safe & (error <= 1e-13 * scale[left])
        medians[left[done]] = y[done]
        left, y = left[safe & ~done], y[safe & ~done]


def stacked_tp(
    X: Floats, Z: Floats, centers: Floats, *, same: NDArray[np.bool_] | None = None, ties: str = "proper"
) -> Floats:
    """Compute tp of each row of each sample of `Z` with respect to the sample of `X` at the same place in the stack.

    Parameters
    ----------
    X : ndarray of shape (B, n, d)
        The target samples.
    Z : ndarray of shape (B, q, d)
        The objects.
    centers : ndarray of shape (B, q, d), or one that broadcasts to it
        The centre about which each object is measured.
    same : ndarray of bool of shape (B, q, n), optional
        Which units count for which object, for instance those of its own cluster; by default all.
    ties : {"proper", "literal"}
        See :func:`transvariation.transvariation_probability`.

    Returns
    -------
    ndarray of shape (B, q)

    Examples
    --------
    >>> X = np.array([[[1.0], [2.0], [3.0], [4.0], [5.0]]])
    >>> stacked_tp(X, np.array([[[3.0], [4.0], [4.5], [6.0]]]), np.array([[[3.0]]]))
    array([[1. , 0.6, 0.4, 0. ]])
    """
    centers = np.broadcast_to(centers, Z.shape)
    step = max(1, _CHUNK // max(1, Z.shape[1] * X.shape[1]))
    parts = [
        _tp(X[i : i + step], Z[i : i + step], centers[i : i + step], None if same is None else same[i : i + step], ties)
        for i in range(0, len(X), step)
    ]
    return np.concatenate(parts)


def _tp(X: Floats, Z: Floats, M: Floats, same: NDArray[np.bool_] | None, ties: str) -> Floats:
    shape = (len(X), Z.shape[1], X.shape[1])
    beyond, at, side, centre = (np.ones(shape, dtype=bool) if same is None else same.copy() for _ in range(4))
    for u in range(X.shape[2]):
        c, m = Z[:, :, u], M[:, :, u]
        # Turned so that c lies above m. Changing a sign is exact, so that ties survive; a closed variable (c = m) has
        # sign 0, where every unit equals c and m and is to lie beyond -1.
        sign = np.sign(c - m)
        units = sign[:, :, None] * X[:, None, :, u]
        sc, sm, closed = (sign * c)[:, :, None], (sign * m)[:, :, None], (sign == 0)[:, :, None]
        beyond &= units > np.where(closed, -1.0, sc)
        side &= units > np.where(closed, -1.0, sm)
        at &= units == sc
        centre &= units == sm
    counts = Transvariations(*(part.sum(axis=2).ravel() for part in (beyond, at, side, centre, Z != M)))
    return ratio(counts, X.shape[1], X.shape[2], "count", ties).reshape(shape[:2])
