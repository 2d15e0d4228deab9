"""Sum Gaussian kernels, fast: the log density of a kernel estimate at many points."""

import numpy as np
from numpy.typing import NDArray

from transvariation.mixture.rowwise import solve_rows

Floats = NDArray[np.float64]

_BLOCK = 1 << 16  # distances held at a time: they stay in the cache
_FAR = 1e-280  # below this sum, subnormal numbers would cost digits


def log_kernel_density(X: Floats, H: Floats, Z: Floats) -> Floats:
    r"""Compute :math:`\log \frac1n \sum_i \phi_H(z - x_i)` at each row of `Z`.

    Whitened by H the kernels are spherical. Where all of them underflow, the largest is taken out of the sum first, so
    that far points are still ranked.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The kernels' centres.
    H : ndarray of shape (p, p)
        The kernels' covariance.
    Z : ndarray of shape (m, p)

    Returns
    -------
    ndarray of shape (m,)

    Examples
    --------
    >>> log_kernel_density(np.zeros((1, 1)), np.eye(1), np.array([[0.0], [100.0]]))
    array([-9.18938533e-01, -5.00091894e+03])
    """
    root = np.asarray(np.linalg.cholesky(H).T, dtype=np.float64)
    n, p = X.shape
    constant = np.log(n) + np.log(np.diag(root)).sum() + p / 2 * np.log(2 * np.pi)
    # Spherical kernels exp(-|z - x|^2), in rows per variable.
    kernels, points = (np.ascontiguousarray(solve_rows(root, A - X.mean(axis=0)).T / np.sqrt(2)) for A in (X, Z))
    result = np.empty(len(Z))
    step = max(1, _BLOCK // n)
    for start in range(0, len(Z), step):
        block = slice(start, start + step)
        distances = _distance2(points[:, block], kernels)
        result[block] = np.exp(np.negative(distances, out=distances), out=distances).sum(axis=1)
    far = np.flatnonzero(result < _FAR)
    with np.errstate(divide="ignore"):
        result = np.log(result)
    for start in range(0, len(far), step):
        rows = far[start : start + step]
        exponents = -_distance2(points[:, rows], kernels)
        top = exponents.max(axis=1)
        result[rows] = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
    return result - constant


def _distance2(points: Floats, kernels: Floats) -> Floats:
    """Squared distances, summed variable by variable: not a matrix product, which rounds one row unlike many."""
    total = np.zeros((points.shape[1], kernels.shape[1]))
    work = np.empty_like(total)
    for z, x in zip(points, kernels, strict=True):
        np.subtract(z[:, None], x, out=work)
        total += np.square(work, out=work)
    return total
