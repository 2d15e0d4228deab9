"""DensityTOCC: transvariation-based one-class classification with a density."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import BaseCrossValidator

from transvariation._typing import Floats, Indices
from transvariation.base import TransvariationClassifier
from transvariation.density.box_probability import MAX_EXACT_VARIABLES, TooManyVariables
from transvariation.density.gaussian import GaussianDensity
from transvariation.density.gaussian_mixture import GaussianMixtureBIC
from transvariation.density.kernel_density import GaussianKernelDensity
from transvariation.density.transvariation import (
    density_transvariation_probability,
    log_box_probability,
)
from transvariation.depth.median import spatial_median_of_rows
from transvariation.description import Description
from transvariation.parallel import map_row_chunks

DENSITIES = ("mixture", "gaussian", "kde")
CENTERS = ("sample", "density")
SCALES = ("tp", "log")
_IMPRECISE_ERROR = 0.01  # relative error of tp at target samples
_SAMPLES_TRIED = 5  # target samples


class DensityTOCC(TransvariationClassifier):
    r"""Accept samples whose transvariation probability under the density of the target class is high enough.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        Where the threshold comes from; see :class:`transvariation.TOCC`.
    density : {"mixture", "gaussian", "kde"} or object, default="mixture"
        ``"mixture"``: the Gaussian mixture with the best BIC (:class:`transvariation.GaussianMixtureBIC`), as in the
        paper. ``"gaussian"``: one Gaussian. ``"kde"``: a Gaussian kernel on each target sample, with a diagonal
        normal-reference bandwidth. An object with `fit` and `box_probability` is cloned and fitted to the target
        samples (scikit-learn's ``FrozenEstimator`` prevents that); any other object with ``box_probability(lower,
        upper)`` and a frozen univariate SciPy distribution are used unchanged.
    center : {"sample", "density"}, default="sample"
        The median of the target samples (in several features the spatial median), or that of the density: for one
        feature and for ``tau_max="product"``.
    tau_max : {"integral", "half", "product"}, default="integral"
        See :func:`transvariation.density_transvariation_probability`.
    scale : {"tp", "log"}, default="tp"
        What `score_samples` returns: tp, or log tp, which does not underflow far from the center. The decisions are the
        same wherever tp is positive.
    n_jobs : int, optional
        The number of workers: threads to score many samples and to search for a mixture, processes to refit for
        calibration where that takes long. The result is the same for every number.
    engine : {"auto", "compiled", "numpy"}, default="auto"
        Which code fits ``density="mixture"``; see :class:`transvariation.GaussianMixtureBIC`. Choose ``"compiled"`` for
        many fits to small samples.

    Attributes
    ----------
    density_ : object
        The density of the target class.
    center_ : ndarray of shape (p,)
        The center.
    offset_ : float
        The threshold: samples with a score at or above it are accepted.

    See Also
    --------
    transvariation.TOCC : The same measure by counting.
    transvariation.NeighborTOCC : The recommended classifier.
    transvariation.density_transvariation_probability : The measure as a function.

    Notes
    -----
    With four and more correlated features box probabilities are computed by quasi Monte Carlo. `fit` raises
    `TooManyVariables` if that is imprecise for target samples (relative error above 1%); samples far from the target
    class are scored with whatever precision is reached.

    References
    ----------
    .. [1] F. Fortunato, L. Anderlucci and A. Montanari (2020). One-class classification with application to forensic
       analysis. Journal of the Royal Statistical Society, Series C 69, 1227-1249.

    Examples
    --------
    >>> from transvariation import DensityTOCC, load_glass
    >>> glass = load_glass()
    >>> classifier = DensityTOCC(density="kde").fit(glass.control[["K", "Mg"]])
    >>> int((classifier.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    50
    """

    description_: DensityDepth

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str | BaseCrossValidator = "resubstitution",
        density: str | BaseEstimator = "mixture",
        center: str = "sample",
        tau_max: str = "integral",
        scale: str = "tp",
        n_jobs: int | None = None,
        engine: str = "auto",
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.density = density
        self.center = center
        self.tau_max = tau_max
        self.scale = scale
        self.n_jobs = n_jobs
        self.engine = engine

    def _make_description(self) -> DensityDepth:
        return DensityDepth(self.density, self.center, self.tau_max, self.scale, self.n_jobs, self.engine)

    def log_transvariation_probability(self, X: ArrayLike) -> Floats:
        """Compute log tp of each sample, which orders far samples where tp itself is zero.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            The natural logarithm of tp; -inf where tp is 0.
        """
        rows = self._validated(X)
        return self.description_.log_tp(rows)


@dataclass(eq=False)
class DensityDepth(Description):
    """Transvariation probability under the density of the target class."""

    density: BaseEstimator
    center: str = "sample"
    tau_max: str = "integral"
    scale: str = "tp"
    n_jobs: int | None = None
    engine: str = "auto"

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Fit the density and find the center."""
        for name, value, known in (("center", self.center, CENTERS), ("scale", self.scale, SCALES)):
            if value not in known:
                raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(known)}")
        self.density_ = fit_density(self.density, X, self.n_jobs, self.engine)
        self.center_ = self._find_center(X)
        if self.tau_max != "product":
            check_precision(self.density_, X, self.center_)
        return self

    def _find_center(self, X: Floats) -> Floats:
        if self.center == "density":
            if X.shape[1] > 1 and self.tau_max != "product":
                raise ValueError(
                    f'center="density" is for one variable or tau_max="product", not for {X.shape[1]} variables '
                    'together; use center="sample", their spatial median'
                )
            return density_median(self.density_, X)
        return np.median(X, axis=0) if self.tau_max == "product" else spatial_median_of_rows(X)

    def log_tp(self, X: Floats) -> Floats:
        """Compute log tp."""

        def log_tp(rows: Floats) -> Floats:
            return density_transvariation_probability(self.density_, rows, self.center_, tau_max=self.tau_max, log=True)

        return map_row_chunks(log_tp, X, len(getattr(self.density_, "means_", ())) or 1, self.n_jobs)

    def score(self, X: Floats) -> Floats:
        """Compute tp or log tp."""
        return self.log_tp(X) if self.scale == "log" else np.exp(self.log_tp(X))

    @property
    def lowest(self) -> float:
        """Lowest attainable score."""
        return -np.inf if self.scale == "log" else 0.0

    def tp_of_scores(self, scores: Floats) -> Floats:
        """Return tp."""
        return np.exp(scores) if self.scale == "log" else scores


def fit_density(density: BaseEstimator, X: Floats, n_jobs: int | None = None, engine: str = "auto") -> BaseEstimator:
    """Fit the named or given density to the target samples, or return a density that cannot be fitted."""
    if not isinstance(density, str):
        return clone(density).fit(X, None) if hasattr(density, "fit") and hasattr(density, "get_params") else density
    if density in ("gaussian", "kde"):
        return (GaussianDensity() if density == "gaussian" else GaussianKernelDensity()).fit(X)
    if density == "mixture":
        return GaussianMixtureBIC(random_state=0, n_jobs=n_jobs, engine=engine)._fit_rows(X)
    raise ValueError(f"density={density!r} is unknown; choose one of {', '.join(DENSITIES)}, or give a density object")


def check_precision(density: BaseEstimator, X: Floats, center: Floats) -> None:
    """Raise TooManyVariables if the tp of target samples is imprecise; a few of them are tried."""
    p = X.shape[1]
    if p <= MAX_EXACT_VARIABLES or not hasattr(density, "box_error"):
        return
    tried = X[:: max(1, len(X) // _SAMPLES_TRIED)]
    above = tried >= center
    error = density.box_error(np.where(above, tried, -np.inf), np.where(above, np.inf, tried)).max()
    if error > _IMPRECISE_ERROR:
        raise TooManyVariables(
            f"the transvariation probability under a density of {p} correlated variables has a relative error of "
            f"{error:.3g}, more than {_IMPRECISE_ERROR}",
            'reduce the variables first, or use density="kde", whose kernels have independent variables',
        )


def density_median(density: BaseEstimator, X: Floats) -> Floats:
    """Compute the median of each feature under the density, searched from the range of the samples.

    Examples
    --------
    >>> from scipy.stats import expon
    >>> density_median(expon(), np.array([[1.0], [5.0]])).round(6)
    array([0.693147])
    """
    p = X.shape[1]

    def excess(at: Floats, variable: Indices) -> Floats:
        upper = np.full((len(at), p), np.inf)
        upper[np.arange(len(at)), variable] = at
        return log_box_probability(density, np.full_like(upper, -np.inf), upper) - np.log(0.5)

    low, high = X.min(axis=0), X.max(axis=0)
    start = (low, np.maximum(high, low + 1e-3 * (1 + np.abs(high))))
    bracket = elementwise.bracket_root(excess, *start, args=(np.arange(p),)).bracket
    return elementwise.find_root(excess, bracket, args=(np.arange(p),)).x
