"""One base for every one-class classifier here: describe, calibrate, cut."""

import time
from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted

from transvariation.calibration import (
    CoverageReport,
    Fold,
    check_calibration,
    check_groups,
    folds_of,
    guarantee,
    likely_sensitivity,
    rate_held_out,
)
from transvariation.conformal import (
    check_sensitivity,
    conformal_threshold,
    group_weights,
    margin,
    p_values,
    pool_strata,
    sensitivity_for_n,
    warn_rejects_nothing,
)
from transvariation.estimator_validation import validate_rows
from transvariation.fitted_parameters import LastingParameters, all_or_nothing
from transvariation.multiple_testing import combine_p_values, combine_ranks

Floats = NDArray[np.float64]


class OneClassClassifier(LastingParameters, OutlierMixin, BaseEstimator, metaclass=ABCMeta):
    """Learn one class from its own objects alone; accept what is as typical as a share `sensitivity` of them.

    A subclass says what differs: `_describe` learns the target class, `_score` rates objects (high = typical), and, if
    parts of the target class have thresholds of their own, `_stratum` says to which part an object belongs.
    Validation, calibration, the cut and the labels live here.
    """

    sensitivity: Any
    calibration: Any

    _min_samples = 2

    @abstractmethod
    def _describe(self, X: Floats) -> None:
        """Learn the target class from validated training objects."""

    @abstractmethod
    def _score(self, X: Floats) -> Floats:
        """Rate validated objects: high = typical of the target. An object's rating never depends on the others."""

    def _lowest(self) -> float:
        """Give the lowest rating that any object can get; minus infinity where ratings have no end."""
        return -np.inf

    def _stratum(self, X: Floats) -> NDArray[np.intp]:
        """Name the part of the target class, 0, 1, ..., whose threshold applies to each object."""
        return np.broadcast_to(np.intp(0), len(X))  # as many zeros, in no memory

    def _training_scores(self, X: Floats) -> tuple[Floats, NDArray[np.intp]]:
        """Rate the training objects themselves; a subclass that has the answer at hand gives it here."""
        return self._score(X), self._stratum(X)

    def _loo_scores(self, X: Floats) -> Floats | None:
        """Rate each training object by the class described without it, where that is cheaper than n descriptions."""
        return None

    def _describe_in_turn(self, X: Floats) -> Floats | None:
        """Learn the target class and rate each of its objects without it; a subclass may do both in one go."""
        self._describe(X)
        return self._loo_scores(X)

    def fit(self, X: ArrayLike, y: Any = None, groups: ArrayLike | None = None) -> Self:
        """Learn the target class.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Target objects only, one per row.
        y : ignored
            Present for scikit-learn's conventions.
        groups : array-like of shape (n,), optional
            Which objects are replicates of one item. Calibration then leaves out and counts whole groups, so that
            the sensitivity is meant for objects of items not seen before. A splitter is told their numbers, 0, 1, ...
        """
        with all_or_nothing(self):
            return self._fit(X, groups)

    def _fit(self, X: ArrayLike, groups: ArrayLike | None) -> Self:
        for share in np.ravel(np.asarray(self.sensitivity, dtype=object)):
            check_sensitivity(share)
        mode = check_calibration(self.calibration)
        rows = validate_rows(self, X, reset=True, at_least=self._min_samples)
        labels = check_groups(groups, rows)
        in_turn = mode == "loo" and labels is None
        folds = [] if in_turn else folds_of(self.calibration, rows, labels)
        started = time.perf_counter()
        ratings = None
        if in_turn:
            ratings = self._describe_in_turn(rows)
        else:
            self._describe(rows[folds[0][0]] if len(folds) == 1 else rows)
        seconds = time.perf_counter() - started
        if in_turn and ratings is None:
            folds = folds_of(self.calibration, rows, labels)
        self._calibrate(rows, labels, folds, seconds, ratings)
        self._mode = mode
        return self.set_sensitivity(self.sensitivity)

    def _calibrate(
        self,
        X: Floats,
        groups: NDArray | None,
        folds: list[Fold],
        seconds: float | None = None,
        ratings: Floats | None = None,
    ) -> None:
        """Rate the objects that the threshold is counted from; remember their parts, their groups and the folds.

        `seconds` is what describing the class took, `ratings` those of each object without itself if they are known.
        """
        self._n_folds = len(folds) if ratings is None else len(X)
        rated: Any = slice(None)
        if ratings is not None:
            scores, strata = ratings, self._stratum(X)
        elif not folds:
            scores, strata = self._training_scores(X)
        elif len(folds) == 1:
            rated = np.sort(folds[0][1])
            scores, strata = self._score(X[rated]), self._stratum(X[rated])
        else:
            rated, scores = rate_held_out(self, X, folds, seconds)
            strata = self._stratum(X[rated])
        self._calibration_scores, self._calibration_strata = scores, strata
        self._calibration_groups = None if groups is None else groups[rated]
        divided = type(self)._stratum is not OneClassClassifier._stratum
        # A part that no calibrating object fell into still has to have a threshold.
        self._n_strata = int(max(strata.max(), self._stratum(X).max())) + 1 if divided else 1

    def _cut_as_rated(self, scores: Floats, strata: NDArray[np.intp], sensitivity: float) -> Self:
        """Take the ratings of the training objects, which are known already, and cut there as the paper does."""
        self._mode, self._n_folds, self._n_strata = "resubstitution", 0, int(strata.max()) + 1
        self._calibration_scores, self._calibration_strata, self._calibration_groups = scores, strata, None
        return self.set_sensitivity(sensitivity)

    def set_sensitivity(self, sensitivity: float | ArrayLike) -> Self:
        """Move the operating point without refitting.

        Parameters
        ----------
        sensitivity : float in (0, 1]
            The share of target objects to accept. A classifier with several thresholds also takes one per part.

        Warns
        -----
        RejectsNothing
            If so many calibrating objects have the lowest rating that it is the threshold.
        """
        check_is_fitted(self, "_calibration_scores")
        with all_or_nothing(self):
            self._cut(sensitivity)
            if self._n_folds and (self.thresholds_ <= self._lowest()).all():
                self._warn_of_no_power()
        return self

    def _cut(self, sensitivity: float | ArrayLike) -> None:
        if np.ndim(sensitivity) and np.size(sensitivity) != self._n_strata:
            raise ValueError(
                f"sensitivity={sensitivity!r} has {np.size(sensitivity)} values for {self._n_strata} parts of the "
                "class; give one number, or one per part"
            )
        shares = [check_sensitivity(share) for share in np.full(self._n_strata, sensitivity, dtype=object)]
        self._pools = self._pooled(max(shares) if not np.ndim(sensitivity) else None)
        self.thresholds_ = np.empty(self._n_strata)
        for pool in range(self._pools.max() + 1):
            scores, weights = self._pool(pool)
            parts = np.flatnonzero(self._pools == pool)
            self.thresholds_[parts] = conformal_threshold(
                scores, shares[parts[0]], weights, held_out=bool(self._n_folds)
            )
        # With several thresholds the score is the margin over the object's own one.
        self.offset_ = float(self.thresholds_[0]) if self._n_strata == 1 else 0.0
        self.sensitivity = self._sensitivity = sensitivity

    def _warn_of_no_power(self) -> None:
        report, lowest = self.coverage_report(), self._n_units(self._calibration_scores <= self._lowest())
        warn_rejects_nothing(report.sensitivity, lowest, report.n, report.unit, report.attainable_p_value)

    def _pooled(self, sensitivity: float | None) -> NDArray[np.intp]:
        """Give each part its pool. Parts with sensitivities of their own, and all in the paper's mode, stay alone."""
        if sensitivity is None or not self._n_folds:
            return np.arange(self._n_strata)
        return pool_strata([self._n_units(self._calibration_strata == k) for k in range(self._n_strata)], sensitivity)

    def _pool_levels(self) -> list[int]:
        """List the numbers of objects that a promise may need, in order, where the parts pool otherwise beyond.

        Up to each of them, and beyond the last, the parts keep their pools, and so every object its p-value.
        """
        sizes = np.sort([self._n_units(self._calibration_strata == k) for k in range(self._n_strata)])
        levels = np.unique(np.floor(np.concatenate([sizes, np.cumsum(sizes)]) + 1e-9)).astype(int)
        levels = levels[levels > 0]
        pools = [self._pooled(sensitivity_for_n(level)).tolist() for level in levels]
        following = [*pools[1:], None]
        return [int(level) for level, own, then in zip(levels, pools, following, strict=True) if own != then]

    def _pool(self, pool: int) -> tuple[Floats, Floats | None]:
        """The calibration scores of a pool and what each counts for."""
        groups = self._calibration_groups
        if self._n_strata == 1:
            return self._calibration_scores, None if groups is None else group_weights(groups)
        inside = self._pools[self._calibration_strata] == pool
        if not inside.any():  # no calibrating object fell into this part: all stand in for it
            inside[:] = True
        return self._calibration_scores[inside], None if groups is None else group_weights(groups)[inside]

    def _n_units(self, inside: NDArray[np.bool_]) -> float:
        """Count the objects, or groups; a group that lies elsewhere too by its share."""
        groups = self._calibration_groups
        n = float(inside.sum() if groups is None else round(group_weights(groups)[inside].sum(), 10))
        return int(n) if n.is_integer() else n

    def _validated(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return validate_rows(self, X, reset=False)

    def score_samples(self, X: ArrayLike) -> Floats:
        """Rate objects: high = typical of the target."""
        rows = self._validated(X)
        scores = self._score(rows)
        return scores if self._n_strata == 1 else margin(scores, self.thresholds_[self._stratum(rows)])

    def decision_function(self, X: ArrayLike) -> Floats:
        """Rate objects relative to the threshold: accepted where the value is not negative."""
        return margin(self.score_samples(X), self.offset_)

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Decide: +1 = accepted as target, -1 = rejected."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def p_values(self, X: ArrayLike) -> Floats:
        """Rank objects among the calibration scores of their part; small = unlike the target.

        Conformal p-values, conservative under ties. What they promise is what the calibration promises: see
        :meth:`coverage_report`. Each object's value is the same alone and in any company. With a calibration other
        than ``"resubstitution"``, accepted are exactly the objects with a p-value above ``1 - sensitivity``, but for
        rounding
        (``1 - 0.9`` is a little less than 0.1) and unless `fit` warned of too few objects. With several thresholds
        the parts that share one depend on the sensitivity, and so do the p-values.
        """
        rows = self._validated(X)
        scores, pools = self._score(rows), self._pools[self._stratum(rows)]
        result = np.empty(len(rows))
        for pool in np.unique(pools):
            reference, weights = self._pool(pool)
            result[pools == pool] = p_values(reference, scores[pools == pool], weights)
        return result

    def _smallest_p_value(self, pool: int) -> float:
        """Give the p-value of the lowest rating there is, which calibration objects may share."""
        reference, weights = self._pool(pool)
        return float(p_values(reference, self._lowest(), weights))

    def combined_p_value(self, X: ArrayLike) -> float:
        """Give one p-value to a set of objects said to be from one source: small = the set is unlike the target.

        With one threshold and no groups, the rank sum of the set among the calibration objects
        (:func:`transvariation.multiple_testing.combine_ranks`), exact as far as the calibration is. Otherwise twice the
        mean of the p-values, which holds however they depend on one another. To decide about many objects one by one,
        see :func:`transvariation.benjamini_hochberg`.
        """
        rows = self._validated(X)
        if self._calibration_groups is None and self._pools.max() == 0:
            return combine_ranks(self._calibration_scores, self._score(rows))
        return combine_p_values(self.p_values(X))

    def _sensitivity_in_use(self) -> Any:
        """What the threshold was cut at: the parameter may have been set since. Old model files hold only that one."""
        return getattr(self, "_sensitivity", self.sensitivity)

    def coverage_report(self) -> CoverageReport:
        """Say what the rule promises about fresh target objects, and on what grounds."""
        check_is_fitted(self, "_calibration_scores")
        sensitivity, grouped = self._sensitivity_in_use(), self._calibration_groups is not None
        mode = getattr(self, "_mode", None) or check_calibration(self.calibration)
        sizes = [self._n_units(self._pools[self._calibration_strata] == pool) for pool in range(self._pools.max() + 1)]
        smallest = tuple(self._smallest_p_value(pool) for pool in range(len(sizes)))
        n = int(self._n_units(np.ones(len(self._calibration_scores), dtype=bool)))
        exact = self._n_folds == 1 and not grouped and len(sizes) == 1
        several = np.ndim(sensitivity) > 0
        return CoverageReport(
            calibration=mode,
            sensitivity=tuple(map(float, sensitivity)) if several else float(sensitivity),
            guarantee=guarantee(mode, self._n_folds, grouped, len(sizes)),
            n=n,
            unit="groups" if grouped else "objects",
            n_per_part=tuple(sizes),
            smallest_p_value=1 / (max(sizes) + 1),
            likely_sensitivity=(
                likely_sensitivity(self._calibration_scores, self.thresholds_[0], float(sensitivity), self._lowest())
                if exact and not several
                else None
            ),
            smallest_per_part=smallest,
        )
