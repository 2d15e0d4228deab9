"""One Gaussian as a density, and what it shares with other mixtures of Gaussians."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation._typing import Floats
from transvariation.density.box_probability import log_mixture_boxes
from transvariation.density.covariance import check_full_spread

MixtureComponents = tuple[Floats, Floats, Floats]  # weights, means, covariances


class GaussianMixtureMixin(DensityMixin):
    """Log densities and box probabilities of mixtures of Gaussians."""

    def _components(self) -> MixtureComponents:
        """Return weights (G,), means (G, p) and covariances (G, p, p), or (p, p) if the components share one."""
        raise NotImplementedError

    def _log_density(self, rows: Floats) -> Floats:
        """Compute the log density at each validated sample."""
        raise NotImplementedError

    def _validated(self, X: ArrayLike) -> Floats:
        check_is_fitted(self, ["mean_", "means_"], all_or_any=any)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def score_samples(self, X: ArrayLike) -> Floats:
        """Compute the log density at each row of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            The log densities.
        """
        return self._log_density(self._validated(X))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Compute the mean log density of the rows of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to score.
        y : None
            Ignored; present by convention.

        Returns
        -------
        float
            The mean log density.
        """
        return float(self.score_samples(X).mean())

    def box_probability(self, lower: ArrayLike, upper: ArrayLike, *, log: bool = False) -> Floats:
        """Compute the probability of each box; see :func:`transvariation.density.mixture_box_probability`.

        Parameters
        ----------
        lower : array-like of shape (n_boxes, n_features)
            Lower corners of the boxes; -inf where a box is open.
        upper : array-like of shape (n_boxes, n_features)
            Upper corners of the boxes; inf where a box is open.
        log : bool, default=False
            Return logarithms, which do not underflow.

        Returns
        -------
        ndarray of shape (n_boxes,)
            The probability of each box.
        """
        check_is_fitted(self)
        log_p, _ = log_mixture_boxes(*self._components(), lower, upper)
        return log_p if log else np.exp(log_p)

    def box_error(self, lower: ArrayLike, upper: ArrayLike) -> Floats:
        """Compute the relative error of `box_probability`, which four and more correlated features have.

        Parameters
        ----------
        lower : array-like of shape (n_boxes, n_features)
            Lower corners of the boxes; -inf where a box is open.
        upper : array-like of shape (n_boxes, n_features)
            Upper corners of the boxes; inf where a box is open.

        Returns
        -------
        ndarray of shape (n_boxes,)
            The relative error of each probability.
        """
        check_is_fitted(self)
        return log_mixture_boxes(*self._components(), lower, upper, tolerance=1e-3)[1]


class GaussianDensity(GaussianMixtureMixin, BaseEstimator):
    """Estimate a density by the normal distribution with the mean and covariance (divisor n) of the samples.

    Attributes
    ----------
    mean_ : ndarray of shape (p,)
    covariance_ : ndarray of shape (p, p)

    See Also
    --------
    transvariation.GaussianMixtureBIC : Several components.
    transvariation.GaussianKernelDensity : A kernel at each sample.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import GaussianDensity
    >>> density = GaussianDensity().fit([[0.0], [1.0], [2.0]])
    >>> density.box_probability([[1.0]], [[np.inf]])
    array([0.5])
    """

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Estimate mean and covariance from the rows of `X`.

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
        rows: Floats = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        check_full_spread(rows)
        self.mean_ = rows.mean(axis=0)
        self.covariance_ = np.atleast_2d(np.cov(rows, rowvar=False, bias=True))
        scale = np.sqrt(np.diag(self.covariance_))
        # The covariance has half the digits of the rows. Correlations do not depend on the units.
        if np.linalg.eigvalsh(self.covariance_ / np.outer(scale, scale))[0] < 1e-12:
            raise ValueError(
                "the covariance is singular: a variable is nearly determined by others; drop it, or reduce first"
            )
        self._chol = np.linalg.cholesky(self.covariance_ / np.outer(scale, scale)) * scale[:, None]
        return self

    def _log_density(self, rows: Floats) -> Floats:
        z = solve_triangular(self._chol, (rows - self.mean_).T, lower=True)
        constant = np.log(np.diag(self._chol)).sum() + len(self.mean_) / 2 * np.log(2 * np.pi)
        return -0.5 * (z * z).sum(axis=0) - constant

    def _components(self) -> MixtureComponents:
        return np.ones(1), self.mean_[None], self.covariance_
