"""One step of a search for medoids, for many searches that each leave out one object.

A search has to find the lowest of many sums, each less the term of the object that it leaves out. Which sums can be the
lowest for anybody is settled by bounds, before any search looks at its own terms.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from transvariation.cluster.medoid_sums import Floats, Indices, State, Sums

Bools = NDArray[np.bool_]
States = dict[State, Indices]  # medoids, in order, and the numbers of the searches that have come to them

EQUAL = 1e-9  # sums that differ by less than this share are equal: on rounded data rounding must not choose the medoid

# A sum less one term is rounded otherwise than the sum of the rest. Where that could matter the choice is in doubt:
# if the rest is but a small part of the sum, or if sums differ by just about as much as still counts as equal.
_SMALL_PART = 0.1
_MARGIN = 1e-3

_PAIRS = 1_000_000  # worked on at a time


class _Entries(NamedTuple):
    """Candidates that may join the j-th set of a state, the states in order, and the sums in each state."""

    state: Indices
    j: Indices
    candidate: Indices
    sum: Floats


class Step:
    """The next step of searches in several states.

    In a state a candidate may join any of the sets of medoids that remain there; the sums are those of the distances
    to the closest medoid then. In SWAP the sum must be lower than if the search stays as it is. Otherwise, in BUILD,
    there is one set, and the sums are less the sum without the candidate.
    """

    def __init__(self, sums: Sums, states: States, remaining: list[list[State]], swap: bool):
        self.sums, self.swap = sums, swap
        number = {medoids: r for r, medoids in enumerate(dict.fromkeys(m for sets in remaining for m in sets))}
        self.row = np.array([[number[medoids] for medoids in sets] for sets in remaining])
        self.tables = sums.tables(list(number))
        self.reach = np.array([table.reach for table in self.tables])
        self.differences = not swap and all(number)
        self.taken = np.array(list(states), dtype=np.intp)
        self.searches = np.concatenate(list(states.values()))
        self.begin = np.cumsum([0, *map(len, states.values())])
        self.at = np.repeat(np.arange(len(states)), np.diff(self.begin))
        if swap:
            first = self.reach[self.row[:, 0]]
            np.minimum(first[:, :-1], sums.distances[self.taken[:, 0]], out=first[:, :-1])
            self.size = first.sum(axis=1)
            self.stay = self.size[self.at] - first[self.at, self.searches]

    def choose(self) -> tuple[Indices, Bools]:
        """What every search takes, candidate x sets + set, -1 for nothing; and whether that is in doubt."""
        low = self._lows()
        bound, top = self._bound(low)
        if self.sums.bounded:
            highest = np.full(len(self.tables), -np.inf)
            np.maximum.at(highest, self.row, top)
            self.sums.sharpen(self.tables, highest + self._less())
            low = self._lows()
            bound, top = self._bound(low)
        state, j, candidate = np.nonzero(low <= top[:, :, None])
        value = self.sums.exactly(candidate, self.reach, self.row[state, j], self.differences)
        order = np.lexsort((value, state))
        entries = _Entries(state[order], j[order], candidate[order], value[order])
        start = np.searchsorted(entries.state, np.arange(len(self.taken) + 1))
        count, highest = np.empty(len(bound), dtype=np.intp), bound.max(axis=1)
        for s in range(len(self.taken)):
            mine = slice(self.begin[s], self.begin[s + 1])
            count[mine] = np.searchsorted(entries.sum[start[s] : start[s + 1]], highest[mine], side="right")
        entry, doubt = np.full(len(bound), -1), np.zeros(len(bound), dtype=bool)
        if self.swap:
            doubt |= ~(self.stay >= _SMALL_PART * self.size[self.at])
        for some in _stretches(count):
            entry[some], unsure = self._lowest(entries, start[self.at[some]], count[some], some)
            doubt[some] |= unsure
        return entry, doubt

    def _less(self) -> Floats:
        return self.reach.sum(axis=1) * (1 + EQUAL * _MARGIN) if self.differences else np.zeros(len(self.reach))

    def _lows(self) -> Floats:
        """Lower bounds of all sums: state by set by candidate."""
        low = (np.array([table.low for table in self.tables]) - self._less()[:, None])[self.row]
        low[np.arange(len(low))[:, None], :, self.taken] = np.inf
        return low

    def _terms(self, candidate: Indices, row: Indices, some: Indices) -> Floats:
        """What the object that a search leaves out adds to a sum."""
        own = self.reach[row, self.searches[some]]
        terms = np.minimum(self.sums.distances[candidate, np.minimum(self.searches[some], self.sums.n - 1)], own)
        return terms - own if self.differences else terms

    def _bound(self, low: Floats) -> tuple[Floats, Floats]:
        """What a sum, with nobody left out, must not exceed to be of interest to a search, and to any in its state."""
        every, everyone = np.arange(len(low)), np.arange(len(self.searches))
        limit = np.full(len(self.searches), np.inf)
        if self.swap:
            limit = self.stay * (1 - EQUAL + 2 * EQUAL * _MARGIN)
        # A search can do no worse than with the candidate that looks best or, if that one is barred, with the second.
        for again in range(2):
            j, candidate = np.divmod(low.reshape(len(low), -1).argmin(axis=1), self.sums.n)
            row = self.row[every, j]
            value = self.sums.exactly(candidate, self.reach, row, self.differences)
            value[np.isinf(low[every, j, candidate])] = np.inf
            own = value[self.at] - self._terms(candidate[self.at], row[self.at], everyone)
            barred = candidate[self.at] == self.searches
            own[barred] = np.inf
            limit = np.minimum(limit, own)
            if not self.swap and not again:
                self.size = np.abs(value)
            if not barred.any():
                break
            low = low.copy()
            low[every, :, candidate] = np.inf
        limit += 2 * EQUAL * (self.stay if self.swap else np.abs(limit))
        # What is left out is no larger than reach.
        most = np.zeros((1, 1)) if self.differences else self.reach[self.row[self.at], self.searches[:, None]]
        bound = limit[:, None] + most
        return bound, np.maximum.reduceat(bound, self.begin[:-1], axis=0)

    def _lowest(self, entries: _Entries, start: Indices, count: Indices, some: slice) -> tuple[Indices, Bools]:
        """The best of the first `count` entries of its state for each of some searches, and whether it is in doubt."""
        best, doubt = np.full(len(count), -1), np.zeros(len(count), dtype=bool)
        has = np.flatnonzero(count)
        if not len(has):
            return best, doubt
        count = count[has]
        first = np.cumsum(count) - count
        search = np.repeat(has, count) + some.start
        e = np.repeat(start[has] - first, count) + np.arange(len(search))
        j, candidate = entries.j[e], entries.candidate[e]
        without = entries.sum[e] - self._terms(candidate, self.row[entries.state[e], j], search)
        without[candidate == self.searches[search]] = np.inf
        lowest = np.minimum.reduceat(without, first)
        scale = self.stay[some][has] if self.swap else np.abs(lowest)
        near, sure = (
            without <= np.repeat(lowest + EQUAL * (1 + margin) * scale, count) for margin in (_MARGIN, -_MARGIN)
        )
        unsure = np.logical_or.reduceat(near != sure, first)
        entry = candidate * self.row.shape[1] + j
        if not self.swap:
            best[has] = np.maximum.reduceat(np.where(near, entry, -1), first)
            doubt[has] = unsure | ~(np.abs(lowest) > _SMALL_PART * self.size[self.at[some][has]])
        else:
            saved, least = self.stay[some][has] - lowest, EQUAL * scale
            helps = saved > least
            best[has] = np.where(helps, np.minimum.reduceat(np.where(near, entry, np.iinfo(np.intp).max), first), -1)
            doubt[has] = (helps & unsure) | ((np.abs(saved - least) <= EQUAL * _MARGIN * scale) & (scale > 0))
        return best, doubt


def _stretches(count: Indices) -> Iterator[slice]:
    """Cut searches into stretches with a bounded number of pairs."""
    part = np.cumsum(count) // _PAIRS
    cuts = (np.flatnonzero(np.diff(part)) + 1).tolist() if part[-1] else []
    return (slice(*pair) for pair in itertools.pairwise([0, *cuts, len(count)]))
