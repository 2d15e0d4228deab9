"""NeighborTOCC: transvariation probability of nearest-neighbor distances in several scalings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, validate_data

from transvariation._typing import Floats, Indices, Rows
from transvariation.base import TransvariationClassifier
from transvariation.categories import CategoryEncoder
from transvariation.conformal import tail_p_values
from transvariation.neighbor_distances import NeighborDistances, find_suspicious
from transvariation.sliding_window import SlidingWindowMixin, keeps_all_samples
from transvariation.validation import check_count

_MOST_TRIMMED = 0.25


class NeighborTOCC(SlidingWindowMixin, TransvariationClassifier):
    r"""Accept a sample that lies about as close to its nearest known samples as known samples lie to theirs.

    A *view* measures how far a sample lies from the known samples by one number: the logarithm of its mean distance to
    the k nearest of them, in one scaling and a set of features: all, or a pair of features that depend on each other.
    In each view the transvariation probability (tp) of a sample is the share of known samples, each measured without
    itself, that lie at least as far out, continued by an exponential tail
    (:func:`transvariation.tail_transvariation_probability`). Views are combined by the weighted product of their tp's,
    as the paper combines features; the score is its logarithm. It is PAM-TOCC with every known sample as a medoid.

    The result depends neither on the unit of a feature nor on the order of samples and features. A new sample that
    equals a known one in every feature, up to rounding, is taken to be that sample and is measured without it.

    Missing values (NaN) are no evidence: distances are taken over the features that both samples have, and multiplied
    by the root of their share.

    Parameters
    ----------
    n_neighbors : int or sequence of int, default=(1, 3)
        The numbers of neighbors k in all features; it is 1 in pairs. Larger ones, such as ``(3, 10)``, suit small clean
        samples of two features.
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"loo", "cv", "split", "resubstitution"} or splitter, default="loo"
        How the calibration scores are computed. ``"loo"`` uses the distances of each known sample to the others (or
        to the samples of other groups), in scalings learned without its fold, one of 4 to 20: the more, the more
        features there are for each sample. ``"split"`` has an exact guarantee.
    scalings : sequence of str, default=("range", "normal", "whitened")
        Scalings of the features: ranges, normal scores of the ranks, and whitening by a shrunk covariance. There are
        also ``"standard"``, standard deviations, and ``"raw"``, one unit for all features: ``("raw", "whitened")``
        suits pixels, spectra and embeddings. With ``"raw"`` the units of the features matter.
    pairs : bool, default=True
        Whether to add views of pairs of features: each feature with the two whose ranks are most correlated with its
        own, at most eight pairs, in normal scores. They are left out with more than 100 features, and if `scalings`
        does not name ``"normal"``.
    categorical_features : {"from_dtype"}, array-like of bool, int or str, or None, default="from_dtype"
        The features whose values are categories, as in scikit-learn's HistGradientBoostingClassifier: a mask, indices,
        names, or the columns of a pandas or polars table with a categorical type. All pairs of categories are equally
        far from each other, so that samples of rare and unknown categories have no near neighbors.
    trim : float in [0, 0.25], default=0
        The largest share of the known samples that may be left out as suspicious, for training data that contain
        samples of another class. Choose twice the share that you expect. Of clean samples of a light-tailed class none
        are left out; see ``suspicious_``.
    max_reference : int or None, default=10_000
        The largest number of known samples that are kept as possible neighbors. Of more, a subsample is drawn that
        does not depend on their order. ``None`` keeps all. The tp's and the threshold are computed from at most 5,000
        of these, which are also the neighbors in pairs.
    n_jobs : int, optional
        The number of threads. The result is the same for every number.

    Attributes
    ----------
    offset_ : float
        The threshold.
    reference_ : ndarray of shape (n,)
        The rows of the training data that are kept as possible neighbors.

    suspicious_ : ndarray of int
        The rows of the training data that were left out by `trim`, the most suspicious one first.

    See Also
    --------
    transvariation.CalibratedOCC : Calibrate any other detector or pipeline.
    transvariation.OpenSetClassifier : Several known classes.
    transvariation.explain_rejections : Why samples are rejected.

    References
    ----------
    .. [1] F. Fortunato, L. Anderlucci and A. Montanari (2020). One-class classification with application to forensic
       analysis. Journal of the Royal Statistical Society, Series C 69, 1227-1249.

    Examples
    --------
    >>> from transvariation import NeighborTOCC, load_glass
    >>> glass = load_glass()
    >>> classifier = NeighborTOCC().fit(glass.control)
    >>> rejected = classifier.predict(glass.recovered) == -1
    >>> print(rejected.sum(), "of", len(rejected), "pieces of other glass rejected")
    50 of 51 pieces of other glass rejected
    >>> classifier.p_values(glass.recovered[:3]).round(3)
    array([0.011, 0.011, 0.011])
    """

    description_: NeighborDistances
    _names: list[str] | None = None  # of the possible neighbors

    def __init__(
        self,
        n_neighbors: int | Sequence[int] = (1, 3),
        *,
        sensitivity: float = 0.9,
        calibration: str | BaseCrossValidator = "loo",
        scalings: Sequence[str] = ("range", "normal", "whitened"),
        pairs: bool = True,
        categorical_features: str | ArrayLike | None = "from_dtype",
        trim: float = 0.0,
        max_reference: int | None = 10_000,
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.scalings = scalings
        self.pairs = pairs
        self.categorical_features = categorical_features
        self.trim = trim
        self.max_reference = max_reference
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> Self:
        """Learn the target class.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Target samples only.
        y : array-like of shape (n,), optional
            Samples labeled -1 among labels 1 and -1 are left out, with a warning. Other labels are ignored;
            labels 0 and 1, which may mark outliers, with a warning.
        groups : array-like of shape (n,), optional
            The item that each sample is a replicate of.

        Returns
        -------
        self
            The fitted classifier.
        """
        super().fit(X, y, groups)
        self._keep_names(_row_names(X))
        return self

    def _keep_names(self, names: list[str] | None) -> None:
        """Keep the names of the possible neighbors, of those of all training samples."""
        self._names = None if names is None else [names[row] for row in self.reference_]

    def _select(self, rows: Floats, groups: Indices | None, targets: Indices | None) -> Indices | None:
        """Leave out suspicious samples."""
        if not isinstance(self.trim, int | float) or not 0 <= self.trim <= _MOST_TRIMMED:
            raise ValueError(
                f"trim={self.trim!r} must be a share from 0 to {_MOST_TRIMMED}; 0.1 leaves out at most a tenth of the "
                "known samples"
            )
        self.suspicious_ = np.empty(0, dtype=np.intp)
        if not self.trim:
            return targets
        every = np.arange(len(rows)) if targets is None else targets
        own = None if groups is None else groups[every]
        self.suspicious_ = every[find_suspicious(self._make_description(), rows[every], own, self.trim)]
        return np.setdiff1d(every, self.suspicious_)

    @available_if(keeps_all_samples)
    def partial_fit(self, X: ArrayLike, y: object = None, *, window: int | None = None) -> Self:
        """Fit to the samples of the last fit and further ones, or to the latest of them.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Target samples, in the order of their arrival.
        y : array-like of shape (n,), optional
            Samples labeled -1 are left out, as in `fit`.
        window : int, optional
            The number of latest samples to keep, at most and by default `max_reference`.

        Returns
        -------
        self
            The fitted classifier.
        """
        names = _row_names(X) if y is None else None  # labels may leave out samples
        if window is not None:
            check_count("window", window)
        window = min([limit for limit in (window, self.max_reference) if limit is not None], default=None)
        if hasattr(self, "description_"):
            self._validate(X, reset=False)
            self._encoder.extend(X)
            names = None if names is None or self._names is None else [*self._names, *names]
        super().partial_fit(X, y, window=window)
        self._keep_names(None if names is None else names[-(window or 0) :])
        return self

    def _make_description(self) -> NeighborDistances:
        return NeighborDistances(
            self.n_neighbors,
            self.scalings,
            self.pairs,
            self._encoder.mask_ if self._encoder.categories_ else None,
            self.max_reference,
            self.n_jobs,
        )

    def _validate(self, X: Rows, *, reset: bool) -> Floats:
        if reset:
            self._encoder = CategoryEncoder(self.categorical_features).fit(X)
        if not self._encoder.categories_:
            return super()._validate(X, reset=reset)
        validate_data(self, X, reset=reset, skip_check_array=True)
        at_least = self._min_samples if reset else 1
        return check_array(self._encoder.transform(X), ensure_all_finite="allow-nan", ensure_min_samples=at_least)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def reference_(self) -> Indices:
        """The rows of the training data that are kept as possible neighbors."""
        rows = self.description_.reference_
        return rows if self._describing is None else self._describing[rows]

    def p_values(
        self,
        X: ArrayLike,
        *,
        sensitivity: float | ArrayLike | None = None,
        weights: object = None,
        tail: str | None = None,
    ) -> Floats:
        """Compute p-values: the rank of each sample among the calibration scores, or a model of the lowest of these.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to judge.
        sensitivity : float in (0, 1], optional
            Without effect, because there is one threshold.
        weights : DensityRatio or pair of arrays, optional
            As for the other classifiers, for targets of another population.
        tail : {"exponential"}, optional
            With 8 to 20 known samples no rank is below 1 / 9 to 1 / 21. ``"exponential"`` continues the ranks by a
            model, an exponential tail fitted to the lower half of the scores. Compare these p-values with a level
            yourself: `predict`, the threshold and the coverage report stay with ranks, which need no model.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if tail is None:
            return super().p_values(X, sensitivity=sensitivity, weights=weights)
        calibration = self.calibration_
        if tail != "exponential" or weights is not None or calibration.n_exchangeable is None:
            raise ValueError(
                f"tail={tail!r}: only 'exponential' is known, for held-out scores without groups and weights; leave it "
                "out to get ranks"
            )
        return tail_p_values(calibration.scores, self.score_samples(X))

    def explain(self, X: ArrayLike) -> pd.DataFrame:
        """Describe, feature by feature, how each sample compares with the known samples nearest to it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples to explain.

        Returns
        -------
        DataFrame
            The columns of the other classifiers' `explain` and more: ``contribution``, the share of the squared
            distance to the nearest known samples that is due to the feature, on average over the scalings; the same for
            each scaling, such as ``contribution_whitened``; and ``nearest``, the names of the nearest known samples in
            the first scaling, nearest first, separated by commas.
        """
        table = super().explain(X)
        rows, description = self._validated(X), self.description_
        names, shares = None, []
        for index, new in zip(description.indices, description.scaled.transform(rows), strict=True):
            _, found, _ = description.nearest(index, new, rows)
            squares = ((new[:, None, :] - index.known[found]) ** 2).sum(axis=1)
            total = squares.sum(axis=1, keepdims=True)
            equal = np.full_like(squares, 1 / rows.shape[1])
            shares.append(np.divide(squares, total, out=equal, where=total > 0).ravel())
            if names is None:
                labels = self._names or [str(row) for row in self.reference_]
                names = [", ".join(labels[i] for i in row) for row in found]
        table["contribution"] = np.mean(shares, axis=0)
        for scaling, share in zip(description.scaled.scalings, shares, strict=True):
            table[f"contribution_{scaling.name}"] = share
        table["nearest"] = np.repeat(np.asarray(names, dtype=object), rows.shape[1])
        return table


def _row_names(X: Rows) -> list[str] | None:
    return [str(label) for label in X.index] if hasattr(X, "iloc") else None
