"""The Gaussian model: squared Mahalanobis distance to the mean."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from transvariation._typing import Floats, Indices
from transvariation.base import OneClassClassifier
from transvariation.calibration import CalibrationPlan
from transvariation.density.covariance import check_full_spread, solve_rows, squared_norms
from transvariation.description import Description


def _center_and_root(X: Floats) -> tuple[Floats, Floats]:
    """Compute the mean, and R with S = R'R from the data: forming S first would square the condition number."""
    check_full_spread(X)
    center = X.mean(axis=0)
    root: Floats = np.asarray(np.linalg.qr((X - center) / np.sqrt(len(X) - 1), mode="r"))
    return center, root


def _distance2(center: Floats, root: Floats, Z: Floats) -> Floats:
    return squared_norms(solve_rows(root, Z - center))


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
        self.center_, self._root = _center_and_root(X)
        self.covariance_ = self._root.T @ self._root
        return self

    def score(self, X: Floats) -> Floats:
        """Compute minus the squared distance."""
        return -_distance2(self.center_, self._root, X)

    def held_out_scores(self, X: Floats, plan: CalibrationPlan, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        """Leave one sample out by a change of the covariance of rank one; fit again for everything else."""
        n = len(X)
        leverage = n / (n - 1) ** 2 * -self.score(X)
        # At leverage 1 the covariance is singular without the sample: the fit without it raises the error.
        if plan.mode != "loo" or plan.groups is not None or leverage.max() > 1 - 1e-9:
            return super().held_out_scores(X, plan, n_jobs)
        return np.arange(n), -n * (n - 2) / (n - 1) * leverage / (1 - leverage)
