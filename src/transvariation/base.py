"""The calibrating estimator of all one-class classifiers: describe the target class, calibrate, set the threshold."""

from __future__ import annotations

import math
import warnings
from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.model_selection import LeaveOneOut
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation._typing import Floats, Indices, Rows
from transvariation.calibration import (
    CalibrationPlan,
    check_groups,
    count_rows,
    plan_calibration,
    take_rows,
    target_rows,
)
from transvariation.certificate import check_sensitivity
from transvariation.conformal import check_numbers, count_at_or_below, group_weights, margin
from transvariation.conformal_calibration import ConformalCalibration
from transvariation.coverage_report import CoverageReport
from transvariation.description import Description, fit_without
from transvariation.exceptions import (
    NoGuarantee,
    RejectsNearlyAll,
    RejectsNothing,
    SingularCovariance,
    TooFewSamples,
    warn_user,
)
from transvariation.exchangeability import warn_of_copies
from transvariation.explanation import ExplanationMixin, to_pandas
from transvariation.ordered import MAX_ROWS_COMPARED, warn_if_ordered
from transvariation.shift import mean_offsets, weight_pair
from transvariation.validation import unusable_columns

MAX_SAMPLES_EXPLAINED = 1000  # training samples that explanations refer to
_HELD_OUT = 100  # samples that show whether nearly all new samples would be rejected
_SUBSET_SIZE = 1_100  # samples among which these are scored first


class OneClassClassifier(ExplanationMixin, OutlierMixin, BaseEstimator, metaclass=ABCMeta):
    """Learn a class from target samples only, and accept new samples that are typical of it.

    A subclass stores its parameters and returns a ``transvariation.description.Description`` made of them. `fit`
    validates the samples, fits the description, scores the calibration samples and sets the threshold. A subclass that
    takes input other than finite numbers overrides `_validate`; missing values are let through if its
    `__sklearn_tags__` says ``allow_nan``.

    Attributes
    ----------
    description_ : Description
        The fitted description. Its own attributes that end in an underscore are attributes of the classifier, too.
    thresholds_ : ndarray of shape (n_strata,)
        The threshold of each stratum.
    offset_ : float
        The threshold, or 0 if there are several: the score is then the margin over the sample's own threshold.
    sample_ : ndarray or DataFrame
        The training samples, or 1,000 of them, that explanations refer to.
    """

    sensitivity: float | ArrayLike
    calibration: object

    # The question mark of scikit-learn's display in a notebook leads to the reference.
    _doc_link_module = "transvariation"
    _doc_link_template = "https://transvariation.readthedocs.io/en/latest/api/names/{page}.html"

    _min_samples = 2
    _calibration: ConformalCalibration
    _sensitivity: float | ArrayLike  # in force: the parameter may have been set since
    _describing: Indices | None  # training samples that describe the class; None for all
    _sample: Rows
    _alignment: Floats | None = None  # the offset of new samples, of `recalibrate`

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        package = type(self).__module__.split(".")[:-1]  # a class is offered by the package of its module
        return {"page": ".".join([*package, type(self).__name__])}

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Refuse the parameter of other packages for the error rate, with its equivalent here."""
        if "contamination" in kwargs:
            share = kwargs["contamination"]
            level = f"sensitivity={1 - share:.4g}" if isinstance(share, float) else "sensitivity"
            raise TypeError(
                f"{cls.__name__} has no parameter contamination; use {level}, the share of target samples to accept"
            )
        return super().__new__(cls)

    @abstractmethod
    def _make_description(self) -> Description:
        """Return an unfitted description with the parameters of the classifier."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # what the description learned
        description = self.__dict__.get("description_")
        if description is not None and name.endswith("_") and not name.startswith("_"):
            return getattr(description, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        learned = vars(self.description_) if "description_" in vars(self) else ()
        return [*super().__dir__(), *(name for name in learned if name.endswith("_") and not name.startswith("_"))]

    @property
    def sample_(self) -> Rows:
        """The training samples, or 1,000 of them, that explanations refer to."""
        return take_rows(self._sample, _draw_explained(count_rows(self._sample)))

    @property
    def calibration_(self) -> ConformalCalibration:
        """The calibration scores, from which thresholds, p-values and reports follow."""
        check_is_fitted(self, "offset_")
        return self._calibration

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> Self:
        """Learn the target class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Target samples only.
        y : array-like of shape (n_samples,), optional
            Samples labeled -1 among labels 1 and -1 are outliers and are left out, with a warning; a grid search may
            score them. Other labels are ignored; labels 0 and 1, which may mark outliers, with a warning.
        groups : array-like of shape (n_samples,), optional
            Labels of items, equal for replicates of one item. Calibration leaves out and counts whole groups, so that
            the sensitivity holds for samples of new items.

        Returns
        -------
        self
        """
        rows = self._validate(X, reset=True)
        return self._learn(rows, groups, target_rows(y, rows.shape[0], self._min_samples))

    def _learn(self, rows: Rows, groups: ArrayLike | None = None, targets: Indices | None = None) -> Self:
        """Learn from validated samples, of which those numbered `targets` are used, or all."""
        numbers = check_groups(groups, rows.shape[0])
        targets = self._select(rows, numbers, targets)
        rows, numbers = _selected(rows, numbers, targets)
        plan = plan_calibration(self.calibration, self.sensitivity, rows, numbers, self._min_samples)
        self._alignment = None
        self._fit_rows(rows, plan, plan.groups)
        self._keep_sample(rows, plan.groups)
        if self._calibration.held_out:
            self._warn_of_dependence(rows, plan)
        if targets is not None:
            self._describing = targets if self._describing is None else targets[self._describing]
        return self

    def _select(self, rows: Rows, groups: Indices | None, targets: Indices | None) -> Indices | None:
        """Return the samples to learn from, of `targets` or of all; None for all."""
        return targets

    def _warn_of_dependence(self, rows: Rows, plan: CalibrationPlan) -> None:
        """Warn of copies, and of neighboring rows that are alike: held-out scores would be too high."""
        if plan.groups is None:
            warn_of_copies(rows)
        if plan.mode != "blocks":
            scored = self._calibration.training_rows
            comparable = isinstance(rows, np.ndarray) and rows.dtype.kind == "f"
            warn_if_ordered(
                self._calibration.scores,
                None if plan.groups is None else plan.groups[scored],
                rows[scored[:MAX_ROWS_COMPARED]] if comparable else None,
            )

    def _fit_rows(
        self, rows: Rows, plan: CalibrationPlan, groups: Indices | None, *, with_threshold: bool = True
    ) -> Self:
        """Describe, calibrate and set the threshold from validated samples."""
        self._describing = plan.describing
        own = groups if groups is None or self._describing is None else groups[self._describing]
        try:
            self.description_ = self._make_description().fit(take_rows(rows, self._describing), own)
        except SingularCovariance as error:
            raise error.with_names(getattr(self, "feature_names_in_", None)) from None
        if with_threshold or self.description_.strata(rows[:1]) is not None:
            self._calibration = self._calibrate(rows, plan)
            self._set_threshold(self.sensitivity)
            if getattr(self.description_, "counts_samples", False) and not plan.n_folds:
                self._warn_if_nearly_all_are_rejected(rows)
        return self

    def _fit_scores(self, X: object, groups: Indices | None = None, *, with_threshold: bool = False) -> Self:
        """Fit without held-out calibration, for scores only; `with_threshold` sets a threshold by resubstitution.

        If strata have separate thresholds, scores are margins over them and the thresholds are always set.
        """
        rows = self._validate(X, reset=True)
        rows, groups = _selected(rows, groups, self._select(rows, groups, None))
        return self._fit_rows(rows, CalibrationPlan(X=rows), groups, with_threshold=with_threshold)

    def _calibrate(self, X: object, plan: CalibrationPlan) -> ConformalCalibration:
        """Score the calibration samples."""
        description, scored = self.description_, np.arange(count_rows(X))
        if not plan.n_folds:
            scores = description.training_scores(X)
        elif plan.n_folds == 1:
            scored = np.sort(plan.folds[0][1])
            scores = description.score(take_rows(X, scored))
        else:
            n_jobs = getattr(self, "n_jobs", None)
            scored, scores = description.held_out_scores(X, plan, n_jobs)
            if plan.mode == "blocks":
                plan = plan.in_blocks(scores)
                if plan.block_length > 1:
                    scored, scores = description.held_out_scores(X, plan, n_jobs)
        return plan.calibrated(scores, scored, description.lowest, description.strata(X))

    def _keep_sample(self, X: object, groups: Indices | None) -> None:
        kept = _draw_explained(count_rows(X))
        self._sample_groups = groups if groups is None or kept is None else groups[kept]
        # What the description keeps, a file holds once; `sample_` draws from it.
        self._sample = X if getattr(self.description_, "rows", None) is X else to_pandas(take_rows(X, kept))

    def _warn_if_nearly_all_are_rejected(self, X: Floats) -> None:
        """Warn if 90% of held-out samples have the lowest score, so that hardly a new sample is accepted."""
        n, description = len(X), self.description_
        if n < 20:
            return
        drawn = np.random.default_rng(0).choice(n, min(n, _SUBSET_SIZE), replace=False)
        # Score 100 held-out samples, or all of fewer than 500, by fifths. Of many, try a thousand describing samples
        # first: if they accept enough, so do all.
        fifths = np.array_split(drawn, 5) if n < 5 * _HELD_OUT else [drawn[:_HELD_OUT]]
        for subset in (drawn, np.arange(n)) if n > _SUBSET_SIZE else (drawn,):
            above = 0
            for held_out in fifths:
                try:
                    fitted = fit_without(description, X, None, np.setdiff1d(subset, held_out), held_out)
                except ValueError:  # the other samples are too few for the classifier
                    return
                above += int(np.count_nonzero(fitted.score(X[held_out]) > description.lowest))
                if above > 0.1 * sum(map(len, fifths)):
                    return
        if (self.thresholds_ > description.lowest).any():
            warn_user(
                f"{type(self).__name__} with calibration='resubstitution' will reject nearly all new samples: "
                f"at least 90% of held-out training samples ({X.shape[1]} features) have the lowest attainable score, "
                "below the threshold; use NeighborTOCC, fewer features (MinorComponents, "
                "VIPSelector) or ProjectionEnsemble",
                RejectsNearlyAll,
            )

    def _validate(self, X: object, *, reset: bool) -> Rows:
        allow_nan = self.__sklearn_tags__().input_tags.allow_nan
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn looks for infinities by a sum
                return validate_data(
                    self,
                    X,
                    reset=reset,
                    dtype=np.float64,
                    copy=reset,
                    ensure_all_finite="allow-nan" if allow_nan else True,
                    ensure_min_samples=self._min_samples if reset else 1,
                )
        except ValueError as error:
            if problem := unusable_columns(X, type(self).__name__, allow_nan):
                raise ValueError(problem) from error
            raise

    def _set_threshold(self, sensitivity: float | ArrayLike) -> None:
        calibration = self._calibration
        self.thresholds_ = calibration.thresholds(sensitivity)
        if not calibration.held_out and np.size(sensitivity) == 1:
            own = self.description_.own_threshold(float(np.ravel(sensitivity)[0]))
            self.thresholds_ = self.thresholds_ if own is None else np.array([own])
        # With several thresholds the score is the margin over the sample's own one.
        self.offset_ = float(self.thresholds_[0]) if len(self.thresholds_) == 1 else 0.0
        self._sensitivity = sensitivity
        too_few = calibration.too_few(sensitivity)  # of which the calibration warned
        if calibration.held_out and not too_few.any() and (self.thresholds_ <= calibration.lowest).all():
            self._warn_that_nothing_is_rejected(sensitivity)

    def _warn_that_nothing_is_rejected(self, sensitivity: float | ArrayLike) -> None:
        calibration = self._calibration
        report = calibration.coverage_report(sensitivity)
        count = count_at_or_below(calibration.scores, [calibration.lowest], calibration.weights)[0]
        highest = math.floor(100 * (1 - report.attainable_p_value)) / 100
        lower = f", fewer features or a sensitivity of at most {highest}" if highest >= 0.8 else " or fewer features"
        warn_user(
            f"{type(self).__name__} with sensitivity={np.asarray(sensitivity)} accepts every sample: "
            f"{count / report.n:.0%} of the calibration {report.unit} ({count:.3g} of {report.n}) have the lowest "
            f"attainable score, which is therefore the threshold; use NeighborTOCC{lower}",
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

        Returns
        -------
        self
            The classifier with its new threshold.

        Warns
        -----
        RejectsNothing
            If the threshold is the lowest attainable score.
        TooFewSamples
            If the calibration samples are too few to guarantee the sensitivity, see :func:`transvariation.required_n`.
        """
        check_is_fitted(self)
        with warnings.catch_warnings():
            if confidence is not None:
                sensitivity = self._calibration.guaranteed_sensitivity(check_sensitivity(sensitivity), confidence)  # type: ignore[arg-type]
                warnings.simplefilter("ignore", TooFewSamples)  # it has warned, with the number that is needed
            self._set_threshold(sensitivity)
        self.sensitivity = sensitivity
        return self

    def _validated(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        rows = self._validate(X, reset=False)
        return rows if self._alignment is None else rows - self._alignment

    def score_samples(self, X: ArrayLike) -> Floats:
        """Score samples: high = typical of the target class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores, high for typical samples.
        """
        scores, strata = self._scored(X)
        return scores if strata is None else margin(scores, self.thresholds_[strata])

    def _scored(self, X: ArrayLike) -> tuple[Floats, Indices | None]:
        rows = self._validated(X)
        return check_numbers(self.description_.score(rows)), self.description_.strata(rows)

    def _lowest_score(self) -> float:
        """Return the lowest value that `score_samples` can give; minus infinity if there is none."""
        several = "thresholds_" in vars(self) and len(self.thresholds_) > 1
        lowest = self.description_.lowest
        return float(margin(lowest, self.thresholds_.max())) if several else lowest

    def decision_function(self, X: ArrayLike) -> Floats:
        """Compute the score minus the threshold: samples are accepted where it is not negative.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            The score minus the threshold: negative for rejected samples.
        """
        check_is_fitted(self, "offset_")
        return check_numbers(margin(self.score_samples(X), self.offset_), "margin over the threshold")

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Classify samples: +1 = accepted as target, -1 = rejected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            1 for accepted and -1 for rejected samples.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def p_values(self, X: ArrayLike, *, sensitivity: float | ArrayLike | None = None, weights: object = None) -> Floats:
        """Compute conformal p-values: the rank of each sample among the calibration scores of its stratum.

        Small values are evidence against the target class. The p-values are conservative under ties and valid as far as
        the calibration is: see :meth:`coverage_report`. With a calibration other than ``"resubstitution"``, the
        accepted samples are exactly those with a p-value above ``1 - sensitivity``, up to rounding. Where `fit` warned
        of too few samples, all p-values are above it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to judge.
        sensitivity : float in (0, 1], optional
            Determines which small strata are pooled; by default that of the classifier. Without effect on classifiers
            with one threshold.
        weights : DensityRatio or pair of arrays, optional
            For targets of another population than that of the known samples: how much more often each training sample
            occurs there, and each sample of `X`; see :func:`transvariation.density_ratio`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores, strata = self._scored(X)
        own = None if self._calibration.held_out or weights is not None else self.description_.own_p_values(scores)
        if own is not None:
            return check_numbers(own, "p-value")
        if not self._calibration.held_out:
            warn_user(
                "p-values of calibration='resubstitution' have no guarantee: the training samples shaped the "
                "classifier that scores them; use calibration='cv', or 'split' for an exact guarantee",
                NoGuarantee,
            )
        if weights is None:
            return check_numbers(self._calibration.p_values(scores, strata, self._level(sensitivity)), "p-value")
        return self._calibration.weighted_p_values(scores, *weight_pair(weights))

    def recalibrate(self, X: ArrayLike, *, groups: ArrayLike | None = None, align: str | None = None) -> Self:
        """Calibrate by new target samples and keep the description: for another instrument, day or population.

        The threshold and the p-values then hold for samples like these, exactly as for ``calibration="split"``. The
        samples must be targets and must not have been given to `fit`; 9 support a sensitivity of 0.9, 19 one of 0.95.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New target samples.
        groups : array-like of shape (n_samples,), optional
            The item that each sample is a replicate of.
        align : {"mean"}, optional
            With ``"mean"``, samples are moved by the difference between the means of the known and of the new samples
            before they are scored, here and in all later calls: for an instrument with an offset, where scores without
            it would reject nothing or everything. The new samples are then scored with an offset computed without them.

        Returns
        -------
        OneClassClassifier
            The classifier itself.

        Warns
        -----
        DuplicatedSamples
            If many of the samples were given to `fit`.
        """
        check_is_fitted(self)
        if align not in (None, "mean"):
            raise ValueError(f"align={align!r} is unknown; choose 'mean' or None")
        self._alignment = None
        rows = self._validated(X)
        n = count_rows(rows)
        plan = CalibrationPlan(LeaveOneOut() if align else "split", rows, check_groups(groups, n))
        if self._describing is None:
            warn_of_copies(rows, self.sample_)
        if align:
            rows = self._align(rows, np.arange(n) if plan.groups is None else plan.groups)
        weights = None if plan.groups is None else group_weights(plan.groups)
        self._calibration = ConformalCalibration(
            check_numbers(self.description_.score(rows)),
            self.description_.strata(rows),
            weights,
            mode=plan.mode,
            n_folds=1 if align is None else n,
            n_strata=self._calibration.n_strata,
            lowest=self._calibration.lowest,
        )
        self._set_threshold(self._sensitivity)
        return self

    def _align(self, rows: Rows, units: Indices) -> Rows:
        """Set the offset of new samples from the known ones, and remove from each the offset of all other units."""
        categorical = getattr(self.description_, "categorical", None)
        self._alignment, of_others = mean_offsets(self.sample_, rows, units, categorical)
        return rows - of_others

    def _level(self, sensitivity: float | ArrayLike | None) -> float | ArrayLike:
        return self._sensitivity if sensitivity is None else sensitivity

    def _ranks(self, rows: Rows) -> Floats:
        """Compute the share of calibration samples in the stratum of each validated sample that score no higher."""
        return self._calibration.ranks(self.description_.score(rows), self.description_.strata(rows))

    def combined_p_value(self, X: ArrayLike, *, sensitivity: float | ArrayLike | None = None) -> float:
        """Compute one p-value for a set of samples from one source; small = the set is unlike the target class.

        With one threshold and no groups the rank sum of the set among the calibration samples
        (Wilcoxon, Mann and Whitney), as exact as the calibration. Otherwise twice the mean of the
        p-values, which is valid for every dependence between them. To decide about many samples one by one, see
        :func:`transvariation.benjamini_hochberg`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, which share one origin.
        sensitivity : float, optional
            Determines which small strata are pooled; by default that of the classifier.

        Returns
        -------
        float
            Small if the samples together do not look like the target class.
        """
        scores, strata = self._scored(X)
        return self._calibration.combined_p_value(scores, strata, self._level(sensitivity))

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

        Returns
        -------
        CoverageReport
            The sensitivity, its lower bound, the number of calibration samples and the guarantee; it prints as a
            table.
        """
        check_is_fitted(self)
        return self._calibration.coverage_report(self._level(sensitivity), confidence)


def _draw_explained(n: int) -> Indices | None:
    """Draw the samples that explanations refer to; None for all."""
    if n <= MAX_SAMPLES_EXPLAINED:
        return None
    return np.sort(np.random.default_rng(0).choice(n, MAX_SAMPLES_EXPLAINED, replace=False))


def _selected(rows: Rows, groups: Indices | None, kept: Indices | None) -> tuple[Rows, Indices | None]:
    return take_rows(rows, kept), groups if groups is None or kept is None else groups[kept]


class TransvariationClassifier(OneClassClassifier):
    """A classifier whose scores are transvariation probabilities, or are converted to them by its description."""

    def transvariation_probability(self, X: ArrayLike) -> Floats:
        """Compute tp of each sample with respect to the target class: at most 1, and 0 or small far from it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            The tp of each sample.
        """
        rows = self._validated(X)
        return check_numbers(self.description_.tp_of_scores(self.description_.score(rows)), "tp")
