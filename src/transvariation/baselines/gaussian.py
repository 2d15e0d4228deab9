"""The Gaussian model: squared Mahalanobis distance to the mean."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from transvariation._typing import Floats, Indices
from transvariation.base import OneClassClassifier
from transvariation.density.covariance import check_full_spread, solve_rows, squared_norms
from transvariation.description import Description


class GaussianOCC(OneClassClassifier):
    """Accept samples near the mean, by the Mahalanobis distance.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        How the threshold is set; see :class:`transvariation.TOCC`.
    n_jobs : int, optional
        The number of processes for the refits of the calibration. The result is the same for every number.

    Attributes
    ----------
    center_ : ndarray of shape (p,)
        The mean.
    covariance_ : ndarray of shape (p, p)
        The covariance, with divisor n - 1.

    See Also
    --------
    transvariation.baselines.MixtureOCC : Several components.

    Notes
    -----
    Constant columns, columns that determine each other, and no more samples than features make the covariance
    singular. `fit` then raises an error that names the columns; the user decides which to leave out.

    Examples
    --------
    >>> from transvariation.baselines import GaussianOCC
    >>> from transvariation import load_glass
    >>> glass = load_glass()
    >>> classifier = GaussianOCC().fit(glass.control[["K", "Mg"]])
    >>> int((classifier.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    50
    """

    def __init__(self, *, sensitivity: float = 0.9, calibration: str = "resubstitution", n_jobs: int | None = None):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.n_jobs = n_jobs

    def _make_description(self) -> "MahalanobisDistance":
        return MahalanobisDistance()


@dataclass(eq=False)
class MahalanobisDistance(Description):
    """Squared Mahalanobis distance from the mean."""

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Compute mean and covariance."""
        check_full_spread(X)
        self.center_ = X.mean(axis=0)
        # R with S = R'R from the data: forming S first would square the condition number.
        self._root: Floats = np.asarray(np.linalg.qr((X - self.center_) / np.sqrt(len(X) - 1), mode="r"))
        self.covariance_ = self._root.T @ self._root
        return self

    def score(self, X: Floats) -> Floats:
        """Compute minus the squared distance."""
        return -squared_norms(solve_rows(self._root, X - self.center_))
