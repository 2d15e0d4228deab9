"""What the classifiers of this room share: fit on partitions, cut exactly, answer in kind."""

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation.calibration import CoverageReport, guarantee, likely_by_counts
from transvariation.cluster.pam import closest
from transvariation.conformal import check_sensitivity, margin, pool_strata, rejected, warn_rejects_nothing
from transvariation.dask.blocks import Scratch
from transvariation.dask.counting import answer, is_lazy, open_rows
from transvariation.dask.order_statistics import kth_smallest
from transvariation.dask.rows import Floats, Rows, starts_of
from transvariation.dask.spatial_median import rows_at
from transvariation.dask.split_halves import check_calibration, half
from transvariation.fitted_parameters import LastingParameters

_LASTING = ("calibration", "tau_max", "ties", "scale")  # parameters that a fitted rule goes on asking


class PartitionedClassifier(LastingParameters, OutlierMixin, BaseEstimator, metaclass=ABCMeta):
    """A one-class classifier on rows in partitions.

    A subclass says how to learn (`_describe`), how to rate the training rows, part by part (`_training_scores`), or
    those that were held out (`_held_out_scores`), how to rate others (`_ratings`), and to which part of the class an
    object belongs (`_part`).
    """

    sensitivity: Any
    calibration: Any
    scratch: Any
    _min_samples = 2

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
            self._scores = self._training_scores(rows)
        else:
            self._rows = self._describing_half(rows)
            self._describe(self._rows)
            self._scores = self._held_out_scores(rows)
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
        """Move the operating point without refitting: an exact selection among the calibration scores.

        Parameters
        ----------
        sensitivity : float in (0, 1], or one per part of the class
        """
        check_is_fitted(self, "_scores")
        if np.ndim(sensitivity) and np.size(sensitivity) != len(self._scores):
            raise ValueError(
                f"sensitivity={sensitivity!r} has {np.size(sensitivity)} values for {len(self._scores)} parts of the "
                "class; give one number, or one per part"
            )
        shares = np.broadcast_to(np.asarray(sensitivity, dtype=float), len(self._scores))
        for share in shares:
            check_sensitivity(share)
        held_out = self._as_fitted("calibration") == "split"
        # Parts too small to promise the sensitivity share one threshold.
        small = held_out and not np.ndim(sensitivity)
        pools = pool_strata([n for _, n in self._scores], shares[0]) if small else np.arange(len(self._scores))
        thresholds = np.empty(len(pools))
        for pool in range(pools.max() + 1):
            parts = np.flatnonzero(pools == pool)
            scores, n = self._joined(parts)
            rank = min(int(rejected(n, shares[parts[0]], held_out=held_out)), n - 1)
            thresholds[parts] = kth_smallest(scores, rank, n)
        # Only now: a score that could not be read leaves the rule as it was.
        self._pools, self.thresholds_ = pools, thresholds
        self.offset_ = float(self.thresholds_[0]) if len(self._scores) == 1 else 0.0
        self.sensitivity = self._sensitivity = sensitivity
        if held_out and (self.thresholds_ <= self._lowest()).all():
            self._warn_of_no_power()
        return self

    def _lowest(self) -> float:
        """Give the lowest rating that any object can get."""
        return 0.0

    def _warn_of_no_power(self) -> None:
        lowest, n = np.sum(counted := self._at_lowest(), axis=0)
        smallest = min((1 + low) / (1 + of) for low, of in counted)
        warn_rejects_nothing(self.sensitivity, lowest, n, "objects", smallest)

    def _at_lowest(self) -> list[tuple[int, int]]:
        """How many of the scores that each threshold is selected from are the lowest there is, and of how many."""
        return [(int(scores.total(_below_and_at, self._lowest())[1]), n) for scores, n in self._pooled()]

    def _pooled(self) -> list[tuple[Rows, int]]:
        """The scores that each threshold is selected from, and how many there are."""
        return [self._joined(np.flatnonzero(self._pools == pool)) for pool in range(self._pools.max() + 1)]

    def _joined(self, parts: NDArray[np.intp]) -> tuple[Rows, int]:
        those = [self._scores[k] for k in parts]
        if not any(n for _, n in those):  # no calibrating row fell into this part: all stand in for it
            those = self._scores
        first, *others = (scores for scores, _ in those)
        return first.joined(others) if others else first, sum(n for _, n in those)

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
        return self.thresholds_ if len(self._scores) > 1 else np.zeros(1)

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
        pools = self._pooled()
        against, sizes = [scores for scores, _ in pools], np.array([n for _, n in pools])
        count, finish = partial(_as_low, pools=self._pools), partial(_p_value, pools=self._pools, sizes=sizes)
        return answer(again, against, count, finish, width=2, finite=False)

    def coverage_report(self) -> CoverageReport:
        """Say what the rule promises about fresh target objects, and on what grounds."""
        check_is_fitted(self, "thresholds_")
        mode, sensitivity = self._as_fitted("calibration"), getattr(self, "_sensitivity", self.sensitivity)
        several = np.ndim(sensitivity) > 0
        sizes = tuple(np.bincount(self._pools, [n for _, n in self._scores]).astype(int).tolist())
        return CoverageReport(
            calibration=mode,
            sensitivity=tuple(map(float, sensitivity)) if several else float(sensitivity),
            guarantee=guarantee(mode, int(mode == "split"), False, len(sizes)),
            n=sum(sizes),
            unit="objects",
            n_per_part=sizes,
            smallest_p_value=1 / (max(sizes) + 1),
            likely_sensitivity=(
                self._likely_sensitivity(sensitivity) if mode == "split" and len(sizes) == 1 and not several else None
            ),
            smallest_per_part=tuple((1 + low) / (1 + n) for low, n in self._at_lowest()),
        )

    def _likely_sensitivity(self, sensitivity: float) -> tuple[float, float]:
        ((scores, n),), threshold = self._pooled(), self.thresholds_[0]
        below, at = scores.total(_below_and_at, threshold)
        return likely_by_counts(n, sensitivity, int(below) if at > 1 or threshold <= self._lowest() else None)


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


def _below_and_at(scores: Floats, number: int, level: float) -> NDArray[np.int64]:
    return np.array([np.count_nonzero(scores[:, 0] < level), np.count_nonzero(scores[:, 0] == level)])


def _length(rows: Floats, number: int) -> int:
    return len(rows)


def _as_low(scores: Floats, k: int, rated: Floats, pools: NDArray[np.intp]) -> NDArray[np.int64]:
    """How many calibration scores of pool k are as low as each object's, for objects of that pool."""
    counts = np.searchsorted(np.sort(scores[:, 0]), rated[:, 0], side="right")
    return np.where(pools[rated[:, 1].astype(np.intp)] == k, counts, 0)


def _p_value(rated: Floats, total: NDArray[np.int64], pools: NDArray[np.intp], sizes: NDArray[np.int64]) -> Floats:
    return (1.0 + total) / (sizes[pools[rated[:, 1].astype(np.intp)]] + 1.0)


def only_part(z: Floats) -> NDArray[np.intp]:
    """All objects belong to the one part."""
    return np.zeros(len(z), dtype=np.intp)


def closest_part(centers: Floats, z: Floats) -> NDArray[np.intp]:
    """Each object belongs to the part whose centre is closest."""
    return closest(z, centers)[0] if len(z) else np.zeros(0, dtype=np.intp)
