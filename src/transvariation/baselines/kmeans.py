"""k-means: distance to the nearest center."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.spatial import cKDTree

from transvariation._typing import Floats, Indices, RandomState
from transvariation.base import OneClassClassifier
from transvariation.description import Description
from transvariation.subsample import subsample
from transvariation.validation import check_magnitude


class KMeansOCC(OneClassClassifier):
    """Accept samples near one of K centers.

    scikit-learn's k-means with greedy k-means++ starts; the best of several.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        How the threshold is set; see :class:`transvariation.TOCC`.
    n_clusters : int, default=5
        The number of centers, K. If there are fewer distinct samples, each of them is a center.
    n_init : int, default=50
        How many starts; 50 reach the best value known on samples such as the glass data to within 0.2%.
    random_state : int, RandomState or None, default=None
        Seed of the random starts. With the same seed, the order of the samples and features does not change the
        centers; a common unit of all features does so only where distances tie.
    n_jobs : int, optional
        The number of processes for the refits of the calibration. The result is the same for every number.

    Attributes
    ----------
    centers_ : ndarray of shape (K, p)
    labels_ : ndarray of shape (n,)
        The nearest center of each training sample.
    inertia_ : float
        The sum of squared distances to the nearest center.

    See Also
    --------
    transvariation.baselines.SOMOCC : Centers on a map.
    transvariation.PAMTOCC : Medoids, and tp in each cluster.

    Examples
    --------
    >>> from transvariation.baselines import KMeansOCC
    >>> from transvariation import load_glass
    >>> glass = load_glass()
    >>> classifier = KMeansOCC(random_state=0).fit(glass.control[["K", "Mg"]])
    >>> int((classifier.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    50
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str = "resubstitution",
        n_clusters: int = 5,
        n_init: int = 50,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _make_description(self) -> "CenterDistance":
        return CenterDistance(self.n_clusters, self.n_init, self.random_state)


@dataclass(eq=False)
class CenterDistance(Description):
    """Distance to the nearest of the k-means centers."""

    n_clusters: int
    n_init: int
    random_state: RandomState

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Find the centers."""
        check_magnitude(X)
        from sklearn.cluster import KMeans

        if self.n_clusters < 1:
            raise ValueError(f"n_clusters={self.n_clusters} must be at least 1; the paper uses 5")
        distinct = np.unique(X, axis=0)
        if len(distinct) <= self.n_clusters:
            self.centers_ = distinct
        else:
            fitted = KMeans(self.n_clusters, n_init=self.n_init, max_iter=300, tol=0, random_state=self.random_state)
            # In an order of their own: scikit-learn draws its starts by position.
            self.centers_ = fitted.fit(X[subsample(X, len(X))]).cluster_centers_
        distance, self.labels_ = cKDTree(self.centers_).query(X)
        self.inertia_ = float((distance**2).sum())
        return self

    def score(self, X: Floats) -> Floats:
        """Compute minus the distance."""
        return -cKDTree(self.centers_).query(X)[0]
