"""KernelTOCC: a smooth tp that does not end at the edge of the sample, with a threshold that holds."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transvariation.base import Floats, TransvariationClassifier
from transvariation.density.bandwidth import MAX_DIMENSION, plug_in_bandwidth
from transvariation.density.covariance import check_full_spread, differing, varying
from transvariation.density.kernel_density import GaussianKernelDensity, log_kernel_density, rule_bandwidth
from transvariation.density.transvariation import density_transvariation_probability
from transvariation.depth.median import spatial_median
from transvariation.parallel import map_row_chunks

_LOWEST = -1e300  # below every logarithm, and finite: it can be subtracted and written to files


class KernelTOCC(TransvariationClassifier):
    r"""Accept objects that lie deep enough among the target objects and not in a gap between them.

    Counting calls everything beyond the outermost target objects equally untypical, tp = 0. A fresh target often lies
    there, so that a threshold that is to hold on fresh targets is 0 and rejects nothing. Here every target object is a
    small Gaussian cloud: tp falls off smoothly and has an order in every direction. The rating is

    .. math:: (1 - w) \log tp_f(c) + w \log f(c),

    the depth of the object and the crowding about it. Depth is better for classes with long tails and for
    foreign objects that are shifted, crowding for classes with a sharp edge or a bend; half of each is never far from
    the better one.

    A variable that does not vary among the target objects says one thing only: an object that differs there has tp = 0
    and the lowest rating of all.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target objects to accept.
    calibration : {"cv", "loo", "split", "resubstitution"} or splitter, default="cv"
        Where the threshold comes from; see :class:`transvariation.TOCC`.
    crowding : float in [0, 1], default=0.5
        The weight w of the log density; 0 is tp alone.
    n_jobs : int, optional
        The number of workers: threads to rate many objects, processes to rate held-out objects where that takes long.
        The result is the same for every number.

    Attributes
    ----------
    center_ : ndarray of shape (p,)
        The spatial median of the target objects.
    density_ : GaussianKernelDensity
        The kernels of tp: parallel to the axes, as wide as is best for normal data; in the variables that vary.
    bandwidth_ : ndarray of shape (p, p)
        The kernels' covariance for the density, in the variables that vary: plug-in in up to three, the normal rule in
        more, and that of each variable alone where objects are too few or variables determine each other.
    offset_ : float
        The threshold.

    Examples
    --------
    >>> from transvariation import KernelTOCC, load_glass
    >>> glass = load_glass()
    >>> rule = KernelTOCC().fit(glass.control[["K", "Mg"]])
    >>> int((rule.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    50
    >>> rule.coverage_report().n
    87
    """

    def __init__(
        self, *, sensitivity: float = 0.9, calibration: Any = "cv", crowding: float = 0.5, n_jobs: int | None = None
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.crowding = crowding
        self.n_jobs = n_jobs

    def _describe(self, X: Floats) -> None:
        if not (isinstance(self.crowding, int | float | np.floating) and 0 <= self.crowding <= 1):
            raise ValueError(f"crowding={self.crowding!r} must lie in [0, 1]; 0.5 weighs depth and density alike")
        self._crowding = self.crowding
        self._X, varies = X, varying(X)
        self.center_ = X[0].copy()
        if varies.any():
            rows = X[:, varies]
            self.center_[varies] = spatial_median(rows)
            self.density_ = GaussianKernelDensity().fit(rows)
            self.bandwidth_ = _bandwidth(rows)

    def _apart(self, X: Floats) -> NDArray[np.bool_]:
        """Say which objects differ from the target objects where these do not differ from each other."""
        fixed = ~varying(self._X)
        return np.asarray(differing(X[:, fixed], self.center_[fixed]).any(axis=1))

    def _log_tp(self, X: Floats) -> Floats:
        varies = varying(self._X)
        if not varies.any():
            return np.zeros(len(X))

        def log_tp(rows: Floats) -> Floats:
            return density_transvariation_probability(self.density_, rows, self.center_[varies], log=True)

        return map_row_chunks(log_tp, X[:, varies], len(self._X), self.n_jobs)

    def _tp(self, X: Floats) -> Floats:
        return np.where(self._apart(X), 0.0, np.exp(self._log_tp(X)))

    def _score(self, X: Floats) -> Floats:
        score, varies, crowding = np.zeros(len(X)), varying(self._X), self._crowding
        if crowding < 1:
            score += (1 - crowding) * self._log_tp(X)
        if crowding > 0 and varies.any():
            density = partial(log_kernel_density, self._X[:, varies], self.bandwidth_)
            score += crowding * map_row_chunks(density, X[:, varies], len(self._X), self.n_jobs)
        score[self._apart(X)] = _LOWEST
        return np.fmax(score, _LOWEST)  # also where distances are too large for a number

    def _lowest(self) -> float:
        return _LOWEST


def _bandwidth(X: Floats) -> Floats:
    try:
        check_full_spread(X)
        H = plug_in_bandwidth(X) if X.shape[1] <= MAX_DIMENSION else rule_bandwidth(X)
        np.linalg.cholesky(H)
    except ValueError:  # or a matrix that is singular to the last digit, which is a ValueError too
        return rule_bandwidth(X, diagonal=True)
    return H
