"""Base class of the classifiers of this package: the one of :mod:`transvariation`, fitted to rows in partitions."""

import copy
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from transvariation._typing import Floats
from transvariation.base import MAX_SAMPLES_EXPLAINED, TransvariationClassifier
from transvariation.conformal import check_sensitivities, count_at_or_below
from transvariation.dask.calibration import PartitionedCalibration, check_calibration, half
from transvariation.dask.partitions import (
    BLOCK_ROWS,
    Partitions,
    Scratch,
    is_blocks,
    is_dask,
    iterate_blocks,
    open_partitions,
)
from transvariation.description import Description


class PartitionedDescription(Description):
    """Describe a class by rows in partitions, and score rows in partitions or memory."""

    @abstractmethod
    def fit(self, rows: Partitions, groups: Any = None) -> Self:
        """Learn the target class from inspected partitions."""

    @abstractmethod
    def score_partitions(self, rows: Partitions) -> Partitions:
        """Score partitions lazily: the new partitions are vectors of scores."""

    @abstractmethod
    def calibration_scores(self, rows: Partitions, held_out: bool) -> list[tuple[Partitions, int]]:
        """Compute and store the scores of the calibration rows of each stratum, in any order, and their number.

        The calibration rows are all `rows`, or their calibrating half if they are `held_out`.
        """

    def score(self, X: Floats) -> Floats:
        """Score rows in memory."""
        return np.concatenate([np.empty(0), *self.score_partitions(open_partitions(X)).map(_same)])


@dataclass(eq=False)
class KnownScores(Description):
    """A description without its rows, for rows whose scores are known."""

    scores: Floats
    description: PartitionedDescription

    def fit(self, X: Any, groups: Any = None) -> Self:
        """Learn nothing."""
        return self

    def score(self, X: Floats) -> Floats:
        """Return the known scores."""
        return self.scores

    def strata(self, X: Floats) -> Any:
        """Return the strata of the rows."""
        return self.description.strata(X)

    def tp_of_scores(self, scores: Floats) -> Floats:
        """Convert scores as the description does."""
        return self.description.tp_of_scores(scores)


class PartitionedClassifier(TransvariationClassifier):
    """Fit a one-class classifier to rows in partitions, and score rows in partitions, blocks or memory.

    A subclass makes a :class:`PartitionedDescription`. Thresholds, p-values and the coverage report are those of the
    base class, from a calibration whose scores are in partitions.
    """

    scratch: Any
    description_: PartitionedDescription
    _calibration: PartitionedCalibration

    def fit(self, X: Any, y: object = None) -> Self:  # type: ignore[override]
        """Learn the target class.

        Parameters
        ----------
        X : Dask array or DataFrame, array, memory map, iterator over blocks, or function that returns one
            Target samples only. Blocks are written to the scratch folder, and read from there.
        y : ignored
            Present for API consistency; labels of outliers (-1) in memory are refused.

        Returns
        -------
        self
            The fitted classifier.
        """
        if isinstance(y, np.ndarray | list | tuple) and np.any(np.asarray(y) == -1):
            raise ValueError("y labels outliers (-1), which are not left out here; give the rows of targets only")
        check_sensitivities(self.sensitivity)
        mode = check_calibration(self.calibration)
        validated = _in_memory(X)
        if validated:
            X = self._validate(X, reset=True)
        scratch = None if is_dask(X) else Scratch(self.scratch)
        try:
            rows = open_partitions(X, scratch).inspect()
            if len(rows) < self._min_samples:
                raise ValueError(f"X has {len(rows)} row; at least {self._min_samples} target samples are needed")
            if not validated:
                self._set_features(rows)
            held_out = mode == "split"
            description: Any = self._make_description()
            self.description_ = description.fit(self._describing_half(rows) if held_out else rows)
            scores, counts = zip(*self.description_.calibration_scores(rows, held_out), strict=True)
            self._calibration = PartitionedCalibration(
                list(scores),
                mode=mode,
                n_folds=int(held_out),
                n_strata=len(counts),
                lowest=self.description_.lowest,
                counts=counts,
            )
            self._set_threshold(self.sensitivity)
            self._keep_sample(rows.sample(MAX_SAMPLES_EXPLAINED), None)
        except BaseException:
            if scratch is not None:
                scratch.remove()  # also when interrupted: no file is left behind
            raise
        return self

    def _set_features(self, rows: Partitions) -> None:
        """Set what scikit-learn's validation sets."""
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = rows.width
        if rows.columns is not None and all(isinstance(column, str) for column in rows.columns):
            self.feature_names_in_ = np.asarray(rows.columns, dtype=object)

    def _describing_half(self, rows: Partitions) -> Partitions:
        describing = rows.derive(half, rows.starts, True)
        n, n_describing = len(rows), sum(describing.map(_length))
        if not self._min_samples <= n_describing < n:
            raise ValueError(
                f'calibration="split" lets {n_describing} of the {n} rows describe the class and {n - n_describing} '
                'calibrate, which is too few; give more rows, or use calibration="resubstitution"'
            )
        return describing.inspect()

    def _fit_scores(self, X: Any, groups: Any = None, *, with_threshold: bool = False) -> Self:
        """Fit; the calibration costs little more than the description."""
        return self.fit(X)

    def score_samples(self, X: Any) -> Any:
        """Score samples: high = typical. A Dask collection gives a lazy Dask array, blocks give an iterator.

        Parameters
        ----------
        X : array, Dask array or DataFrame, or iterable of blocks
            The rows to score.

        Returns
        -------
        ndarray, iterator or Dask array
            The scores, in the form of the input.
        """
        return super().score_samples(X) if _in_memory(X) else self._in_parts("score_samples", X)

    def decision_function(self, X: Any) -> Any:
        """Compute the score minus the threshold: samples are accepted where it is not negative.

        Parameters
        ----------
        X : array, Dask array or DataFrame, or iterable of blocks
            The rows to score.

        Returns
        -------
        ndarray, iterator or Dask array
            The score minus the threshold, in the form of the input.
        """
        return super().decision_function(X) if _in_memory(X) else self._in_parts("decision_function", X)

    def predict(self, X: Any) -> Any:
        """Classify samples: +1 = accepted as target, -1 = rejected.

        Parameters
        ----------
        X : array, Dask array or DataFrame, or iterable of blocks
            The rows to classify.

        Returns
        -------
        ndarray, iterator or Dask array
            1 for accepted and -1 for rejected samples, in the form of the input.
        """
        return super().predict(X) if _in_memory(X) else self._in_parts("predict", X, np.int64)

    def transvariation_probability(self, X: Any) -> Any:
        """Compute tp of each sample with respect to the target class: 1 at its center, 0 beyond its edge.

        Parameters
        ----------
        X : array, Dask array or DataFrame, or iterable of blocks
            The rows to score.

        Returns
        -------
        ndarray, iterator or Dask array
            The tp of each sample, in the form of the input.
        """
        return (
            super().transvariation_probability(X) if _in_memory(X) else self._in_parts("transvariation_probability", X)
        )

    def p_values(self, X: Any, *, sensitivity: Any = None, weights: Any = None) -> Any:
        """Compute conformal p-values; see :meth:`transvariation.TOCC.p_values`.

        Parameters
        ----------
        X : array, Dask array or DataFrame, or iterable of blocks
            The rows to score.
        sensitivity : float, optional
            Determines which small strata are pooled; by default that of the classifier.
        weights : DensityRatio or pair of arrays, optional
            For rows in memory only; see :func:`transvariation.density_ratio`.

        Returns
        -------
        ndarray, iterator or Dask array
            The p-values, in the form of the input.
        """
        if _in_memory(X):
            return super().p_values(X, sensitivity=sensitivity, weights=weights)
        if weights is not None:
            raise ValueError("weights are for rows in memory; give an array")
        return self._in_parts("p_values", X, sensitivity=sensitivity)

    def _in_parts(self, method: str, X: Any, dtype: type = np.float64, **options: Any) -> Any:
        """Call a method on each block or partition of X."""
        check_is_fitted(self, "thresholds_")
        names = getattr(self, "feature_names_in_", None)
        columns = None if names is None else list(names)
        if is_dask(X):
            return self._lazily(method, X, columns, dtype, **options)
        blocks = X if is_blocks(X) else (X[i : i + BLOCK_ROWS] for i in range(0, len(X), BLOCK_ROWS))
        checked = iterate_blocks(blocks, self.n_features_in_, columns)
        answers = (getattr(self, method)(_named(rows, names), **options) for rows, _ in checked)
        return answers if is_blocks(X) else np.concatenate([np.empty(0, dtype), *answers])

    def _lazily(self, method: str, X: Any, columns: list | None, dtype: type, **options: Any) -> Any:
        import dask.array as da

        given = list(X.columns) if hasattr(X, "columns") else None
        if columns is not None and given is not None and given != columns:
            raise ValueError(f"X has the columns {given}, the classifier was fitted to {columns}, in this order")
        rows = open_partitions(X, width=self.n_features_in_, columns=columns)
        scores = self.description_.score_partitions(rows)
        if method == "p_values":
            pools = self._calibration._pools(self._level(options["sensitivity"]))
            references = [self._calibration._occupied(pool) for pool in pools]
            count = partial(_count_in_pool, n_pools=len(pools))
            counts = scores.against([self._calibration.pool(r) for r in references], count, _total)
            sizes = np.array([self._calibration.sizes[r].sum() for r in references])
            answers = rows.combine(counts, _p_values, self._without_rows(), pools, sizes)
        else:
            answers = rows.combine(scores, _answer_from_scores, self._without_rows(), method)
        lengths = X.chunks[0] if hasattr(X, "chunks") else (np.nan,) * X.npartitions
        parts = zip(answers.parts, lengths, strict=True)
        return da.concatenate([da.from_delayed(part, (length,), dtype) for part, length in parts])

    def _without_rows(self) -> Self:
        """Copy what the workers need to turn scores into results."""
        light = type(self)(**self.get_params(deep=False))
        light.__dict__.update({k: v for k, v in vars(self).items() if not isinstance(v, PartitionedCalibration)})
        light.description_ = copy.copy(self.description_)
        light.description_.__dict__ = {
            k: v for k, v in vars(self.description_).items() if not isinstance(v, Partitions)
        }
        return light


def _in_memory(X: Any) -> bool:
    """Return whether scikit-learn's checks, which look at everything at once, apply to X."""
    if isinstance(X, list | tuple) and any(getattr(first, "ndim", 0) == 2 for first in X[:1]):
        raise ValueError(
            f"X is a {type(X).__name__} of tables; give one table, or an iterator over them such as iter(blocks)"
        )
    return not (is_dask(X) or is_blocks(X) or isinstance(X, np.memmap))


def _named(rows: Floats, names: NDArray | None) -> Any:
    if names is None:
        return rows
    return pd.DataFrame(rows, columns=names, copy=False)


def _same(scores: Floats, number: int) -> Floats:
    return scores


def _length(rows: Floats, number: int) -> int:
    return len(rows)


def _answer_from_scores(rows: Floats, scores: Floats, classifier: PartitionedClassifier, method: str) -> Floats:
    """Call a method of a classifier whose scores of these rows are known."""
    light = copy.copy(classifier)
    light.description_ = KnownScores(scores, classifier.description_)  # type: ignore[assignment]
    if not len(rows):  # scikit-learn refuses empty input
        return np.empty(0)
    return getattr(light, method)(_named(rows, getattr(light, "feature_names_in_", None)))


def _count_in_pool(reference: Floats, pool: int, scores: Floats, n_pools: int) -> Floats:
    counts = np.zeros((n_pools, len(scores)))
    counts[pool] = count_at_or_below(reference[:, 0], scores)
    return counts


def _total(scores: Floats, counts: Floats) -> Floats:
    return counts


def _p_values(
    rows: Floats, counts: Floats, classifier: PartitionedClassifier, pools: list[NDArray[np.intp]], sizes: Floats
) -> Floats:
    """Compute what `ConformalCalibration.p_values` does, from the counts in all pools."""
    strata = classifier.description_.strata(rows)
    pool = np.zeros(len(rows), dtype=np.intp)
    for k, own in enumerate(pools):
        if strata is not None:
            pool[np.isin(strata, own)] = k
    return (1 + counts[pool, np.arange(len(rows))]) / (1 + sizes[pool])
