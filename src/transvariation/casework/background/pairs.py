"""Divide the fragments of background sources into known and questioned ones, in the design of a case."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from transvariation._typing import Bools, Floats, Indices
from transvariation.conformal import group_weights

Source = Sequence[Floats]  # one array of shape (replicates, p) per fragment

N_PAIRS_DRAWN = 120_000  # same-source comparisons that are drawn from a background that has more
N_DIFFERENT = 120_000  # different-source comparisons
STEPS = (0.7548776662466927, 0.5698402909980532)  # of a sequence that fills the unit square evenly
MIN_IN_DESIGN = 30  # sources with enough fragments for a design, from which on the others are left out
N_PAIR_PARTS = 4  # of the drawn comparisons, by which the Monte Carlo error is estimated


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
    source, other : ndarray of shape (n,)
        The number of the source of the known fragments, and of the questioned ones.
    weight : ndarray of shape (n,)
        How many comparisons each pair stands for.
    part : ndarray of shape (n,)
        The number of the round in which a pair was drawn; rounds show the Monte Carlo error.
    """

    known: Floats
    questioned: Floats
    n_known: Indices
    n_questioned: Indices
    source: Indices
    other: Indices
    weight: Floats
    part: Indices

    def at(self, chosen: Bools) -> "Pairs":
        """Return some of the pairs."""
        return Pairs(**{name: value[chosen] for name, value in vars(self).items()})

    @property
    def same(self) -> Bools:
        """Whether known and questioned fragments have the same source."""
        return np.asarray(self.source == self.other)


@dataclass(frozen=True)
class Draw:
    """Sets of fragments of the same source to compare, as weights of the rows of a background.

    Attributes
    ----------
    n_parts : int
        The number of rounds, in each of which every fragment is questioned at most once; 1 if every division of every
        source is compared.
    known, questioned : sparse array of shape (n, rows)
    n_known, n_questioned, source, part : see :class:`Pairs`
    """

    n_parts: int
    known: csr_array
    questioned: csr_array
    n_known: Indices
    n_questioned: Indices
    source: Indices
    part: Indices

    def at(self, chosen: Bools) -> "Draw":
        """Return some of the comparisons."""
        return Draw(self.n_parts, *(value[chosen] for name, value in vars(self).items() if name != "n_parts"))

    def pairs(self, rows: Floats) -> Pairs:
        """Compute the means to compare from the rows of the background, which may have been transformed."""
        counts = self.n_known, self.n_questioned, self.source, self.source
        return Pairs(self.known @ rows, self.questioned @ rows, *counts, group_weights(self.source), self.part)


def draw_pairs(
    background: Sequence[Source], design: Design, rng: np.random.Generator, n_pairs: int | None = N_PAIRS_DRAWN
) -> Draw:
    """Divide the fragments of every background source as the design does.

    Every division is compared if there are no more than `n_pairs`. Otherwise they are drawn in rounds. In each round
    every fragment is questioned once, together with others if the design has several, against known fragments from the
    rest; if the background is large, only some fragments of each source. There are as many rounds as `n_pairs` allows.
    Fragments and replicates take turns, so that few rounds try all divisions of a small source.
    Sources with too few fragments for the design may vary less or more than others and are left out, unless too few
    others remain: then they are divided as far as they go.

    Parameters
    ----------
    background : sequence of sources
    design : Design
    rng : Generator
    n_pairs : int, optional
        How many comparisons to draw, about; fewer if no more exist. None draws one round.
    """
    sides: tuple[list[Floats], list[Floats]] = ([], [])
    counts: list[Indices] = []
    replicates: list[Indices] = []
    numbered = list(enumerate(row_numbers(background)))
    fill = [(number, rows) for number, rows in numbered if len(rows) >= design.known + design.questioned]
    usable = fill if len(fill) >= MIN_IN_DESIGN else [(number, rows) for number, rows in numbered if len(rows) > 1]
    n_rows = sum(len(x) for source in background for x in source)
    if n_pairs is not None and sum(len(rows) * _n_divisions(rows, design) for _, rows in usable) <= n_pairs:
        return _every_division(usable, design, n_rows)
    if n_pairs is None:
        most, n_parts = max(len(rows) for _, rows in usable), 1
    else:
        ways = max(_n_divisions(rows, design) for _, rows in usable)
        most = max(1, n_pairs // len(usable) // min(ways, N_PAIR_PARTS))
        n_parts = max(1, n_pairs // sum(min(len(rows), most) for _, rows in usable))
    for number, rows in usable:
        m, start = len(rows), len(replicates)
        n_own, n_theirs = _numbers(m, design)
        replicates += rows
        first = _turns(m, min(m, most), n_parts, rng)
        for q in range(m):
            part = np.flatnonzero((first == q).any(axis=1))
            rest = _turns(m - 1, n_own + n_theirs - 1, n_parts, rng)[part]
            rest += rest >= q
            questioned = np.column_stack([np.full(len(part), q), rest[:, n_own:]])
            for side, fragments in zip(sides, (rest[:, :n_own], questioned), strict=True):
                side.append((start + fragments) * n_parts + part[:, None])
            counts.append(np.column_stack([np.tile([n_own, n_theirs, number], (len(part), 1)), part]))
    means = []
    for side, n in zip(sides, (design.known_replicates, design.questioned_replicates), strict=True):
        # In every part each fragment is represented by some of its replicates.
        rows_of = [turn for at in replicates for turn in at[_turns(len(at), n, n_parts, rng)]]
        sets = [numbers for block in side for numbers in block]
        means.append(_mean_of(sets, len(rows_of)) @ _mean_of(rows_of, n_rows))
    return Draw(n_parts, means[0], means[1], *np.concatenate(counts).T)


def _every_division(sources: Sequence[tuple[int, list[Indices]]], design: Design, n_rows: int) -> Draw:
    """Compare every choice of fragments of each source, and of replicates of each fragment."""
    drawn: tuple[list[Indices], list[Indices]] = ([], [])  # of known and questioned fragments, the rows of each choice
    sets: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] = ([], [])
    counts: list[tuple[int, int, int]] = []
    for number, rows in sources:
        m = len(rows)
        n_own, n_theirs = _numbers(m, design)
        choices: tuple[list[range], list[range]] = ([], [])
        for found, at, n in zip(drawn, choices, (design.known_replicates, design.questioned_replicates), strict=True):
            for replicates in rows:
                start = len(found)
                found += map(np.array, combinations(replicates, min(n, len(replicates))))
                at.append(range(start, len(found)))
        for theirs in combinations(range(m), n_theirs):
            for own in combinations([i for i in range(m) if i not in theirs], n_own):
                chosen = product(product(*(choices[0][i] for i in own)), product(*(choices[1][i] for i in theirs)))
                for known, questioned in chosen:
                    sets[0].append(known)
                    sets[1].append(questioned)
                    counts.append((n_own, n_theirs, number))
    means = [_mean_of(side, len(found)) @ _mean_of(found, n_rows) for side, found in zip(sets, drawn, strict=True)]
    n_known, n_questioned, source = np.array(counts).T
    return Draw(1, means[0], means[1], n_known, n_questioned, source, np.zeros(len(counts), dtype=np.intp))


def _numbers(m: int, design: Design) -> tuple[int, int]:
    """Return how many of m fragments are known and questioned; fewer than in the design where m is small."""
    n_theirs = min(design.questioned, max(1, m - design.known), m - 1)
    return min(design.known, m - n_theirs), n_theirs


def _mean_of(sets: Sequence[Indices] | Sequence[tuple[int, ...]], n: int) -> csr_array:
    """Compute the weights of n items in the mean of each set of them."""
    sizes = np.array([len(numbers) for numbers in sets])
    ends = np.append(0, np.cumsum(sizes))
    return csr_array((np.repeat(1 / sizes, sizes), np.concatenate(sets), ends), shape=(len(sets), n))


def _turns(m: int, n: int, n_turns: int, rng: np.random.Generator) -> Indices:
    """Choose n of m items in every turn, so that all are chosen about equally often."""
    n = min(n, m)
    if n == 0:
        return np.empty((n_turns, 0), dtype=np.intp)
    if n > 1 and math.comb(m, n) <= n_turns:  # every choice takes its turn
        choices = np.array(list(combinations(range(m), n)))
        return rng.permuted(choices[_turns(len(choices), 1, n_turns, rng)[:, 0]], axis=1)
    cycle = math.ceil(m / n)
    orders = rng.permuted(np.tile(np.arange(m), (math.ceil(n_turns / cycle), 1)), axis=1)
    turn = np.arange(n_turns)
    return np.asarray(orders[turn[:, None] // cycle, (turn[:, None] % cycle * n + np.arange(n)) % m])


def _n_divisions(rows: Sequence[Indices], design: Design) -> int:
    """Count in how many ways one fragment of a source can be questioned, up to a million."""
    m = len(rows)
    n_own, n_theirs = _numbers(m, design)
    ways = math.comb(m - 1, n_theirs - 1) * math.comb(m - n_theirs, n_own)
    for n, fragments in ((design.known_replicates, n_own), (design.questioned_replicates, n_theirs)):
        choices = max(math.comb(len(at), min(n, len(at))) for at in rows)
        ways = min(ways * choices ** min(fragments, 20), 10**6)
    return ways


def same_source_pairs(
    background: Sequence[Source], design: Design, rng: np.random.Generator, n_pairs: int | None = None
) -> Pairs:
    """Divide the fragments of every background source as the design does, in one round by default."""
    return draw_pairs(background, design, rng, n_pairs).pairs(background_rows(background))


def mean_weights(sets: Sequence[Sequence[Indices]], n_rows: int) -> csr_array:
    """Compute the weights of rows in the mean of the fragment means of each set of fragments."""
    columns = [np.concatenate(fragments) for fragments in sets]
    sizes = [np.array([len(x) for x in fragments]) for fragments in sets]
    weights = [np.repeat(1 / n / len(n), n) for n in sizes]
    ends = np.append(0, np.cumsum([len(c) for c in columns]))
    return csr_array((np.concatenate(weights), np.concatenate(columns), ends), shape=(len(sets), n_rows))


def background_rows(background: Sequence[Source]) -> Floats:
    """Join the rows of all fragments of all sources."""
    return np.concatenate([x for source in background for x in source])


def row_numbers(background: Sequence[Source]) -> list[list[Indices]]:
    """Number the rows of each fragment of each source, in the order of :func:`background_rows`."""
    ends = iter(np.cumsum([len(x) for source in background for x in source]))
    return [[np.arange(end - len(x), end) for x, end in zip(source, ends, strict=False)] for source in background]


def subsample_rows(rows: NDArray, n: int, rng: np.random.Generator) -> NDArray:
    """Return at most n rows, drawn at random if there are more."""
    return rows[rng.choice(len(rows), n, replace=False)] if len(rows) > n else rows


def different_source_pairs(
    pairs: Pairs, rng: np.random.Generator, n_pairs: int = N_DIFFERENT, whitening: Floats | None = None
) -> Pairs:
    """Pair the known fragments of each source with questioned fragments of other sources.

    All comparisons are made if there are no more than asked for. Otherwise the nearer sources, which decide about
    misleading evidence, are compared more often; weights make all pairs of sources count equally.

    Parameters
    ----------
    pairs : Pairs
        Of the same source.
    rng : Generator
    n_pairs : int
        How many to form, about; fewer if no more exist.
    whitening : ndarray of shape (p, p), optional
        The coordinates in which sources are near each other; by default those of the variables.
    """
    if len(pairs.source) ** 2 <= n_pairs:
        known, questioned = np.nonzero(pairs.source[:, None] != pairs.source)
        weight = group_weights(pairs.source)[known] * group_weights(pairs.source)[questioned]
        part = np.zeros(len(known), dtype=np.intp)
    else:
        _, sizes = np.unique(pairs.source, return_counts=True)
        order, starts = np.lexsort((rng.random(len(pairs.source)), pairs.source)), np.cumsum(sizes) - sizes
        one, other, weight, part = _pairs_of_sources(pairs, order, starts, n_pairs, whitening, rng)
        # Evenly spread over all combinations of two sources (Roberts, 2018), from a random one on.
        offsets = rng.random((2, len(sizes), len(sizes)))[:, one, other]
        spread = (offsets + part * np.array(STEPS)[:, None]) % 1
        known, questioned = (
            order[starts[i] + (share * sizes[i]).astype(np.intp)] for i, share in zip((one, other), spread, strict=True)
        )
    return Pairs(
        pairs.known[known],
        pairs.questioned[questioned],
        pairs.n_known[known],
        pairs.n_questioned[questioned],
        pairs.source[known],
        pairs.source[questioned],
        weight,
        part,
    )


def _pairs_of_sources(
    pairs: Pairs,
    order: Indices,
    starts: Indices,
    n_pairs: int,
    whitening: Floats | None,
    rng: np.random.Generator,
) -> tuple[Indices, Indices, Floats, Indices]:
    """Choose ordered pairs of different sources, how many each stands for, and the round of each.

    Each source is compared with its k-th nearest one in proportion to 1 / k: systematic sampling, from a random start.
    """
    n = len(starts)
    each = max(1, n_pairs // n)
    means = np.add.reduceat(pairs.known[order], starts) / np.diff(starts, append=len(order))[:, None]
    distances = squareform(pdist(means if whitening is None else means @ whitening))
    np.fill_diagonal(distances, -1)  # even if two sources are equal, each is its own nearest
    nearest = distances.argsort(axis=1)[:, 1:]
    expected = 1 / np.arange(1, n)
    expected *= each / expected.sum()
    at = np.searchsorted(np.cumsum(expected), np.arange(each) + rng.random((n, 1))).clip(max=n - 2)
    other = np.take_along_axis(nearest, at, axis=1)
    return np.repeat(np.arange(n), each), other.ravel(), 1 / expected[at].ravel(), np.tile(np.arange(each), n)


def case_pairs(known: Floats, questioned: Floats, design: Design) -> Pairs:
    """Pair means of known with those of questioned fragments of a case, whose sources the background does not have."""
    known, questioned = np.atleast_2d(known, questioned)
    of_each = np.ones(len(known), dtype=np.intp)
    counts = design.known * of_each, design.questioned * of_each
    return Pairs(known, questioned, *counts, -of_each, -2 * of_each, np.ones(len(known)), 0 * of_each)


def scaled_differences(pairs: Pairs) -> Floats:
    """Compute differences of means, scaled to the variance of a single fragment."""
    scale = np.sqrt(1 / pairs.n_known + 1 / pairs.n_questioned)
    return np.asarray((pairs.known - pairs.questioned) / scale[:, None])
