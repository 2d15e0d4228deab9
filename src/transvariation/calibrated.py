"""CalibratedOCC: calibration and p-values for any scikit-learn or PyOD detector, pipelines included."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from transvariation.base import OneClassClassifier
from transvariation.calibration import take_rows
from transvariation.conformal import margin
from transvariation.description import Description, Floats, Indices
from transvariation.validation import blocks, native_frame

RESPONSE_METHODS = ("score_samples", "decision_function")
_CHECKED = 500  # training rows on which scores and predictions of a detector are compared


def fit_detector(detector: Any, X: Any, groups: Indices | None = None, *, with_threshold: bool = False) -> Any:
    """Fit a clone of a detector or pipeline whose scores are needed.

    Classifiers of this package are fitted without their own calibration, also as the last step of a pipeline; `groups`
    is for them. `with_threshold` gives them a threshold by resubstitution, which `decision_function` needs.
    """
    fitted = clone(detector)
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
    detector: Any, X: Any, method: str = "score_samples", *, sign: int = 1, at_once: int | None = None
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
    pieces = [X] if at_once is None else [take_rows(X, np.arange(len(X))[rows]) for rows in blocks(len(X), at_once)]
    return np.fmax(sign * np.concatenate([np.asarray(scoring(piece), dtype=np.float64) for piece in pieces]), -np.inf)


def score_sign(detector: Any, X: Any, method: str = "score_samples") -> int:
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
    if isinstance(last, OneClassClassifier) or not hasattr(detector, "predict"):
        return 1
    rows = take_rows(X, np.unique(np.linspace(0, len(X) - 1, min(len(X), _CHECKED)).astype(np.intp)))
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


def rows_at_once(detector: Any, X: Any, method: str = "score_samples") -> int | None:
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
    together = detector_scores(detector, take_rows(X, np.arange(min(len(X), _CHECKED))), method)
    few = take_rows(X, np.arange(min(len(X), 3)))
    try:
        alone, reason = detector_scores(detector, few, method, at_once=1), "alone, all samples score the same"
    except Exception as error:
        alone, reason = np.zeros(len(few)), str(error)
    finite = together[np.isfinite(together)]
    tolerance = 1e-6 * np.ptp(finite) if len(finite) else 0.0
    if np.isclose(alone, together[: len(few)], rtol=1e-6, atol=tolerance).all():
        return None
    if len(set(alone.tolist())) == 1:
        raise ValueError(
            f"{type(_last_step(detector)).__name__} cannot score one sample without others ({reason}), so that its "
            "scores cannot be calibrated; use a detector whose score of a sample does not depend on the other samples"
        )
    return max(1, len(X) // 1000)


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _allows_nan(estimator: Any) -> bool:
    """Return whether missing values are accepted; scikit-learn's pipelines and ColumnTransformer do not report it."""
    if hasattr(estimator, "steps"):
        return next((_allows_nan(step) for _, step in estimator.steps if step not in (None, "passthrough")), False)
    if hasattr(estimator, "transformers"):
        return any(_allows_nan(step) for _, step, _ in estimator.transformers)
    return hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).input_tags.allow_nan


class CalibratedOCC(OneClassClassifier):
    """Calibrate a detector or a whole pipeline; every fold refits all of it, reduction and selection included.

    Parameters
    ----------
    estimator : detector or Pipeline
        A classifier of this package, a detector of scikit-learn (`IsolationForest`, `OneClassSVM`, `EllipticEnvelope`,
        `LocalOutlierFactor(novelty=True)`) or PyOD, or a `Pipeline` that ends in one. It validates the input, so that a
        pipeline may begin with a `ColumnTransformer` on columns of any type or an imputer. Its own threshold is not
        used. PyOD's scores, which are high for outliers, are recognised and negated. Detectors whose scores depend on
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

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from transvariation import CalibratedOCC, NeighborTOCC, load_glass
    >>> glass = load_glass()
    >>> pipeline = make_pipeline(PCA(2), NeighborTOCC())
    >>> classifier = CalibratedOCC(pipeline).fit(glass.control)
    >>> bool((classifier.predict(glass.control) == 1).mean() >= 0.9)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        sensitivity: float = 0.9,
        calibration: Any = "cv",
        response_method: str = "score_samples",
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.response_method = response_method
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = _allows_nan(self.estimator)
        return tags

    def _validate(self, X: Any, *, reset: bool) -> Any:
        # Only the shape and the names of the columns: the wrapped estimator validates the values.
        X, at_least = native_frame(X), self._min_samples if reset else 1
        if not hasattr(X, "columns"):
            return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=at_least)
        if len(X) < at_least:
            raise ValueError(f"Found a table with {len(X)} sample(s) while a minimum of {at_least} is required.")
        return validate_data(self, X, reset=reset, skip_check_array=True)

    def _make_description(self) -> "DetectorDescription":
        return DetectorDescription(self.estimator, self.response_method)


@dataclass(eq=False)
class DetectorDescription(Description):
    """The scores of a detector or pipeline."""

    estimator: Any
    response_method: str = "score_samples"

    def fit(self, X: Any, groups: Indices | None = None) -> Self:
        """Fit the detector and find out how to read its scores."""
        if self.response_method not in RESPONSE_METHODS:
            raise ValueError(
                f"response_method={self.response_method!r} is unknown; choose one of {', '.join(RESPONSE_METHODS)}"
            )
        with_threshold = self.response_method == "decision_function"
        self.estimator_ = fit_detector(self.estimator, X, groups, with_threshold=with_threshold)
        self.sign = score_sign(self.estimator_, X, self.response_method)
        self.at_once = rows_at_once(self.estimator_, X, self.response_method)
        return self

    def score(self, X: Any) -> Floats:
        """Score samples by the detector."""
        return detector_scores(self.estimator_, X, self.response_method, sign=self.sign, at_once=self.at_once)

    @property
    def lowest(self) -> float:
        """Lowest attainable score."""
        last = _last_step(self.estimator_)
        if not isinstance(last, OneClassClassifier):
            return -np.inf
        offset = last.offset_ if self.response_method == "decision_function" else 0.0
        return float(margin(last._lowest_score(), offset))
