"""Follow a stream: refit a classifier to its latest samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from transvariation.base import OneClassClassifier
from transvariation.calibration import take_rows, target_rows
from transvariation.validation import check_count


def keeps_all_samples(classifier: OneClassClassifier) -> bool:
    """Return whether a fit keeps all samples, as `partial_fit` needs them."""
    return not (isinstance(classifier.calibration, str) and classifier.calibration == "split")


class SlidingWindowMixin:
    """Learn from the latest samples of a stream, for classifiers whose description keeps its samples in `rows`."""

    @available_if(keeps_all_samples)
    def partial_fit(  # `self` is a classifier, too
        self: Any, X: ArrayLike, y: object = None, *, window: int | None = None
    ) -> Any:  # noqa: ANN401  # itself
        """Fit to the samples of the last fit and further ones, or to the latest of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Target samples, in the order of their arrival.
        y : array-like of shape (n_samples,), optional
            Samples labeled -1 are left out, as in `fit`.
        window : int, optional
            The number of latest samples to keep; by default all.

        Returns
        -------
        self
            The fitted classifier.

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
        first = not hasattr(self, "description_")
        new = self._validate(X, reset=first)
        new = take_rows(new, target_rows(y, len(new), 1))
        if not first and (self._calibration.n_folds == 1 or self._calibration.unit == "groups"):
            raise ValueError(
                f"partial_fit cannot follow a fit with calibration={self._calibration.mode!r} or groups, which keeps "
                'only a part of the samples or labels; use calibration="resubstitution", "loo" or "cv" without groups'
            )
        rows = new if first else np.concatenate([self.description_.rows, new])
        return self._learn(rows if window is None else rows[-window:])
