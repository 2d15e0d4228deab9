"""Gaussian kernel densities: rules for the bandwidth, log densities, and box probabilities in closed form."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.covariance import ledoit_wolf
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation._typing import Floats, RandomState
from transvariation.density.bandwidth import MAX_DIMENSION
from transvariation.density.box_probability import least_eigenvalue
from transvariation.density.covariance import check_full_spread, solve_rows, varying
from transvariation.density.gaussian import GaussianMixtureMixin, MixtureComponents
from transvariation.validation import blocks, check_magnitude

RULES = ("normal", "scott")
_BLOCK_DISTANCES = 1 << 16  # distances held at a time: they stay in the cache


def rule_bandwidth(X: Floats, rule: str = "normal", *, diagonal: bool = False) -> Floats:
    r"""Compute the kernels' covariance H from the covariance S of the samples and their number by a rule of thumb.

    ``"normal"``: :math:`H = \bigl(\tfrac{4}{n (p + 2)}\bigr)^{2 / (p + 4)} S`, the best choice if the density is itself
    normal (for Gaussian kernels this is also Silverman's rule). ``"scott"``: :math:`H = n^{-2 / (p + 4)} S`.

    In up to three features S is the sample covariance. Beyond, where n may be close to p and the sample covariance
    close to singular, its correlations are shrunk towards zero by the method of Ledoit and Wolf.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    rule : {"normal", "scott"}
    diagonal : bool
        Use the variances only, so that each kernel is a product of univariate ones.

    Examples
    --------
    >>> rule_bandwidth(np.array([[0.0], [1.0], [2.0]]), "scott").round(3)
    array([[0.644]])
    """
    if rule not in RULES:
        raise ValueError(f"bandwidth={rule!r} is unknown; choose one of {', '.join(RULES)}, or give numbers")
    n, p = X.shape
    if n < 2:
        raise ValueError(f"n_samples={n} is too few for a rule: at least 2 samples; or give the bandwidth itself")
    factor = n ** (-2 / (p + 4)) * ((4 / (p + 2)) ** (2 / (p + 4)) if rule == "normal" else 1.0)
    if diagonal:
        return factor * np.diag(X.var(axis=0, ddof=1))
    if p <= MAX_DIMENSION:
        return factor * np.atleast_2d(np.cov(X, rowvar=False))
    return factor * shrunk_covariance(X)


def shrunk_covariance(X: Floats) -> Floats:
    """Compute the sample covariance (divisor n - 1) with its correlations shrunk towards zero by Ledoit and Wolf.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(6, 9))
    >>> [int(np.linalg.matrix_rank(C)) for C in (np.cov(X, rowvar=False), shrunk_covariance(X))]
    [5, 9]
    """
    scale = X.std(axis=0, ddof=1)
    # Standardized, so that neither the shrinkage nor its target depends on the units; constant columns stay zero.
    Z = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    _, shrinkage = ledoit_wolf(Z, assume_centered=True)
    return np.cov(X, rowvar=False) * (1 - shrinkage + shrinkage * np.eye(X.shape[1]))


def given_bandwidth(bandwidth: ArrayLike, p: int) -> Floats:
    """Convert a number, one per feature, or a matrix into the kernels' covariance matrix.

    Examples
    --------
    >>> given_bandwidth([1.0, 2.0], 2)
    array([[1., 0.],
           [0., 4.]])
    """
    given = np.array(bandwidth, dtype=float)
    if given.shape in ((), (p,)) and (given > 0).all():
        return np.diag(np.broadcast_to(given**2, p))
    if given.shape == (p, p) and _is_positive_definite(given):
        return given
    raise ValueError(
        f"bandwidth={bandwidth!r} must be positive: a number, {p} numbers, or a symmetric {p} x {p} matrix with "
        "positive eigenvalues"
    )


def _is_positive_definite(H: Floats) -> bool:
    scale = np.sqrt(np.abs(np.diag(H)))
    symmetric = bool((np.abs(H - H.T) <= 1e-8 * np.outer(scale, scale)).all())
    return symmetric and least_eigenvalue(H) > len(H) * float(np.finfo(float).eps)


def log_kernel_density(X: Floats, H: Floats, Z: Floats) -> Floats:
    r"""Compute :math:`\log \frac1n \sum_i \phi_H(z - x_i)` at each row of `Z`.

    Whitened by H the kernels are spherical. The largest is factored out, so that far points keep their order. Where
    even the squared distances overflow, the logarithm is minus infinity.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The kernels' centers.
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
    result = np.empty(points.shape[1])
    for block in blocks(len(result), _BLOCK_DISTANCES // kernels.shape[1]):
        exponents = -_distance2(points[:, block], kernels)
        top = exponents.max(axis=1)
        exponents -= top[:, None]
        sums = top + np.log(np.exp(exponents, out=exponents).sum(axis=1))
        result[block] = np.where(np.isfinite(top), sums, -np.inf)  # differences of infinite numbers are NaN: far away
    return result


def _distance2(points: Floats, kernels: Floats) -> Floats:
    """Sum squared differences feature by feature: the rounding of a matrix product depends on the number of rows."""
    total = np.zeros((points.shape[1], kernels.shape[1]))
    work = np.empty_like(total)
    for z, x in zip(points, kernels, strict=True):
        np.subtract(z[:, None], x, out=work)
        total += np.square(work, out=work)
    return total


class GaussianKernelDensity(GaussianMixtureMixin, BaseEstimator):
    r"""Estimate a density by the mean of Gaussian kernels about the samples.

    .. math:: f(x) = \frac{1}{n} \sum_i \phi_H(x - x_i)

    Its box probabilities are means of normal box probabilities, smooth and never zero. With a diagonal H they are sums
    of products of univariate ones, exact and fast in any number of features.

    Parameters
    ----------
    bandwidth : {"normal", "scott"}, float, array-like of shape (p,) or (p, p), default="normal"
        A rule of thumb; the kernels' standard deviation, one for all features or one each; or
        the kernels' covariance matrix H, symmetric with positive eigenvalues.
    diagonal : bool, default=True
        Whether a rule uses the variances only.

    Attributes
    ----------
    bandwidth_ : ndarray of shape (p, p)
        The kernels' covariance H.
    means_ : ndarray of shape (n, p)
        The kernels' centers: the samples.

    See Also
    --------
    transvariation.GaussianDensity : One normal distribution.
    transvariation.GaussianMixtureBIC : A few components.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import GaussianKernelDensity
    >>> density = GaussianKernelDensity().fit([[0.0], [1.0], [2.0]])
    >>> density.box_probability([[1.0], [9.0]], [[np.inf], [np.inf]])
    array([5.00000000e-01, 3.05449678e-17])
    """

    def __init__(self, *, bandwidth: str | ArrayLike = "normal", diagonal: bool = True):
        self.bandwidth = bandwidth
        self.diagonal = diagonal

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Center a kernel on each row of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to describe.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self
            The fitted density.
        """
        # A copy: later changes of the caller's array must not move the kernels.
        rows: Floats = validate_data(self, X, dtype=np.float64, copy=True)
        check_magnitude(rows)
        self.bandwidth_ = self._bandwidth(rows)
        self._chol = np.linalg.cholesky(self.bandwidth_)
        self.means_ = rows
        return self

    def _bandwidth(self, X: Floats) -> Floats:
        if not isinstance(self.bandwidth, str):
            return given_bandwidth(self.bandwidth, X.shape[1])
        H = rule_bandwidth(X, self.bandwidth, diagonal=self.diagonal)
        if not (varying(X).all() and _is_positive_definite(H)):
            check_full_spread(X)  # names the columns at fault
            raise ValueError("the kernels' covariance is singular; give a bandwidth, or reduce the variables first")
        return H

    def _log_density(self, rows: Floats) -> Floats:
        return log_kernel_density(self.means_, self.bandwidth_, rows)

    def _components(self) -> MixtureComponents:
        return np.full(len(self.means_), 1 / len(self.means_)), self.means_, self.bandwidth_

    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Floats:
        """Draw samples from the density.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples to draw.
        random_state : int, RandomState instance or None, default=None
            Seed of the random numbers.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Random samples from the density.
        """
        check_is_fitted(self)
        rng = check_random_state(random_state)
        centers = self.means_[rng.randint(len(self.means_), size=n_samples)]
        return centers + rng.standard_normal(centers.shape) @ self._chol.T
