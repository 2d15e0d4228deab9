"""DensityTOCC, the density-based transvariation-based one-class classifier."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from transvariation.density.transvariation import (
    density_transvariation_probability,
    log_box_probability,
    univariate_log_tp,
)
from transvariation.depth.median import spatial_median
from transvariation.parallel import map_row_chunks
from transvariation.transvariation_classifier import Floats, TransvariationClassifier

DENSITIES = ("mixture", "gaussian", "kde")
CENTERS = ("sample", "density")
SCALES = ("tp", "log")


class DensityTOCC(TransvariationClassifier):
    r"""Accept objects that lie deep enough in the target class as its density has it.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target objects to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        Where the threshold comes from; see :class:`transvariation.TOCC`.
    density : {"mixture", "gaussian", "kde"} or object, default="mixture"
        ``"mixture"``: the Gaussian mixture with the best BIC (:class:`transvariation.GaussianMixtureBIC`), as in the
        paper. ``"gaussian"``: one Gaussian. ``"kde"``: a Gaussian kernel on each target object, with a diagonal
        normal-reference bandwidth. An object with `fit` and `box_probability` is cloned and fitted to the target
        objects (scikit-learn's ``FrozenEstimator`` keeps one as it is); any other object with ``box_probability(lower,
        upper)`` and a frozen univariate SciPy distribution are used as they are.
    center : {"sample", "density"}, default="sample"
        The median of the target objects (in several variables the spatial median), or that of the density: for one
        variable and for ``tau_max="product"``.
    tau_max : {"integral", "half", "product"}, default="integral"
        See :func:`transvariation.density_transvariation_probability`.
    scale : {"tp", "log"}, default="tp"
        What `score_samples` returns: tp, or log tp, by which far objects still rank among each other. Both make the
        same decisions wherever tp is a positive number.
    n_jobs : int, optional
        The number of workers: threads to rate many objects and to search for a mixture, processes to rate held-out
        objects where that takes long. The result is the same for every number.

    Attributes
    ----------
    density_ : object
        The density of the target class.
    center_ : ndarray of shape (p,)
        The centre.
    offset_ : float
        The threshold: objects with a score at or above it are accepted.

    Examples
    --------
    >>> from transvariation import DensityTOCC, load_glass
    >>> glass = load_glass()
    >>> rule = DensityTOCC(density="kde").fit(glass.control[["K", "Mg"]])
    >>> int((rule.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    50
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: Any = "resubstitution",
        density: Any = "mixture",
        center: str = "sample",
        tau_max: str = "integral",
        scale: str = "tp",
        n_jobs: int | None = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.density = density
        self.center = center
        self.tau_max = tau_max
        self.scale = scale
        self.n_jobs = n_jobs

    def _describe(self, X: Floats) -> None:
        self._describe_about(X, None)

    def _describe_about(self, X: Floats, center: Floats | None) -> None:
        """Learn about a spatial median that is known already: an ensemble finds those of all its members together."""
        for name, value, known in (("center", self.center, CENTERS), ("scale", self.scale, SCALES)):
            if value not in known:
                raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(known)}")
        self._tau_max, self._scale = self.tau_max, self.scale
        self.density_ = _fitted(self.density, X, self.n_jobs)
        self.center_ = self._center(X) if center is None else center
        self._X = X

    def _takes_spatial_median(self) -> bool:
        return self.center == "sample" and self.tau_max != "product"

    def _center(self, X: Floats) -> Floats:
        if self.center == "density":
            if X.shape[1] > 1 and self.tau_max != "product":
                raise ValueError(
                    f'center="density" is for one variable or tau_max="product", not for {X.shape[1]} variables '
                    'together; use center="sample", their spatial median'
                )
            return density_median(self.density_, X)
        return np.median(X, axis=0) if self.tau_max == "product" else spatial_median(X)

    def _log_tp(self, X: Floats) -> Floats:
        return density_tp_on_workers(self.density_, X, self.center_, self._tau_max, self.n_jobs)

    def _tp(self, X: Floats) -> Floats:
        return np.exp(self._log_tp(X))

    def _score(self, X: Floats) -> Floats:
        return self._log_tp(X) if self._scale == "log" else self._tp(X)

    def _lowest(self) -> float:
        return -np.inf if self._scale == "log" else 0.0

    def _univariate_tp(self, X: Floats) -> Floats:
        return np.exp(same_everywhere(univariate_log_tp(self.density_, X, np.median(self._X, axis=0))))

    def log_transvariation_probability(self, Z: ArrayLike) -> Floats:
        """Compute log tp of each object, which tells far objects apart where tp itself is zero."""
        return self._log_tp(self._validated(Z))


def density_tp_on_workers(density: Any, X: Floats, center: Floats, tau_max: str, n_jobs: int | None) -> Floats:
    """Compute log tp of checked rows, in chunks that workers share."""
    n_components = len(getattr(density, "means_", ())) or 1

    def log_tp(rows: Floats) -> Floats:
        return density_transvariation_probability(density, rows, center, tau_max=tau_max, log=True)

    return same_everywhere(map_row_chunks(log_tp, X, n_components, n_jobs))


def same_everywhere(log_tp: Floats) -> Floats:
    """Round log tp, so that an object at the threshold is on the same side alone and among many.

    The last digits depend on whether compiled code was worth its while, or at hand from work before. Where they differ,
    from the eleventh on, so far fewer are kept that hardly a value lies where it could be rounded either way.
    """
    with np.errstate(over="ignore"):  # of log tp below -1e299, which no digit tells apart
        return np.round(log_tp, 9)


def _fitted(density: Any, X: Floats, n_jobs: int | None = None) -> Any:
    """Fit the named or given density to the target objects, or take it as it is."""
    if not isinstance(density, str):
        return clone(density).fit(X, None) if hasattr(density, "fit") and hasattr(density, "get_params") else density
    if density == "gaussian":
        from transvariation.density.gaussian import GaussianDensity

        return GaussianDensity().fit(X)
    if density == "kde":
        from transvariation.density.kernel_density import GaussianKernelDensity

        return GaussianKernelDensity().fit(X)
    if density == "mixture":
        from transvariation.density.gaussian_mixture import GaussianMixtureBIC

        return GaussianMixtureBIC(random_state=0, n_jobs=n_jobs)._fit_rows(X)
    raise ValueError(f"density={density!r} is unknown; choose one of {', '.join(DENSITIES)}, or give a density object")


def density_median(density: Any, X: Floats) -> Floats:
    """Find the median of each variable under the density, by bisection from the objects' range.

    Examples
    --------
    >>> from scipy.stats import expon
    >>> density_median(expon(), np.array([[1.0], [5.0]])).round(6)
    array([0.693147])
    """
    p = X.shape[1]
    low, high = X.min(axis=0), X.max(axis=0)
    width = np.maximum(high - low, 1e-3 * (1 + np.abs(high)))
    target = np.log(0.5)

    def log_cdf(at: Floats) -> Floats:
        upper = np.full((p, p), np.inf)
        np.fill_diagonal(upper, at)
        return log_box_probability(density, np.full((p, p), -np.inf), upper)

    for _ in range(60):
        short, long = log_cdf(high) < target, log_cdf(low) > target
        if not (short | long).any():
            break
        low, high, width = np.where(long, low - width, low), np.where(short, high + width, high), 2 * width
    for _ in range(100):
        middle = (low + high) / 2
        below = log_cdf(middle) < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2
