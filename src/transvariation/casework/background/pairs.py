"""Divide the fragments of background sources into known and questioned ones, in the design of a case."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Source = Sequence[Floats]  # one array of shape (replicates, p) per fragment

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


@dataclass(frozen=True)
class Draw:
    """Sets of fragments of the same source to compare, as weights of the rows of a background.

    Attributes
    ----------
    known, questioned : sparse array of shape (n, rows)
    n_known, n_questioned, source : see :class:`Pairs`
    """

    known: csr_array
    questioned: csr_array
    n_known: NDArray[np.intp]
    n_questioned: NDArray[np.intp]
    source: NDArray[np.intp]

    def pairs(self, rows: Floats) -> Pairs:
        """Compute the means to compare from the rows of the background, which may have been transformed."""
        counts = self.n_known, self.n_questioned, self.source
        return Pairs(self.known @ rows, self.questioned @ rows, *counts, np.ones(len(self.source), dtype=bool))


def draw_pairs(background: Sequence[Source], design: Design, rng: np.random.Generator) -> Draw:
    """Divide the fragments of every background source as the design does.

    Every fragment is questioned once, together with others if the design has several, against known fragments
    drawn at random from the rest; if the background is large, only some fragments of each source. A source with too few
    fragments for the design is divided as far as it goes.
    """
    sides: tuple[list[Any], list[Any]] = ([], [])
    counts = []
    most = max(1, MAX_DIFFERENCES // len(background))
    for number, (source, rows) in enumerate(zip(background, row_numbers(background), strict=True)):
        m = len(source)
        if m < 2:
            continue
        n_theirs = min(design.questioned, max(1, m - design.known), m - 1)
        n_own = min(design.known, m - n_theirs)
        replicates = [
            [subsample_rows(at, n, rng) for at in rows] for n in (design.known_replicates, design.questioned_replicates)
        ]
        for first in rng.permutation(m)[:most]:
            rest = rng.permutation(np.delete(np.arange(m), first))
            chosen = rest[n_theirs - 1 :][:n_own], np.append(first, rest[: n_theirs - 1])
            for side, fragments, means in zip(sides, chosen, replicates, strict=True):
                side.append([means[i] for i in fragments])
            counts.append((n_own, n_theirs, number))
    n_rows = sum(len(x) for source in background for x in source)
    known, questioned = (mean_weights(side, n_rows) for side in sides)
    return Draw(known, questioned, *np.array(counts, dtype=np.intp).T)


def same_source_pairs(background: Sequence[Source], design: Design, rng: np.random.Generator) -> Pairs:
    """Divide the fragments of every background source as the design does; see :func:`draw_pairs`."""
    return draw_pairs(background, design, rng).pairs(background_rows(background))


def mean_weights(sets: Sequence[Sequence[NDArray[np.intp]]], n_rows: int) -> csr_array:
    """Compute the weights of rows in the mean of the fragment means of each set of fragments."""
    columns = [np.concatenate(fragments) for fragments in sets]
    weights = [np.concatenate([np.full(len(x), 1 / len(x) / len(fragments)) for x in fragments]) for fragments in sets]
    ends = np.append(0, np.cumsum([len(c) for c in columns]))
    return csr_array((np.concatenate(weights), np.concatenate(columns), ends), shape=(len(sets), n_rows))


def background_rows(background: Sequence[Source]) -> Floats:
    """Join the rows of all fragments of all sources."""
    return np.concatenate([x for source in background for x in source])


def row_numbers(background: Sequence[Source]) -> list[list[NDArray[np.intp]]]:
    """Number the rows of each fragment of each source, in the order of :func:`background_rows`."""
    ends = iter(np.cumsum([len(x) for source in background for x in source]))
    return [[np.arange(end - len(x), end) for x, end in zip(source, ends, strict=False)] for source in background]


def subsample_rows(rows: NDArray[Any], n: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return at most n rows, drawn at random if there are more."""
    return rows[rng.choice(len(rows), n, replace=False)] if len(rows) > n else rows


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
