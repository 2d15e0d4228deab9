"""TOCC and PAM-TOCC on rows in partitions: by counting."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation.cluster.pam import medoids
from transvariation.dask.base import PartitionedClassifier, as_it_is, closest_part
from transvariation.dask.blocks import BLOCK_ROWS
from transvariation.dask.counting import count_about, tp_about
from transvariation.dask.range_partition import training_tp
from transvariation.dask.rows import Floats, Rows, starts_of
from transvariation.dask.spatial_median import spatial_median_of_partitions
from transvariation.dask.split_halves import half, marked
from transvariation.depth.probability import TIES

TAU_MAX = ("count", "half")
_FOR_BORDERS = 4_000


class CountingClassifier(PartitionedClassifier):
    """What TOCC and PAM-TOCC share: tp by counting about one or several centres."""

    ties: str
    tau_max: str = "count"

    @abstractmethod
    def _centers(self) -> Floats:
        """Give the centres about which parts of the class are counted, one per row."""

    def _check(self) -> None:
        for name, value, known in (("tau_max", self.tau_max, TAU_MAX), ("ties", self.ties, TIES)):
            if value not in known:
                raise ValueError(f"{name}={value!r} is unknown here; choose one of {', '.join(known)}")

    def _ratings(self) -> tuple[list[Rows], Callable, Callable]:
        centers = self._centers()
        tau_max, ties = self._as_fitted("tau_max"), self._as_fitted("ties")
        finish = partial(tp_about, centers=centers, tau_max=tau_max, ties=ties)
        return [self._rows], partial(count_about, centers=centers), finish

    def transvariation_probability(self, Z: Any) -> Any:
        """Compute tp of each object with respect to the target class: 1 at its centre, 0 beyond its edge."""
        return self._rated(Z, as_it_is)

    def _training_scores(self, rows: Rows) -> list[tuple[Rows, int]]:
        return self._scores_of_parts(rows, rows, self._sizes(rows, sum(rows.lengths)))

    def _held_out_scores(self, rows: Rows) -> list[tuple[Rows, int]]:
        starts = starts_of(rows)
        sizes = self._sizes(rows.derive(half, starts, False), sum(rows.lengths) - sum(self._rows.lengths))
        return self._scores_of_parts(rows, rows.derive(marked, starts), sizes)

    def _sizes(self, rows: Rows, n: int) -> NDArray[np.int64]:
        """How many of the n rows belong to each part."""
        return np.array([n]) if len(self._centers()) == 1 else rows.total(_sizes, self._centers())

    def _scores_of_parts(self, rows: Rows, counted: Rows, sizes: NDArray[np.int64]) -> list[tuple[Rows, int]]:
        """Rate the rows part by part, where `counted` are the same rows, marked if some only rate others."""
        centers = self._centers()
        label = closest_part(centers, sample := self._sample(rows, _FOR_BORDERS))
        found = []
        for k, center in enumerate(centers):
            own = counted.derive(_those_of, centers, k) if len(centers) > 1 else counted
            near = sample[label == k]
            n_slabs = max(len(rows.lengths), -(-sum(rows.lengths) // BLOCK_ROWS))
            found.append((self._tp_of_part(own, center, near if len(near) else center[None], n_slabs), int(sizes[k])))
        return found

    def _tp_of_part(self, rows: Rows, center: Floats, sample: Floats, n_slabs: int) -> Rows:
        if len(center) <= 2:
            return training_tp(rows, center, sample, n_slabs, self.tau_max, self.ties).store()
        centers = center[None]
        tp = partial(tp_about, centers=centers, tau_max=self.tau_max, ties=self.ties)
        units, objects = (rows.derive(_side, len(center), describing) for describing in (True, False))
        return objects.against([units], partial(count_about, centers=centers), tp).derive(_as_column).store()


def _sizes(rows: Floats, number: int, centers: Floats) -> NDArray[np.int64]:
    return np.bincount(closest_part(centers, rows), minlength=len(centers))


def _those_of(rows: Floats, number: int, centers: Floats, k: int) -> Floats:
    return rows[closest_part(centers, rows[:, : centers.shape[1]]) == k]


def _side(rows: Floats, number: int, p: int, describing: bool) -> Floats:
    """The rows that rate or those that are rated; all are both where none is marked."""
    return rows if rows.shape[1] == p else rows[rows[:, p] == describing, :p]


def _as_column(tp: Floats, number: int) -> Floats:
    return tp[:, None]


class TOCC(CountingClassifier):
    """Accept objects that lie deep enough among target objects that no memory, or no machine, holds at once.

    The rule is that of :class:`transvariation.TOCC`: centre, tp and threshold have the same bits, however the rows are
    partitioned. With ``calibration="split"`` it is that of the same halves, which are others than those that one
    machine would draw.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target objects to accept.
    calibration : {"resubstitution", "split"}, default="resubstitution"
        ``"resubstitution"`` cuts at the quantile of the training objects' own scores. ``"split"`` lets about half of
        the rows
        describe the class and cuts at the scores of the others, so that the sensitivity holds on fresh objects.
    tau_max : {"count", "half"}, default="count"
    ties : {"proper", "literal"}, default="proper"
        See :func:`transvariation.transvariation_probability`.
    scratch : path, optional
        A folder for intermediate files when fitting without Dask: about 48 bytes per row in one or two variables. By
        default the system's folder for temporary files. What is kept afterwards, 8 bytes per row, goes with the rule.

    Attributes
    ----------
    center_ : ndarray of shape (p,)
        The spatial median of the target objects.
    offset_ : float
        The threshold: objects with tp at or above it are accepted.

    Examples
    --------
    Blocks of rows, given anew at each call, in place of one array:

    >>> import numpy as np
    >>> from transvariation import dask
    >>> def blocks():
    ...     for seed in range(4):
    ...         yield np.random.default_rng(seed).normal(size=(500, 2))
    >>> rule = dask.TOCC().fit(blocks)
    >>> rule.predict(np.array([[0.1, 0.2], [4.0, 4.0]]))
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str = "resubstitution",
        tau_max: str = "count",
        ties: str = "proper",
        scratch: Any = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.tau_max = tau_max
        self.ties = ties
        self.scratch = scratch

    def _describe(self, rows: Rows) -> None:
        self._check()
        self.center_ = spatial_median_of_partitions(rows)

    def _centers(self) -> Floats:
        return self.center_[None]


class PAMTOCC(CountingClassifier):
    """Accept objects that lie deep enough within the closest of several clusters of target objects.

    The medoids are those of `sample_size` evenly spaced rows, in the manner of CLARA; every row then belongs to the
    cluster of its closest medoid, and counts and thresholds are exact given the medoids. With no more rows than
    `sample_size`, the rule is that of :class:`transvariation.PAMTOCC`.

    Parameters
    ----------
    n_clusters : int, default=5
    sensitivity : float in (0, 1] or one per cluster, default=0.9
    calibration : {"resubstitution", "split"}, default="resubstitution"
        See :class:`transvariation.dask.TOCC`; clusters too small for the sensitivity share one threshold.
    ties : {"proper", "literal"}, default="proper"
    sample_size : int, default=2000
        The rows among which the medoids are sought; of more than 2000 of them, 2000 are drawn by their values.
    scratch : path, optional
        See :class:`transvariation.dask.TOCC`.

    Attributes
    ----------
    centers_ : ndarray of shape (n_clusters, p)
        The medoids.
    thresholds_ : ndarray of shape (n_clusters,)
        The tp at which each cluster begins to accept.
    offset_ : float
        Zero: `score_samples` is the margin over the threshold of the object's own cluster.

    References
    ----------
    Kaufman, L. and Rousseeuw, P. J. (1990). Finding Groups in Data, chapter 3 (CLARA). Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import dask
    >>> X = np.random.default_rng(0).normal(size=(1000, 2)) + np.repeat([[0.0], [9.0]], 500, axis=0)
    >>> rule = dask.PAMTOCC(n_clusters=2).fit(X)
    >>> rule.predict(np.array([[0.1, 0.2], [4.5, 4.5], [9.0, 8.8]]))
    array([ 1, -1,  1])
    """

    def __init__(
        self,
        n_clusters: int = 5,
        *,
        sensitivity: float | ArrayLike = 0.9,
        calibration: str = "resubstitution",
        ties: str = "proper",
        sample_size: int = 2000,
        scratch: Any = None,
    ):
        self.n_clusters = n_clusters
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.ties = ties
        self.sample_size = sample_size
        self.scratch = scratch

    def _describe(self, rows: Rows) -> None:
        self._check()
        sample = self._sample(rows, self.sample_size)
        self.centers_ = sample[medoids(sample, self.n_clusters).rows]

    def _centers(self) -> Floats:
        return self.centers_

    def _part(self) -> Callable[[Floats], NDArray[np.intp]]:
        return partial(closest_part, self.centers_)
