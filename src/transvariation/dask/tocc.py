"""TOCC and PAM-TOCC on rows in partitions, by counting."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation._typing import Floats
from transvariation.cluster.pam import closest, medoids
from transvariation.dask.base import PartitionedClassifier, PartitionedDescription
from transvariation.dask.calibration import half, marked
from transvariation.dask.partitions import BLOCK_ROWS, Integers, Partitions
from transvariation.dask.range_partition import training_tp
from transvariation.dask.spatial_median import spatial_median_of_partitions
from transvariation.depth.counting import Transvariations, count_transvariations
from transvariation.depth.probability import TIES, ratio

TAU_MAX = ("count", "half")
_SAMPLE_FOR_BORDERS = 4_000


@dataclass(eq=False)
class CountedPartitions(PartitionedDescription):
    """Transvariation probability about one or several centers, counted among rows in partitions."""

    tau_max: str
    ties: str

    lowest = 0.0

    @abstractmethod
    def find_centers(self, rows: Partitions) -> Floats:
        """Find the centers about which strata of the class are counted, one per row."""

    def fit(self, rows: Partitions, groups: Any = None) -> Self:
        """Find the centers."""
        for name, value, known in (("tau_max", self.tau_max, TAU_MAX), ("ties", self.ties, TIES)):
            if value not in known:
                raise ValueError(f"{name}={value!r} is unknown here; choose one of {', '.join(known)}")
        self.rows, self.centers = rows, self.find_centers(rows)
        return self

    def strata(self, X: Floats) -> NDArray[np.intp] | None:
        """Return the closest center of each row."""
        return None if len(self.centers) == 1 else _closest(X, self.centers)

    def score_partitions(self, rows: Partitions) -> Partitions:
        """Count tp."""
        return self._scores_against(rows, self.rows, self.centers)

    def _scores_against(self, rows: Partitions, units: Partitions, centers: Floats) -> Partitions:
        finish = partial(_tp_of_counts, centers=centers, tau_max=self.tau_max, ties=self.ties)
        return rows.against([units], partial(_count_units, centers=centers), finish)

    def calibration_scores(self, rows: Partitions, held_out: bool) -> list[tuple[Partitions, int]]:
        """Compute tp of the rows of each stratum; of marked rows, some are only counted and the others only scored."""
        centers = self.centers
        counted = rows.derive(marked, rows.starts) if held_out else rows
        scored = rows.derive(half, rows.starts, False) if held_out else rows
        sizes = scored.total(_stratum_sizes, centers)
        sample = rows.sample(_SAMPLE_FOR_BORDERS)
        stratum = _closest(sample, centers)
        n_slabs = max(len(rows.lengths), -(-len(rows) // BLOCK_ROWS))
        found = []
        for k, center in enumerate(centers):
            own = counted.derive(_rows_of_stratum, centers, k) if len(centers) > 1 else counted
            if len(center) <= 2:
                near = sample[stratum == k] if (stratum == k).any() else center[None]
                tp = training_tp(own, center, near, n_slabs, self.tau_max, self.ties)
            else:
                units, samples = (own.derive(_marked_rows, len(center), describing) for describing in (True, False))
                tp = self._scores_against(samples, units, center[None]).derive(_as_column)
            found.append((tp.store(), int(sizes[k])))
        return found


def _closest(rows: Floats, centers: Floats) -> NDArray[np.intp]:
    return closest(rows, centers)[0] if len(centers) > 1 and len(rows) else np.zeros(len(rows), dtype=np.intp)


def _count_units(units: Floats, number: int, Z: Floats, centers: Floats) -> Integers:
    """Count among the units of the stratum whose center is closest to each row of Z: shape (5, rows).

    Rows as in `Transvariations`, except the last, which is the number of units of the stratum: numbers to be added.
    """
    own, stratum = _closest(units, centers), _closest(Z, centers)
    counts = np.zeros((5, len(Z)), dtype=np.int64)
    for k, center in enumerate(centers):
        inside, asked = units if len(centers) == 1 else units[own == k], np.flatnonzero(stratum == k)
        if len(asked) and len(inside):
            counts[:, asked] = count_transvariations(inside, center, Z if len(centers) == 1 else Z[asked])
            counts[4, asked] = len(inside)
    return counts


def _tp_of_counts(Z: Floats, counts: Integers, centers: Floats, tau_max: str, ties: str) -> Floats:
    stratum = _closest(Z, centers)
    n_open = (centers[stratum] != Z).sum(axis=1)
    tp = np.empty(len(Z))
    for k in np.unique(stratum):
        inside = stratum == k
        beyond, at, side, center, n = counts[:, inside]
        counted = Transvariations(beyond, at, side, center, n_open[inside])
        tp[inside] = ratio(counted, int(n[0]), Z.shape[1], tau_max, ties)
    return tp


def _stratum_sizes(rows: Floats, number: int, centers: Floats) -> Integers:
    return np.bincount(_closest(rows, centers), minlength=len(centers))


def _rows_of_stratum(rows: Floats, number: int, centers: Floats, k: int) -> Floats:
    return rows[_closest(rows[:, : centers.shape[1]], centers) == k]


def _marked_rows(rows: Floats, number: int, p: int, describing: bool) -> Floats:
    """Select the rows that describe or those that are scored; all are both where none is marked."""
    return rows if rows.shape[1] == p else rows[rows[:, p] == describing, :p]


def _as_column(tp: Floats, number: int) -> Floats:
    return tp[:, None]


class TOCC(PartitionedClassifier):
    """Accept samples that lie deep enough among more target samples than fit in memory, or on one machine.

    Center, tp and threshold equal those of :class:`transvariation.TOCC` to the last bit, for every partitioning. With
    ``calibration="split"`` they equal those for the same halves; on one machine other halves are drawn.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "split"}, default="resubstitution"
        ``"resubstitution"`` selects the threshold among the scores of the training samples. ``"split"`` lets about
        half of the rows describe the class and selects the threshold among the scores of the others, so that the
        sensitivity holds for new samples.
    tau_max : {"count", "half"}, default="count"
        What tau is divided by; see :class:`transvariation.TOCC`.
    ties : {"proper", "literal"}, default="proper"
        See :func:`transvariation.transvariation_probability`.
    scratch : path, optional
        A folder for intermediate files when X is not a Dask collection: up to 64 bytes per row in two variables. By
        default the system's folder for temporary files. What is kept afterwards, 24 bytes per row given as blocks and
        8 otherwise, is deleted with the classifier.

    Attributes
    ----------
    center_ : ndarray of shape (p,)
        The spatial median of the target samples.
    offset_ : float
        The threshold: samples with tp at or above it are accepted.

    See Also
    --------
    transvariation.TOCC : The classifier in memory.

    Examples
    --------
    Blocks of rows in place of one array:

    >>> import numpy as np
    >>> from transvariation import dask
    >>> def blocks():
    ...     for seed in range(4):
    ...         yield np.random.default_rng(seed).normal(size=(500, 2))
    >>> classifier = dask.TOCC().fit(blocks())
    >>> classifier.predict(np.array([[0.1, 0.2], [4.0, 4.0]]))
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

    def _make_description(self) -> OneCenter:
        return OneCenter(self.tau_max, self.ties)


class OneCenter(CountedPartitions):
    """One center, the spatial median."""

    def find_centers(self, rows: Partitions) -> Floats:
        """Find the spatial median."""
        self.center_ = spatial_median_of_partitions(rows)
        return self.center_[None]


class PAMTOCC(PartitionedClassifier):
    """Accept samples that lie deep enough within the closest of several clusters of target samples.

    The medoids are those of `sample_size` evenly spaced rows, as in CLARA; every row belongs to the cluster of its
    closest medoid, and counts and thresholds are exact given the medoids. With no more rows than `sample_size`, the
    classifier equals :class:`transvariation.PAMTOCC`.

    Parameters
    ----------
    n_clusters : int, default=5
        Number of clusters.
    sensitivity : float in (0, 1] or one per cluster, default=0.9
        Share of target rows to accept.
    calibration : {"resubstitution", "split"}, default="resubstitution"
        See :class:`transvariation.dask.TOCC`; clusters too small for the sensitivity share one threshold.
    ties : {"proper", "literal"}, default="proper"
        How equal values count; see :class:`transvariation.PAMTOCC`.
    sample_size : int, default=2000
        The number of rows among which the medoids are sought; of more than 2000, 2000 are drawn by their values.
    scratch : path, optional
        See :class:`transvariation.dask.TOCC`.

    Attributes
    ----------
    centers_ : ndarray of shape (n_clusters, p)
        The medoids.
    thresholds_ : ndarray of shape (n_clusters,)
        The threshold of each cluster.
    offset_ : float
        Zero: `score_samples` is the margin over the threshold of the sample's own cluster.

    See Also
    --------
    transvariation.PAMTOCC : The classifier in memory.

    References
    ----------
    Kaufman, L. and Rousseeuw, P. J. (1990). Finding Groups in Data, chapter 3 (CLARA). Wiley.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import dask
    >>> centers = np.repeat([[0.0], [9.0]], 500, axis=0)
    >>> X = centers + np.random.default_rng(0).normal(size=(1000, 2))
    >>> classifier = dask.PAMTOCC(n_clusters=2).fit(X)
    >>> classifier.predict(np.array([[0.1, 0.2], [4.5, 4.5], [9.0, 8.8]]))
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

    def _make_description(self) -> CountedMedoids:
        return CountedMedoids("count", self.ties, self.n_clusters, self.sample_size)


@dataclass(eq=False)
class CountedMedoids(CountedPartitions):
    """The medoids of a sample of the rows."""

    n_clusters: int
    sample_size: int

    def find_centers(self, rows: Partitions) -> Floats:
        """Find the medoids."""
        sample = rows.sample(self.sample_size)
        self.centers_ = sample[medoids(sample, self.n_clusters).rows]
        return self.centers_
