"""TOCC: one-class classification by transvariation probability, counted among the target samples."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from transvariation.base import Floats, TransvariationClassifier
from transvariation.depth.median import spatial_median_of_rows
from transvariation.depth.probability import check_names, tp_of_rows, transvariation_probability
from transvariation.validation import check_count


def _keeps_all_samples(classifier: "TOCC") -> bool:
    return not (isinstance(classifier.calibration, str) and classifier.calibration == "split")


class TOCC(TransvariationClassifier):
    """Accept samples that lie deep enough among the target samples, by counting.

    The paper's density-free classifier. In eight and more features nearly all new samples have tp = 0: `fit` warns of
    it (`RejectsNearlyAll`, or `RejectsNothing` with a held-out calibration).

    Parameters
    ----------
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"resubstitution", "loo", "cv", "split"} or splitter, default="resubstitution"
        How the threshold is set. ``"resubstitution"``, as published: at the quantile of the training samples' own tp,
        without a guarantee for new samples. The other modes use scores of samples that the classifier was fitted
        without: each sample in turn (``"loo"``, at most 1,000 refits), in ten folds (``"cv"``), of half of the samples
        (``"split"``), or in the folds of a scikit-learn splitter.
    tau_max : {"count", "half", "product"}, default="count"
        What tau is divided by; see :func:`transvariation.transvariation_probability`.
    ties : {"proper", "literal"}, default="proper"
        See :func:`transvariation.transvariation_probability`.
    n_jobs : int, optional
        The number of processes for the refits of the calibration. The result is the same for every number.

    Attributes
    ----------
    center_ : ndarray of shape (n_features,)
        The spatial median of the target samples.
    offset_ : float
        The threshold: samples with tp at or above it are accepted.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass
    >>> glass = load_glass()
    >>> classifier = TOCC().fit(glass.control[["K", "Mg"]])
    >>> int((classifier.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    51
    """

    _counts_samples = True

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: Any = "resubstitution",
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
        check_names(self.tau_max, self.ties)
        self._tau_max, self._ties = self.tau_max, self.ties
        self.center_ = spatial_median_of_rows(X)
        self._X = X

    def _tp(self, X: Floats) -> Floats:
        if self._tau_max == "product":  # about the median of each feature
            return transvariation_probability(self._X, X, tau_max="product", ties=self._ties)
        return tp_of_rows(self._X, X, self.center_, self._tau_max, self._ties)

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
