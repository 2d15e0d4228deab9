"""Partitioning around medoids: the k objects with the smallest sum of distances from every object to its closest one.

Kaufman and Rousseeuw's BUILD and SWAP, every swap the best of all; in large samples those of some objects, in the
manner of their CLARA.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from transvariation.cluster.medoid_few import medoids_of_few
from transvariation.cluster.medoid_search import search
from transvariation.subsample import subsample
from transvariation.validation import as_rows, blocks, check_count, exponent_of

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

FEW = 500  # objects; up to here the obvious search is as quick
LARGE = 2_000  # objects; beyond, so many are drawn
_BLOCK = 2_000_000  # distances held at a time


class Medoids(NamedTuple):
    """The rows that are medoids, the cluster of every row, and the mean distance to the closest medoid."""

    rows: Indices
    labels: Indices
    objective: float


def medoids(X: ArrayLike, n_clusters: int) -> Medoids:
    """Partition a sample around `n_clusters` of its own objects, by Euclidean distance.

    Clusters are numbered in the order in which their first members stand in `X`. Of more than 2000 objects the medoids
    are those of 2000; which ones depends on the values of the objects, as if drawn by lot, and not on their order.

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
    return partition(X, find_medoids(X, n_clusters))


def partition(X: Floats, rows: Indices) -> Medoids:
    """Put every row of `X` to the closest of the medoids."""
    labels, distance = closest(X, X[rows])
    # Clusters in order of appearance; a medoid stands in its own cluster even among duplicates of another one.
    _, first = np.unique(labels, return_index=True)
    order = np.argsort(first)
    return Medoids(rows[order], np.argsort(order)[labels], float(distance.mean()))


def closest(X: Floats, centers: Floats) -> tuple[Indices, Floats]:
    """Find the closest centre of every row and the distance to it.

    Of equally close centres, the one that comes first when they are sorted by their coordinates: the same one in
    whatever order they are given.

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
    for some in blocks(len(X), _BLOCK // len(centers)):
        between = cdist(X[some], centers[order])
        between.argmin(axis=1, out=labels[some])
        between.min(axis=1, out=distance[some])
    return order[labels], distance


def find_medoids(X: Floats, n_clusters: int) -> Indices:
    """Find the rows that are medoids.

    Examples
    --------
    >>> find_medoids(np.array([[0.0], [1.0], [2.0], [4.0]]), 1)
    array([2])
    """
    if exponent := exponent_of(X):
        X = np.ldexp(X, -exponent)
    if len(X) > LARGE:
        drawn = subsample(X, LARGE)[0]
        return drawn[find_medoids(X[drawn], n_clusters)]
    return _found(X, n_clusters, np.array([len(X)]))[0][0]


def find_medoids_without_each(X: Floats, n_clusters: int) -> tuple[Indices, list[tuple[Indices, Indices]]]:
    """Find the rows that are medoids, and those that would be without each of the rows.

    The latter as pairs: medoids, and the rows without each of which they are so. They equal those of n searches, each
    among the other rows, from scratch.

    Examples
    --------
    >>> find_medoids_without_each(np.array([[0.0], [1.0], [2.0], [4.0]]), 1)
    (array([2]), [(array([1]), array([2, 3])), (array([2]), array([0, 1]))])
    """
    if exponent := exponent_of(X):
        X = np.ldexp(X, -exponent)
    n = len(X)
    if n <= LARGE:
        found = _found(X, n_clusters, np.arange(n + 1))
        (whole,) = (rows for rows, searches in found if searches[-1] == n)
        return whole, [(rows, left_out[left_out < n]) for rows, left_out in found if left_out[0] < n]
    if n == LARGE + 1:  # a large sample, but not so without any of its rows
        return find_medoids(X, n_clusters), _found(X, n_clusters, np.arange(n))
    # One more than are searched at a time: the last takes the place of one left out.
    drawn, vacant = subsample(X, LARGE + 1)
    found = [(drawn[rows], places) for rows, places in _found(X[drawn], n_clusters, np.arange(LARGE + 1))]
    (whole,) = (rows for rows, places in found if places[-1] == LARGE)
    without = ((rows, np.flatnonzero(np.isin(vacant, places))) for rows, places in found)
    return whole, [(rows, left_out) for rows, left_out in without if len(left_out)]


def _found(X: Floats, n_clusters: int, searches: Indices) -> list[tuple[Indices, Indices]]:
    """What searches find: medoids, and the searches that come to them; i leaves out row i, len(X) none."""
    n, occurrences = len(X), np.unique(X, axis=0, return_counts=True)[1]
    fewer = int(searches[0] < n and occurrences.min() == 1)
    distinct = len(occurrences) - fewer
    if not check_count("n_clusters", n_clusters) <= distinct:
        raise ValueError(
            f"n_clusters={n_clusters} must lie between 1 and the number of distinct target objects, here {distinct}"
            + (" without one of them" if fewer else "")
        )
    if searches[0] == n <= FEW:
        return [(medoids_of_few(cdist(X, X), n_clusters), searches)]
    states = search(X, n_clusters, searches)
    found = [(np.array(state), np.sort(own)) for state, own in sorted(states.items())]
    for i in np.setdiff1d(searches, np.concatenate([searches[:0], *states.values()])):
        rest = np.flatnonzero(np.arange(n) != i)
        found.append((rest[find_medoids(X[rest], n_clusters)], np.array([i])))
    return found
