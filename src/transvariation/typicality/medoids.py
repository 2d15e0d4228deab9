"""Partitioning around medoids: the k objects with the smallest sum of distances from every object to its closest one.

Small samples get Kaufman and Rousseeuw's BUILD and SWAP, every swap the best of all. Large ones start from the medoids
of a subsample and take improving swaps as they come, with distances computed on the fly: memory grows with n, not n^2.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from transvariation.typicality.rows import as_rows

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_LARGE = 2_000  # from here on no table of all distances is made
_BLOCK = 2_000_000  # distances held at a time
_WORTHWHILE = 1e-4  # of the sum of distances: what a swap must save in a large sample


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
    candidates = np.unique(np.linspace(0, len(X) - 1, min(len(X), _LARGE)).astype(np.intp))
    distinct = len(np.unique(X[candidates], axis=0))
    if not 1 <= n_clusters <= distinct:
        raise ValueError(
            f"n_clusters={n_clusters} must lie between 1 and the number of distinct target objects, here {distinct}"
        )
    distances = cdist(X[candidates], X[candidates])
    rows = candidates[_swap(distances, _build(distances, n_clusters))]
    if len(X) > len(candidates):
        rows = _swap_eagerly(X, candidates, rows)
    labels, distance = closest(X, X[rows])
    # Clusters in order of appearance; a medoid stands in its own cluster even among duplicates of another one.
    _, first = np.unique(labels, return_index=True)
    order = np.argsort(first)
    return Medoids(rows[order], np.argsort(order)[labels], float(distance.mean()))


def closest(X: Floats, centers: Floats) -> tuple[Indices, Floats]:
    """Find the closest centre of every row, the first of equals, and the distance to it."""
    step = max(1, _BLOCK // len(centers))
    parts = [cdist(X[start : start + step], centers) for start in range(0, len(X), step)]
    labels = np.concatenate([part.argmin(axis=1) for part in parts])
    return labels, np.concatenate([part.min(axis=1) for part in parts])


def _build(distances: Floats, k: int) -> Indices:
    """Add, k times, the object that lowers the sum of distances the most; the last of equals."""
    n = len(distances)
    nearest = np.full(n, distances.max() * 1.1 + 1)
    chosen: list[int] = []
    for _ in range(k):
        gain = np.maximum(nearest - distances, 0).sum(axis=1)
        gain[chosen] = -1
        best = n - 1 - int(np.argmax(gain[::-1]))
        chosen.append(best)
        nearest = np.minimum(nearest, distances[best])
    return np.array(chosen, dtype=np.intp)


def _swap(distances: Floats, rows: Indices) -> Indices:
    """Exchange a medoid for another object, the best pair each time, until no exchange helps."""
    rows = rows.copy()
    while True:
        change = _changes(distances, *_two_closest(distances[rows]), len(rows))
        change[rows] = np.inf
        other, cluster = np.unravel_index(np.argmin(change), change.shape)
        if change[other, cluster] >= -16 * np.finfo(float).eps * distances[rows].min(axis=0).sum():
            return rows
        rows[cluster] = other


def _swap_eagerly(X: Floats, candidates: Indices, rows: Indices) -> Indices:
    """Try candidates block by block, take the best swap of a block at once, stop after a full round without one."""
    rows = rows.copy()
    step = max(1, _BLOCK // len(X))
    blocks = [candidates[start : start + step] for start in range(0, len(candidates), step)]
    state = _two_closest(cdist(X[rows], X))
    idle = 0
    while idle < len(blocks):
        block = blocks[0]
        blocks = blocks[1:] + blocks[:1]
        change = _changes(cdist(X[block], X), *state, len(rows))
        change[np.isin(block, rows)] = np.inf
        other, cluster = np.unravel_index(np.argmin(change), change.shape)
        if change[other, cluster] < -_WORTHWHILE * state[1].sum():
            rows[cluster] = block[other]
            state = _two_closest(cdist(X[rows], X))
            idle = 0
        else:
            idle += 1
    return rows


def _two_closest(to_medoids: Floats) -> tuple[Indices, Floats, Floats]:
    """For every object: its closest medoid, the distance to it, and the distance to the second closest."""
    label = to_medoids.argmin(axis=0)
    first = to_medoids.min(axis=0)
    if len(to_medoids) == 1:
        return label, first, np.full(len(first), np.inf)
    return label, first, np.partition(to_medoids, 1, axis=0)[1]


def _changes(distances: Floats, label: Indices, first: Floats, second: Floats, k: int) -> Floats:
    """How the sum of distances changes when a candidate (row) takes the place of a medoid (column)."""
    gain = np.minimum(distances - first, 0)
    loss = np.minimum(distances, second) - first - gain  # only for those whose medoid goes
    members = (label[:, None] == np.arange(k)).astype(float)
    return gain.sum(axis=1)[:, None] + loss @ members
