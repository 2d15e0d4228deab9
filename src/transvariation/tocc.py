"""TOCC, the density-free transvariation-based one-class classifier."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from transvariation.depth.median import spatial_median_of_rows
from transvariation.depth.probability import check_names, tp_of_rows, transvariation_probability
from transvariation.estimator_validation import validate_rows
from transvariation.fitted_parameters import all_or_nothing
from transvariation.transvariation_classifier import Floats, TransvariationClassifier
from transvariation.validation import check_count


def _streams(rule: "TOCC") -> bool:
    """A split sets objects apart that a stream could not keep apart: such a rule has no `partial_fit`."""
    return not (isinstance(rule.calibration, str) and rule.calibration == "split")


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
        self._remember("tau_max", "ties")
        self.center_ = center
        self._X = X

    @available_if(_streams)
    def partial_fit(self, X: ArrayLike, y: Any = None, *, window: int | None = None, recenter: bool = True) -> Self:
        """Take in further target objects, forget old ones, and move the threshold.

        Exact: the rule that a fit on the objects kept would give, with `recenter=False` about the centre kept.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Target objects, in the order of their arrival.
        y : ignored
            Present for scikit-learn's conventions.
        window : int, optional
            Keep only so many of the latest objects. By default all.
        recenter : bool, default=True
            Whether the centre moves with the objects. If not, it stays that of the first objects, so that a reference
            state does not drift. Needs ``calibration="resubstitution"``.

        Examples
        --------
        >>> import numpy as np
        >>> from transvariation import TOCC
        >>> rng = np.random.default_rng(0)
        >>> rule = TOCC().fit(rng.normal(size=(500, 2)))
        >>> for _ in range(20):
        ...     rule = rule.partial_fit(rng.normal(size=(10, 2)), window=500, recenter=False)
        >>> round(float(np.mean(rule.predict(rng.normal(size=(1000, 2))) == 1)), 1)
        0.9
        """
        if window is not None and check_count("window", window) < self._min_samples:
            raise ValueError(f"window={window} must be at least {self._min_samples} objects, or None for all")
        if not recenter and (self.calibration != "resubstitution" or self.tau_max == "product"):
            raise ValueError(
                f"recenter=False keeps the centre, but calibration={self.calibration!r} with tau_max={self.tau_max!r} "
                'finds centres of its own; use calibration="resubstitution" and another tau_max, or recenter=True'
            )
        if not hasattr(self, "_X"):
            return self.fit(X if window is None else X[-window:])  # type: ignore[index]
        if self._n_folds == 1 or self._calibration_groups is not None:
            raise ValueError(
                f"the rule was fitted with calibration={self._mode!r} or groups, which set objects apart that a stream "
                'does not keep apart; fit it again with calibration="resubstitution", "loo" or "cv" and without groups'
            )
        new = validate_rows(self, X, reset=False)
        n_gone = 0 if window is None else max(len(self._X) + len(new) - window, 0)
        with all_or_nothing(self):
            if not recenter:
                self._describe_about(np.concatenate([self._X, new])[n_gone:], self.center_)
                return self._cut_as_rated(*self._training_scores(self._X), self.sensitivity)
            names = self.__dict__.get("feature_names_in_")
            self.fit(np.concatenate([self._X, new])[n_gone:])
            if names is not None:
                self.feature_names_in_ = names
        return self

    def _tp(self, X: Floats) -> Floats:
        tau_max, ties = self._as_fitted("tau_max"), self._as_fitted("ties")
        if tau_max == "count":  # the rows were checked by `fit` or `score_samples`
            return tp_of_rows(self._X, self._or_own(X), self.center_, tau_max, ties)
        # The product of univariate tp's is taken about each variable's own median.
        center = None if tau_max == "product" else self.center_
        return transvariation_probability(self._X, X, center, tau_max=tau_max, ties=ties)

    def _or_own(self, X: Floats) -> Floats:
        """Give the rule's own copy where it is of these very objects: together they need one sort instead of two."""
        own = self._X
        alike = X.shape == own.shape and np.array_equal(X[:1], own[:1]) and np.array_equal(X, own)
        return own if alike else X

    def _univariate_tp(self, X: Floats) -> Floats:
        columns = range(X.shape[1])
        return np.column_stack([transvariation_probability(self._X[:, u], X[:, u], tau_max="half") for u in columns])
