"""The classifiers of :mod:`transvariation`, fitted to a sample of rows in parts and applied part by part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

import transvariation as tv
from transvariation._typing import Rows
from transvariation.base import TransvariationClassifier
from transvariation.calibration import take_rows
from transvariation.dask.parts import (
    Results,
    check_one_table,
    in_memory,
    is_blocks,
    is_dask,
    map_parts,
    sample_numbers,
    sample_rows,
)
from transvariation.validation import check_count


class PartitionedClassifier(TransvariationClassifier):
    """Fit to a random sample of at most `sample_size` rows, and score rows in memory, in partitions or in blocks.

    The sample is the same however the rows are divided. What a method returns has the type of its input: an array for
    rows in memory or a memory map, a lazy Dask array for a Dask collection, an iterator over arrays for blocks.
    """

    sample_size: int

    def fit(self, X: Rows, y: object = None, groups: ArrayLike | None = None) -> Self:
        """Learn the target class.

        Parameters
        ----------
        X : array-like, Dask array or DataFrame, memory map, iterator over blocks, or function that returns one
            Target samples only. Rows outside the sample are not looked at.
        y : array-like of shape (n,), optional
            For rows in one table; see :meth:`transvariation.TOCC.fit`.
        groups : array-like of shape (n,), optional
            For rows in one table: the item that each row is a replicate of. The sample is still one of rows.

        Returns
        -------
        self
            The fitted classifier.
        """
        size = check_count("sample_size", self.sample_size)
        if is_dask(X) or is_blocks(X):
            for name, given in (("y", y), ("groups", groups)):
                if given is not None:
                    raise ValueError(
                        f"{name} is for rows in one table; give X as an array or a DataFrame, or leave it out"
                    )
            return super().fit(sample_rows(X, size))
        check_one_table(X)
        X = X if hasattr(X, "shape") else np.asarray(X)
        if len(X.shape) != 2 or X.shape[0] <= size:
            return super().fit(X, y, groups)
        kept = sample_numbers(X.shape[0], size)
        labels, items = (None if given is None else np.asarray(given)[kept] for given in (y, groups))
        return super().fit(take_rows(X, kept), labels, items)

    def score_samples(self, X: Rows) -> Results:
        """Score samples: high = typical.

        Parameters
        ----------
        X : array-like, Dask array or DataFrame, memory map or iterator over blocks
            The rows to score.

        Returns
        -------
        ndarray, iterator or Dask array
            The scores, in the form of the input.
        """
        return self._for_each_part("score_samples", X)

    def decision_function(self, X: object) -> Results:
        """Compute the score minus the threshold: samples are accepted where it is not negative.

        Parameters
        ----------
        X : array-like, Dask array or DataFrame, memory map or iterator over blocks
            The rows to score.

        Returns
        -------
        ndarray, iterator or Dask array
            The score minus the threshold, in the form of the input.
        """
        return self._for_each_part("decision_function", X)

    def predict(self, X: object) -> Results:
        """Classify samples: +1 = accepted as target, -1 = rejected.

        Parameters
        ----------
        X : array-like, Dask array or DataFrame, memory map or iterator over blocks
            The rows to classify.

        Returns
        -------
        ndarray, iterator or Dask array
            The labels, in the form of the input.
        """
        return self._for_each_part("predict", X, np.int64)

    def transvariation_probability(self, X: object) -> Results:
        """Compute tp of each sample with respect to the target class: 1 at its center, 0 beyond its edge.

        Parameters
        ----------
        X : array-like, Dask array or DataFrame, memory map or iterator over blocks
            The rows to score.

        Returns
        -------
        ndarray, iterator or Dask array
            tp, in the form of the input.
        """
        return self._for_each_part("transvariation_probability", X)

    def p_values(self, X: Rows, **options: Any) -> Results:
        """Compute conformal p-values.

        Parameters
        ----------
        X : array-like, Dask array or DataFrame, memory map or iterator over blocks
            The rows to score.
        options
            Those of the classifier in memory, such as :meth:`transvariation.TOCC.p_values`; `weights` need rows in
            memory.

        Returns
        -------
        ndarray, iterator or Dask array
            The p-values, in the form of the input.
        """
        if options.get("weights") is not None and not in_memory(X):
            raise ValueError("weights are for rows in memory; give X as an array or a DataFrame")
        return self._for_each_part("p_values", X, **options)

    def _for_each_part(self, method: str, X: object, dtype: type = np.float64, **options: Any) -> Results:
        own = partial(getattr(super(), method), **options)
        return own(X) if in_memory(X) else map_parts(X, own, dtype)


class TOCC(PartitionedClassifier, tv.TOCC):
    """Accept samples that lie deep enough among more target samples than fit in memory, or on one machine.

    Parameters
    ----------
    sensitivity, calibration, tau_max, ties, n_jobs
        See :class:`transvariation.TOCC`, which is fitted to the sample.
    sample_size : int, default=100000
        The most rows that are drawn.

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
        calibration: object = "resubstitution",
        tau_max: str = "count",
        ties: str = "proper",
        n_jobs: int | None = None,
        sample_size: int = 100_000,
    ):
        super().__init__(sensitivity=sensitivity, calibration=calibration, tau_max=tau_max, ties=ties, n_jobs=n_jobs)
        self.sample_size = sample_size


class PAMTOCC(PartitionedClassifier, tv.PAMTOCC):
    """Accept samples that lie deep enough within the closest of several clusters of target samples.

    Parameters
    ----------
    n_clusters, sensitivity, calibration, ties, n_jobs
        See :class:`transvariation.PAMTOCC`, which is fitted to the sample.
    sample_size : int, default=100000
        The most rows that are drawn.

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
        calibration: object = "resubstitution",
        ties: str = "proper",
        n_jobs: int | None = None,
        sample_size: int = 100_000,
    ):
        super().__init__(n_clusters, sensitivity=sensitivity, calibration=calibration, ties=ties, n_jobs=n_jobs)
        self.sample_size = sample_size


class DensityTOCC(PartitionedClassifier, tv.DensityTOCC):
    """Accept samples that lie deep enough in a density, for more target samples than fit in memory.

    Parameters
    ----------
    sensitivity, calibration, density, center, tau_max, scale, n_jobs, engine
        See :class:`transvariation.DensityTOCC`, which is fitted to the sample.
    sample_size : int, default=10000
        The most rows that are drawn.

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
        calibration: object = "resubstitution",
        density: object = "mixture",
        center: str = "sample",
        tau_max: str = "integral",
        scale: str = "tp",
        n_jobs: int | None = None,
        engine: str = "auto",
        sample_size: int = 10_000,
    ):
        super().__init__(
            sensitivity=sensitivity,
            calibration=calibration,
            density=density,
            center=center,
            tau_max=tau_max,
            scale=scale,
            n_jobs=n_jobs,
            engine=engine,
        )
        self.sample_size = sample_size


class NeighborTOCC(PartitionedClassifier, tv.NeighborTOCC):
    """Accept samples whose nearest neighbors in a sample are near enough, for more samples than fit in memory.

    Parameters
    ----------
    n_neighbors, sensitivity, calibration, scalings, pairs, categorical_features, trim, max_reference, n_jobs
        See :class:`transvariation.NeighborTOCC`, which is fitted to the sample.
    sample_size : int, default=100000
        The most rows that are drawn.

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
        calibration: object = "loo",
        scalings: Sequence[str] = ("range", "normal", "whitened"),
        pairs: bool = True,
        categorical_features: str | ArrayLike | None = "from_dtype",
        trim: float = 0.0,
        max_reference: int | None = 10_000,
        n_jobs: int | None = None,
        sample_size: int = 100_000,
    ):
        super().__init__(
            n_neighbors,
            sensitivity=sensitivity,
            calibration=calibration,
            scalings=scalings,
            pairs=pairs,
            categorical_features=categorical_features,
            trim=trim,
            max_reference=max_reference,
            n_jobs=n_jobs,
        )
        self.sample_size = sample_size
