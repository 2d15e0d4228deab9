"""PAM-TOCC: the target class in clusters, each with its own centre and threshold."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation.cluster.pam import closest, medoids
from transvariation.depth.probability import check_names, transvariation_probability
from transvariation.transvariation_classifier import Floats, TransvariationClassifier


class PAMTOCC(TransvariationClassifier):
    """Accept objects that lie deep enough within the cluster of target objects that is closest to them.

    The target objects are partitioned around `n_clusters` medoids. An object belongs to the cluster of the closest
    medoid; its tp counts that cluster's units about that medoid, and each cluster has a threshold of its own. Objects
    between the clusters are rejected, which one centre for all cannot do. Of more than 2000 target objects the medoids
    are those of 2000, drawn by their values; all objects count in the clusters.

    Parameters
    ----------
    n_clusters : int, default=5
        At most the number of distinct target objects. A cluster of one object accepts only what equals it.
    sensitivity : float in (0, 1] or one per cluster, default=0.9
        The share of target objects to accept in each cluster.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        Where the thresholds come from. ``"resubstitution"`` cuts at the quantile of the training objects' own tp; the
        others at scores that each sample got from a classifier fitted without it, and clusters too small for that
        share one threshold. ``"loo"`` refits n times, at most 1,000; use ``"cv"`` or ``"split"`` for more samples.
    ties : {"proper", "literal"}, default="proper"
        See :func:`transvariation.transvariation_probability`.
    n_jobs : int, optional
        The number of processes that rate held-out objects where that takes long. The result is the same for every
        number.

    Attributes
    ----------
    centers_ : ndarray of shape (n_clusters, p)
        The medoids, in the order in which the first members of their clusters stand in the training data.
    labels_ : ndarray of shape (n,)
        The cluster of every training object.
    thresholds_ : ndarray of shape (n_clusters,)
        The tp at which each cluster begins to accept.
    offset_ : float
        Zero: `score_samples` is the margin of tp over the threshold of the object's own cluster. The raw tp, which the
        paper pools for its ROC curves, is `transvariation_probability`.

    Examples
    --------
    >>> from transvariation import PAMTOCC, load_glass
    >>> glass = load_glass()
    >>> rule = PAMTOCC(n_clusters=4).fit(glass.control[["Si", "Mg"]])
    >>> rule.centers_.shape, int((rule.predict(glass.recovered[["Si", "Mg"]]) == -1).sum())
    ((4, 2), 50)
    """

    def __init__(
        self,
        n_clusters: int = 5,
        *,
        sensitivity: float | ArrayLike = 0.9,
        calibration: str = "resubstitution",
        ties: str = "proper",
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.ties = ties
        self.n_jobs = n_jobs

    def _describe(self, X: Floats) -> None:
        check_names("count", self.ties)
        found = medoids(X, self.n_clusters)
        self.centers_, self.labels_, self._X, self._ties = X[found.rows], found.labels, X, self.ties

    def _stratum(self, X: Floats) -> NDArray[np.intp]:
        return closest(X, self.centers_)[0]

    def _tp(self, X: Floats) -> Floats:
        tp, label = np.empty(len(X)), self._stratum(X)
        for k in np.unique(label):
            own, objects = self._X[self.labels_ == k], label == k
            tp[objects] = transvariation_probability(own, X[objects], self.centers_[k], ties=self._ties)
        return tp

    def _univariate_tp(self, X: Floats) -> Floats:
        tp, label = np.empty(X.shape), self._stratum(X)
        for k in np.unique(label):
            own = self._X[self.labels_ == k]
            for u in range(X.shape[1]):
                tp[label == k, u] = transvariation_probability(own[:, u], X[label == k, u], tau_max="half")
        return tp
