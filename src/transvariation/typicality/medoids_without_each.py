"""The medoids of every sample with one object less, at the cost of some partitions of the whole.

BUILD and SWAP choose by sums over the objects, and a sum without an object is the sum less one term. So all n searches
are made together: those that have made the same choices so far are in the same state, except for that one term. Where
an object's absence makes for another choice, its search goes on by itself, or with those that chose likewise.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from transvariation.typicality.counting import count_transvariations
from transvariation.typicality.medoids import (
    EQUAL,
    build_terms,
    check_n_clusters,
    closest,
    in_cache,
    medoid_rows,
    swap_terms,
    two_closest,
)
from transvariation.typicality.probability import ratio

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
State = tuple[int, ...]

# A sum less one term is rounded otherwise than the sum of the rest. Where that could matter the search is made anew:
# if the rest is but a small part of the sum, or if sums differ by just about as much as still counts as equal.
_SMALL_PART = 0.1
_MARGIN = 1e-3


def pam_leave_one_out_probability(X: Floats, n_clusters: int, *, ties: str = "proper") -> Floats:
    """Compute tp of each row of `X` in its cluster, where the others alone were partitioned around medoids.

    The result equals n partitions, each of the other rows, from scratch. The table of all distances is held.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [20.0], [21.0], [22.0]])
    >>> pam_leave_one_out_probability(X, 2).round(2)
    array([0.  , 0.67, 0.8 , 0.4 , 0.  , 0.  , 0.67, 0.  ])
    """
    tp = np.empty(len(X))
    for rows, left_out in medoids_without_each(X, n_clusters):
        labels = closest(X, X[rows])[0]
        for k in np.unique(labels[left_out]):
            objects = left_out[labels[left_out] == k]
            units = X[labels == k]
            counts = count_transvariations(units, X[rows[k]], X[objects])
            at_medoid = (counts.n_open == 0).astype(np.int64)
            counts = counts._replace(
                beyond=counts.beyond - at_medoid,
                at=counts.at - 1,
                side=counts.side - 1,
                centre=counts.centre - at_medoid,
            )
            tp[objects] = ratio(counts, len(units), X.shape[1], "count", ties)
    return tp


def medoids_without_each(X: Floats, n_clusters: int) -> list[tuple[Indices, Indices]]:
    """List the medoids of the other rows for every row of `X`, as (medoids, rows without each of which they are so).

    Examples
    --------
    >>> medoids_without_each(np.array([[0.0], [1.0], [2.0], [4.0]]), 1)
    [(array([1]), array([2, 3])), (array([2]), array([0, 1]))]
    """
    occurrences = np.unique(X, axis=0, return_counts=True)[1]
    check_n_clusters(n_clusters, len(occurrences) - int(occurrences.min() == 1))
    distances = cdist(X, X)
    states: dict[State, Indices] = {(): np.arange(len(X))}
    doubtful: list[int] = []
    for _ in range(n_clusters):
        before, states = states, {}
        for state, left_out in before.items():
            for best, objects in _grouped(*_build_without_each(distances, state, left_out), left_out, doubtful):
                _join(states, (*state, best), objects)
    settled: dict[State, Indices] = {}

    @cache
    def total(state: State) -> float:
        return float(distances[list(state)].min(axis=0).sum())

    while states:
        # Every exchange lowers the sum of distances: whoever passes through the highest state is there by now.
        state = max(states, key=total)
        left_out = states.pop(state)
        for swap, objects in _grouped(*_swap_without_each(distances, state, left_out), left_out, doubtful):
            if swap < 0:
                _join(settled, state, objects)
            else:
                other, cluster = divmod(swap, n_clusters)
                _join(states, (*state[:cluster], other, *state[cluster + 1 :]), objects)
    for i in doubtful:
        rest = np.flatnonzero(np.arange(len(X)) != i)
        rows = rest[medoid_rows(distances[np.ix_(rest, rest)], n_clusters)]
        _join(settled, tuple(rows.tolist()), np.array([i]))
    return [(np.array(state), np.sort(objects)) for state, objects in sorted(settled.items())]


def _join(states: dict[State, Indices], state: State, objects: Indices) -> None:
    state = tuple(sorted(state))
    states[state] = np.concatenate([states.get(state, objects[:0]), objects])


def _grouped(
    choice: Indices, doubt: NDArray[np.bool_], left_out: Indices, doubtful: list[int]
) -> Iterator[tuple[int, Indices]]:
    """Put together the objects without which the same choice is made; set aside those for which it is in doubt."""
    doubtful += left_out[doubt].tolist()
    for best in np.unique(choice[~doubt]).tolist():
        yield best, left_out[(choice == best) & ~doubt]


def _build_without_each(distances: Floats, state: State, left_out: Indices) -> tuple[Indices, NDArray[np.bool_]]:
    """The next medoid of BUILD without each of the objects, and whether that is in doubt."""
    terms = build_terms(distances, state)
    change = terms.sum(axis=1)
    change[list(state)] = np.inf
    best = int(np.argmin(change))
    choice, doubt = np.empty(len(left_out), dtype=np.intp), np.empty(len(left_out), dtype=bool)
    usual = left_out != best
    for some in (usual, ~usual):
        objects = left_out[some]
        if not len(objects):
            continue
        bound = np.inf  # without the best one itself all others are to be compared
        if best not in objects:
            bound = (change[best] - terms[best, objects]).max()
            bound += 2 * EQUAL * abs(bound)
        # Whatever object is absent, only these can be the best then. The last of equals is taken: from behind.
        candidates = np.flatnonzero((change - terms[:, objects].max(axis=1) <= bound) & np.isfinite(change))[::-1]
        without = change[candidates, None] - terms[np.ix_(candidates, objects)]
        without[candidates[:, None] == objects] = np.inf
        lowest = without.min(axis=0)
        chosen, doubt[some] = _first_of_equals(without, lowest, np.abs(lowest))
        choice[some] = candidates[chosen]
        doubt[some] |= ~(np.abs(lowest) > _SMALL_PART * abs(change[best]))
    return choice, doubt


def _swap_without_each(distances: Floats, state: State, left_out: Indices) -> tuple[Indices, NDArray[np.bool_]]:
    """The next exchange of SWAP without each of the objects, candidate x k + cluster, -1 for none; whether in doubt."""
    k = len(state)
    label, first, second = two_closest(distances[list(state)])
    change, most = _swap_sums(distances, label, first, second, k, left_out)
    change[list(state)] = np.inf

    def parts(entries: Indices, objects: Indices) -> Floats:
        """What each object (column) adds to each entry (row)."""
        other, cluster = np.divmod(entries, k)
        gain, loss = swap_terms(distances[np.ix_(other, objects)], first[objects], second[objects])
        return gain + loss * (label[objects] == cluster[:, None])

    total = first.sum()
    scale = EQUAL * (total - first[left_out])
    best = int(np.argmin(change))
    choice, doubt = np.full(len(left_out), -1), ~(total - first[left_out] >= _SMALL_PART * total)
    usual = left_out != best // k
    for some in (usual, ~usual):
        objects = left_out[some]
        if not len(objects):
            continue
        bound = -EQUAL * (1 - 2 * _MARGIN) * (total - first[objects])
        if best // k not in objects:
            own = change.flat[best] - parts(np.array([best]), objects)[0]
            bound = np.minimum(bound, own + 2 * scale[some])
        candidates = np.flatnonzero((change - most).ravel() <= bound.max())
        if not len(candidates):
            continue
        without = change.ravel()[candidates, None] - parts(candidates, objects)
        without[candidates[:, None] // k == objects] = np.inf
        lowest = without.min(axis=0)
        chosen, close = _first_of_equals(without, lowest, scale[some] / EQUAL)
        helps = lowest < -scale[some]
        choice[some] = np.where(helps, candidates[chosen], -1)
        doubt[some] |= (helps & close) | (np.abs(lowest + scale[some]) <= _MARGIN * scale[some]) & (scale[some] > 0)
    return choice, doubt


def _swap_sums(
    distances: Floats, label: Indices, first: Floats, second: Floats, k: int, left_out: Indices
) -> tuple[Floats, Floats]:
    """How an exchange changes the sum of distances, (n, k), and by how much an object's absence can lower that."""
    change, most = np.empty((len(distances), k)), np.zeros((len(distances), k))
    members = (label[:, None] == np.arange(k)).astype(float)
    absent = [left_out[label[left_out] == c] for c in range(k)]
    for some in in_cache(distances):
        gain, loss = swap_terms(distances[some], first, second)
        np.add(gain.sum(axis=1)[:, None], loss @ members, out=change[some])
        loss += gain
        for c in range(k):
            # Only objects of the cluster whose medoid goes can have stood in the way.
            most[some, c] = loss[:, absent[c]].max(axis=1, initial=0.0)
    return change, most


def _first_of_equals(values: Floats, lowest: Floats, scale: Floats) -> tuple[Indices, NDArray[np.bool_]]:
    """In every column the first value that equals the lowest, and whether one lies where equality ends."""
    near, sure = (values <= lowest + EQUAL * (1 + margin) * scale for margin in (_MARGIN, -_MARGIN))
    return near.argmax(axis=0), near.sum(axis=0) != sure.sum(axis=0)
