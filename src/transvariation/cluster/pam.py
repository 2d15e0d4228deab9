"""Partitioning around medoids (PAM): BUILD and SWAP of Kaufman and Rousseeuw.

Medoids are the k rows of a sample with the smallest sum of distances from every row to its closest medoid. Every swap
is the best of all possible ones. In a large sample the medoids are those of a subsample, in the manner of CLARA.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from transvariation._typing import Floats, Indices
from transvariation.subsample import subsample
from transvariation.validation import as_rows, blocks, check_count, exponent_of

_SUBSAMPLE_ROWS = 2_000  # rows in which medoids are searched: the table of all distances has 32 MB
_BLOCK_DISTANCES = 2_000_000  # distances to the medoids held at a time
_CACHED_DISTANCES = 20_000  # distances between rows worked on at a time: they stay in the cache
# Sums that differ by less than this share are equal: in rounded data, rounding errors must not decide.
_ROUNDING_ERROR = 1e-9


class Medoids(NamedTuple):
    """The rows that are medoids, the cluster of every row, and the mean distance to the closest medoid."""

    rows: Indices
    labels: Indices
    objective: float


def medoids(X: ArrayLike, n_clusters: int) -> Medoids:
    """Partition a sample around `n_clusters` of its own rows, by Euclidean distance.

    The result equals that of R's ``cluster::pam``. In a sample of more than 2000 rows, the medoids are those of a
    subsample of 2000, which depends on the values of the rows but not on their order.

    Parameters
    ----------
    X : array-like of shape (n, p) or (n,)
    n_clusters : int
        At most the number of distinct rows (of the subsample, where there is one).

    Returns
    -------
    Medoids
        Clusters are numbered in the order in which their first members appear in `X`.

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
    rows = find_medoids(X, n_clusters)
    labels, distance = closest(X, X[rows])
    _, first = np.unique(labels, return_index=True)
    order = np.argsort(first)
    return Medoids(rows[order], np.argsort(order)[labels], float(distance.mean()))


def find_medoids(X: Floats, n_clusters: int) -> Indices:
    """Find the rows of checked data that are medoids, in rising order.

    Examples
    --------
    >>> find_medoids(np.array([[0.0], [1.0], [2.0], [4.0]]), 1)
    array([2])
    """
    if len(X) > _SUBSAMPLE_ROWS:
        drawn = subsample(X, _SUBSAMPLE_ROWS)
        return drawn[find_medoids(X[drawn], n_clusters)]
    distinct = len(np.unique(X, axis=0))
    if check_count("n_clusters", n_clusters) > distinct:
        raise ValueError(
            f"n_clusters={n_clusters} must lie between 1 and the number of distinct target samples, here {distinct}"
        )
    if exponent := exponent_of(X):
        X = np.ldexp(X, -exponent)
    distances = cdist(X, X)
    return _swap(distances, _build(distances, n_clusters))


def closest(X: Floats, centers: Floats) -> tuple[Indices, Floats]:
    """Find the closest center of every row and the distance to it.

    Of equally close centers, the one that comes first when they are sorted by their coordinates: the result does not
    depend on the order in which they are given.

    Examples
    --------
    >>> closest(np.array([[0.0], [1.0], [5.0]]), np.array([[2.0], [0.0]]))[0]
    array([1, 1, 0])
    """
    if exponent := exponent_of(X, centers):
        labels, distance = closest(np.ldexp(X, -exponent), np.ldexp(centers, -exponent))
        return labels, np.ldexp(distance, exponent)
    order = np.lexsort(centers.T[::-1])
    labels, distance = np.empty(len(X), dtype=np.intp), np.empty(len(X))
    for block in blocks(len(X), _BLOCK_DISTANCES // len(centers)):
        between = cdist(X[block], centers[order])
        between.argmin(axis=1, out=labels[block])
        between.min(axis=1, out=distance[block])
    return order[labels], distance


def _build(distances: Floats, k: int) -> Indices:
    """Add, k times, the row that lowers the sum of distances the most; the last of equals."""
    chosen: list[int] = []
    for _ in range(k):
        nearest = distances[chosen].min(axis=0) if chosen else 0.0
        change = (np.minimum(distances, nearest) - nearest if chosen else distances).sum(axis=1)
        change[chosen] = np.inf
        best = change.min()
        chosen.append(int(np.flatnonzero(change <= best + _ROUNDING_ERROR * abs(best))[-1]))
    return np.array(sorted(chosen), dtype=np.intp)


def _swap(distances: Floats, rows: Indices) -> Indices:
    """Exchange a medoid for another row, the best pair each time and the first of equals, until none helps."""
    rows = rows.copy()
    while True:
        label, first, second = _two_closest(distances[rows])
        change = _changes(distances, label, first, second, len(rows))
        change[rows] = np.inf
        best, scale = change.min(), _ROUNDING_ERROR * first.sum()
        if best >= -scale:
            return rows
        other, cluster = divmod(int(np.argmax(change.ravel() <= best + scale)), len(rows))
        rows[cluster] = other
        rows.sort()  # ties between medoids must not depend on the order in which these were found


def _two_closest(to_medoids: Floats) -> tuple[Indices, Floats, Floats]:
    """Find for every row its closest medoid, the distance to it, and the distance to the second closest."""
    label = to_medoids.argmin(axis=0)
    first = to_medoids.min(axis=0)
    if len(to_medoids) == 1:
        return label, first, np.full(len(first), np.inf)
    return label, first, np.partition(to_medoids, 1, axis=0)[1]


def _changes(distances: Floats, label: Indices, first: Floats, second: Floats, k: int) -> Floats:
    """Compute how the sum of distances changes when a candidate (row) replaces a medoid (column)."""
    members = (label[:, None] == np.arange(k)).astype(float)
    change = np.empty((len(distances), k))
    for block in blocks(len(distances), _CACHED_DISTANCES // len(distances)):
        # The gain of each row from the candidate, and its loss if in addition its own medoid is removed.
        gain = np.minimum(distances[block], first)
        gain -= first
        loss = np.minimum(distances[block], second)
        loss -= first
        loss -= gain
        np.add(gain.sum(axis=1)[:, None], loss @ members, out=change[block])
    return change
