"""What the classifiers of this room share: fit on partitions, cut exactly, answer in kind."""

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation.base import warn_rejects_nothing
from transvariation.calibration import Calibration, CoverageReport
from transvariation.cluster.pam import closest
from transvariation.conformal import count_at_or_below, margin, rejection_count
from transvariation.dask.blocks import Scratch
from transvariation.dask.counting import answer, is_lazy, open_rows
from transvariation.dask.order_statistics import kth_smallest
from transvariation.dask.rows import Floats, Rows, starts_of
from transvariation.dask.spatial_median import rows_at
from transvariation.dask.split_halves import check_calibration, half

_LASTING = ("calibration", "tau_max", "ties", "scale")  # parameters that a fitted rule goes on asking


class PartitionedClassifier(OutlierMixin, BaseEstimator, metaclass=ABCMeta):
    """A one-class classifier on rows in partitions.

    A subclass says how to learn (`_describe`), how to rate the training rows, part by part (`_training_scores`), or
    those that were held out (`_held_out_scores`), how to rate others (`_ratings`), and to which part of the class an
    object belongs (`_part`).
    """

    sensitivity: Any
    calibration: Any
    scratch: Any
    _min_samples = 2

    def _remember(self, *names: str) -> None:
        """Keep parameters that scoring needs as they are now."""
        self._fitted_with = {name: getattr(self, name) for name in names}

    def _as_fitted(self, name: str) -> Any:
        return self._fitted_with[name]

    @abstractmethod
    def _describe(self, rows: Rows) -> None:
        """Learn the target class from inspected rows."""

    @abstractmethod
    def _training_scores(self, rows: Rows) -> list[tuple[Rows, int]]:
        """Rate the training rows: for each part of the class their scores, in any order, and how many there are."""

    @abstractmethod
    def _held_out_scores(self, rows: Rows) -> list[tuple[Rows, int]]:
        """The same for the calibrating half of the rows, which the describing half rates."""

    @abstractmethod
    def _ratings(self) -> tuple[list[Rows], Callable, Callable]:
        """Say how others are rated: which rows are asked, what they count, and how a sum of counts becomes a score."""

    def _part(self) -> Callable[[Floats], NDArray[np.intp]]:
        """Give the function that tells to which part of the class objects belong."""
        return only_part

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the target class.

        Parameters
        ----------
        X : Dask array or DataFrame, array, memory map, or function
            Target objects only. A function is called without arguments for each round and returns the blocks anew.
        y : ignored
            Present for scikit-learn's conventions.
        """
        fresh = type(self)(**self.get_params(deep=False))
        if _in_memory(X):
            X = _validated(fresh, X, ensure_min_samples=self._min_samples)
        scratch = None if is_lazy(X) else Scratch(self.scratch)
        try:
            rows = open_rows(X, scratch).inspect()
            if sum(rows.lengths) < self._min_samples:
                raise ValueError(
                    f"X has {sum(rows.lengths)} row; at least {self._min_samples} target objects are needed"
                )
            fresh._learn(rows)
        except BaseException:
            # Also when interrupted: a rule is either fitted or not, and no file is left behind.
            if scratch is not None:
                scratch.remove()
            raise
        # Everything was learned into a fresh object, and is taken over only now that all is done.
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(fresh.__dict__)
        return self

    def _learn(self, rows: Rows) -> None:
        assert rows.width is not None
        self._rows, self.n_features_in_ = rows, rows.width
        if rows.names is not None:
            self.feature_names_in_ = rows.names
        check_calibration(self.calibration)
        self._remember(*(name for name in _LASTING if hasattr(self, name)))
        if self.calibration == "resubstitution":
            self._describe(rows)
            scores = self._training_scores(rows)
        else:
            self._rows = self._describing_half(rows)
            self._describe(self._rows)
            scores = self._held_out_scores(rows)
        self._calibration = PartitionedCalibration(
            self.calibration, int(self.calibration == "split"), scores, n_strata=len(scores)
        )
        self.set_sensitivity(self.sensitivity)

    def _describing_half(self, rows: Rows) -> Rows:
        n, describing = sum(rows.lengths), rows.derive(half, starts_of(rows), True)
        lengths = describing.map(_length)
        if not self._min_samples <= sum(lengths) < n:
            raise ValueError(
                f'calibration="split" lets {sum(lengths)} of the {n} rows describe the class and {n - sum(lengths)} '
                'calibrate, which is too few; give more rows, or use calibration="resubstitution"'
            )
        return describing.inspect()

    def set_sensitivity(self, sensitivity: float | ArrayLike) -> Self:
        """Set the parameter `sensitivity` and move the threshold, without refitting: an exact selection.

        Parameters
        ----------
        sensitivity : float in (0, 1], or one per stratum of the class
        """
        check_is_fitted(self, "_calibration")
        thresholds = self._calibration.thresholds(sensitivity)
        # Only now: a score that could not be read leaves the classifier as it was.
        self.thresholds_ = thresholds
        self.offset_ = float(thresholds[0]) if len(thresholds) == 1 else 0.0
        self.sensitivity = self._sensitivity = sensitivity
        if self._calibration.held_out and (thresholds <= self._lowest()).all():
            warn_rejects_nothing(type(self).__name__, self._calibration, sensitivity, self._lowest())
        return self

    def _lowest(self) -> float:
        """Lowest attainable score."""
        return 0.0

    def _sample(self, rows: Rows, size: int) -> Floats:
        """Evenly spaced rows, the same for every partitioning."""
        n = sum(rows.lengths)
        return rows_at(rows, np.unique(np.linspace(0, n - 1, min(n, size)).astype(np.int64)))

    def _check_names(self, Z: Any) -> None:
        check_is_fitted(self, "thresholds_")
        names, known = getattr(Z, "columns", None), getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and list(names) != list(known):
            raise ValueError(f"Z has the columns {list(names)}, the rule was fitted to {list(known)}, in this order")

    def _rated(self, Z: Any, then: Callable, columns: int = 0, dtype: type = np.float64) -> Any:
        """Rate objects and do something with the scores, in Z's own kind."""
        if _in_memory(Z):
            Z = _validated(self, Z, reset=False)
        self._check_names(Z)
        against, count, finish = self._ratings()
        whole = partial(_rate_then, finish=finish, then=then)
        names = list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        return answer(Z, against, count, whole, width=self.n_features_in_, columns=columns, dtype=dtype, names=names)

    def score_samples(self, Z: Any) -> Any:
        """Rate objects: high = typical of the target. A Dask collection gives a lazy Dask array, blocks an iterator."""
        check_is_fitted(self, "thresholds_")
        return self._rated(Z, partial(_margin, self._part(), self._levels()))

    def decision_function(self, Z: Any) -> Any:
        """Rate objects relative to the threshold: accepted where the value is not negative."""
        check_is_fitted(self, "thresholds_")
        return self._rated(Z, partial(_margin, self._part(), self.thresholds_))

    def predict(self, Z: Any) -> Any:
        """Decide: +1 = accepted as target, -1 = rejected."""
        check_is_fitted(self, "thresholds_")
        return self._rated(Z, partial(_decide, self._part(), self.thresholds_), dtype=np.int64)

    def _levels(self) -> Floats:
        """With several thresholds the score is the margin over the object's own one."""
        return self.thresholds_ if len(self.thresholds_) > 1 else np.zeros(1)

    def p_values(self, Z: Any) -> Any:
        """Rank objects among the calibration scores of their part; small = unlike the target.

        With ``calibration="split"`` a fresh target object gets a p-value of at most alpha with probability at most
        alpha, for every alpha. With ``"resubstitution"`` the training rows were rated by the rule that they shaped:
        there these
        p-values promise nothing for fresh objects beyond what many rows make small.
        """
        check_is_fitted(self, "thresholds_")
        scored = self._rated(Z, partial(_with_part, self._part()), columns=2)
        again = (lambda: scored) if callable(Z) else scored
        pools = self._calibration.pools(self._sensitivity)
        calibration = self._calibration
        pool_of = np.empty(calibration.n_strata, dtype=np.intp)
        against, sizes = [], np.empty(len(pools))
        for i, strata in enumerate(pools):
            pool_of[strata] = i
            occupied = calibration.occupied(strata)
            against.append(calibration.joined(occupied))
            sizes[i] = calibration.sizes[occupied].sum()
        count, finish = partial(_as_low, pools=pool_of), partial(_p_value, pools=pool_of, sizes=sizes)
        return answer(again, against, count, finish, width=2, finite=False)

    def coverage_report(self) -> CoverageReport:
        """Report the share of new target samples that is accepted, and under which assumptions."""
        check_is_fitted(self, "_calibration")
        return self._calibration.coverage_report(self._sensitivity, self._lowest())


@dataclass(frozen=True, eq=False)
class PartitionedCalibration(Calibration):
    """Calibration scores in partitions: exact order statistics and counts without gathering them.

    `scores` lists, for each stratum, the scores in the first column of `Rows` and their number.
    """

    scores: Any

    @property
    def sizes(self) -> Floats:
        """The number of samples of each stratum."""
        return np.array([n for _, n in self.scores], dtype=float)

    def threshold_of(self, strata: NDArray[np.intp], sensitivity: float) -> float:
        """Select the threshold among the scores of the given strata."""
        n = int(self.sizes[strata].sum())
        rank = int(rejection_count(n, sensitivity, held_out=self.held_out))
        return kth_smallest(self.joined(strata), min(rank, n - 1), n)

    def count_at_or_below(self, strata: NDArray[np.intp], scores: ArrayLike) -> Floats:
        """Count the scores of the given strata at or below each of a few scores."""
        return self.joined(strata).total(_at_or_below, np.asarray(scores, dtype=float))

    def joined(self, strata: NDArray[np.intp]) -> Rows:
        """The scores of the given strata together."""
        first, *others = (self.scores[k][0] for k in strata)
        return first.joined(others) if others else first


def _in_memory(X: Any) -> bool:
    """Say whether scikit-learn's own checks, which look at everything at once, are for X."""
    return not (is_lazy(X) or callable(X) or isinstance(X, np.memmap) or hasattr(X, "__next__"))


def _validated(rule: BaseEstimator, X: Any, **checks: Any) -> Floats:
    if isinstance(X, list | tuple) and any(getattr(first, "ndim", 0) == 2 for first in X[:1]):
        raise ValueError(
            f"this is a {type(X).__name__} of tables; give a function that returns them as blocks, such as "
            "lambda: iter(blocks), or one table"
        )
    return validate_data(rule, X, dtype=np.float64, **checks)


def _rate_then(z: Floats, total: Any, finish: Callable, then: Callable) -> Floats:
    return then(z, finish(z, total))


def as_it_is(z: Floats, scores: Floats) -> Floats:
    """The score itself is the answer."""
    return scores


def _margin(part: Callable, levels: Floats, z: Floats, scores: Floats) -> Floats:
    return margin(scores, levels[part(z)])


def _decide(part: Callable, levels: Floats, z: Floats, scores: Floats) -> NDArray[np.int64]:
    return np.where(scores >= levels[part(z)], 1, -1)


def _with_part(part: Callable, z: Floats, scores: Floats) -> Floats:
    return np.column_stack([scores, part(z)])


def _at_or_below(scores: Floats, number: int, levels: Floats) -> Floats:
    return count_at_or_below(scores[:, 0], levels)


def _length(rows: Floats, number: int) -> int:
    return len(rows)


def _as_low(scores: Floats, k: int, rated: Floats, pools: NDArray[np.intp]) -> NDArray[np.int64]:
    """How many calibration scores of pool k are as low as each object's, for objects of that pool."""
    counts = np.searchsorted(np.sort(scores[:, 0]), rated[:, 0], side="right")
    return np.where(pools[rated[:, 1].astype(np.intp)] == k, counts, 0)


def _p_value(rated: Floats, total: NDArray[np.int64], pools: NDArray[np.intp], sizes: Floats) -> Floats:
    return (1.0 + total) / (sizes[pools[rated[:, 1].astype(np.intp)]] + 1.0)


def only_part(z: Floats) -> NDArray[np.intp]:
    """All objects belong to the one part."""
    return np.zeros(len(z), dtype=np.intp)


def closest_part(centers: Floats, z: Floats) -> NDArray[np.intp]:
    """Each object belongs to the part whose centre is closest."""
    return closest(z, centers)[0] if len(z) else np.zeros(0, dtype=np.intp)
