"""DensityTOCC and NeighborTOCC on rows in partitions: learned from a sample, calibrated with all rows."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from transvariation.base import OneClassClassifier
from transvariation.dask.base import PartitionedClassifier
from transvariation.dask.calibration import half
from transvariation.dask.partitions import Floats, Partitions
from transvariation.dask.spatial_median import spatial_median_of_partitions
from transvariation.density_tocc import DensityTOCC as LocalDensityTOCC
from transvariation.neighbor_tocc import NeighborTOCC as LocalNeighborTOCC


class SampledClassifier(PartitionedClassifier):
    """Apply a classifier fitted to evenly spaced rows to every partition; the threshold comes from all rows."""

    sample_size: int
    _local: OneClassClassifier  # what scores the rows

    @abstractmethod
    def _build(self) -> OneClassClassifier:
        """Build the classifier for the sample."""

    def _describe(self, rows: Partitions) -> None:  # type: ignore[override]
        self._local = self._build().fit_scores(rows.sample(self.sample_size))

    def _score_partitions(self, rows: Partitions) -> Partitions:
        return rows.derive(_score_rows, self._local)

    def _calibration_scores(self, rows: Partitions, held_out: bool) -> list[tuple[Partitions, int]]:
        scored = rows.derive(half, rows.starts, False) if held_out else rows
        scores = self._score_partitions(scored).derive(_as_column).store()
        return [(scores, sum(scores.map(_length)))]

    def _lowest(self) -> float:
        return self._local.lowest_score()


class DensityTOCC(SampledClassifier):
    """Accept samples that lie deep enough in a density, for more target samples than fit in memory.

    The density is fitted to `sample_size` evenly spaced rows. The center is the exact spatial median of all rows, and
    the threshold is selected among the scores of all rows. Scoring does not need the training rows.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        Share of target rows to accept.
    calibration : {"resubstitution", "split"}, default="resubstitution"
        See :class:`transvariation.dask.TOCC`.
    density : {"mixture", "gaussian", "kde"} or object, default="mixture"
        The density; see :class:`transvariation.DensityTOCC`.
    tau_max : {"integral", "half"}, default="integral"
        What tau is divided by; see :class:`transvariation.DensityTOCC`.
    scale : {"tp", "log"}, default="tp"
        See :class:`transvariation.DensityTOCC`.
    sample_size : int, default=10000
        The number of rows to which the density is fitted.
    scratch : path, optional
        See :class:`transvariation.dask.TOCC`; here 8 bytes per row.

    Attributes
    ----------
    density_ : object
    center_ : ndarray of shape (p,)
    offset_ : float

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import dask
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> classifier = dask.DensityTOCC(density="gaussian").fit(X)
    >>> classifier.predict(np.array([[0.1, 0.2], [4.0, 4.0]]))
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str = "resubstitution",
        density: Any = "mixture",
        tau_max: str = "integral",
        scale: str = "tp",
        sample_size: int = 10_000,
        scratch: Any = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.density = density
        self.tau_max = tau_max
        self.scale = scale
        self.sample_size = sample_size
        self.scratch = scratch

    def _build(self) -> OneClassClassifier:
        if self.tau_max not in ("integral", "half"):
            raise ValueError(f"tau_max={self.tau_max!r} is unknown here; choose one of integral, half")
        return LocalDensityTOCC(density=self.density, tau_max=self.tau_max, scale=self.scale)

    def _describe(self, rows: Partitions) -> None:  # type: ignore[override]
        super()._describe(rows)
        self._local.center_ = self.center_ = spatial_median_of_partitions(rows)
        self.density_, self._scale = self._local.density_, self.scale

    def _tp_of_scores(self, scores: Floats) -> Floats:
        return np.exp(scores) if self._scale == "log" else scores


class NeighborTOCC(SampledClassifier):
    """Accept samples whose nearest neighbors in a sample are near enough, for more samples than fit in memory.

    The neighbors are sought among `sample_size` evenly spaced rows; the threshold is selected among the scores of all
    rows. Scoring does not need the other training rows.

    Parameters
    ----------
    n_neighbors : int or sequence of int, default=(1, 3)
        Numbers of neighbors, one view each; see :class:`transvariation.NeighborTOCC`.
    sensitivity : float in (0, 1], default=0.9
        Share of target rows to accept.
    calibration : {"split", "resubstitution"}, default="split"
        ``"split"`` selects the sample from about half of the rows and the threshold among the scores of the others.
    scalings : sequence of str, default=("range", "normal", "whitened")
        See :class:`transvariation.NeighborTOCC`.
    sample_size : int, default=10000
        The number of rows among which neighbors are sought.
    scratch : path, optional
        See :class:`transvariation.dask.TOCC`; here 8 bytes per row.

    Attributes
    ----------
    offset_ : float

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import dask
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> classifier = dask.NeighborTOCC().fit(X)
    >>> classifier.predict(np.array([[0.1, 0.2], [5.0, 5.0]]))
    array([ 1, -1])
    """

    def __init__(
        self,
        n_neighbors: int | Sequence[int] = (1, 3),
        *,
        sensitivity: float = 0.9,
        calibration: str = "split",
        scalings: Sequence[str] = ("range", "normal", "whitened"),
        sample_size: int = 10_000,
        scratch: Any = None,
    ):
        self.n_neighbors = n_neighbors
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.scalings = scalings
        self.sample_size = sample_size
        self.scratch = scratch

    def _build(self) -> OneClassClassifier:
        return LocalNeighborTOCC(self.n_neighbors, scalings=self.scalings, max_reference=None)

    def _tp_of_scores(self, scores: Floats) -> Floats:
        return np.exp(scores)


def _score_rows(rows: Floats, number: int, classifier: OneClassClassifier) -> Floats:
    return classifier.score_samples(rows) if len(rows) else np.empty(0)


def _as_column(scores: Floats, number: int) -> Floats:
    return scores[:, None]


def _length(rows: Floats, number: int) -> int:
    return len(rows)
