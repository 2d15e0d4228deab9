"""NeighborTOCC: transvariation probability of nearest-neighbor distances in several scalings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree
from sklearn.utils.metaestimators import available_if

from transvariation.base import SlidingWindowMixin, TransvariationClassifier, keeps_all_samples
from transvariation.calibration import CalibrationPlan
from transvariation.depth.tail import ExponentialTail, fit_tail
from transvariation.description import Description, Floats, Indices
from transvariation.parallel import run_in_threads
from transvariation.scalings import SCALINGS, ScaledViews
from transvariation.subsample import subsample
from transvariation.validation import blocks, check_count, native_frame, without_sample_weight

if TYPE_CHECKING:
    import pandas as pd

_MEASURED = 5_000  # known samples from which tp and the threshold are computed
_MANY = 1_000  # from so many samples on, few folds learn the scalings nearly as well as all samples
_MIN_SCALE = 0.1  # of the tails: where many distances are equal, tp falls by a factor e for 10 % more distance
_SAME = 1e-6  # standard deviations: equal samples are at most this far apart after rounding
_DECIMALS = 9  # of the logarithms of distances
_TREE_DIMENSIONS, _TREE_ROWS = 5, 500  # up to so many features and from so many rows on, a k-d tree is faster
_BLOCK = 1 << 20  # distances in one block


class NeighborTOCC(SlidingWindowMixin, TransvariationClassifier):
    r"""Accept samples whose nearest known samples are as near as those of known samples usually are.

    A *view* measures how far a sample lies from the known samples by one number: the logarithm of its mean distance to
    the k nearest of them, in one scaling of the features. In each view the transvariation probability (tp) of a sample
    is the share of known samples, each measured without itself, that lie at least as far out, continued by an
    exponential tail (:func:`transvariation.tail_transvariation_probability`). Views are combined by the product of
    their tp's, as the paper combines features; the score is its logarithm. It is PAM-TOCC with every known sample as a
    medoid.

    A new sample that equals a known one in every feature, up to rounding, is taken to be that sample and is measured
    without it.

    Parameters
    ----------
    n_neighbors : int or sequence of int, default=(1, 3)
        The numbers of neighbors k. Larger ones, such as ``(3, 10)``, suit small clean samples of two features.
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"loo", "cv", "split", "resubstitution"} or splitter, default="loo"
        How the calibration scores are computed. ``"loo"`` uses the distances of each known sample to the others (or
        to the samples of other groups), in scalings learned without it (ten folds; two or three from 1,000 samples
        and ten times as many samples as features on); it needs no further fits. ``"split"`` has an exact guarantee.
    scalings : sequence of str, default=("range", "normal", "whitened")
        Scalings of the features: ranges, normal scores of the ranks, and whitening by a shrunk covariance. There is
        also ``"standard"``, standard deviations.
    max_reference : int or None, default=10_000
        The largest number of known samples that are kept as possible neighbors. Of more, a subsample is drawn that
        does not depend on their order. ``None`` keeps all. The tp's and the threshold are computed from at most 5,000
        of these.
    n_jobs : int, optional
        The number of threads. The result is the same for every number.

    Attributes
    ----------
    offset_ : float
        The threshold.
    reference_ : ndarray of shape (n,)
        The rows of the training data that are kept as possible neighbors.

    Examples
    --------
    >>> from transvariation import NeighborTOCC, load_glass
    >>> glass = load_glass()
    >>> classifier = NeighborTOCC().fit(glass.control)
    >>> float((classifier.predict(glass.recovered) == -1).mean()) > 0.8
    True
    """

    def __init__(
        self,
        n_neighbors: int | Sequence[int] = (1, 3),
        *,
        sensitivity: float = 0.9,
        calibration: Any = "loo",
        scalings: Sequence[str] = ("range", "normal", "whitened"),
        max_reference: int | None = 10_000,
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.scalings = scalings
        self.max_reference = max_reference
        self.n_jobs = n_jobs

    @without_sample_weight
    def fit(self, X: ArrayLike, y: Any = None, groups: ArrayLike | None = None) -> Self:
        """Learn the target class.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Target samples only.
        y : array-like of shape (n,), optional
            Samples labelled -1 among labels 1 and -1 are left out, with a warning. Other labels are ignored.
        groups : array-like of shape (n,), optional
            The item that each sample is a replicate of.
        """
        self._names: list[str] | None = None
        super().fit(X, y, groups)
        if names := _row_names(X):
            self._names = [names[row] for row in self.reference_]
        return self

    @available_if(keeps_all_samples)
    def partial_fit(self, X: ArrayLike, y: Any = None, *, window: int | None = None) -> Self:
        """Fit to the samples of the last fit and further ones, or to the latest of them.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Target samples, in the order of their arrival.
        y : ignored
            Present for scikit-learn's conventions.
        window : int, optional
            The number of latest samples to keep, at most and by default `max_reference`.
        """
        known = getattr(self, "_names", None) if hasattr(self, "description_") else []
        limits = [limit for limit in (window, self.max_reference) if limit is not None]
        if window is not None:
            check_count("window", window)
        super().partial_fit(X, y, window=min(limits, default=None))
        if known is not None and (names := _row_names(X)):
            self._names = [*known, *names][-len(self.description_.rows) :]
        return self

    def _make_description(self) -> "NeighborDistances":
        return NeighborDistances(self.n_neighbors, self.scalings, self.max_reference, self.n_jobs)

    @property
    def reference_(self) -> Indices:
        """The rows of the training data that are kept as possible neighbors."""
        rows = self.description_.reference_
        return rows if self._describing is None else self._describing[rows]

    def explain(self, Z: ArrayLike) -> "pd.DataFrame":
        """Describe, feature by feature, how each sample compares with the known samples nearest to it.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_features)
            The samples to explain.

        Returns
        -------
        DataFrame
            The columns of the other classifiers' `explain` and more: ``contribution``, the share of the squared
            distance to the nearest known samples that is due to the feature, on average over the scalings; the same for
            each scaling, such as ``contribution_whitened``; and ``nearest``, the names of the nearest known samples in
            the first scaling, nearest first, separated by commas.
        """
        table = super().explain(Z)
        rows, description = self._validated(Z), self.description_
        names, shares = None, []
        for index, new in zip(description.indices, description.views.transform(rows), strict=True):
            _, found = description.nearest(index, new, rows)
            squares = ((new[:, None, :] - index.known[found]) ** 2).sum(axis=1)
            total = squares.sum(axis=1, keepdims=True)
            equal = np.full_like(squares, 1 / rows.shape[1])
            shares.append(np.divide(squares, total, out=equal, where=total > 0).ravel())
            if names is None:
                labels = self._names or [str(row) for row in self.reference_]
                names = [", ".join(labels[i] for i in row) for row in found]
        table["contribution"] = np.mean(shares, axis=0)
        for scaling, share in zip(description.views.scalings, shares, strict=True):
            table[f"contribution_{scaling.name}"] = share
        table["nearest"] = np.repeat(np.asarray(names, dtype=object), rows.shape[1])
        return table


@dataclass(eq=False)
class NeighborDistances(Description):
    """Logarithm of the product of the tp's of mean distances to the nearest known samples, over all views.

    A view is one column of the matrix that `_measure` fills: a scaling (one entry of `views` and `indices`) and a
    number of neighbors. To add views in a subset of the features, let :class:`~transvariation.scalings.ScaledViews`
    make one more entry for each scaling and subset; every entry is searched once for all numbers of neighbors. To add a
    view that is no distance, append its column in `_measure`: known samples pass through it fold by fold, with
    everything learned from the other folds, new samples with everything learned from all. `fit` receives whatever
    `NeighborTOCC._validate` lets through: missing values need the tag ``allow_nan``, categories an override that
    encodes them. `_folds` is the only place where samples are assigned to folds of the scalings.

    Only the known samples and the sorted measurements of them are kept in a file; `views`, `indices` and `tails` follow
    from these and are built once in every process.
    """

    n_neighbors: int | Sequence[int]
    scalings: Sequence[str]
    max_reference: int | None = None
    n_jobs: int | None = None

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Keep the known samples and measure each without its group."""
        counts = self._check()
        limit = len(X) if self.max_reference is None else check_count("max_reference", self.max_reference)
        whole = limit >= len(X)
        self._kept = None if whole else np.sort(subsample(X, limit)).astype(np.int32)
        self.rows = X if whole else X[self._kept]
        n = len(self.rows)
        groups = np.arange(n) if groups is None else np.unique(groups[self.reference_], return_inverse=True)[1]
        self._counts = [min(k, max(n - int(np.bincount(groups).max()), 1)) for k in counts]
        measured = np.sort(subsample(self.rows, _MEASURED)) if n > _MEASURED else np.arange(n)
        distances = self._measure_known(groups, measured)
        # Duplicated samples have distance 0 up to rounding, which has no logarithm.
        self._floor = np.array([column[column > _SAME].min(initial=np.inf) for column in distances.T])
        self._floor[np.isinf(self._floor)] = 1.0
        known = self._log(distances)
        self._known = np.sort(known, axis=0).T.copy()
        self._measured, self._own_scores = measured.astype(np.int32), self._log_tp(known, held_out=False)
        _ = self.indices  # build them now
        return self

    def _check(self) -> list[int]:
        counts = [self.n_neighbors] if isinstance(self.n_neighbors, int | np.integer) else list(self.n_neighbors)
        if not counts or not len(self.scalings):
            raise ValueError(
                "n_neighbors and scalings must each name at least one value, such as (1, 3) and ('range',)"
            )
        if isinstance(self.scalings, str):
            raise ValueError(f"scalings must be a sequence of names, not a string; use scalings=({self.scalings!r},)")
        if unknown := [name for name in self.scalings if name not in SCALINGS]:
            raise ValueError(
                f"scalings={self.scalings!r}: {unknown[0]!r} is unknown; choose from {', '.join(SCALINGS)}"
            )
        return [check_count("n_neighbors", k) for k in counts]

    @property
    def reference_(self) -> Indices:
        """The rows that are kept, of those given to `fit`."""
        return np.arange(len(self.rows)) if self._kept is None else self._kept.astype(np.intp)

    @cached_property
    def views(self) -> ScaledViews:
        """The known samples in each scaling."""
        return ScaledViews(self.scalings, self.rows)

    @cached_property
    def indices(self) -> "list[NeighborIndex]":
        """The index of each scaling."""
        return [NeighborIndex(known) for known in self.views.known]

    @cached_property
    def tails(self) -> list[ExponentialTail]:
        """The tail of the known measurements of each view."""
        return [fit_tail(known, min_scale=_MIN_SCALE) for known in self._known]

    def __getstate__(self) -> dict[str, Any]:
        derived = ("views", "indices", "tails")
        return {name: value for name, value in vars(self).items() if name not in derived}

    def _measure_known(self, groups: Indices, measured: Indices) -> Floats:
        """Measure known samples in each view, each without its group, in scalings learned without its fold."""
        n_folds = min(int(groups.max()) + 1, _n_scaling_folds(*self.rows.shape))
        folds = _folds(self.rows, groups, n_folds)
        distances = np.empty((len(groups), len(self.scalings) * len(self._counts)))
        for fold in range(n_folds):
            within, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            inside = np.intersect1d(measured, within, assume_unique=True)
            views = ScaledViews(self.scalings, self.rows[outside], self.views)
            scaled, means = np.empty_like(self.rows), []
            for known, new in zip(views.known, views.transform(self.rows[within]), strict=True):
                scaled[outside], scaled[within] = known, new
                index = NeighborIndex(scaled)
                means.append(self._means(self.nearest(index, scaled[inside], self.rows[inside], groups, inside)[0]))
            distances[inside] = np.hstack(means)
        return distances[measured]

    def _measure(self, X: Floats) -> Floats:
        """Measure new samples in each view."""
        pairs = zip(self.indices, self.views.transform(X), strict=True)
        return np.hstack([self._means(self.nearest(index, new, X)[0]) for index, new in pairs])

    def nearest(
        self,
        index: "NeighborIndex",
        new: Floats,
        X: Floats,
        groups: Indices | None = None,
        inside: Indices | None = None,
    ) -> tuple[Floats, Indices]:
        """Find the nearest known samples of scaled rows `new`, whose unscaled values are `X`.

        If the new samples are known samples, `inside` are their rows and those of the same group are left out. So is
        one known sample that equals the new one in every feature, up to rounding: it is taken to be the same sample if
        enough others remain.
        """
        k = max(self._counts)
        n_left_out = 1 if groups is None else 1 + int(np.bincount(groups).max())
        distances, found = index.query(new, k + n_left_out, self.n_jobs)
        left_out = np.zeros(found.shape, dtype=bool) if groups is None else groups[found] == groups[inside][:, None]
        # The steps of a pipeline and whitening may round the same values differently.
        spare = (~left_out).sum(axis=1, keepdims=True) > k
        row, column = np.nonzero((distances < _SAME) & ~left_out & spare)
        difference = np.abs(self.rows[found[row, column]] - X[row])
        equal = (difference <= _SAME * self.views.standard.scale_).all(axis=1)
        row, first = np.unique(row[equal], return_index=True)
        left_out[row, column[equal][first]] = True
        kept = ~left_out
        kept &= kept.cumsum(axis=1) <= k
        return distances[kept].reshape(-1, k), found[kept].reshape(-1, k)

    def _means(self, distances: Floats) -> Floats:
        """Average the distances to the k nearest for each k."""
        return np.column_stack([distances[:, :k].mean(axis=1) for k in self._counts])

    def _log(self, distances: Floats) -> Floats:
        """Compute logarithms that are equal for equal distances, which the order of the rows rounds differently."""
        return np.round(np.log(np.maximum(distances, self._floor)), _DECIMALS)

    def _log_tp(self, views: Floats, *, held_out: bool = True) -> Floats:
        pairs = zip(self.tails, views.T, strict=True)
        return np.sum([tail.log_tp(view, held_out=held_out) for tail, view in pairs], axis=0)

    def score(self, X: Floats) -> Floats:
        """Compute the logarithm of the product of the tp's."""
        return self._log_tp(self._log(self._measure(X)))

    def tp_of_scores(self, scores: Floats) -> Floats:
        """Return the product of the tp's."""
        return np.exp(scores)

    def held_out_scores(self, X: Floats, plan: CalibrationPlan, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        """Leave-one-out scores are known from `fit`; other folds are fitted."""
        if plan.mode == "loo":
            return self.reference_[self._measured], self._own_scores
        return super().held_out_scores(X, plan, n_jobs)


def _row_names(X: Any) -> list[str] | None:
    X = native_frame(X)
    return [str(label) for label in X.index] if hasattr(X, "iloc") else None


class NeighborIndex:
    """Known rows, indexed to find the nearest of them by their Euclidean distance.

    A k-d tree for few features, otherwise a search of all in single precision, whose results are computed again in
    double precision.
    """

    def __init__(self, known: Floats):
        self.known = known
        self._tree = None
        if known.shape[1] <= _TREE_DIMENSIONS and len(known) > _TREE_ROWS:
            self._tree = KDTree(known, balanced_tree=False, compact_nodes=False)
        else:
            self._squares = np.einsum("ij,ij->i", known, known)
            self._short = np.vstack([-2 * known.T, self._squares], dtype=np.float32, casting="same_kind")

    def query(self, new: Floats, k: int, n_jobs: int | None = None) -> tuple[Floats, Indices]:
        """Find the k nearest known rows of each new row: distances and indices, nearest first."""
        k = min(k, len(self.known))
        found, distances = np.empty((len(new), k), dtype=np.intp), np.empty((len(new), k))
        if self._tree is not None:
            distances[:], found[:] = (
                each.reshape(len(new), k) for each in self._tree.query(new, k, workers=n_jobs or 1)
            )
            return distances, found

        def search(block: slice) -> None:
            rows = new[block]
            with np.errstate(invalid="ignore"):  # OpenBLAS may set this flag for finite numbers
                values = np.column_stack([rows, np.ones(len(rows))]).astype(np.float32) @ self._short
            indices = _smallest(values, k)
            exact = _distances(self.known, rows, indices)
            # Single precision loses distances that are small beside the rows' own lengths.
            coarse = exact[:, -1] ** 2 < 1e-4 * np.einsum("ij,ij->i", rows, rows)
            if coarse.any():
                indices[coarse] = _smallest(self._squares - 2 * rows[coarse] @ self.known.T, k)
                exact[coarse] = _distances(self.known, rows[coarse], indices[coarse])
            order = np.argsort(exact, axis=1, kind="stable")
            distances[block] = np.take_along_axis(exact, order, axis=1)
            found[block] = np.take_along_axis(indices, order, axis=1)

        run_in_threads(search, [(block,) for block in blocks(len(new), _BLOCK // len(self.known))], n_jobs)
        return distances, found


def _smallest(values: NDArray[Any], k: int) -> Indices:
    """Find the columns of the k smallest values in each row; for small k much faster than a partition."""
    rows = np.arange(len(values))
    found = np.empty((len(values), k), dtype=np.intp)
    for j in range(k):
        found[:, j] = values.argmin(axis=1)
        values[rows, found[:, j]] = np.inf
    return found


def _distances(known: Floats, new: Floats, found: Indices) -> Floats:
    differences = (new - known[column] for column in found.T)
    return np.sqrt(np.column_stack([np.einsum("ij,ij->i", rows, rows) for rows in differences]))


def _n_scaling_folds(n: int, p: int) -> int:
    """Choose how many folds learn the scalings of the known samples.

    Ten; from 1,000 samples and ten per feature on three, and from 100 per feature on two, which learn the scalings
    nearly as well as all samples do.
    """
    if n < max(_MANY, 10 * p):
        return 10
    return 3 if n < 100 * p else 2


def _folds(X: Floats, groups: Indices, n_folds: int) -> Indices:
    """Assign groups to folds in a way that does not depend on the order of the rows."""
    order = np.argsort(groups, kind="stable")  # equal rows may belong to several groups
    order = order[subsample(X[order], len(X))]
    _, first = np.unique(groups[order], return_index=True)
    rank = np.argsort(np.argsort(first))
    return (rank % n_folds)[groups]
