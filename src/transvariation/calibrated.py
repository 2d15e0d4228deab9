"""Any one-class rule, pipelines included, with a threshold that holds."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from transvariation.base import OneClassClassifier
from transvariation.conformal import ignoring_power, margin

RATINGS = ("score_samples", "decision_function")


def rated_by(estimator: Any, X: Any, rating: str = "score_samples") -> NDArray[np.float64]:
    """Let any fitted detector or pipeline rate objects, by `decision_function` if it has nothing else."""
    rate = getattr(estimator, rating, None) or getattr(estimator, "decision_function", None)
    if rate is None:
        raise TypeError(
            f"estimator={estimator!r} can rate no new objects: it has neither score_samples nor decision_function; "
            "a LocalOutlierFactor needs novelty=True"
        )
    return np.fmax(np.asarray(rate(X), dtype=np.float64), -np.inf)  # what is no number is no sign of being typical


def _takes_gaps(estimator: Any) -> bool:
    """A pipeline that begins by filling gaps may be given gaps; neither it nor a ColumnTransformer says so itself."""
    if hasattr(estimator, "steps"):
        return next((_takes_gaps(step) for _, step in estimator.steps if step not in (None, "passthrough")), False)
    if hasattr(estimator, "transformers"):
        return any(_takes_gaps(part) for _, part, _ in estimator.transformers)
    return hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).input_tags.allow_nan


class CalibratedOCC(OneClassClassifier):
    """Calibrate a detector or a whole pipeline: every fold refits all of it, reduction and selection included.

    Parameters
    ----------
    estimator : estimator with `score_samples`, or `decision_function`, where high = typical
        A classifier of this package, a detector of scikit-learn (`IsolationForest`, `OneClassSVM`,
        `LocalOutlierFactor(novelty=True)`), or a `Pipeline` that ends in one. Its own threshold is not used. Columns
        have to be numbers; a pipeline that begins by filling gaps may be given gaps. Steps that round an object
        otherwise alone than among others, as scikit-learn's PCA does, may change ratings that hang by ties.
    sensitivity : float in (0, 1], default=0.9
        The share of target objects to accept.
    calibration : {"cv", "loo", "split", "resubstitution"} or splitter, default="cv"
        Where the threshold comes from.
    rating : {"score_samples", "decision_function"}, default="score_samples"
        Which of the estimator's ratings to calibrate. `decision_function` is the margin over the estimator's own
        threshold: for support vector methods, whose raw scores drift with the number of objects, so that the ratings of
        folds and of all objects would not compare.
    n_jobs : int, optional
        How many folds to fit at a time.

    Attributes
    ----------
    estimator_ : estimator
        The fitted one that rates new objects.
    offset_ : float
        The threshold.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from transvariation import CalibratedOCC, KernelTOCC, load_glass
    >>> glass = load_glass()
    >>> rule = CalibratedOCC(make_pipeline(PCA(2), KernelTOCC(calibration="resubstitution"))).fit(glass.control)
    >>> bool((rule.predict(glass.control) == 1).mean() >= 0.9)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        sensitivity: float = 0.9,
        calibration: Any = "cv",
        rating: str = "score_samples",
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.rating = rating
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = _takes_gaps(self.estimator)
        return tags

    def _named(self, X: NDArray[np.float64]) -> Any:
        """Give the columns their names back: steps of a pipeline may choose columns by name."""
        if not hasattr(self, "feature_names_in_"):
            return X
        import pandas as pd

        return pd.DataFrame(X, columns=self.feature_names_in_)

    def _describe(self, X: NDArray[np.float64]) -> None:
        if self.rating not in RATINGS:
            raise ValueError(f"rating={self.rating!r} is unknown; choose one of {', '.join(RATINGS)}")
        self._remember("rating")
        with ignoring_power():
            self.estimator_ = clone(self.estimator).fit(self._named(X))

    def _lowest(self) -> float:
        rule = getattr(self.estimator_, "_final_estimator", self.estimator_)  # the last step of a pipeline
        if not isinstance(rule, OneClassClassifier):
            return super()._lowest()
        if self._as_fitted("rating") == "score_samples" and rule._n_strata == 1:
            return rule._lowest()
        return float(margin(rule._lowest(), rule.thresholds_.max()))

    def _score(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return rated_by(self.estimator_, self._named(X), self._as_fitted("rating"))
