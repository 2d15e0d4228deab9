"""CalibratedOCC: calibration and p-values for any scikit-learn or PyOD detector, pipelines included."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, RegressorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import validate_data

from transvariation._typing import Floats, Indices, Rows
from transvariation.base import OneClassClassifier
from transvariation.calibration import CalibrationPlan, count_rows, take_rows
from transvariation.conformal import margin
from transvariation.description import Description
from transvariation.exceptions import UnknownCategories, warn_user
from transvariation.validation import blocks, unusable_columns

RESPONSE_METHODS = ("score_samples", "decision_function")
_MAX_UNKNOWN_SHARE = 0.05  # share of held-out samples with unknown categories above which the error rate suffers
_CHECKED_ROWS = 500  # training rows on which scores and predictions of a detector are compared


def fit_detector(
    detector: object, X: Rows, groups: Indices | None = None, *, with_threshold: bool = False
) -> BaseEstimator:
    """Fit a clone of a detector or pipeline whose scores are needed.

    Classifiers of this package are fitted without their own calibration, also as the last step of a pipeline; `groups`
    is for them. `with_threshold` gives them a threshold by resubstitution, which `decision_function` needs.
    """
    fitted = clone(detector)
    last = _last_step(fitted)
    if isinstance(last, ClassifierMixin | RegressorMixin):
        raise TypeError(
            f"{type(last).__name__} needs labels y; give a detector that learns from target samples only, such as "
            "IsolationForest() or NeighborTOCC(), or OpenSetClassifier for several classes"
        )
    if isinstance(fitted, OneClassClassifier):
        return fitted._fit_scores(X, groups, with_threshold=with_threshold)
    if isinstance(fitted, Pipeline) and isinstance(last := fitted.steps[-1][1], OneClassClassifier):
        if len(fitted.steps) > 1:
            before = fitted[:-1]
            X = before.fit_transform(X)
            fitted.steps[:-1] = before.steps  # fitted clones where the pipeline has a cache
        last._fit_scores(X, groups, with_threshold=with_threshold)
        return fitted
    return fitted.fit(X)


def detector_scores(
    detector: object, X: object, method: str = "score_samples", *, sign: int = 1, at_once: int | None = None
) -> Floats:
    """Score samples by a fitted detector or pipeline, high = typical; NaN becomes the lowest score.

    Parameters
    ----------
    detector : fitted estimator
    X : array-like
    method : {"score_samples", "decision_function"}
        `decision_function` is also used where there is no `score_samples`.
    sign : {1, -1}
        See :func:`score_sign`.
    at_once : int, optional
        The number of samples to pass in one call, see :func:`rows_at_once`; by default all.
    """
    scoring = getattr(detector, method, None) or getattr(detector, "decision_function", None)
    if scoring is None:
        raise TypeError(
            f"{detector!r} cannot score new samples: it has neither score_samples nor decision_function; use "
            "novelty=True for LocalOutlierFactor"
        )
    numbers = np.arange(count_rows(X))
    pieces = [X] if at_once is None else [take_rows(X, numbers[rows]) for rows in blocks(len(numbers), at_once)]
    return np.fmax(sign * np.concatenate([np.asarray(scoring(piece), dtype=np.float64) for piece in pieces]), -np.inf)


def score_sign(detector: object, X: object, method: str = "score_samples") -> int:
    """Return 1 if high scores of a fitted detector mean typical (scikit-learn), -1 if they mean outlying (PyOD).

    Parameters
    ----------
    detector : fitted estimator
        PyOD's detectors predict 0 for inliers and 1 for outliers, scikit-learn's 1 and -1.
    X : array-like
        The rows that the detector was fitted to.

    Raises
    ------
    ValueError
        If the rows that the detector predicts to be outliers have the more typical scores.
    """
    last = _last_step(detector)
    # A mixture predicts components, which do not tell what is typical.
    if isinstance(last, OneClassClassifier | DensityMixin) or not hasattr(detector, "predict"):
        return 1
    n = count_rows(X)
    rows = take_rows(X, np.unique(np.linspace(0, n - 1, min(n, _CHECKED_ROWS)).astype(np.intp)))
    labels = np.asarray(detector.predict(rows))
    pyod = any(cls.__module__.startswith("pyod.") for cls in type(last).__mro__) or set(labels.tolist()) == {0, 1}
    outlier, sign = (labels == 1, -1) if pyod else (labels == -1, 1)
    if outlier.any() and not outlier.all():
        scores = detector_scores(detector, rows, method, sign=sign)
        if np.median(scores[outlier]) > np.median(scores[~outlier]):
            raise ValueError(
                f"the scores of {type(last).__name__} contradict its predictions: training samples that it predicts "
                f"to be outliers have the more typical scores; scores must be high for typical samples where predict "
                "gives 1 and -1, and high for outliers where it gives 0 and 1"
            )
    return sign


def rows_at_once(detector: object, X: object, method: str = "score_samples") -> int | None:
    """Return how many samples a fitted detector may score in one call: None if the others do not matter.

    PyOD's ECOD, COPOD and others count the samples that are scored together like training samples, so that a batch with
    many outliers hides them. Where a few samples score otherwise alone than in a batch, a call takes a thousandth
    of the number of training samples, at least one.

    Parameters
    ----------
    detector : fitted estimator
    X : array-like
        The rows that the detector was fitted to.

    Raises
    ------
    ValueError
        If the detector scores batches only.
    """
    if isinstance(_last_step(detector), OneClassClassifier):
        return None
    n = count_rows(X)
    # Not training rows: a detector by the nearest neighbor gives all of these the same score up to rounding.
    mixed = _mixed_rows(X, min(n, _CHECKED_ROWS))
    together = detector_scores(detector, mixed, method)
    few = take_rows(mixed, np.arange(min(n, 3)))
    try:
        alone, reason = detector_scores(detector, few, method, at_once=1), "alone, all samples score the same"
    except Exception as error:
        alone, reason = np.zeros(count_rows(few)), str(error)
    finite = together[np.isfinite(together)]
    tolerance = 1e-6 * np.ptp(finite) if len(finite) else 0.0
    if np.isclose(alone, together[: len(alone)], rtol=1e-6, atol=tolerance).all():
        return None
    if len(set(alone.tolist())) == 1:
        raise ValueError(
            f"{type(_last_step(detector)).__name__} cannot score one sample without others ({reason}), so that its "
            "scores cannot be calibrated; use a detector whose score of a sample does not depend on the other samples"
        )
    return max(1, n // 1000)


def _mixed_rows(X: object, n: int) -> object:
    """Take the first n rows, with every second value from the next row; as they are if they are no plain table."""
    rows, others = take_rows(X, np.arange(n)), take_rows(X, np.roll(np.arange(n), -1))
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        rows = rows.copy()
        rows[:, 1::2] = others[:, 1::2]
    elif hasattr(rows, "iloc") and hasattr(rows, "columns"):
        columns = [(others if j % 2 else rows).iloc[:, j].set_axis(rows.index) for j in range(rows.shape[1])]
        rows = type(rows)(dict(enumerate(columns)), index=rows.index).set_axis(rows.columns, axis=1)
    return rows


def _texts(X: object) -> object:
    """Return one-dimensional input of strings as an array, for pipelines that begin with a vectorizer; else None."""
    one_dimensional = isinstance(X, list) or (hasattr(X, "dtype") and getattr(X, "ndim", 2) == 1)
    if not one_dimensional:
        return None
    texts = np.asarray(X, dtype=object)
    return texts if texts.ndim == 1 and all(isinstance(text, str) for text in texts) else None


def _warn_of_unknown_categories(X: Rows, plan: CalibrationPlan) -> None:
    """Warn if held-out samples have categories that no other fold has: an encoder treats them unlike new samples."""
    fold = np.full(len(X), -1)
    for k, (_, test) in enumerate(plan.folds):
        fold[test] = k
    for column in X.select_dtypes(exclude="number").columns:
        codes = X[column].astype(str).factorize()[0]
        first, last = np.full(codes.max() + 1, len(plan.folds)), np.full(codes.max() + 1, -1)
        np.minimum.at(first, codes, fold)
        np.maximum.at(last, codes, fold)
        n_unknown = int(np.count_nonzero(first[codes] == last[codes]))
        if n_unknown > _MAX_UNKNOWN_SHARE * len(X):
            warn_user(
                f"{n_unknown} of {len(X)} samples have a category of {column!r} that no sample outside their fold has: "
                "it is unknown when they are held out, but known when new samples are scored, so that the error rate "
                'may be higher than asked for; use calibration="split", NeighborTOCC(categorical_features=...), or an '
                "encoder with min_frequency",
                UnknownCategories,
            )


def _last_step(estimator: BaseEstimator) -> object:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _allows_nan(estimator: object) -> bool:
    """Return whether missing values are accepted; scikit-learn's pipelines and ColumnTransformer do not report it."""
    if hasattr(estimator, "steps"):
        return next((_allows_nan(step) for _, step in estimator.steps if step not in (None, "passthrough")), False)
    if hasattr(estimator, "transformers"):
        return any(_allows_nan(step) for _, step, _ in estimator.transformers)
    return hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).input_tags.allow_nan


@contextmanager
def _naming_columns(X: object, estimator: object) -> Iterator[None]:
    """Name the columns that a detector refuses, and the remedy; a pipeline may treat columns in ways of its own."""
    try:
        yield
    except ValueError as error:
        problem = unusable_columns(X, type(estimator).__name__, _allows_nan(estimator))
        if isinstance(estimator, Pipeline) or problem is None:
            raise
        raise ValueError(problem) from error


class CalibratedOCC(OneClassClassifier):
    """Calibrate a detector or a whole pipeline; every fold refits all of it, reduction and selection included.

    Parameters
    ----------
    estimator : detector or Pipeline
        A classifier of this package, a detector of scikit-learn (`IsolationForest`, `OneClassSVM`, `EllipticEnvelope`,
        `LocalOutlierFactor(novelty=True)`) or PyOD, or a `Pipeline` that ends in one. It validates the input, so that a
        pipeline may begin with a `ColumnTransformer` on columns of any type, an imputer, or a vectorizer of texts (a
        list of strings); sparse matrices are taken where the estimator takes them. Its own threshold is not
        used. PyOD's scores, which are high for outliers, are recognized and negated. Detectors whose scores depend on
        the samples that are scored together (PyOD's ECOD and COPOD) are given one sample at a time, or a thousandth of
        the number of training samples if that is more. A detector whose scores contradict its predictions, or that
        cannot score a sample alone, is refused.
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"cv", "loo", "split", "resubstitution"} or splitter, default="cv"
        How the threshold is set; see :class:`transvariation.TOCC`.
    response_method : {"score_samples", "decision_function"}, default="score_samples"
        Which scores to calibrate. `decision_function` is the margin over the estimator's own threshold. Use it for
        support vector methods, whose raw scores grow with the number of samples, so that scores of folds and of all
        samples are not comparable. Where there is no `score_samples`, `decision_function` is used.
    n_jobs : int, optional
        The number of folds to fit in parallel.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator that scores new samples. A classifier of this package is fitted without a threshold.
    offset_ : float
        The threshold.

    See Also
    --------
    transvariation.NeighborTOCC : The recommended classifier.
    transvariation.compare_classifiers : Compare candidates without outliers.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from transvariation import CalibratedOCC, NeighborTOCC, load_glass
    >>> glass = load_glass()
    >>> pipeline = make_pipeline(PCA(2), NeighborTOCC())
    >>> classifier = CalibratedOCC(pipeline).fit(glass.control)
    >>> round(float((classifier.predict(glass.control) == 1).mean()), 1)
    0.9
    """

    def __init__(
        self,
        estimator: object,
        *,
        sensitivity: float = 0.9,
        calibration: object = "cv",
        response_method: str = "score_samples",
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.response_method = response_method
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = _allows_nan(self.estimator)
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def _validate(self, X: Rows, *, reset: bool) -> Rows:
        # Only the shape and the names of the columns: the wrapped estimator validates the values.
        at_least = self._min_samples if reset else 1
        texts = _texts(X)
        if texts is None and not hasattr(X, "columns"):
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=None,
                ensure_all_finite=False,
                ensure_min_samples=at_least,
            )
        if len(X) < at_least:
            raise ValueError(f"Found a table with {len(X)} sample(s) while a minimum of {at_least} is required.")
        return texts if texts is not None else validate_data(self, X, reset=reset, skip_check_array=True)

    def _keep_sample(self, X: object, groups: Indices | None) -> None:
        if getattr(X, "ndim", 2) == 2 and not issparse(X):  # others have no features to explain
            super()._keep_sample(X, groups)

    def _make_description(self) -> DetectorDescription:
        return DetectorDescription(self.estimator, self.response_method)


@dataclass(eq=False)
class DetectorDescription(Description):
    """The scores of a detector or pipeline."""

    estimator: object
    response_method: str = "score_samples"

    def fit(self, X: object, groups: Indices | None = None) -> Self:
        """Fit the detector and find out how to read its scores."""
        if self.response_method not in RESPONSE_METHODS:
            raise ValueError(
                f"response_method={self.response_method!r} is unknown; choose one of {', '.join(RESPONSE_METHODS)}"
            )
        with_threshold = self.response_method == "decision_function"
        with _naming_columns(X, self.estimator):
            self.estimator_ = fit_detector(self.estimator, X, groups, with_threshold=with_threshold)
        self.sign = score_sign(self.estimator_, X, self.response_method)
        self.at_once = rows_at_once(self.estimator_, X, self.response_method)
        return self

    def held_out_scores(self, X: object, plan: CalibrationPlan, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        """Refit the detector in every fold; warn of categories that only one fold has."""
        if hasattr(X, "iloc"):
            _warn_of_unknown_categories(X, plan)
        return super().held_out_scores(X, plan, n_jobs)

    def score(self, X: object) -> Floats:
        """Score samples by the detector."""
        with _naming_columns(X, self.estimator):
            return detector_scores(self.estimator_, X, self.response_method, sign=self.sign, at_once=self.at_once)

    @property
    def lowest(self) -> float:
        """Lowest attainable score."""
        last = _last_step(self.estimator_)
        if not isinstance(last, OneClassClassifier):
            return -np.inf
        offset = last.offset_ if self.response_method == "decision_function" else 0.0
        return float(margin(last._lowest_score(), offset))
