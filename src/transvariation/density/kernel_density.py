"""A density made of one Gaussian kernel per target object, with box probabilities in closed form."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation.density.box_probability import least_eigenvalue, mixture_box_probability
from transvariation.density.covariance import varying
from transvariation.density.kernel_sum import log_kernel_density

Floats = NDArray[np.float64]

RULES = ("normal", "scott")


def rule_bandwidth(X: Floats, rule: str = "normal", *, diagonal: bool = False) -> Floats:
    r"""Choose the kernels' covariance H from the sample covariance S and the sample size by a rule of thumb.

    ``"normal"``: :math:`H = \bigl(\tfrac{4}{n (p + 2)}\bigr)^{2 / (p + 4)} S`, the best choice if the density is itself
    normal (for Gaussian kernels this is also Silverman's rule). ``"scott"``: :math:`H = n^{-2 / (p + 4)} S`.

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
        raise ValueError(f"n_samples={n} is too few for a rule: at least 2 objects; or give the bandwidth itself")
    spread = np.atleast_2d(np.cov(X, rowvar=False))
    factor = n ** (-2 / (p + 4)) * ((4 / (p + 2)) ** (2 / (p + 4)) if rule == "normal" else 1.0)
    return factor * (np.diag(np.diag(spread)) if diagonal else spread)


def given_bandwidth(bandwidth: Any, p: int) -> Floats:
    """Turn a number, one per variable, or a matrix into the kernels' covariance matrix.

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


class GaussianKernelDensity(DensityMixin, BaseEstimator):
    r"""Estimate a density by the mean of Gaussian kernels about the target objects.

    .. math:: f(x) = \frac{1}{n} \sum_i \phi_H(x - x_i)

    Its box probabilities are means of normal box probabilities, and so smooth and never zero. With a diagonal H they
    are products of univariate ones, which makes them exact and fast in any number of variables.

    Parameters
    ----------
    bandwidth : {"normal", "scott"}, float, array-like of shape (p,) or (p, p), default="normal"
        A rule (:func:`rule_bandwidth`); the kernels' standard deviation, one for all variables or one each; or
        the kernels' covariance matrix H, symmetric with positive eigenvalues.
    diagonal : bool, default=True
        Whether a rule uses the variances only.

    Attributes
    ----------
    bandwidth_ : ndarray of shape (p, p)
        The kernels' covariance H.
    means_ : ndarray of shape (n, p)
        The kernels' centres: the target objects.

    Examples
    --------
    >>> density = GaussianKernelDensity().fit([[0.0], [1.0], [2.0]])
    >>> density.box_probability([[1.0], [9.0]], [[np.inf], [np.inf]])
    array([5.00000000e-01, 3.05449678e-17])
    """

    def __init__(self, *, bandwidth: Any = "normal", diagonal: bool = True):
        self.bandwidth = bandwidth
        self.diagonal = diagonal

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Put a kernel on each row of `X`."""
        # A copy: whoever changes their table afterwards must not move the kernels.
        rows: Floats = validate_data(self, X, dtype=np.float64, copy=True)
        self.bandwidth_ = self._bandwidth(rows)
        self._chol = np.linalg.cholesky(self.bandwidth_)
        self.means_ = rows
        return self

    def _bandwidth(self, X: Floats) -> Floats:
        if not isinstance(self.bandwidth, str):
            return given_bandwidth(self.bandwidth, X.shape[1])
        H = rule_bandwidth(X, self.bandwidth, diagonal=self.diagonal)
        if not (varying(X).all() and _is_positive_definite(H)):
            raise ValueError(
                "the kernels' covariance is singular: a variable is constant or determined by others; drop it, or give "
                "a bandwidth"
            )
        return H

    def score_samples(self, X: ArrayLike) -> Floats:
        """Compute the log density at each row of `X`."""
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        return log_kernel_density(self.means_, self.bandwidth_, rows)

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Compute the total log density of the rows of `X`."""
        return float(self.score_samples(X).sum())

    def box_probability(self, lower: ArrayLike, upper: ArrayLike, *, log: bool = False) -> Floats:
        """Compute the probability of each box; see :func:`transvariation.density.mixture_box_probability`."""
        check_is_fitted(self)
        n = len(self.means_)
        return mixture_box_probability(np.full(n, 1 / n), self.means_, self.bandwidth_, lower, upper, log=log)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Draw objects from the density."""
        check_is_fitted(self)
        rng = check_random_state(random_state)
        centres = self.means_[rng.randint(len(self.means_), size=n_samples)]
        return centres + rng.standard_normal(centres.shape) @ self._chol.T
