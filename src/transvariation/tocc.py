"""TOCC: one-class classification by transvariation probability, counted among the target samples."""

from dataclasses import dataclass
from typing import Self

from sklearn.model_selection import BaseCrossValidator

from transvariation._typing import Floats, Indices
from transvariation.base import TransvariationClassifier
from transvariation.depth.median import spatial_median_of_rows
from transvariation.depth.probability import check_names, tp_of_rows, transvariation_probability
from transvariation.description import Description
from transvariation.sliding_window import SlidingWindowMixin


class TOCC(SlidingWindowMixin, TransvariationClassifier):
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
        (``"split"``), or in the folds of a scikit-learn splitter. Folds are drawn by ranks of the values, whatever the
        order of rows and features and the units; a splitter draws them by position.
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

    See Also
    --------
    transvariation.PAMTOCC : Several centers.
    transvariation.DensityTOCC : The same measure from a density.
    transvariation.NeighborTOCC : The recommended classifier.

    References
    ----------
    .. [1] F. Fortunato, L. Anderlucci and A. Montanari (2020). One-class classification with application to forensic
       analysis. Journal of the Royal Statistical Society, Series C 69, 1227-1249.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass
    >>> glass = load_glass()
    >>> classifier = TOCC().fit(glass.control[["K", "Mg"]])
    >>> int((classifier.predict(glass.recovered[["K", "Mg"]]) == -1).sum())
    51
    """

    def __init__(
        self,
        *,
        sensitivity: float = 0.9,
        calibration: str | BaseCrossValidator = "resubstitution",
        tau_max: str = "count",
        ties: str = "proper",
        n_jobs: int | None = None,
    ):
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.tau_max = tau_max
        self.ties = ties
        self.n_jobs = n_jobs

    def _make_description(self) -> "CountedDepth":
        return CountedDepth(self.tau_max, self.ties)


@dataclass(eq=False)
class CountedDepth(Description):
    """Transvariation probability about the spatial median, counted among the target samples."""

    tau_max: str
    ties: str

    counts_samples = True
    lowest = 0.0

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Find the center."""
        check_names(self.tau_max, self.ties)
        self.rows, self.center_ = X, spatial_median_of_rows(X)
        return self

    def score(self, X: Floats) -> Floats:
        """Count tp."""
        if self.tau_max == "product":  # about the median of each feature
            return transvariation_probability(self.rows, X, tau_max="product", ties=self.ties)
        return tp_of_rows(self.rows, X, self.center_, self.tau_max, self.ties)
