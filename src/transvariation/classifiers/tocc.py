"""TOCC, the density-free transvariation-based one-class classifier."""

import numpy as np

from transvariation.classifiers.transvariation import Floats, TransvariationClassifier
from transvariation.typicality import spatial_median, transvariation_probability
from transvariation.typicality.leave_one_out import leave_one_out_probability


class TOCC(TransvariationClassifier):
    """Accept objects that lie deep enough among the target objects, by counting.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target objects to accept.
    calibration : {"paper", "loo", "cv", "split"} or splitter, default="paper"
        Where the threshold comes from. ``"paper"`` cuts at the quantile of the training objects' own tp, which promises
        nothing for fresh objects; the others cut at ratings that each object got without itself. A splitter of
        scikit-learn, such as ``KFold(5)``, sets the folds.
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

    def _describe(self, X: Floats) -> None:
        self._describe_about(X, spatial_median(X))

    def _describe_about(self, X: Floats, center: Floats) -> None:
        """Learn about a centre that is known already: an ensemble finds the centres of all its members together."""
        self.center_ = center
        self._X = X

    def _tp(self, X: Floats) -> Floats:
        # The product of univariate tp's is taken about each variable's own median.
        center = None if self.tau_max == "product" else self.center_
        return transvariation_probability(self._X, X, center, tau_max=self.tau_max, ties=self.ties)

    def _loo_scores(self, X: Floats) -> Floats:
        return leave_one_out_probability(X, tau_max=self.tau_max, ties=self.ties)

    def _univariate_tp(self, X: Floats) -> Floats:
        columns = range(X.shape[1])
        return np.column_stack([transvariation_probability(self._X[:, u], X[:, u], tau_max="half") for u in columns])
