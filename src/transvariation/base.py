"""Base class of all one-class classifiers: describe the target class, calibrate, set the threshold."""

import math
from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation.calibration import (
    Calibration,
    CoverageReport,
    Fold,
    calibration_folds,
    calibration_of,
    check_calibration,
    check_groups,
    take_rows,
)
from transvariation.conformal import RejectsNothing, check_sensitivity, margin, warn_user
from transvariation.parallel import run_in_processes

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

MAX_REFITS = 1000  # of calibration="loo"


class OneClassClassifier(OutlierMixin, BaseEstimator, metaclass=ABCMeta):
    """Learn one class from target samples only; accept new samples as typical as a share `sensitivity` of them.

    A subclass implements `_describe`, which learns the target class, and `_score`, which scores samples (high =
    typical). It may override `_stratum` if parts of the class have thresholds of their own, `_lowest` if scores are
    bounded below, and `_loo_scores` or `_training_scores` if it knows these scores without refitting or rescoring.
    What `_score` needs of the parameters is stored by `_describe`, so that `set_params` takes effect at the next fit.
    """

    sensitivity: Any
    calibration: Any

    _min_samples = 2
    _calibration: Calibration
    _sensitivity: Any  # in force: the parameter may have been set since

    @abstractmethod
    def _describe(self, X: Floats) -> None:
        """Learn the target class from validated samples."""

    @abstractmethod
    def _score(self, X: Floats) -> Floats:
        """Score validated samples: high = typical. The score of a sample does not depend on the other samples."""

    def _stratum(self, X: Floats) -> Indices | None:
        """Return the stratum (Mondrian category) of each sample, 0, 1, ...; None if there is only one."""
        return None

    def _lowest(self) -> float:
        """Lowest attainable score."""
        return -np.inf

    def _training_scores(self, X: Floats) -> Floats:
        """Score the training samples."""
        return self._score(X)

    def _loo_scores(self, X: Floats, groups: Indices | None) -> Floats | None:
        """Score each training sample by the classifier fitted without it, or its group; None: refit for each."""
        return None

    def fit(self, X: ArrayLike, y: Any = None, groups: ArrayLike | None = None) -> Self:
        """Learn the target class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Target samples only.
        y : ignored
            Present for API consistency.
        groups : array-like of shape (n_samples,), optional
            Labels of items, equal for replicates of one item. Calibration leaves out and counts whole groups, so that
            the sensitivity holds for samples of new items.
        """
        for share in np.ravel(np.asarray(self.sensitivity, dtype=object)):
            check_sensitivity(share)
        check_calibration(self.calibration)
        rows = self._validate(X, reset=True)
        numbers = check_groups(groups, len(rows))
        folds = calibration_folds(self.calibration, len(rows), numbers)
        self._describe(take_rows(rows, folds[0][0] if len(folds) == 1 else None))
        self._calibration = self._calibrate(rows, numbers, folds)
        self._set_threshold(self.sensitivity)
        return self

    def fit_scores(self, X: ArrayLike, *, with_threshold: bool = False) -> Self:
        """Fit without calibration, for `score_samples` only; `with_threshold` sets a threshold by resubstitution.

        Where strata have thresholds of their own, scores are margins over them and the thresholds are always set.
        """
        rows = self._validate(X, reset=True)
        self._describe(rows)
        if with_threshold or self._stratum(rows[:1]) is not None:
            self._calibration = self._calibrate(rows, None, [])
            self._set_threshold(self.sensitivity)
        return self

    def _validate(self, X: ArrayLike, *, reset: bool) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn looks for infinities by a sum
            return validate_data(
                self, X, reset=reset, dtype=np.float64, copy=reset, ensure_min_samples=self._min_samples if reset else 1
            )

    def _calibrate(self, X: Floats, groups: Indices | None, folds: list[Fold]) -> Calibration:
        """Score the calibration samples."""
        mode = check_calibration(self.calibration) if folds else "resubstitution"
        every = np.arange(len(X))
        loo = self._loo_scores(X, groups) if mode == "loo" else None
        if loo is not None:
            scored, scores = every, loo
        elif not folds:
            scored, scores = every, self._training_scores(X)
        elif len(folds) == 1:
            scored = np.sort(folds[0][1])
            scores = self._score(take_rows(X, scored))
        else:
            scored, scores = self._held_out_scores(X, folds)
        strata = self._stratum(X)
        # Counted on all samples: a stratum without calibration samples needs a threshold, too.
        n_strata = 1 if strata is None else int(strata.max()) + 1
        own = None if strata is None else strata[scored]
        return calibration_of(mode, len(folds), scores, own, n_strata, None if groups is None else groups[scored])

    def _held_out_scores(self, X: Floats, folds: list[Fold]) -> tuple[Indices, Floats]:
        """Refit in every fold and score the samples left out; return their rows, in order, and their scores."""
        if check_calibration(self.calibration) == "loo" and len(folds) > MAX_REFITS:
            raise ValueError(
                f'calibration="loo" would refit {type(self).__name__} {len(folds)} times, more than {MAX_REFITS}; use '
                'calibration="cv", which refits it 10 times, or "split"'
            )
        pieces = [(self, X, *fold) for fold in folds]
        scores = run_in_processes(_score_fold, pieces, getattr(self, "n_jobs", None))
        scored = np.concatenate([test for _, test in folds])
        order = np.argsort(scored)
        return scored[order], np.concatenate(scores)[order]

    def set_calibration(self, calibration: Calibration, sensitivity: float | ArrayLike) -> Self:
        """Replace the calibration scores of a described classifier and set the threshold."""
        self._calibration = calibration
        self._set_threshold(sensitivity)
        return self

    def _set_threshold(self, sensitivity: float | ArrayLike) -> None:
        self.thresholds_ = self._calibration.thresholds(sensitivity)
        # With several thresholds the score is the margin over the sample's own one.
        self.offset_ = float(self.thresholds_[0]) if len(self.thresholds_) == 1 else 0.0
        self._sensitivity = sensitivity
        if self._calibration.held_out and (self.thresholds_ <= self._lowest()).all():
            warn_rejects_nothing(type(self).__name__, self._calibration, sensitivity, self._lowest())

    def set_sensitivity(self, sensitivity: float | ArrayLike) -> Self:
        """Set the parameter `sensitivity` and move the threshold, without refitting.

        Parameters
        ----------
        sensitivity : float in (0, 1]
            The share of target samples to accept. A classifier with several thresholds also takes one per stratum.

        Warns
        -----
        RejectsNothing
            If the threshold is the lowest attainable score.
        """
        check_is_fitted(self)
        self._set_threshold(sensitivity)
        self.sensitivity = sensitivity
        return self

    def _validated(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return self._validate(X, reset=False)

    def score_samples(self, X: ArrayLike) -> Floats:
        """Score samples: high = typical of the target class."""
        rows = self._validated(X)
        scores, strata = self._score(rows), self._stratum(rows)
        return scores if strata is None else margin(scores, self.thresholds_[strata])

    def lowest_score(self) -> float:
        """Return the lowest value that `score_samples` can give; minus infinity if there is none."""
        several = hasattr(self, "thresholds_") and len(self.thresholds_) > 1
        return float(margin(self._lowest(), self.thresholds_.max())) if several else self._lowest()

    def decision_function(self, X: ArrayLike) -> Floats:
        """Compute the score minus the threshold: samples are accepted where it is not negative."""
        check_is_fitted(self, "offset_")
        return margin(self.score_samples(X), self.offset_)

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Classify samples: +1 = accepted as target, -1 = rejected."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def p_values(self, X: ArrayLike, *, sensitivity: float | ArrayLike | None = None) -> Floats:
        """Compute conformal p-values: the rank of each sample among the calibration scores of its stratum.

        Small values are evidence against the target class. The p-values are conservative under ties and valid as far as
        the calibration is: see :meth:`coverage_report`. With a calibration other than ``"resubstitution"``, the
        accepted samples are exactly those with a p-value above ``1 - sensitivity``, up to rounding and unless `fit`
        warned of too few samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sensitivity : float in (0, 1], optional
            Determines which small strata are pooled; by default that of the classifier. Without effect on classifiers
            with one threshold.
        """
        rows = self._validated(X)
        level = self._sensitivity if sensitivity is None else sensitivity
        return self._calibration.p_values(self._score(rows), self._stratum(rows), level)

    def combined_p_value(self, X: ArrayLike, *, sensitivity: float | ArrayLike | None = None) -> float:
        """Compute one p-value for a set of samples from one source; small = the set is unlike the target class.

        With one threshold and no groups the rank sum of the set among the calibration samples
        (:func:`transvariation.conformal.combine_ranks`), as exact as the calibration. Otherwise twice the mean of the
        p-values, which is valid for every dependence between them. To decide about many samples one by one, see
        :func:`transvariation.benjamini_hochberg`.
        """
        rows = self._validated(X)
        level = self._sensitivity if sensitivity is None else sensitivity
        return self._calibration.combined_p_value(self._score(rows), self._stratum(rows), level)

    def coverage_report(self, *, sensitivity: float | ArrayLike | None = None) -> CoverageReport:
        """Report the share of new target samples that is accepted, and under which assumptions.

        Parameters
        ----------
        sensitivity : float in (0, 1], optional
            By default that of the classifier.
        """
        check_is_fitted(self)
        return self._calibration.coverage_report(
            self._sensitivity if sensitivity is None else sensitivity, self._lowest()
        )


def _score_fold(classifier: OneClassClassifier, X: Floats, train: Indices | None, test: Indices) -> Floats:
    stand_in = clone(classifier)
    if hasattr(stand_in, "n_jobs"):
        stand_in.n_jobs = 1  # folds run in parallel, not the fits in them
    if train is None:
        train = np.delete(np.arange(len(X)), test)
    stand_in._describe(take_rows(X, train))
    return stand_in._score(take_rows(X, test))


def warn_rejects_nothing(name: str, calibration: Calibration, sensitivity: Any, lowest: float) -> None:
    """Warn that the threshold is the lowest attainable score."""
    report, count = calibration.coverage_report(sensitivity, lowest), calibration.count_lowest(lowest)
    highest = math.floor(100 * (1 - report.attainable_p_value)) / 100
    lower = f", fewer features or a sensitivity of at most {highest}" if highest >= 0.5 else " or fewer features"
    warn_user(
        f"{name} with sensitivity={sensitivity} accepts every sample: {count / report.n:.0%} of the calibration "
        f"{report.unit} ({count:.3g} of {report.n}) have the lowest attainable score, which is therefore the "
        f"threshold; use KernelTOCC{lower}",
        RejectsNothing,
    )
