"""Sum Gaussian kernels, fast: the log density of a kernel estimate at many points."""

import numpy as np
from numpy.typing import NDArray

from transvariation.density.row_algebra import solve_rows

Floats = NDArray[np.float64]

_BLOCK = 1 << 16  # distances held at a time: they stay in the cache
_FAR = 1e-280  # below this sum, subnormal numbers would cost digits


def log_kernel_density(X: Floats, H: Floats, Z: Floats) -> Floats:
    r"""Compute :math:`\log \frac1n \sum_i \phi_H(z - x_i)` at each row of `Z`.

    Whitened by H the kernels are spherical. Where all of them underflow, the largest is taken out of the sum first, so
    that far points are still ranked. Where even their squared distances are too large for a number, the logarithm is
    minus infinity.

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
    with np.errstate(over="ignore", invalid="ignore"):
        # Spherical kernels exp(-|z - x|^2), in rows per variable.
        kernels, points = (np.ascontiguousarray(solve_rows(root, A - X.mean(axis=0)).T / np.sqrt(2)) for A in (X, Z))
        return _log_sums(kernels, points) - constant


def _log_sums(kernels: Floats, points: Floats) -> Floats:
    m, n = points.shape[1], kernels.shape[1]
    result = np.empty(m)
    step = max(1, _BLOCK // n)
    for start in range(0, m, step):
        block = slice(start, start + step)
        distances = _distance2(points[:, block], kernels)
        result[block] = np.exp(np.negative(distances, out=distances), out=distances).sum(axis=1)
    far = np.flatnonzero(~(result >= _FAR))  # infinite sides that cancel make NaN: those are far as well
    with np.errstate(divide="ignore"):
        result = np.log(result)
    for start in range(0, len(far), step):
        rows = far[start : start + step]
        exponents = -_distance2(points[:, rows], kernels)
        top = exponents.max(axis=1)
        sums = top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))
        result[rows] = np.where(np.isfinite(top), sums, -np.inf)
    return result


def _distance2(points: Floats, kernels: Floats) -> Floats:
    """Squared distances, summed variable by variable: not a matrix product, which rounds one row unlike many."""
    total = np.zeros((points.shape[1], kernels.shape[1]))
    work = np.empty_like(total)
    for z, x in zip(points, kernels, strict=True):
        np.subtract(z[:, None], x, out=work)
        total += np.square(work, out=work)
    return total
