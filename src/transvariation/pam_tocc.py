"""PAM-TOCC: the target class in clusters, each with its own center and threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator

from transvariation._typing import Floats, Indices
from transvariation.base import TransvariationClassifier
from transvariation.cluster.pam import closest, medoids
from transvariation.depth.probability import check_names, tp_of_rows
from transvariation.description import Description


class PAMTOCC(TransvariationClassifier):
    """Accept samples that lie deep enough within the cluster of target samples that is closest to them.

    The target samples are partitioned around `n_clusters` medoids. A sample belongs to the cluster of the closest
    medoid; its tp counts that cluster's samples about that medoid, and each cluster has its own threshold. Samples
    between the clusters are rejected, which a single center cannot do. Of more than 2,000 target samples the medoids
    are those of a subsample of 2,000; all samples count in the clusters. `fit` warns where nearly all new samples would
    be rejected or none (`RejectsNearlyAll`, `RejectsNothing`).

    Parameters
    ----------
    n_clusters : int, default=5
        At most the number of distinct target samples. A cluster of one sample accepts only what equals it.
    sensitivity : float in (0, 1] or one per cluster, default=0.9
        The share of target samples to accept in each cluster.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        How the thresholds are set, see :class:`TOCC`. Clusters with too few held-out samples for the sensitivity share
        one threshold.
    ties : {"proper", "literal"}, default="proper"
        See :func:`transvariation.transvariation_probability`.
    n_jobs : int, optional
        The number of processes for the refits of the calibration. The result is the same for every number.

    Attributes
    ----------
    centers_ : ndarray of shape (n_clusters, n_features)
        The medoids, in the order in which the first members of their clusters appear in the training data.
    labels_ : ndarray of shape (n_samples,)
        The cluster of every training sample.
    thresholds_ : ndarray of shape (n_clusters,)
        The threshold of each cluster, on the scale of tp.
    offset_ : float
        Zero: `score_samples` is the margin of tp over the threshold of the sample's own cluster. The raw tp, which the
        paper pools for its ROC curves, is `transvariation_probability`.

    See Also
    --------
    transvariation.TOCC : One center instead of several.
    transvariation.NeighborTOCC : The recommended classifier: every sample is a medoid.

    References
    ----------
    .. [1] F. Fortunato, L. Anderlucci and A. Montanari (2020). One-class classification with application to forensic
       analysis. Journal of the Royal Statistical Society, Series C 69, 1227-1249.

    Examples
    --------
    >>> from transvariation import PAMTOCC, load_glass
    >>> glass = load_glass()
    >>> classifier = PAMTOCC(n_clusters=4).fit(glass.control[["Si", "Mg"]])
    >>> labels = classifier.predict(glass.recovered[["Si", "Mg"]])
    >>> classifier.centers_.shape, int((labels == -1).sum())
    ((4, 2), 50)
    """

    def __init__(
        self,
        n_clusters: int = 5,
        *,
        sensitivity: float | ArrayLike = 0.9,
        calibration: str | BaseCrossValidator = "resubstitution",
        ties: str = "proper",
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.ties = ties
        self.n_jobs = n_jobs

    def _make_description(self) -> CountedClusters:
        return CountedClusters(self.n_clusters, self.ties)


@dataclass(eq=False)
class CountedClusters(Description):
    """Transvariation probability about the closest medoid, counted among the samples of its cluster."""

    n_clusters: int
    ties: str

    counts_samples = True
    lowest = 0.0

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Partition the samples around medoids."""
        check_names("count", self.ties)
        order = np.lexsort(X.T[::-1])  # of two medoids that are as good, the first is taken: by value, not by position
        found = medoids(X[order], self.n_clusters)
        self.centers_, self.labels_, self.rows = X[order][found.rows], found.labels[np.argsort(order)], X
        return self

    def strata(self, X: Floats) -> Indices:
        """Return the cluster of the closest medoid."""
        return closest(X, self.centers_)[0]

    def score(self, X: Floats) -> Floats:
        """Count tp."""
        tp, label = np.empty(len(X)), self.strata(X)
        for k in np.unique(label):
            inside = label == k
            own = self.rows[self.labels_ == k]
            tp[inside] = tp_of_rows(own, X[inside], self.centers_[k], "count", self.ties)
        return tp
