"""Partitioning around medoids: the k objects with the smallest sum of distances from every object to its closest one.

Small samples get Kaufman and Rousseeuw's BUILD and SWAP, every swap the best of all. Large ones start from the medoids
of a subsample and take improving swaps as they come, with distances computed on the fly: memory grows with n, not n^2.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from transvariation.typicality.rows import as_rows

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

LARGE = 2_000  # from here on no table of all distances is made
_BLOCK = 2_000_000  # distances held at a time
_CACHED = 20_000  # distances worked on at a time
_WORTHWHILE = 1e-4  # of the sum of distances: what a swap must save in a large sample
EQUAL = 1e-9  # sums that differ by less than this share are equal: on rounded data rounding must not choose the medoid


class Medoids(NamedTuple):
    """The rows that are medoids, the cluster of every row, and the mean distance to the closest medoid."""

    rows: Indices
    labels: Indices
    objective: float


def medoids(X: ArrayLike, n_clusters: int) -> Medoids:
    """Partition a sample around `n_clusters` of its own objects, by Euclidean distance.

    Clusters are numbered in the order in which their first members stand in `X`. From 2000 objects on, the medoids
    are sought among 2000 evenly spaced rows only, and a swap must save a ten-thousandth of the sum of distances; every
    object counts in that sum.

    References
    ----------
    Kaufman, L. and Rousseeuw, P. J. (1990). Finding Groups in Data. Wiley.
    Schubert, E. and Rousseeuw, P. J. (2021). Fast and eager k-medoids clustering. Information Systems 101, 101804.

    Examples
    --------
    >>> medoids([0, 1, 2, 10, 11, 12], n_clusters=2).rows
    array([1, 4])
    """
    X = as_rows(X, "X")
    candidates = np.unique(np.linspace(0, len(X) - 1, min(len(X), LARGE)).astype(np.intp))
    check_n_clusters(n_clusters, len(np.unique(X[candidates], axis=0)))
    rows = candidates[medoid_rows(cdist(X[candidates], X[candidates]), n_clusters)]
    if len(X) > len(candidates):
        rows = _swap_eagerly(X, candidates, rows)
    labels, distance = closest(X, X[rows])
    # Clusters in order of appearance; a medoid stands in its own cluster even among duplicates of another one.
    _, first = np.unique(labels, return_index=True)
    order = np.argsort(first)
    return Medoids(rows[order], np.argsort(order)[labels], float(distance.mean()))


def check_n_clusters(n_clusters: int, distinct: int) -> None:
    """Say so if there are not enough distinct objects for so many clusters."""
    if not 1 <= n_clusters <= distinct:
        raise ValueError(
            f"n_clusters={n_clusters} must lie between 1 and the number of distinct target objects, here {distinct}"
        )


def closest(X: Floats, centers: Floats) -> tuple[Indices, Floats]:
    """Find the closest centre of every row and the distance to it.

    Of equally close centres, the one that comes first when they are sorted by their coordinates: the same one in
    whatever order they are given.

    Examples
    --------
    >>> closest(np.array([[0.0], [1.0], [5.0]]), np.array([[2.0], [0.0]]))[0]
    array([1, 1, 0])
    """
    order = np.lexsort(centers.T[::-1])
    step = max(1, _BLOCK // len(centers))
    parts = [cdist(X[start : start + step], centers[order]) for start in range(0, len(X), step)]
    labels = np.concatenate([part.argmin(axis=1) for part in parts])
    return order[labels], np.concatenate([part.min(axis=1) for part in parts])


def medoid_rows(distances: Floats, k: int) -> Indices:
    """Find the medoids from the table of all distances: BUILD, then SWAP."""
    return _swap(distances, _build(distances, k))


def _build(distances: Floats, k: int) -> Indices:
    """Add, k times, the object that lowers the sum of distances the most; the last of equals."""
    chosen: list[int] = []
    for _ in range(k):
        change = build_terms(distances, chosen).sum(axis=1)
        change[chosen] = np.inf
        best = change.min()
        chosen.append(int(np.flatnonzero(change <= best + EQUAL * abs(best))[-1]))
    return np.array(sorted(chosen), dtype=np.intp)


def build_terms(distances: Floats, chosen: Sequence[int]) -> Floats:
    """What each object (column) adds to the sum of distances when a candidate (row) joins those chosen."""
    if not len(chosen):
        return distances
    nearest = distances[list(chosen)].min(axis=0)
    terms = np.minimum(distances, nearest)
    terms -= nearest
    return terms


def _swap(distances: Floats, rows: Indices) -> Indices:
    """Exchange a medoid for another object, the best pair each time and the first of equals, until none helps."""
    rows = rows.copy()
    while True:
        label, first, second = two_closest(distances[rows])
        change = _changes(distances, label, first, second, len(rows))
        change[rows] = np.inf
        best, scale = change.min(), EQUAL * first.sum()
        if best >= -scale:
            return rows
        other, cluster = divmod(int(np.argmax(change.ravel() <= best + scale)), len(rows))
        rows[cluster] = other
        rows.sort()  # so that nothing that follows depends on the way by which these medoids were found


def _swap_eagerly(X: Floats, candidates: Indices, rows: Indices) -> Indices:
    """Try candidates block by block, take the best swap of a block at once, stop after a full round without one."""
    rows = rows.copy()
    step = max(1, _BLOCK // len(X))
    blocks = [candidates[start : start + step] for start in range(0, len(candidates), step)]
    state = two_closest(cdist(X[rows], X))
    idle = 0
    while idle < len(blocks):
        block = blocks[0]
        blocks = blocks[1:] + blocks[:1]
        change = _changes(cdist(X[block], X), *state, len(rows))
        change[np.isin(block, rows)] = np.inf
        other, cluster = np.unravel_index(np.argmin(change), change.shape)
        if change[other, cluster] < -_WORTHWHILE * state[1].sum():
            rows[cluster] = block[other]
            state = two_closest(cdist(X[rows], X))
            idle = 0
        else:
            idle += 1
    return rows


def two_closest(to_medoids: Floats) -> tuple[Indices, Floats, Floats]:
    """For every object: its closest medoid, the distance to it, and the distance to the second closest."""
    label = to_medoids.argmin(axis=0)
    first = to_medoids.min(axis=0)
    if len(to_medoids) == 1:
        return label, first, np.full(len(first), np.inf)
    return label, first, np.partition(to_medoids, 1, axis=0)[1]


def _changes(distances: Floats, label: Indices, first: Floats, second: Floats, k: int) -> Floats:
    """How the sum of distances changes when a candidate (row) takes the place of a medoid (column)."""
    members = (label[:, None] == np.arange(k)).astype(float)
    change = np.empty((len(distances), k))
    for some in in_cache(distances):
        gain, loss = swap_terms(distances[some], first, second)
        np.add(gain.sum(axis=1)[:, None], loss @ members, out=change[some])
    return change


def in_cache(distances: Floats) -> Iterator[slice]:
    """Cut a table into blocks of rows that stay near the processor."""
    step = max(1, _CACHED // distances.shape[1])
    return (slice(start, start + step) for start in range(0, len(distances), step))


def swap_terms(distances: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """What a candidate (row) gains for each object (column), and loses for it if its medoid goes."""
    gain = np.minimum(distances, first)
    gain -= first
    loss = np.minimum(distances, second)
    loss -= first
    loss -= gain
    return gain, loss
