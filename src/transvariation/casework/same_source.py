"""Compare a questioned fragment with few known ones by the same-source differences of a background.

A background holds many sources, each with several fragments. Differences between fragments of one source form a class:
from every source some fragments are taken as known and others as questioned, as many as in the case. The
difference of the case is a member of that class if both sets of fragments share a source. Its p-value is counted over
sources, so that it can be as small as 1 / (sources + 1) although the case has only a few fragments.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf_shrinkage

from transvariation.conformal import group_weights, p_values
from transvariation.depth.tail import tail_transvariation_probability

Floats = NDArray[np.float64]
Source = Sequence[Floats]  # one array of shape (replicates, p) per fragment

MIN_SOURCES = 10  # with fewer, no sensitivity of 0.9 can be supported
N_NEIGHBORS = (1, 3)
MAX_DIFFERENCES = 2_000  # drawn from a background; more do not change the error rates


@dataclass(frozen=True)
class Design:
    """How many fragments are compared, and how many replicates each has.

    Attributes
    ----------
    known, questioned : int
        Numbers of fragments.
    known_replicates, questioned_replicates : int
        Replicates per fragment; a background fragment with more is subsampled.
    """

    known: int
    questioned: int = 1
    known_replicates: int = 1
    questioned_replicates: int = 1


@dataclass(frozen=True)
class Pairs:
    """Sets of fragments to compare, as fragment means.

    Attributes
    ----------
    known, questioned : ndarray of shape (n, p)
        The mean of the fragment means of either set.
    n_known, n_questioned : ndarray of shape (n,)
        How many fragments each mean comes from; fewer than in the design where a source has fewer.
    source : ndarray of shape (n,)
        The number of the source of the known fragments.
    same : ndarray of bool
        Whether the questioned fragments come from that source, too.
    """

    known: Floats
    questioned: Floats
    n_known: NDArray[np.intp]
    n_questioned: NDArray[np.intp]
    source: NDArray[np.intp]
    same: NDArray[np.bool_]


def fragment_mean(replicates: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Compute the mean of at most n replicates, drawn at random if there are more."""
    if len(replicates) > n:
        replicates = replicates[rng.choice(len(replicates), n, replace=False)]
    return np.asarray(replicates.mean(axis=0))


def same_source_pairs(background: Sequence[Source], design: Design, rng: np.random.Generator) -> Pairs:
    """Divide the fragments of every background source as the design does.

    Every fragment is questioned once, together with others if the design has several, against known fragments
    drawn at random from the rest; if the background is large, only some fragments of each source. A source with too few
    fragments for the design is divided as far as it goes.
    """
    rows = []
    most = max(1, MAX_DIFFERENCES // len(background))
    for number, source in enumerate(background):
        m = len(source)
        if m < 2:
            continue
        means = [
            [fragment_mean(x, n, rng) for x in source] for n in (design.known_replicates, design.questioned_replicates)
        ]
        n_theirs = min(design.questioned, max(1, m - design.known), m - 1)
        n_own = min(design.known, m - n_theirs)
        for first in rng.permutation(m)[:most]:
            rest = rng.permutation(np.delete(np.arange(m), first))
            own, theirs = rest[n_theirs - 1 :][:n_own], np.append(first, rest[: n_theirs - 1])
            pair = (np.mean([means[side][i] for i in at], axis=0) for side, at in enumerate((own, theirs)))
            rows.append((*pair, n_own, n_theirs, number))
    known, questioned, n_known, n_questioned, numbers = (np.array(column) for column in zip(*rows, strict=True))
    return Pairs(known, questioned, n_known, n_questioned, numbers, np.ones(len(rows), dtype=bool))


def different_source_pairs(pairs: Pairs, n_pairs: int, rng: np.random.Generator) -> Pairs:
    """Pair the known fragments of one source with the questioned fragments of another, at random."""
    n = len(pairs.source)
    one, other = (rng.integers(n, size=2 * n_pairs) for _ in range(2))
    chosen = np.flatnonzero(pairs.source[one] != pairs.source[other])[:n_pairs]
    one, other = one[chosen], other[chosen]
    return Pairs(
        pairs.known[one],
        pairs.questioned[other],
        pairs.n_known[one],
        pairs.n_questioned[other],
        pairs.source[one],
        np.zeros(len(one), dtype=bool),
    )


def one_pair(known: Floats, questioned: Floats, design: Design) -> Pairs:
    """Make the pair of a case from the means of its known and its questioned fragments."""
    counts = np.array([design.known]), np.array([design.questioned])
    return Pairs(known[None], questioned[None], *counts, np.zeros(1, dtype=np.intp), np.zeros(1, dtype=bool))


def scaled_differences(pairs: Pairs) -> Floats:
    """Compute differences of means, scaled to the variance of a single fragment."""
    scale = np.sqrt(1 / pairs.n_known + 1 / pairs.n_questioned)
    return np.asarray((pairs.known - pairs.questioned) / scale[:, None])


class SameSourceDifferences:
    """The class of same-source differences of a background, for one design of comparison.

    A difference is scored as `NeighborTOCC` scores an object: the transvariation probability of its log mean distance
    to the 1 and to the 3 nearest same-source differences, multiplied. Distances are taken after whitening by the
    within-source covariance of fragment means (shrunk after Ledoit and Wolf). The differences of a background source
    are scored with that source left out of the covariance and of the neighbours.

    Parameters
    ----------
    design : Design
    seed : int
        For the division of each source's fragments.
    """

    def __init__(self, design: Design, seed: int = 0):
        self.design = design
        self.seed = seed

    def fit(self, background: Sequence[Source]) -> "SameSourceDifferences":
        """Learn from a background: one list of fragments per source."""
        usable = [source for source in background if len(source) > 1]
        if len(usable) < MIN_SOURCES:
            raise ValueError(
                f"the background has {len(usable)} sources with two or more fragments; at least {MIN_SOURCES} are "
                "needed"
            )
        rng = np.random.default_rng(self.seed)
        self.pairs_ = same_source_pairs(usable, self.design, rng)
        self.n_sources_ = len(usable)
        residuals, owner = _within_residuals(usable, self.design, rng)
        self._learn_covariance(residuals)
        differences = scaled_differences(self.pairs_)
        self.weights_ = group_weights(self.pairs_.source)
        self.whitened_ = differences @ self.whitening_
        distances = np.empty((len(differences), len(N_NEIGHBORS)))
        scatter, n = residuals.T @ residuals, len(residuals)
        for source in range(self.n_sources_):
            own, left_out = self.pairs_.source == source, residuals[owner == source]
            whitening = self._whitening((scatter - left_out.T @ left_out) / (n - len(left_out)))
            rest = differences[~own] @ whitening
            distances[own] = _log_distances(rest, differences[own] @ whitening)
        self.views_ = distances
        self.dispersion_ = np.array([_dispersion(self._means(source, rng) @ self.whitening_) for source in usable])
        self.calibration_ = self._tp(distances, held_out=False)
        return self

    def _learn_covariance(self, residuals: Floats) -> None:
        spread = np.sqrt((residuals**2).mean(axis=0))
        self.scale_ = np.where(spread > 0, spread, 1.0)
        self.shrinkage_ = float(ledoit_wolf_shrinkage(residuals / self.scale_, assume_centered=True))
        self.whitening_ = self._whitening(residuals.T @ residuals / len(residuals))

    def _whitening(self, covariance: Floats) -> Floats:
        """Shrink a covariance towards a multiple of the identity, in units of each variable, and take its root."""
        scaled = covariance / np.outer(self.scale_, self.scale_)
        target = np.trace(scaled) / len(scaled) * np.eye(len(scaled))
        values, axes = np.linalg.eigh((1 - self.shrinkage_) * scaled + self.shrinkage_ * target)
        floor = 1e-10 * values[-1]
        return np.asarray((axes / np.sqrt(np.maximum(values, floor))) / self.scale_[:, None])

    def score(self, differences: Floats) -> Floats:
        """Compute the log transvariation probability of scaled differences; high = typical of one source."""
        return self._tp(_log_distances(self.whitened_, differences @ self.whitening_))

    def p_values(self, differences: Floats) -> Floats:
        """Compute p-values of scaled differences; every background source counts once."""
        return p_values(self.calibration_, self.score(differences), self.weights_)

    def dispersion_p_value(self, means: Floats) -> float:
        """Compute the share of sources whose fragments differ from each other at least as much as these do."""
        return float(p_values(-self.dispersion_, [-_dispersion(means @ self.whitening_)])[0])

    def _means(self, source: Source, rng: np.random.Generator) -> Floats:
        """Compute the means of as many fragments of a source as the design has known ones."""
        chosen = rng.permutation(len(source))[: max(self.design.known, 2)]
        return np.array([fragment_mean(source[i], self.design.known_replicates, rng) for i in chosen])

    def held_out_p_values(self) -> Floats:
        """Compute the p-value of each same-source difference of the background among the other sources."""
        n = self.n_sources_
        ranks = p_values(self.calibration_, self.calibration_, self.weights_) * (n + 1)
        own = np.array(
            [
                self.weights_[(self.pairs_.source == s) & (self.calibration_ <= c)].sum()
                for s, c in zip(self.pairs_.source, self.calibration_, strict=True)
            ]
        )
        return np.asarray((ranks - own) / n)

    def _tp(self, distances: Floats, held_out: bool = True) -> Floats:
        views = zip(self.views_.T, distances.T, strict=True)
        parts = [tail_transvariation_probability(x, z, held_out=held_out, log=True) for x, z in views]
        return np.asarray(np.sum(parts, axis=0))


def _within_residuals(
    background: Sequence[Source], design: Design, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.intp]]:
    """Compute deviations of fragment means from their source mean, scaled to the variance of a fragment mean."""
    residuals = []
    for source in background:
        means = np.array([fragment_mean(x, design.questioned_replicates, rng) for x in source])
        residuals.append((means - means.mean(axis=0)) * np.sqrt(len(means) / (len(means) - 1)))
    return np.concatenate(residuals), np.repeat(np.arange(len(background)), [len(r) for r in residuals])


def _dispersion(means: Floats) -> float:
    """Compute the mean squared deviation of the rows from their mean."""
    return float(((means - means.mean(axis=0)) ** 2).sum() / (len(means) - 1))


def _log_distances(reference: Floats, points: Floats) -> Floats:
    """Compute the log mean distance to the nearest references for each number of neighbours.

    A difference and its negative are equally typical of one source, so both are references.
    """
    gram = points @ reference.T
    sizes = (points**2).sum(axis=1)[:, None] + (reference**2).sum(axis=1)
    squares = np.concatenate([sizes - 2 * gram, sizes + 2 * gram], axis=1)
    most = min(max(N_NEIGHBORS), squares.shape[1] - 1)
    nearest = np.sqrt(np.maximum(np.sort(np.partition(squares, most, axis=1)[:, : most + 1], axis=1), 0.0))
    means = [nearest[:, :k].mean(axis=1) for k in N_NEIGHBORS]
    return np.log(np.maximum(np.column_stack(means), 1e-12))
