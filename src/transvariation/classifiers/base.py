"""One base for every one-class classifier here: describe, score, cut."""

from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation.threshold import check_sensitivity, cut, p_values

CALIBRATIONS = ("paper",)


class OneClassClassifier(OutlierMixin, BaseEstimator, metaclass=ABCMeta):
    """Learn one class from its own objects alone; accept what is as typical as a share `sensitivity` of them.

    A subclass says what differs: `_describe` learns the target class, `_score` rates objects (high = typical), and, if
    parts of the target class have thresholds of their own, `_stratum` says to which part an object belongs.
    Validation, the cut and the labels live here.
    """

    sensitivity: Any
    calibration: str

    _min_samples = 2

    @abstractmethod
    def _describe(self, X: NDArray[np.float64]) -> None:
        """Learn the target class from validated training objects."""

    @abstractmethod
    def _score(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rate validated objects: high = typical of the target."""

    def _stratum(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        """Name the part of the target class, 0, 1, ..., whose threshold applies to each object."""
        return np.zeros(len(X), dtype=np.intp)

    def _training_scores(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Rate the training objects themselves; a subclass that has the answer at hand gives it here."""
        return self._score(X), self._stratum(X)

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn the target class.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Target objects only, one per row.
        y : ignored
            Present for scikit-learn's conventions.
        """
        if self.calibration not in CALIBRATIONS:
            raise ValueError(f"calibration={self.calibration!r} is unknown; choose one of {', '.join(CALIBRATIONS)}")
        rows: NDArray[np.float64] = validate_data(self, X, dtype=np.float64, ensure_min_samples=self._min_samples)
        self._describe(rows)
        self._calibration_scores, self._calibration_strata = self._training_scores(rows)
        return self.set_sensitivity(self.sensitivity)

    def set_sensitivity(self, sensitivity: float | ArrayLike) -> Self:
        """Move the operating point without refitting.

        Parameters
        ----------
        sensitivity : float in (0, 1]
            The share of target objects to accept. A classifier with several thresholds also takes one per part.
        """
        check_is_fitted(self, "_calibration_scores")
        n_strata = int(self._calibration_strata.max()) + 1
        shares = np.broadcast_to(np.asarray(sensitivity, dtype=float), n_strata)
        self.thresholds_ = np.array(
            [
                cut(self._calibration_scores[self._calibration_strata == k], check_sensitivity(share))
                for k, share in enumerate(shares)
            ]
        )
        # With several thresholds the score is the margin over the object's own one.
        self.offset_ = float(self.thresholds_[0]) if n_strata == 1 else 0.0
        self.sensitivity = sensitivity
        return self

    def _validated(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Rate objects: high = typical of the target."""
        rows = self._validated(X)
        scores = self._score(rows)
        return scores if len(self.thresholds_) == 1 else scores - self.thresholds_[self._stratum(rows)]

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Rate objects relative to the threshold: accepted where the value is not negative."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Decide: +1 = accepted as target, -1 = rejected."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def p_values(self, X: ArrayLike) -> NDArray[np.float64]:
        """Rank objects among the calibration scores; small = unlike the target."""
        rows = self._validated(X)
        scores, strata = self._score(rows), self._stratum(rows)
        result = np.empty(len(rows))
        for k in np.unique(strata):
            result[strata == k] = p_values(self._calibration_scores[self._calibration_strata == k], scores[strata == k])
        return result
