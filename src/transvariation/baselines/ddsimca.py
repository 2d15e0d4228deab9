"""DD-SIMCA: data-driven soft independent modelling of class analogy."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

from transvariation.base import OneClassClassifier
from transvariation.validation import check_magnitude

Floats = NDArray[np.float64]

_MAX_DOF = 250
_EXPLAINED = 0.95  # share of the variance that the components explain if n_components=None


def scaled_chi2(distances: ArrayLike, limits: str = "classic") -> tuple[float, int]:
    """Fit a scaled chi-square distribution to squared distances: N d / d0 has N degrees of freedom.

    Parameters
    ----------
    distances : array-like of shape (n,)
    limits : {"classic", "robust"}, default="classic"
        Match the mean and the variance, or the median and the interquartile range.

    Returns
    -------
    d0 : float
        The scale, which is the expected distance.
    N : int
        The degrees of freedom.

    Examples
    --------
    >>> scaled_chi2([1.0, 2.0, 3.0])
    (2.0, 8)
    """
    distances = np.asarray(distances, dtype=float)
    if not distances.any():  # no components, no score distance: it adds nothing to the full distance
        return 1.0, 0
    if limits == "classic":
        scale, spread = distances.mean(), distances.std(ddof=1)
        dof = 2 * (scale / spread) ** 2 if spread > 0 else _MAX_DOF
        return float(scale), int(np.clip(np.round(dof), 1, _MAX_DOF))
    lower, median, upper = np.quantile(distances, [0.25, 0.5, 0.75])
    dof = _robust_dof((upper - lower) / median) if median > 0 else 1
    quartiles = chi2.ppf([0.25, 0.5, 0.75], dof)
    scale = 0.5 * dof * (median / quartiles[1] + (upper - lower) / (quartiles[2] - quartiles[0]))
    return float(scale) or float(distances.mean()), dof


def _robust_dof(ratio: float) -> int:
    """Invert IQR / median of the chi-square distribution by the formula of Pomerantsev and Rodionova (2014)."""
    if ratio > 2.685592117:
        return 1
    if ratio < 0.194565995:
        return 100
    return int(np.round(np.exp((1.380948 * np.log(2.68631 / ratio)) ** 1.185785)))


class DDSIMCA(OneClassClassifier):
    r"""Accept samples whose distances within and from the principal components follow those of the target class.

    The score distance h is the squared Mahalanobis distance within the components, the orthogonal distance v the
    squared distance to them. Both follow scaled chi-square distributions approximately, and so does the full distance

    .. math:: f = N_h \frac{h}{h_0} + N_v \frac{v}{v_0} \sim \chi^2(N_h + N_v),

    with scales and degrees of freedom estimated from the training samples. The score is
    :math:`-f / (N_h + N_v)`.

    Parameters
    ----------
    n_components : int, optional
        Number of principal components, at least 0 and less than the rank of the centered samples. By default the
        smallest number that explains 95% of the variance of the target samples.
    limits : {"classic", "robust"}, default="classic"
        Estimation of the scales and degrees of freedom: by moments, or by the median and the interquartile range.
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        ``"resubstitution"`` is the published classifier: the threshold is the chi-square quantile, and p-values are
        chi-square tail probabilities. Its nominal sensitivity holds for large samples only; with fewer samples than
        features it is far too high. The other modes calibrate the threshold by held-out samples; see
        :class:`transvariation.TOCC`.
    n_jobs : int, optional
        Number of processes that score held-out samples. The result is the same for every number.

    Attributes
    ----------
    n_components_ : int
        Number of principal components used.
    center_ : ndarray of shape (n_features,)
        The mean.
    components_ : ndarray of shape (n_components, n_features)
        Loadings, one component per row.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each component, with divisor n - 1.
    scales_ : ndarray of shape (2,)
        :math:`h_0` and :math:`v_0`.
    degrees_of_freedom_ : ndarray of shape (2,)
        :math:`N_h` and :math:`N_v`.

    Notes
    -----
    Features are centered, not scaled; put a ``StandardScaler`` before the classifier if they have different units.
    :func:`transvariation.compare_classifiers` compares numbers of components by target samples only.

    References
    ----------
    Pomerantsev, A. L. (2008). Acceptance areas for multivariate classification derived by projection methods. Journal
    of Chemometrics 22, 601-609.

    Pomerantsev, A. L. and Rodionova, O. Ye. (2014). Concept and role of extreme objects in PCA/SIMCA. Journal of
    Chemometrics 28, 429-438.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from transvariation.baselines import DDSIMCA
    >>> wine = load_wine()
    >>> X = scale(wine.data)
    >>> classifier = DDSIMCA(n_components=2, calibration="cv").fit(X[wine.target == 0])
    >>> float((classifier.predict(X[wine.target == 1]) == -1).mean().round(2))
    0.99
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        limits: str = "classic",
        sensitivity: float = 0.9,
        calibration: Any = "resubstitution",
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.limits = limits
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.n_jobs = n_jobs

    def _set_threshold(self, sensitivity: float | ArrayLike) -> None:
        super()._set_threshold(sensitivity)
        if not self._calibration.held_out:
            dof = self.degrees_of_freedom_.sum()
            self.offset_ = float(-chi2.ppf(sensitivity, dof) / dof)
            self.thresholds_ = np.array([self.offset_])

    def p_values(self, X: ArrayLike, *, sensitivity: float | ArrayLike | None = None) -> Floats:
        """Compute p-values: chi-square tail probabilities as published, or conformal p-values if calibrated.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to judge.
        sensitivity : float, optional
            Determines which small strata are pooled; by default that of the classifier.
        """
        if self._calibration.held_out:
            return super().p_values(X, sensitivity=sensitivity)
        dof = self.degrees_of_freedom_.sum()
        return chi2.sf(-dof * self.score_samples(X), dof)

    def distances(self, X: ArrayLike) -> Floats:
        """Compute the relative distances h / h0 and v / v0 of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to measure.

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return self._distances(self._validated(X)) / self.scales_

    def critical_distances(self, outlier_level: float = 0.01) -> tuple[float, float]:
        """Compute the full distances beyond which samples are extreme, and beyond which they are outliers.

        Parameters
        ----------
        outlier_level : float in (0, 1), default=0.01
            Probability that one or more of the training samples exceed the second distance by chance.

        Returns
        -------
        extreme, outlier : float
        """
        dof = self.degrees_of_freedom_.sum()
        outlier = chi2.ppf((1 - outlier_level) ** (1 / self._n_samples), dof)
        return -self.offset_ * dof, float(outlier)

    def roles(self, X: ArrayLike, outlier_level: float = 0.01) -> NDArray[np.str_]:
        """Name the role of each sample: ``"regular"``, ``"extreme"`` or ``"outlier"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to judge.
        outlier_level : float in (0, 1), default=0.01
            See :meth:`critical_distances`.
        """
        full = -self.score_samples(X) * self.degrees_of_freedom_.sum()
        extreme, outlier = self.critical_distances(outlier_level)
        return np.select([full <= extreme, full <= outlier], ["regular", "extreme"], "outlier")

    def _describe(self, X: Floats) -> None:
        check_magnitude(X)
        if self.limits not in ("classic", "robust"):
            raise ValueError(f'limits={self.limits!r} must be "classic" or "robust"')
        center, variances, loadings = _principal_components(X)
        most = len(variances) - 1
        if most < 0:
            raise ValueError("all samples are equal; DD-SIMCA needs samples that differ")
        k = self.n_components
        if k is None:
            k = min(int(np.searchsorted(np.cumsum(variances), _EXPLAINED * variances.sum())) + 1, most)
        if not 0 <= k <= most:
            raise ValueError(
                f"n_components={k} must lie between 0 and {most}, one less than the rank of the centered samples "
                f"(n_samples={X.shape[0]}, n_features={X.shape[1]})"
            )
        self._n_samples, self.n_components_, self.center_ = len(X), k, center
        self.components_, self.explained_variance_ = loadings[:k], variances[:k]
        fitted = [scaled_chi2(distances, self.limits) for distances in self._distances(X).T]
        self.scales_ = np.array([scale for scale, _ in fitted])
        self.degrees_of_freedom_ = np.array([dof for _, dof in fitted])

    def _distances(self, X: Floats) -> Floats:
        centered = X - self.center_
        scores = centered @ self.components_.T
        residuals = centered - scores @ self.components_
        return np.column_stack([(scores**2 / self.explained_variance_).sum(axis=1), (residuals**2).sum(axis=1)])

    def _score(self, X: Floats) -> Floats:
        full = self._distances(X) / self.scales_ @ self.degrees_of_freedom_
        return -full / self.degrees_of_freedom_.sum()


def _principal_components(X: Floats) -> tuple[Floats, Floats, Floats]:
    """Compute the mean, the variances of the components and the loadings, as many as the rank."""
    center = X.mean(axis=0)
    _, singular, loadings = np.linalg.svd(X - center, full_matrices=False)
    rank = int((singular > singular[0] * max(X.shape) * np.finfo(float).eps).sum())
    return center, singular[:rank] ** 2 / (len(X) - 1), loadings[:rank]
