"""The description behind NeighborTOCC: tp of nearest-neighbor distances, over views."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from transvariation._typing import Bools, Fields, Floats, Indices
from transvariation.calibration import CalibrationPlan
from transvariation.depth.tail import ExponentialTail, fit_tail, log_tp
from transvariation.description import Description
from transvariation.exceptions import warn_user
from transvariation.neighbor_index import NeighborIndex, PairIndex
from transvariation.parallel import run_in_threads
from transvariation.scalings import SCALINGS, NormalScoreScaling, ScaledViews
from transvariation.subsample import column_order, deal_out, subsample
from transvariation.validation import blocks, check_count

_MAX_MEASURED = 5_000  # known samples from which tp and the threshold are computed, and that are neighbors in pairs
_MIN_SCALE = 0.1  # of the tails: where many distances are equal, tp falls by a factor e for 10 % more distance
_SAME_DISTANCE = 1e-6  # standard deviations: equal samples are at most this far apart after rounding
_LOG_DECIMALS = 6  # of the logarithms of distances, which are kept in single precision
_FEWEST_FOLDS, _MOST_FOLDS = 4, 20  # in which the scalings of the known samples are learned,
_FOLDS_PER_RATIO = 50  # ... so many times features / samples: the more of it, the more a scaling fits its samples
_SAMPLES_OF_GROWTH = 50  # that are measured without two folds
_MAX_SEARCHED = 10_000  # samples among which the neighbors of suspicious samples are looked for
_EXPECTED_SUSPICIOUS = 0.1  # expected number of clean samples that are called suspicious
_BLOCK_SAMPLES = 1_024  # samples that are scored at a time
_PARTNERS_PER_FEATURE = 2  # of each feature
_MOST_PAIRS = 8
_MOST_FEATURES = 100  # in which pairs are looked for: among more, eight pairs are too few to tell anything
_PAIR_ROWS = 2_000  # known samples whose ranks decide which features are paired
_PAIR_VALUES = 2_000  # known distances in a pair that are kept
_PAIR_SCALING = "normal"
_PAIR_WEIGHT = 1.4  # of all pairs, relative to all views of all features,
_HALF_WEIGHT = 600  # ... and the number of known samples with which they have half of this weight
_SCORE_UNIT = 2.0**14  # of normal scores, rounded so that sums of products are exact


@dataclass(eq=False)
class NeighborDistances(Description):
    """Weighted sum, over views, of the logarithm of the tp of the distance to the nearest known samples.

    Only the known samples and the sorted measurements of them are kept in a file; scalings, indices and tails follow
    from these and are built once in every process.
    """

    n_neighbors: int | Sequence[int]
    scalings: Sequence[str]
    pairs: bool = True
    categorical: Bools | None = None
    max_reference: int | None = None
    n_jobs: int | None = None

    def fit(self, X: Floats, groups: Indices | None = None) -> Self:
        """Keep the known samples and measure each without its group."""
        counts = self._check()
        limit = len(X) if self.max_reference is None else check_count("max_reference", self.max_reference)
        by_group = np.arange(len(X)) if groups is None else np.argsort(groups, kind="stable")
        drawn = by_group[subsample(X[by_group], len(X))]  # equal samples may belong to several groups
        self._kept = None if limit >= len(X) else np.sort(drawn[:limit]).astype(np.int32)
        self.rows = X if self._kept is None else X[self._kept]
        order = np.searchsorted(self.reference_, drawn[:limit])
        n = len(self.rows)
        groups = np.arange(n) if groups is None else np.unique(groups[self.reference_], return_inverse=True)[1]
        n_others = max(n - int(np.bincount(groups).max()), 1)
        self._drawn = None if n <= _MAX_MEASURED else np.sort(order[:_MAX_MEASURED]).astype(np.int32)
        if max(counts) > max(n_others, 3):
            warn_user(f"n_neighbors={max(counts)} exceeds the number of other samples; {n_others} is used", UserWarning)
        self._counts = [min(k, n_others) for k in counts]
        self._pairs = []
        if self.pairs and _PAIR_SCALING in self.scalings and 2 < X.shape[1] <= _MOST_FEATURES:
            self._pairs = feature_pairs(self.rows[order[:_PAIR_ROWS]], self.categorical)
        distances = self._measure_known(groups, order)
        # Duplicated samples have distance 0 up to rounding, which has no logarithm.
        self._floor = np.array([column[column > _SAME_DISTANCE].min(initial=np.inf) for column in distances.T])
        self._floor[np.isinf(self._floor)] = 1.0
        known = self._log(distances)
        limits = np.where(
            np.arange(known.shape[1]) < len(self.scalings) * len(self._counts), _MAX_MEASURED, _PAIR_VALUES
        )
        self._known = [_quantiles(column, limit) for column, limit in zip(known.T, limits, strict=True)]
        self._own_scores = self._log_tp(known, held_out=False)
        _ = self.indices, self.pair_index  # build them now
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
    def _measured(self) -> Indices:
        """The kept rows that are measured."""
        return np.arange(len(self.rows)) if self._drawn is None else self._drawn.astype(np.intp)

    @cached_property
    def weights(self) -> Floats:
        """The weight of each view: first those of all features, then those of pairs."""
        n, n_whole, n_pairs = len(self.rows), len(self.scalings) * len(self._counts), len(self._pairs)
        of_pairs = n_whole * _PAIR_WEIGHT * n / (n + _HALF_WEIGHT)
        weights = np.concatenate([np.ones(n_whole), np.full(n_pairs, of_pairs / max(n_pairs, 1))])
        return weights * (n_whole / weights.sum())  # the product of the tp's keeps its magnitude

    @cached_property
    def scaled(self) -> ScaledViews:
        """The known samples in each scaling."""
        return ScaledViews(self.scalings, self.rows, categorical=self.categorical)

    @cached_property
    def indices(self) -> list[NeighborIndex]:
        """The index of all features in each scaling."""
        return self._index(self.scaled.known)

    @cached_property
    def pair_index(self) -> PairIndex | None:
        """The index of the pairs of features, if there are any."""
        return self._index_pairs(self.scaled.known)

    @cached_property
    def tails(self) -> list[ExponentialTail]:
        """The tail of the known measurements of each view."""
        return [fit_tail(known, min_scale=_MIN_SCALE) for known in self._known]

    def __getstate__(self) -> Fields:
        derived = ("_measured", "weights", "scaled", "indices", "pair_index", "tails")
        return {name: value for name, value in vars(self).items() if name not in derived}

    def _index(self, scaled: list[Floats]) -> list[NeighborIndex]:
        return [NeighborIndex(*each) for each in zip(scaled, self.scaled.mismatch, strict=True)]

    def _index_pairs(self, scaled: list[Floats]) -> PairIndex | None:
        if not self._pairs:
            return None
        return PairIndex(self._paired(scaled)[self._measured], self._pairs, self._paired(self.scaled.mismatch))

    def _measure_known(self, groups: Indices, order: Indices) -> Floats:
        """Measure known samples in each view, each without its group, in scalings learned without its fold."""
        n_groups, (n, p) = int(groups.max()) + 1, self.rows.shape
        n_folds = min(n_groups, int(np.clip(_FOLDS_PER_RATIO * p / n, _FEWEST_FOLDS, _MOST_FOLDS)))
        folds = deal_out(np.argsort(np.unique(groups[order], return_index=True)[1]), n_folds)[groups]
        measured = np.zeros(n, dtype=bool)
        measured[self._measured] = True
        distances, without_two = np.full((2, n, len(self.weights)), np.nan)
        whole = self.scaled  # learned before the threads start

        def measure(result: Floats, *left_out: int) -> None:
            within = np.isin(folds, left_out)
            inside = np.flatnonzero(measured & within)
            part, scaled = ScaledViews(self.scalings, self.rows[~within], whole), []
            for known, new in zip(part.known, part.transform(self.rows[within]), strict=True):
                rows = np.empty_like(self.rows)
                rows[~within], rows[within] = known, new
                scaled.append(rows)
            pair_index = self._index_pairs(scaled) if result is distances else None
            own = groups, groups[inside]
            at = [rows[inside] for rows in scaled]
            found = self._distances(self._index(scaled), pair_index, at, self.rows[inside], own)
            result[inside, : found.shape[1]] = found

        n_twice = min((n_folds - 1) // 2, int(np.ceil(_SAMPLES_OF_GROWTH * n_folds / (2 * n))))
        pieces = [(without_two, 2 * i, 2 * i + 1) for i in range(n_twice)]
        run_in_threads(measure, pieces + [(distances, fold) for fold in range(n_folds)], self.n_jobs)
        if n_twice:
            # In scalings of fewer samples known samples seem to lie farther out than new ones: where two folds are left
            # out, distances are longer by about as much again.
            twice = measured & (folds < 2 * n_twice)
            logs = np.log(np.maximum([distances[twice], without_two[twice]], _SAME_DISTANCE))
            growth = np.median(np.nan_to_num(logs[1] - logs[0]), axis=0)
            distances *= np.exp(-growth * (1 - 1.5 / n_folds))
        return distances[self._measured]

    def _paired(self, of_scalings: list[Floats]) -> Floats:
        """Select the scaling in which pairs are compared."""
        return of_scalings[list(self.scalings).index(_PAIR_SCALING)]

    def _distances(
        self,
        indices: list[NeighborIndex],
        pair_index: PairIndex | None,
        new: list[Floats],
        X: Floats,
        groups: tuple[Indices, Indices] | None = None,
    ) -> Floats:
        """Compute the mean distance in each view of scaled rows `new`, whose unscaled values are `X`.

        Left out are known samples of a sample's own group, where `groups` are those of the known and of the new
        samples, and one that equals the sample in every feature, up to rounding: it is taken to be the same sample if
        enough others remain.
        """
        duplicate: Indices | None = None
        columns = []
        for index, scaled in zip(indices, new, strict=True):
            distances, _, duplicate = self.nearest(index, scaled, X, groups, duplicate)
            columns += [distances[:, :k].mean(axis=1, keepdims=True) for k in self._counts]
        if pair_index is not None and duplicate is not None:
            at_or_after = np.minimum(np.searchsorted(self._measured, duplicate), len(self._measured) - 1)
            position = np.where(self._measured[at_or_after] == duplicate, at_or_after, -1)
            near = None if groups is None else (groups[0][self._measured], groups[1])
            columns.append(pair_index.nearest(self._paired(new), position, near))
        return np.hstack(columns)

    def nearest(
        self,
        index: NeighborIndex,
        new: Floats,
        X: Floats,
        groups: tuple[Indices, Indices] | None = None,
        duplicate: Indices | None = None,
    ) -> tuple[Floats, Indices, Indices]:
        """Find the k nearest known samples of scaled rows `new`, whose unscaled values are `X`.

        See :meth:`_distances` for those that are left out; `duplicate` is found if it is not given.
        """
        k = max(self._counts)
        n_left_out = 1 if groups is None else 1 + int(np.bincount(groups[0]).max())
        distances, found = index.query(new, k + n_left_out)
        left_out = np.zeros(found.shape, dtype=bool) if groups is None else groups[0][found] == groups[1][:, None]
        if duplicate is None:
            duplicate = self._duplicates(distances, found, left_out, X)
        spare = (~left_out).sum(axis=1, keepdims=True) > k
        left_out |= (found == duplicate[:, None]) & spare
        left_out |= np.isinf(distances)  # nothing in common
        if left_out.any():
            distances = np.where(left_out, np.nan, distances)
            at = np.arange(len(new))[:, None], np.argsort(left_out, axis=1, kind="stable")
            distances, found = distances[at], found[at]
        return distances[:, :k], found[:, :k], duplicate

    def _duplicates(self, distances: Floats, found: Indices, left_out: Bools, X: Floats) -> Indices:
        """Find for each sample one of the nearest known samples that equals it up to rounding; -1 if there is none."""
        duplicate = np.full(len(X), -1)
        # The steps of a pipeline and whitening may round the same values differently.
        row, column = np.nonzero((distances < _SAME_DISTANCE) & ~left_out)
        if not len(row):
            return duplicate
        known, numeric = self.rows[found[row, column]], self.scaled.numeric
        with np.errstate(invalid="ignore"):
            equal = (known == X[row]) | (np.isnan(known) & np.isnan(X[row]))
            difference = np.abs(known[:, numeric] - X[row][:, numeric])
            equal[:, numeric] |= difference <= _SAME_DISTANCE * self.scaled.standard.scale_
        same = equal.all(axis=1)
        row, first = np.unique(row[same], return_index=True)
        duplicate[row] = found[row, column[same][first]]
        return duplicate

    def _log(self, distances: Floats) -> Floats:
        """Compute logarithms that are equal for equal distances, which the order of the rows rounds differently."""
        return np.round(np.log(np.maximum(distances, self._floor)), _LOG_DECIMALS).astype(np.float32)

    def _log_tp(self, views: Floats, *, held_out: bool = True) -> Floats:
        """Add the logarithms of tp over the views; a view that cannot be measured adds nothing."""
        return np.nan_to_num(log_tp(self.tails, views, held_out=held_out)) @ self.weights

    def score(self, X: Floats) -> Floats:
        """Compute the weighted sum of the logarithms of the tp's."""
        scores = np.empty(len(X))
        indices, pair_index, _ = self.indices, self.pair_index, self.tails  # built before the threads start

        def score(block: slice) -> None:
            new = list(self.scaled.transform(X[block]))
            scores[block] = self._log_tp(self._log(self._distances(indices, pair_index, new, X[block])))

        run_in_threads(score, [(block,) for block in blocks(len(X), _BLOCK_SAMPLES)], self.n_jobs)
        return scores

    def tp_of_scores(self, scores: Floats) -> Floats:
        """Return the product of the tp's, each raised to the power of its weight."""
        return np.exp(scores)

    def held_out_scores(self, X: Floats, plan: CalibrationPlan, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        """Leave-one-out scores are known from `fit`; other folds are fitted."""
        if plan.mode == "loo":
            return self.reference_[self._measured], self._own_scores
        return super().held_out_scores(X, plan, n_jobs)


def find_suspicious(description: NeighborDistances, X: Floats, groups: Indices | None, trim: float) -> Indices:
    """Find at most the share `trim` of the samples that lie farther from the others than a regular tail explains.

    First the share `trim` of the samples is left out whose neighbors number ``trim * n`` are farthest: a cluster of
    fewer bad samples has no such neighbor inside. A description of the others scores all samples, and an exponential
    tail through the quantiles ``1 - 4 trim`` and ``1 - trim`` of the scores is continued. Samples beyond it, with a
    probability of less than ``0.1 / n``, are suspicious. It is done twice, the second time without the samples that had
    the lowest scores.

    Returns
    -------
    ndarray of int
        Their rows, the most suspicious one first.
    """
    n = len(X)
    n_left_out = min(int(np.ceil(trim * n)), n - 2)  # two samples are the fewest to describe a class
    drawn = subsample(X, _MAX_SEARCHED)
    scaled = ScaledViews(description.scalings, X[drawn], categorical=description.categorical)
    k = max(int(np.ceil(trim * len(drawn))), 1) + 1
    ranks = np.zeros(n)
    for known, new, mismatch in zip(scaled.known, scaled.transform(X), scaled.mismatch, strict=True):
        distances = NeighborIndex(known, mismatch).query(new, k)[0][:, -1]
        ranks += np.unique(distances, return_inverse=True)[1]
    left_out = np.argsort(-ranks, kind="stable")[:n_left_out]
    for _ in range(2):
        kept = np.delete(np.arange(n), left_out)
        fitted = description.unfitted().fit(X[kept], None if groups is None else groups[kept])
        far = -fitted.score(X)
        start, inner = np.sort(far)[[n - n_left_out - 1, max(n - 4 * n_left_out - 1, 0)]]
        scale = max(start - inner, _MIN_SCALE) / np.log(4)
        left_out = np.argsort(-far, kind="stable")[:n_left_out]
    return left_out[np.log(trim) - (far[left_out] - start) / scale < np.log(_EXPECTED_SUSPICIOUS / n)]


def feature_pairs(X: Floats, categorical: Bools | None = None) -> list[tuple[int, int]]:
    """Pair each feature with the two whose normal scores are most correlated with its own; keep the closest pairs.

    Categories are ranked by their frequency, and missing values are taken to be in the middle. Sums of products of
    integers are exact, so that the pairs do not depend on the order of the rows and features.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(6.0)
    >>> feature_pairs(np.column_stack([x, x % 2, x**2, x % 3]))
    [(0, 2), (0, 3), (2, 3), (0, 1), (1, 2)]
    """
    values = X.copy()
    for j in () if categorical is None else np.flatnonzero(categorical):
        _, codes, counts = np.unique(X[:, j], return_inverse=True, return_counts=True)
        values[:, j] = counts[codes]
    scores = np.nan_to_num(np.rint(_SCORE_UNIT * NormalScoreScaling().fit_transform(values)))
    columns = column_order(scores)
    scores = scores[:, columns]
    lengths = np.sqrt(np.einsum("ij,ij->j", scores, scores))
    lengths[lengths == 0] = np.inf
    closeness = np.abs(scores.T @ scores) / lengths / lengths[:, None]
    np.fill_diagonal(closeness, -1.0)
    partners = np.argsort(-closeness, axis=1, kind="stable")[:, :_PARTNERS_PER_FEATURE]
    found = {(min(i, j), max(i, j)) for i, row in enumerate(partners.tolist()) for j in row}
    chosen = sorted(found, key=lambda pair: (-closeness[pair], pair))[:_MOST_PAIRS]
    return [tuple(sorted((int(columns[i]), int(columns[j])))) for i, j in chosen]  # type: ignore[misc]


def _quantiles(values: Floats, limit: int) -> Floats:
    """Return the sorted values that are not missing, or evenly spaced ones of more than `limit`.

    Examples
    --------
    >>> _quantiles(np.array([4.0, 3.0, np.nan, 2.0, 5.0, 1.0, 0.0]), 3)
    array([1., 3., 5.])
    """
    ordered = np.sort(values[~np.isnan(values)])
    if len(ordered) <= limit:
        return ordered
    return ordered[((np.arange(limit) + 0.5) * len(ordered) / limit).astype(np.intp)]
