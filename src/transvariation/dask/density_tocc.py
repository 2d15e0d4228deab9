"""DensityTOCC on rows in partitions: a density from a sample, scores everywhere."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from transvariation.dask.base import PartitionedClassifier, as_it_is
from transvariation.dask.rows import Floats, Rows, starts_of
from transvariation.dask.spatial_median import spatial_median_of_partitions
from transvariation.dask.split_halves import half
from transvariation.density_tocc import DensityTOCC as OnOneMachine


class DensityTOCC(PartitionedClassifier):
    """Accept objects that lie deep enough in a density, for target objects that no memory or machine holds at once.

    The density is fitted to `sample_size` evenly spaced rows; the centre is the exact spatial median of all
    rows, and the threshold is cut among the scores of all rows. Scoring asks nothing of the training rows.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
    calibration : {"resubstitution", "split"}, default="resubstitution"
        See :class:`transvariation.dask.TOCC`.
    density : {"mixture", "gaussian", "kde"} or object, default="mixture"
    tau_max : {"integral", "half"}, default="integral"
    scale : {"tp", "log"}, default="tp"
        See :class:`transvariation.DensityTOCC`.
    sample_size : int, default=10000
        The rows to which the density is fitted.
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
    >>> rule = dask.DensityTOCC(density="gaussian").fit(X)
    >>> rule.predict(np.array([[0.1, 0.2], [4.0, 4.0]]))
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

    def _describe(self, rows: Rows) -> None:
        if self.tau_max not in ("integral", "half"):
            raise ValueError(f"tau_max={self.tau_max!r} is unknown here; choose one of integral, half")
        rule = OnOneMachine(density=self.density, tau_max=self.tau_max, scale=self.scale)
        rule.fit(self._sample(rows, self.sample_size))
        rule.center_ = self.center_ = spatial_median_of_partitions(rows)
        rule._X = rule._X[:0]  # the sample has done its part, and need not travel
        self.density_, self._rule = rule.density_, rule

    def _training_scores(self, rows: Rows) -> list[tuple[Rows, int]]:
        return [(rows.derive(_score_column, self._rule).store(), sum(rows.lengths))]

    def _held_out_scores(self, rows: Rows) -> list[tuple[Rows, int]]:
        scores = rows.derive(half, starts_of(rows), False).derive(_score_column, self._rule).store()
        return [(scores, sum(rows.lengths) - sum(self._rows.lengths))]

    def _ratings(self) -> tuple[list[Rows], Callable, Callable]:
        return [], _score_column, partial(_score, self._rule)

    def _lowest(self) -> float:
        return self._rule._lowest()

    def transvariation_probability(self, Z: Any) -> Any:
        """Compute tp of each object with respect to the target class: 1 at its centre, 0 beyond its edge."""
        return self._rated(Z, _as_tp if self._as_fitted("scale") == "log" else as_it_is)


def _score(rule: OnOneMachine, z: Floats, total: Any) -> Floats:
    return rule._score(z) if len(z) else np.empty(0)


def _score_column(rows: Floats, number: int, rule: OnOneMachine) -> Floats:
    return _score(rule, rows, None)[:, None]


def _as_tp(z: Floats, scores: Floats) -> Floats:
    return np.exp(scores)
