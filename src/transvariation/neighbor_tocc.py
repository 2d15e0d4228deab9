"""NeighborTOCC: transvariation probability of nearest-neighbor distances in several scalings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree

from transvariation.depth.probability import transvariation_probability
from transvariation.depth.tail import tail_transvariation_probability
from transvariation.parallel import run_in_threads
from transvariation.scalings import SCALINGS, StandardScaling
from transvariation.subsample import subsample
from transvariation.transvariation_classifier import Floats, TransvariationClassifier
from transvariation.validation import blocks, check_count

if TYPE_CHECKING:
    import pandas as pd

Indices = NDArray[np.intp]

_N_FOLDS = 10
_TREE_DIMENSIONS, _TREE_ROWS = 5, 2_000  # up to so many features and from so many rows on, a k-d tree is faster
_BLOCK = 1 << 20  # distances in one block


class NeighborTOCC(TransvariationClassifier):
    r"""Accept samples whose nearest known samples are as near as those of known samples usually are.

    A *view* measures how far a sample lies from the known samples by one number: the logarithm of its mean distance to
    the k nearest of them, in one scaling of the features. In each view the transvariation probability (tp) of a sample
    is the share of known samples, each measured without itself, that lie at least as far out, continued by an
    exponential tail (:func:`transvariation.tail_transvariation_probability`). Views are combined by the product of
    their tp's, as the paper combines features; the score is its logarithm. It is PAM-TOCC with every known sample as a
    medoid.

    Parameters
    ----------
    n_neighbors : int or sequence of int, default=(1, 3)
        The numbers of neighbors k. Larger ones, such as ``(3, 10)``, suit small clean samples of two features.
    sensitivity : float in (0, 1], default=0.9
        The share of target samples to accept.
    calibration : {"loo", "cv", "split", "resubstitution"} or splitter, default="loo"
        How the calibration scores are computed. ``"loo"`` uses the distances of each known sample to the others, in
        scalings learned without it (ten folds); it needs no further fits. ``"split"`` has an exact guarantee.
    scalings : sequence of str, default=("standard", "range", "normal", "whitened")
        Scalings of the features: standard deviations, ranges, normal scores of the ranks, and whitening by a shrunk
        covariance.
    max_reference : int or None, default=10_000
        The largest number of known samples that are kept as possible neighbors and for calibration. Of more, a
        subsample is drawn. ``None`` keeps all.
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
        scalings: Sequence[str] = ("standard", "range", "normal", "whitened"),
        max_reference: int | None = 10_000,
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.sensitivity = sensitivity
        self.calibration = calibration
        self.scalings = scalings
        self.max_reference = max_reference
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None, groups: ArrayLike | None = None) -> Self:
        """Learn the target class.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Target samples only.
        y : ignored
            Present for scikit-learn's conventions.
        groups : array-like of shape (n,), optional
            The item that each sample is a replicate of.
        """
        super().fit(X, y, groups)
        kept = {row.tobytes(): i for i, row in enumerate(self._X)}
        self._names: list[Any] = [None] * len(self._X)
        rows = self._validated(X)
        labels: Any = X.index if hasattr(X, "iloc") else range(len(rows))  # type: ignore[union-attr]
        for row, label in zip(rows, labels, strict=True):
            if (i := kept.get(row.tobytes())) is not None and self._names[i] is None:
                self._names[i] = label
        return self

    def _describe(self, X: Floats) -> None:
        counts = [self.n_neighbors] if isinstance(self.n_neighbors, int | np.integer) else list(self.n_neighbors)
        if not counts or not len(self.scalings):
            raise ValueError("n_neighbors and scalings must each name at least one value, such as (1, 3) and all four")
        if unknown := [name for name in self.scalings if name not in SCALINGS]:
            raise ValueError(
                f"scalings={self.scalings!r}: {unknown[0]!r} is unknown; choose from {', '.join(SCALINGS)}"
            )
        limit = len(X) if self.max_reference is None else check_count("max_reference", self.max_reference)
        order = subsample(X, len(X))  # also decides the folds, which then do not depend on the order of the rows
        self.reference_ = np.sort(order[:limit])
        self._X = X[self.reference_]
        self._counts = [min(check_count("n_neighbors", k), max(len(self._X) - 2, 1)) for k in counts]
        fold = np.empty(len(X), dtype=np.intp)
        fold[order] = np.arange(len(X)) % min(_N_FOLDS, len(X))
        self._scalings = [SCALINGS[name]().fit(self._X) for name in self.scalings]
        known = [self._held_out_views(SCALINGS[name], fold[self.reference_]) for name in self.scalings]
        distances = np.hstack(known)
        # Duplicated samples have distance 0, which has no logarithm.
        self._floor = np.array([column[column > 0].min(initial=np.inf) for column in distances.T])
        self._floor[np.isinf(self._floor)] = 1.0
        self._known = np.log(np.maximum(distances, self._floor))

    def _held_out_views(self, scaling: type[StandardScaling], fold: Indices) -> Floats:
        """Measure each known sample among the others, in a scaling learned without its fold."""
        result = np.empty((len(fold), len(self._counts)))
        for f in range(fold.max() + 1):
            rows = scaling().fit(self._X[fold != f]).transform(self._X)
            inside = np.flatnonzero(fold == f)
            result[inside] = self._views(rows, rows[inside], self._X[inside], inside)
        return result

    def _views(self, known: Floats, new: Floats, X: Floats, itself: Indices | None = None) -> Floats:
        """Average the distances to the k nearest known samples for each k, other than the sample itself."""
        distances, _ = self._nearest(known, new, X, itself)
        return np.column_stack([distances[:, :k].mean(axis=1) for k in self._counts])

    def _nearest(self, known: Floats, new: Floats, X: Floats, itself: Indices | None = None) -> tuple[Floats, Indices]:
        """Find the nearest known samples of scaled rows `new`, whose unscaled values are `X`.

        One known sample that equals the new one in every feature is left out: it is taken to be the same sample.
        """
        k = max(self._counts)
        distances, found = nearest(known, new, k + (1 if itself is None else 2), self.n_jobs)
        if itself is not None:
            distances, found = _drop_first(found == itself[:, None], distances, found)
        equal = np.zeros(found.shape, dtype=bool)
        for j in range(found.shape[1]):
            equal[:, j] = (self._X[found[:, j]] == X).all(axis=1)
        distances, found = _drop_first(equal, distances, found)
        return distances[:, :k], found[:, :k]

    def _log_tp(self, views: Floats, *, held_out: bool = True) -> Floats:
        pairs = zip(self._known.T, views.T, strict=True)
        return np.sum(
            [tail_transvariation_probability(known, view, held_out=held_out, log=True) for known, view in pairs], axis=0
        )

    def _score(self, X: Floats) -> Floats:
        views = [self._views(s.transform(self._X), s.transform(X), X) for s in self._scalings]
        return self._log_tp(np.log(np.maximum(np.hstack(views), self._floor)))

    def _loo_scores(self, X: Floats, groups: Indices | None) -> Floats | None:
        return self._log_tp(self._known, held_out=False) if groups is None else None

    def _tp(self, X: Floats) -> Floats:
        return np.exp(self._score(X))

    def _univariate_tp(self, X: Floats) -> Floats:
        columns = range(X.shape[1])
        return np.column_stack([transvariation_probability(self._X[:, u], X[:, u], tau_max="half") for u in columns])

    def _lowest(self) -> float:
        return -np.inf

    def transvariation_probability(self, Z: ArrayLike) -> Floats:
        """Compute the product of the tp's of all views: at most 1, and small far from the known samples."""
        return super().transvariation_probability(Z)

    def explain(self, Z: ArrayLike) -> "pd.DataFrame":
        """Describe, feature by feature, how each sample compares with the known samples nearest to it.

        Returns
        -------
        DataFrame
            The columns of the other classifiers' `explain` and two more. ``contribution``: the share of the squared
            distance to the nearest known samples that is due to the feature, averaged over all scalings; ``nearest``:
            the names of the nearest known samples, nearest first, as a comma-separated string.
        """
        table = super().explain(Z)
        rows = self._validated(Z)
        shares, names = np.zeros(rows.shape), np.empty(len(rows), dtype=object)
        for scaling in self._scalings:
            known, new = scaling.transform(self._X), scaling.transform(rows)
            _, found = self._nearest(known, new, rows)
            squares = ((new[:, None, :] - known[found]) ** 2).sum(axis=1)
            total = squares.sum(axis=1, keepdims=True)
            shares += np.divide(squares, total, out=np.full_like(squares, 1 / rows.shape[1]), where=total > 0)
            if scaling is self._scalings[0]:
                names[:] = [", ".join(str(self._names[i]) for i in row) for row in found]
        table["contribution"] = (shares / len(self._scalings)).ravel()
        table["nearest"] = np.repeat(names, rows.shape[1])
        return table


def nearest(known: Floats, new: Floats, k: int, n_jobs: int | None = None) -> tuple[Floats, Indices]:
    """Find the k nearest known rows of each new row: Euclidean distances and indices, nearest first."""
    k = min(k, len(known))
    if known.shape[1] <= _TREE_DIMENSIONS and len(known) > _TREE_ROWS:
        distances, found = KDTree(known).query(new, k, workers=n_jobs or 1)
        return distances.reshape(len(new), k), found.reshape(len(new), k)
    found = np.empty((len(new), k), dtype=np.intp)
    distances = np.empty((len(new), k))
    short = known.astype(np.float32), np.einsum("ij,ij->i", known, known).astype(np.float32)
    squares = np.einsum("ij,ij->i", known, known)

    def search(block: slice) -> None:
        rows = new[block]
        indices = _smallest(short[1] - 2 * (rows.astype(np.float32) @ short[0].T), k)
        exact = _distances(known, rows, indices)
        # Single precision loses distances that are small beside the rows' own lengths.
        coarse = exact[:, -1] ** 2 < 1e-3 * np.einsum("ij,ij->i", rows, rows)
        if coarse.any():
            indices[coarse] = _smallest(squares - 2 * (rows[coarse] @ known.T), k)
            exact[coarse] = _distances(known, rows[coarse], indices[coarse])
        order = np.argsort(exact, axis=1, kind="stable")
        distances[block] = np.take_along_axis(exact, order, axis=1)
        found[block] = np.take_along_axis(indices, order, axis=1)

    run_in_threads(search, [(block,) for block in blocks(len(new), _BLOCK // len(known))], n_jobs)
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
    return np.column_stack([np.linalg.norm(new - known[column], axis=1) for column in found.T])


def _drop_first(match: NDArray[np.bool_], distances: Floats, found: Indices) -> tuple[Floats, Indices]:
    """Drop the first marked column of each row, or the last one where none is marked."""
    drop = np.where(match.any(axis=1), match.argmax(axis=1), match.shape[1] - 1)
    keep = np.arange(match.shape[1]) != drop[:, None]
    return distances[keep].reshape(len(found), -1), found[keep].reshape(len(found), -1)
