"""TOCC, the density-free transvariation-based one-class classifier."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from transvariation.depth.median import spatial_median_of_rows
from transvariation.depth.probability import check_names, tp_of_rows, transvariation_probability
from transvariation.transvariation_classifier import Floats, TransvariationClassifier
from transvariation.validation import check_count


def _keeps_all_samples(classifier: "TOCC") -> bool:
    return not (isinstance(classifier.calibration, str) and classifier.calibration == "split")


class TOCC(TransvariationClassifier):
    """Accept objects that lie deep enough among the target objects, by counting.

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target objects to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        Where the threshold comes from. ``"resubstitution"`` cuts at the quantile of the training objects' own tp,
        which promises
        nothing for fresh objects; the others cut at ratings that each object got without itself. A splitter of
        scikit-learn, such as ``KFold(5)``, sets the folds.
    tau_max : {"count", "half", "product"}, default="count"
    ties : {"proper", "literal"}, default="proper"
        See :func:`transvariation.transvariation_probability`.
    n_jobs : int, optional
        The number of processes that score held-out objects where that takes long. The result is the same for every
        number.

    Attributes
    ----------
    center_ : ndarray of shape (p,)
        The spatial median of the target objects.
    offset_ : float
        The threshold: objects with tp at or above it are accepted.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass
    >>> glass = load_glass()
    >>> rule = TOCC().fit(glass.control[["K", "Mg"]])
    >>> int((rule.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    51
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str = "resubstitution",
        tau_max: str = "count",
        ties: str = "proper",
        n_jobs: int | None = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.tau_max = tau_max
        self.ties = ties
        self.n_jobs = n_jobs

    def _describe(self, X: Floats) -> None:
        self._describe_about(X, spatial_median_of_rows(X))

    def _describe_about(self, X: Floats, center: Floats) -> None:
        """Learn about a centre that is known already: an ensemble finds the centres of all its members together."""
        check_names(self.tau_max, self.ties)
        self._tau_max, self._ties = self.tau_max, self.ties
        self.center_ = center
        self._X = X

    @available_if(_keeps_all_samples)
    def partial_fit(self, X: ArrayLike, y: Any = None, *, window: int | None = None) -> Self:
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
        ...     classifier = classifier.partial_fit(rng.normal(size=(10, 2)), window=500)
        >>> round(float(np.mean(classifier.predict(rng.normal(size=(1000, 2))) == 1)), 1)
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

    def _tp(self, X: Floats) -> Floats:
        if self._tau_max == "count":  # the rows were checked by `fit` or `score_samples`
            return tp_of_rows(self._X, self._or_own(X), self.center_, self._tau_max, self._ties)
        # The product of univariate tp's is taken about each variable's own median.
        center = None if self._tau_max == "product" else self.center_
        return transvariation_probability(self._X, X, center, tau_max=self._tau_max, ties=self._ties)

    def _or_own(self, X: Floats) -> Floats:
        """Give the rule's own copy where it is of these very objects: together they need one sort instead of two."""
        own = self._X
        alike = X.shape == own.shape and np.array_equal(X[:1], own[:1]) and np.array_equal(X, own)
        return own if alike else X

    def _univariate_tp(self, X: Floats) -> Floats:
        columns = range(X.shape[1])
        return np.column_stack([transvariation_probability(self._X[:, u], X[:, u], tau_max="half") for u in columns])
