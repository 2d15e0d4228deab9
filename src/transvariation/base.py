"""Base class of all one-class classifiers: describe the target class, calibrate, set the threshold."""

import math
from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation.calibration import CalibrationPlan, plan_calibration, take_rows
from transvariation.certificate import check_sensitivity
from transvariation.conformal import (
    ConformalCalibration,
    CoverageReport,
    RejectsNearlyAll,
    RejectsNothing,
    margin,
    warn_user,
)
from transvariation.explanation import ExplanationMixin
from transvariation.parallel import run_in_processes
from transvariation.validation import check_count, native_frame, without_sample_weight

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

MAX_REFITS = 1000  # of calibration="loo"
MAX_SAMPLE = 1000  # training samples that explanations refer to
_HELD_OUT = 100  # samples that show whether nearly all new samples would be rejected
_SUBSET = 1_100  # samples among which these are scored first


class OneClassClassifier(ExplanationMixin, OutlierMixin, BaseEstimator, metaclass=ABCMeta):
    """Learn a class from target samples only, and accept new samples that are typical of it.

    A subclass implements `_describe`, which learns the target class, and `_score`, which scores samples (high =
    typical). It may override `_stratum` if parts of the class have separate thresholds, `_lowest` if scores are
    bounded below, and `_loo_scores` or `_training_scores` if these scores are known without refitting or rescoring.
    `_describe` stores the parameters that `_score` needs, so that `set_params` takes effect at the next fit.
    """

    sensitivity: Any
    calibration: Any

    _min_samples = 2
    _counts_samples = False  # whether scores are counts, which are 0 for most samples in many features
    _calibration: ConformalCalibration
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

    @without_sample_weight
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
        rows = self._validate(X, reset=True)
        plan = plan_calibration(self.calibration, self.sensitivity, len(rows), groups)
        self._describe(plan.describing(rows))
        self._calibration = self._calibrate(rows, plan)
        self._set_threshold(self.sensitivity)
        self._keep_sample(rows, plan.groups)
        if self._counts_samples and not plan.folds:
            self._warn_if_nearly_all_are_rejected(rows)
        return self

    def _keep_sample(self, X: Floats, groups: Indices | None) -> None:
        if len(X) > MAX_SAMPLE:
            kept = np.sort(np.random.default_rng(0).choice(len(X), MAX_SAMPLE, replace=False))
            X, groups = take_rows(X, kept), None if groups is None else groups[kept]
        self.sample_, self._sample_groups = X, groups

    def _warn_if_nearly_all_are_rejected(self, X: Floats) -> None:
        """Hold out fifths of the samples: if 90% have the lowest score, hardly a new sample is accepted."""
        n = len(X)
        if n < 20:
            return
        drawn = np.random.default_rng(0).choice(n, min(n, _SUBSET), replace=False)
        # Of many samples some are enough. A subset of the others first: with more samples the share only falls.
        fifths = np.array_split(drawn, 5) if n < 5 * _HELD_OUT else [drawn[:_HELD_OUT]]
        for subset in (drawn, np.arange(n)) if n > _SUBSET else (drawn,):
            above = 0
            for held_out in fifths:
                try:
                    scores = _score_fold(self, X, np.setdiff1d(subset, held_out), held_out)
                except ValueError:  # the other samples are too few for the classifier
                    return
                above += int(np.count_nonzero(scores > self._lowest()))
                if above > 0.1 * sum(map(len, fifths)):
                    return
        if (self.thresholds_ > self._lowest()).any():
            warn_user(
                f"{type(self).__name__} with calibration='resubstitution' will reject nearly all new samples: "
                f"at least 90% of held-out training samples ({X.shape[1]} features) have the lowest attainable score, "
                "below the threshold; use NeighborTOCC, fewer features (MinorComponents, "
                "VIPSelector) or ProjectionEnsemble",
                RejectsNearlyAll,
            )

    def fit_scores(self, X: ArrayLike, *, with_threshold: bool = False) -> Self:
        """Fit without calibration, for `score_samples` only; `with_threshold` sets a threshold by resubstitution.

        If strata have separate thresholds, scores are margins over them and the thresholds are always set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The target samples.
        with_threshold : bool, default=False
            Also set the threshold.
        """
        return self._fit_rows(self._validate(X, reset=True), with_threshold=with_threshold)

    def _fit_rows(self, rows: Floats, *, with_threshold: bool) -> Self:
        """Fit to validated samples without calibration."""
        self.n_features_in_ = rows.shape[1]
        self._describe(rows)
        if with_threshold or self._stratum(rows[:1]) is not None:
            self._calibration = self._calibrate(rows, CalibrationPlan())
            self._set_threshold(self.sensitivity)
        return self

    def _validate(self, X: ArrayLike, *, reset: bool) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn looks for infinities by a sum
            at_least = self._min_samples if reset else 1
            return validate_data(
                self, native_frame(X), reset=reset, dtype=np.float64, copy=reset, ensure_min_samples=at_least
            )

    def _calibrate(self, X: Floats, plan: CalibrationPlan) -> ConformalCalibration:
        """Score the calibration samples."""
        scored = np.arange(len(X))
        scores = self._loo_scores(X, plan.groups) if plan.mode == "loo" else None
        if not plan.folds:
            scores = self._training_scores(X)
        elif len(plan.folds) == 1:
            scored = np.sort(plan.folds[0][1])
            scores = self._score(take_rows(X, scored))
        elif scores is None:
            scored, scores = self._held_out_scores(X, plan)
        return plan.calibration(scores, scored, self._lowest(), self._stratum(X))

    def _held_out_scores(self, X: Floats, plan: CalibrationPlan) -> tuple[Indices, Floats]:
        """Refit in every fold and score the samples left out; return their rows, in order, and their scores."""
        n_folds = len(plan.folds)
        if plan.mode == "loo" and n_folds > MAX_REFITS:
            raise ValueError(
                f'calibration="loo" would refit {type(self).__name__} {n_folds} times, more than {MAX_REFITS}; use '
                'calibration="cv", which refits it 10 times, or "split"'
            )
        pieces = [(self, X, *fold) for fold in plan.folds]
        scores = run_in_processes(_score_fold, pieces, getattr(self, "n_jobs", None))
        scored = np.concatenate([test for _, test in plan.folds])
        order = np.argsort(scored)
        return scored[order], np.concatenate(scores)[order]

    def _set_threshold(self, sensitivity: float | ArrayLike) -> None:
        self.thresholds_ = self._calibration.thresholds(sensitivity)
        # With several thresholds the score is the margin over the sample's own one.
        self.offset_ = float(self.thresholds_[0]) if len(self.thresholds_) == 1 else 0.0
        self._sensitivity = sensitivity
        if self._calibration.n_folds and (self.thresholds_ <= self._calibration.lowest).all():
            self._warn_that_nothing_is_rejected(sensitivity)

    def _warn_that_nothing_is_rejected(self, sensitivity: Any) -> None:
        report, count = self._calibration.coverage_report(sensitivity), self._calibration.count_lowest()
        highest = math.floor(100 * (1 - report.attainable_p_value)) / 100
        lower = f", fewer features or a sensitivity of at most {highest}" if highest >= 0.5 else " or fewer features"
        warn_user(
            f"{type(self).__name__} with sensitivity={sensitivity} accepts every sample: {count / report.n:.0%} of the "
            f"calibration {report.unit} ({count:.3g} of {report.n}) have the lowest attainable score, which is "
            f"therefore the threshold; use NeighborTOCC{lower}",
            RejectsNothing,
        )

    def set_sensitivity(self, sensitivity: float | ArrayLike, *, confidence: float | None = None) -> Self:
        """Set the parameter `sensitivity` and move the threshold, without refitting.

        Parameters
        ----------
        sensitivity : float in (0, 1]
            The share of target samples to accept. A classifier with several thresholds also takes one per stratum.
        confidence : float in (0, 1), optional
            With it, the threshold is chosen such that with this probability the classifier accepts at least the share
            `sensitivity` of new target samples: the parameter becomes the higher nominal sensitivity that this needs.
            By default the share is accepted on average over calibrations.

        Warns
        -----
        RejectsNothing
            If the threshold is the lowest attainable score.
        TooFewSamples
            If the calibration samples are too few to guarantee the sensitivity, see :func:`transvariation.required_n`.
        """
        check_is_fitted(self)
        if confidence is not None:
            sensitivity = self._calibration.guaranteed_sensitivity(check_sensitivity(sensitivity), confidence)  # type: ignore[arg-type]
        self._set_threshold(sensitivity)
        self.sensitivity = sensitivity
        return self

    def _validated(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return self._validate(X, reset=False)

    def score_samples(self, X: ArrayLike) -> Floats:
        """Score samples: high = typical of the target class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to score.
        """
        rows = self._validated(X)
        scores, strata = self._score(rows), self._stratum(rows)
        return scores if strata is None else margin(scores, self.thresholds_[strata])

    def lowest_score(self) -> float:
        """Return the lowest value that `score_samples` can give; minus infinity if there is none."""
        several = hasattr(self, "thresholds_") and len(self.thresholds_) > 1
        return float(margin(self._lowest(), self.thresholds_.max())) if several else self._lowest()

    def decision_function(self, X: ArrayLike) -> Floats:
        """Compute the score minus the threshold: samples are accepted where it is not negative.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to score.
        """
        check_is_fitted(self, "offset_")
        return margin(self.score_samples(X), self.offset_)

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Classify samples: +1 = accepted as target, -1 = rejected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to classify.
        """
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
            The samples to judge.
        sensitivity : float in (0, 1], optional
            Determines which small strata are pooled; by default that of the classifier. Without effect on classifiers
            with one threshold.
        """
        rows = self._validated(X)
        level = self._sensitivity if sensitivity is None else sensitivity
        return self._calibration.p_values(self._score(rows), self._stratum(rows), level)

    def ranks(self, X: ArrayLike | None = None) -> Floats:
        """Compute the share of calibration samples in the sample's stratum that score no higher.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            By default the calibration samples themselves.
        """
        if X is None:
            check_is_fitted(self, "offset_")
            return self._calibration.ranks(self._calibration.scores, self._calibration.strata)
        return self._ranks(self._validated(X))

    def _ranks(self, rows: Floats) -> Floats:
        return self._calibration.ranks(self._score(rows), self._stratum(rows))

    def combined_p_value(self, X: ArrayLike, *, sensitivity: float | ArrayLike | None = None) -> float:
        """Compute one p-value for a set of samples from one source; small = the set is unlike the target class.

        With one threshold and no groups the rank sum of the set among the calibration samples
        (:func:`transvariation.conformal.combine_ranks`), as exact as the calibration. Otherwise twice the mean of the
        p-values, which is valid for every dependence between them. To decide about many samples one by one, see
        :func:`transvariation.benjamini_hochberg`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, which share one origin.
        sensitivity : float, optional
            Determines which small strata are pooled; by default that of the classifier.
        """
        rows = self._validated(X)
        level = self._sensitivity if sensitivity is None else sensitivity
        return self._calibration.combined_p_value(self._score(rows), self._stratum(rows), level)

    def coverage_report(
        self, confidence: float = 0.95, *, sensitivity: float | ArrayLike | None = None
    ) -> CoverageReport:
        """Report the share of new target samples that is accepted, and under which assumptions.

        Parameters
        ----------
        confidence : float in (0, 1), default=0.95
            The probability that the report's lower bound of the true sensitivity of this classifier holds.
        sensitivity : float in (0, 1], optional
            By default that of the classifier.
        """
        check_is_fitted(self)
        level = self._sensitivity if sensitivity is None else sensitivity
        return self._calibration.coverage_report(level, confidence)


class TransvariationClassifier(OneClassClassifier):
    """A classifier that computes a transvariation probability, which is its score unless it overrides `_score`."""

    @abstractmethod
    def _tp(self, X: Floats) -> Floats:
        """Compute tp of validated samples."""

    def _score(self, X: Floats) -> Floats:
        return self._tp(X)

    def _lowest(self) -> float:
        return 0.0

    def transvariation_probability(self, Z: ArrayLike) -> Floats:
        """Compute tp of each sample with respect to the target class: at most 1, and 0 or small far from it.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_features)
            The samples to score.
        """
        return self._tp(self._validated(Z))


def keeps_all_samples(classifier: OneClassClassifier) -> bool:
    """Return whether a fit keeps all samples, as `partial_fit` needs them."""
    return not (isinstance(classifier.calibration, str) and classifier.calibration == "split")


class SlidingWindowMixin:
    """Learn from the latest samples of a stream, for classifiers that keep their samples in `_X`."""

    _X: Floats

    @available_if(keeps_all_samples)
    def partial_fit(self: Any, X: ArrayLike, y: Any = None, *, window: int | None = None) -> Any:
        """Fit to the samples of the last fit and further ones, or to the latest of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Target samples, in the order of their arrival.
        y : ignored
            Present for API consistency.
        window : int, optional
            The number of latest samples to keep; by default all.

        Examples
        --------
        >>> import numpy as np
        >>> from transvariation import TOCC
        >>> rng = np.random.default_rng(0)
        >>> classifier = TOCC().fit(rng.normal(size=(500, 2)))
        >>> for _ in range(20):
        ...     new = rng.normal(size=(10, 2))
        ...     classifier = classifier.partial_fit(new, window=500)
        >>> labels = classifier.predict(rng.normal(size=(1000, 2)))
        >>> round(float(np.mean(labels == 1)), 1)
        0.9
        """
        if window is not None and check_count("window", window) < self._min_samples:
            raise ValueError(f"window={window} must be at least {self._min_samples} samples, or None for all")
        first = not hasattr(self, "_X")
        new = self._validate(X, reset=first)
        if not first and (self._calibration.n_folds == 1 or self._calibration.unit == "groups"):
            raise ValueError(
                f"partial_fit cannot follow a fit with calibration={self._calibration.mode!r} or groups, which keeps "
                'only a part of the samples or labels; use calibration="resubstitution", "loo" or "cv" without groups'
            )
        names = getattr(self, "feature_names_in_", None)
        rows = new if first else np.concatenate([self._X, new])
        self.fit(rows if window is None else rows[-window:])
        if names is not None:
            self.feature_names_in_ = names
        return self


def _score_fold(classifier: OneClassClassifier, X: Floats, train: Indices | None, test: Indices) -> Floats:
    stand_in = clone(classifier)
    if hasattr(stand_in, "n_jobs"):
        stand_in.n_jobs = 1  # folds run in parallel, not the fits in them
    if train is None:
        train = np.delete(np.arange(len(X)), test)
    stand_in._describe(take_rows(X, train))
    return stand_in._score(take_rows(X, test))
