"""DD-SIMCA: data-driven soft independent modeling of class analogy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2
from sklearn.model_selection import BaseCrossValidator

from transvariation._typing import Floats, Indices
from transvariation.base import OneClassClassifier
from transvariation.baselines.principal_distances import principal_components, scaled_chi2
from transvariation.baselines.procrustes import procrustes_validation
from transvariation.description import Description
from transvariation.validation import check_magnitude

_EXPLAINED_SHARE = 0.95  # share of the variance that the components explain if n_components=None


def outlier_distance(extreme: float, dof: float, n: int, sensitivity: float, level: float = 0.01) -> float:
    """Compute the full distance of outliers from that of extreme samples, by the quantiles of chi-square."""
    quantile = chi2.ppf((1 - level) ** (1 / n), dof)
    # A sensitivity near 1 exceeds the outlier level: then there is no room between the two.
    return extreme * max(float(quantile / chi2.ppf(sensitivity, dof)), 1.0)


class DDSIMCA(OneClassClassifier):
    r"""Accept samples whose distances within and from the principal components follow those of the target class.

    The score distance h is the squared Mahalanobis distance within the components, the orthogonal distance v the
    squared distance to them. Both follow scaled chi-square distributions approximately, and so does the full distance

    .. math:: f = N_h \frac{h}{h_0} + N_v \frac{v}{v_0} \sim \chi^2(N_h + N_v),

    with scales and degrees of freedom estimated from the training samples. The score is
    :math:`-f / (N_h + N_v)`.

    Parameters
    ----------
    n_components : int or "procrustes", optional
        Number of principal components, at least 0 and less than the rank of the centered samples. By default the
        smallest number that explains 95% of the variance of the target samples; ``"procrustes"`` chooses the largest
        number that accepts new samples as well as fewer do, by Procrustes cross-validation
        (:func:`transvariation.baselines.procrustes_validation`).
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

    See Also
    --------
    transvariation.NeighborTOCC : The recommended classifier.
    transvariation.preprocessing.make_preprocessing : Preprocess spectra first.

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
    >>> known, others = X[wine.target == 0], X[wine.target == 1]
    >>> classifier = DDSIMCA(n_components=2, calibration="cv").fit(known)
    >>> float((classifier.predict(others) == -1).mean().round(2))
    0.99
    """

    description_: PrincipalDistances
    sensitivity: float
    _sensitivity: float

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        limits: str = "classic",
        sensitivity: float = 0.9,
        calibration: str | BaseCrossValidator = "resubstitution",
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.limits = limits
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.n_jobs = n_jobs

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
        rows = self._validated(X)
        return self.description_.distances(rows) / self.scales_

    def critical_distances(self, outlier_level: float = 0.01) -> tuple[float, float]:
        """Compute the full distances beyond which samples are extreme, and beyond which they are outliers.

        Held-out samples move the first distance away from its chi-square quantile; the second moves in proportion.

        Parameters
        ----------
        outlier_level : float in (0, 1), default=0.01
            Probability that one or more of the training samples exceed the second distance by chance.

        Returns
        -------
        extreme, outlier : float
        """
        dof = self.degrees_of_freedom_.sum()
        extreme = float(-self.offset_ * dof)
        return extreme, outlier_distance(extreme, dof, self.description_.n_samples, self._sensitivity, outlier_level)

    def roles(self, X: ArrayLike, outlier_level: float = 0.01) -> NDArray[np.str_]:
        """Name the role of each sample: ``"regular"``, ``"extreme"`` or ``"outlier"``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to judge.
        outlier_level : float in (0, 1), default=0.01
            See :meth:`critical_distances`.

        Returns
        -------
        ndarray of str of shape (n_samples,)
            The role of each sample.
        """
        full = -self.score_samples(X) * self.degrees_of_freedom_.sum()
        extreme, outlier = self.critical_distances(outlier_level)
        return np.select([full <= extreme, full <= outlier], ["regular", "extreme"], "outlier")

    def _make_description(self) -> PrincipalDistances:
        return PrincipalDistances(self.n_components, self.limits, self.sensitivity)


@dataclass(eq=False)
class PrincipalDistances(Description):
    """Full distance within and from the principal components, relative to its degrees of freedom."""

    n_components: int | str | None
    limits: str
    sensitivity: float  # for the choice of the components

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Find the components and fit the distributions of the distances."""
        check_magnitude(X)
        if self.limits not in ("classic", "robust"):
            raise ValueError(f'limits={self.limits!r} must be "classic" or "robust"')
        center, variances, loadings = principal_components(X)
        most = len(variances) - 1
        if most < 0:
            raise ValueError("all samples are equal; DD-SIMCA needs samples that differ")
        k: int | str | None = self.n_components
        if k == "procrustes":
            k = procrustes_validation(X).choose(self.sensitivity, self.limits) if most else 0
        elif k is None:
            k = min(int(np.searchsorted(np.cumsum(variances), _EXPLAINED_SHARE * variances.sum())) + 1, most)
        if not isinstance(k, int | np.integer) or not 0 <= k <= most:
            allowed = f"lie between 0 and {most}" if most else "be 0"
            raise ValueError(
                f"n_components={k!r} must {allowed}, one less than the rank of the centered samples, or "
                f'be "procrustes" or None (n_samples={X.shape[0]}, n_features={X.shape[1]})'
            )
        self.n_samples, self.n_components_, self.center_ = len(X), k, center
        self.components_, self.explained_variance_ = loadings[:k], variances[:k]
        fitted = [scaled_chi2(distances, self.limits) for distances in self.distances(X).T]
        self.scales_ = np.array([scale for scale, _ in fitted])
        self.degrees_of_freedom_ = np.array([dof for _, dof in fitted])
        return self

    def distances(self, X: Floats) -> Floats:
        """Compute h and v."""
        centered = X - self.center_
        scores = centered @ self.components_.T
        residuals = centered - scores @ self.components_
        return np.column_stack([(scores**2 / self.explained_variance_).sum(axis=1), (residuals**2).sum(axis=1)])

    def score(self, X: Floats) -> Floats:
        """Compute minus the full distance, divided by its degrees of freedom."""
        full = self.distances(X) / self.scales_ @ self.degrees_of_freedom_
        return -full / self.degrees_of_freedom_.sum()

    def own_threshold(self, sensitivity: float) -> float:
        """Compute the chi-square quantile."""
        dof = self.degrees_of_freedom_.sum()
        return float(-chi2.ppf(sensitivity, dof) / dof)

    def own_p_values(self, scores: Floats) -> Floats:
        """Compute chi-square tail probabilities."""
        dof = self.degrees_of_freedom_.sum()
        return chi2.sf(-dof * scores, dof)
