"""BUILD and SWAP for one sample that is not large: the obvious version, with all candidates summed at every step."""

import numpy as np
from numpy.typing import NDArray

from transvariation.cluster.medoid_step import EQUAL
from transvariation.validation import blocks

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_CACHED = 20_000  # distances worked on at a time


def medoids_of_few(distances: Floats, k: int) -> Indices:
    """Find the medoids from the table of all distances.

    Examples
    --------
    >>> x = np.array([0.0, 1, 2, 10, 11, 12])
    >>> medoids_of_few(np.abs(x - x[:, None]), 2)
    array([1, 4])
    """
    return _swap(distances, _build(distances, k))


def _build(distances: Floats, k: int) -> Indices:
    """Add, k times, the object that lowers the sum of distances the most; the last of equals."""
    chosen: list[int] = []
    for _ in range(k):
        nearest = distances[chosen].min(axis=0) if chosen else 0.0
        change = (np.minimum(distances, nearest) - nearest if chosen else distances).sum(axis=1)
        change[chosen] = np.inf
        best = change.min()
        chosen.append(int(np.flatnonzero(change <= best + EQUAL * abs(best))[-1]))
    return np.array(sorted(chosen), dtype=np.intp)


def _swap(distances: Floats, rows: Indices) -> Indices:
    """Exchange a medoid for another object, the best pair each time and the first of equals, until none helps."""
    rows = rows.copy()
    while True:
        label, first, second = _two_closest(distances[rows])
        change = _changes(distances, label, first, second, len(rows))
        change[rows] = np.inf
        best, scale = change.min(), EQUAL * first.sum()
        if best >= -scale:
            return rows
        other, cluster = divmod(int(np.argmax(change.ravel() <= best + scale)), len(rows))
        rows[cluster] = other
        rows.sort()  # so that nothing that follows depends on the way by which these medoids were found


def _two_closest(to_medoids: Floats) -> tuple[Indices, Floats, Floats]:
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
    for some in blocks(len(distances), _CACHED // distances.shape[1]):
        # What the candidate gains for each object, and loses for it if its medoid goes.
        gain = np.minimum(distances[some], first)
        gain -= first
        loss = np.minimum(distances[some], second)
        loss -= first
        loss -= gain
        np.add(gain.sum(axis=1)[:, None], loss @ members, out=change[some])
    return change
