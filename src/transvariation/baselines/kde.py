"""The kernel density estimate with a plug-in bandwidth matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Self

from numpy.typing import ArrayLike

from transvariation._typing import Floats, Indices
from transvariation.base import OneClassClassifier
from transvariation.density.bandwidth import MAX_DIMENSION, plug_in_bandwidth
from transvariation.density.covariance import check_full_spread, check_varying
from transvariation.density.kernel_density import given_bandwidth, log_kernel_density, rule_bandwidth
from transvariation.description import Description
from transvariation.parallel import map_row_chunks

BANDWIDTHS = ("plugin", "plugin-ks", "scott", "silverman")


class KDEOCC(OneClassClassifier):
    """Accept samples where the kernel estimate of the target's density is high.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        How the threshold is set; see :class:`transvariation.TOCC`.
    bandwidth : {"plugin", "plugin-ks", "scott", "silverman"}, float or array-like, default="plugin"
        How wide the kernels are. ``"plugin"``: the unconstrained two-stage plug-in matrix, in up to three dimensions;
        beyond, Silverman's rule, since the functionals that the method needs can no longer be estimated from a few
        hundred samples. ``"plugin-ks"``: the same with the numbers of the R package ks, which the paper used.
        ``"scott"``, ``"silverman"``: the covariance of the samples, scaled; beyond three dimensions with correlations
        shrunk by the method of Ledoit and Wolf, so that n may be close to p or below. A number, or one per feature:
        the kernels' standard deviation. A matrix: the kernels' covariance.
    n_jobs : int, optional
        The number of threads that score many samples, and of processes for the refits of the calibration. The result
        is the same for every number.

    Attributes
    ----------
    bandwidth_ : ndarray of shape (p, p)
        The kernels' covariance.

    Notes
    -----
    The score is the log density. The kernel of a training sample adds to its own density, so that with
    ``calibration="resubstitution"`` the threshold is too high; the narrower the kernels, the more.

    See Also
    --------
    transvariation.GaussianKernelDensity : The density behind it.

    Examples
    --------
    >>> from transvariation.baselines import KDEOCC
    >>> from transvariation import load_glass
    >>> glass = load_glass()
    >>> classifier = KDEOCC().fit(glass.control[["K", "Mg"]])
    >>> int((classifier.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    50
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str = "resubstitution",
        bandwidth: str | float | ArrayLike = "plugin",
        n_jobs: int | None = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.bandwidth = bandwidth
        self.n_jobs = n_jobs

    def _make_description(self) -> KernelLogDensity:
        return KernelLogDensity(self.bandwidth, self.n_jobs)


@dataclass(eq=False)
class KernelLogDensity(Description):
    """Log density by Gaussian kernels on the target samples."""

    bandwidth: str | float | ArrayLike
    n_jobs: int | None = None

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Choose the bandwidth."""
        self.bandwidth_ = bandwidth_matrix(X, self.bandwidth)
        self.rows = X
        return self

    def score(self, X: Floats) -> Floats:
        """Compute the log density."""
        return map_row_chunks(partial(log_kernel_density, self.rows, self.bandwidth_), X, len(self.rows), self.n_jobs)


def bandwidth_matrix(X: Floats, bandwidth: str | float | ArrayLike) -> Floats:
    """Compute the covariance matrix of the kernels from the `bandwidth` parameter.

    Examples
    --------
    >>> import numpy as np
    >>> bandwidth_matrix(np.zeros((3, 2)), [1.0, 2.0])
    array([[1., 0.],
           [0., 4.]])
    """
    p = X.shape[1]
    if isinstance(bandwidth, str):
        if bandwidth not in BANDWIDTHS:
            raise ValueError(f"bandwidth={bandwidth!r} is unknown; choose one of {', '.join(BANDWIDTHS)}, or numbers")
        if bandwidth.startswith("plugin") and p <= MAX_DIMENSION:
            return plug_in_bandwidth(X, functionals="ks" if bandwidth == "plugin-ks" else "correct")
        if p <= MAX_DIMENSION:
            check_full_spread(X)
        check_varying(X)
        return rule_bandwidth(X, "scott" if bandwidth == "scott" else "normal")
    return given_bandwidth(bandwidth, p)
