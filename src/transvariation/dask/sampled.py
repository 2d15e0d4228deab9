"""DensityTOCC and NeighborTOCC on rows in partitions: learned from a sample, calibrated with all rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from transvariation._typing import Floats
from transvariation.dask.base import PartitionedClassifier, PartitionedDescription
from transvariation.dask.calibration import half
from transvariation.dask.partitions import Partitions
from transvariation.dask.spatial_median import spatial_median_of_partitions
from transvariation.density_tocc import DensityDepth
from transvariation.description import Description
from transvariation.neighbor_distances import NeighborDistances


@dataclass(eq=False)
class SampledPartitions(PartitionedDescription):
    """A description fitted to evenly spaced rows scores every partition; the calibration uses all rows."""

    sampled: Description
    sample_size: int

    def fit(self, rows: Partitions, groups: Any = None) -> Self:
        """Fit the description to a sample."""
        self.fitted: Any = self.sampled.unfitted().fit(rows.sample(self.sample_size))
        return self

    def score_partitions(self, rows: Partitions) -> Partitions:
        """Score partitions lazily."""
        return rows.derive(_score_rows, self.fitted)

    def calibration_scores(self, rows: Partitions, held_out: bool) -> list[tuple[Partitions, int]]:
        """Score the calibration rows."""
        scored = rows.derive(half, rows.starts, False) if held_out else rows
        scores = self.score_partitions(scored).derive(_as_column).store()
        return [(scores, sum(scores.map(_length)))]

    @property
    def lowest(self) -> float:
        """Lowest attainable score."""
        return self.fitted.lowest

    def tp_of_scores(self, scores: Floats) -> Floats:
        """Convert scores as the fitted description does."""
        return self.fitted.tp_of_scores(scores)


class SampledDensity(SampledPartitions):
    """A density of sampled rows about the spatial median of all rows."""

    def fit(self, rows: Partitions, groups: Any = None) -> Self:
        """Fit the density to a sample, and find the center of all rows."""
        super().fit(rows)
        self.density_ = self.fitted.density_
        self.fitted.center_ = self.center_ = spatial_median_of_partitions(rows)
        return self


class DensityTOCC(PartitionedClassifier):
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

    See Also
    --------
    transvariation.DensityTOCC : The classifier in memory.

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

    def _make_description(self) -> SampledDensity:
        if self.tau_max not in ("integral", "half"):
            raise ValueError(f"tau_max={self.tau_max!r} is unknown here; choose one of integral, half")
        density = DensityDepth(self.density, tau_max=self.tau_max, scale=self.scale)
        return SampledDensity(density, self.sample_size)


class NeighborTOCC(PartitionedClassifier):
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

    See Also
    --------
    transvariation.NeighborTOCC : The classifier in memory.

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

    def _make_description(self) -> SampledPartitions:
        return SampledPartitions(NeighborDistances(self.n_neighbors, self.scalings), self.sample_size)


def _score_rows(rows: Floats, number: int, description: Description) -> Floats:
    return description.score(rows) if len(rows) else np.empty(0)


def _as_column(scores: Floats, number: int) -> Floats:
    return scores[:, None]


def _length(rows: Floats, number: int) -> int:
    return len(rows)
