"""TOCC, the density-free transvariation-based one-class classifier."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation.classifiers.base import OneClassClassifier
from transvariation.typicality import spatial_median, transvariation_probability


class TOCC(OneClassClassifier):
    """Accept objects that lie deep enough among the target objects, by counting.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target objects to accept.
    calibration : {"paper"}, default="paper"
        Where the threshold comes from. ``"paper"`` cuts at the quantile of the training objects' own tp.
    tau_max : {"count", "half", "product"}, default="count"
    ties : {"proper", "literal"}, default="proper"
        See :func:`transvariation.transvariation_probability`.

    Attributes
    ----------
    center_ : ndarray of shape (p,)
        The spatial median of the target objects.
    offset_ : float
        The threshold: objects with tp at or above it are accepted.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass
    >>> glass = load_glass()
    >>> rule = TOCC().fit(glass.control[["K", "Mg"]])
    >>> int((rule.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    51
    """

    def __init__(
        self, *, sensitivity: float = 0.9, calibration: str = "paper", tau_max: str = "count", ties: str = "proper"
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.tau_max = tau_max
        self.ties = ties

    def _describe(self, X: NDArray[np.float64]) -> None:
        self.center_ = spatial_median(X)
        self._X = X

    def _score(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return transvariation_probability(self._X, X, self.center_, tau_max=self.tau_max, ties=self.ties)

    def transvariation_probability(self, X: ArrayLike) -> NDArray[np.float64]:
        """Compute tp of each object with respect to the target class."""
        return self._score(self._validated(X))
