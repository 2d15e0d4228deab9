"""BUILD and SWAP for a sample and, in the same run, for every sample with one object less.

What the search chooses by are sums over the objects, and a sum without an object is the sum less one term. So searches
that have made the same choices so far are in the same state but for one term; where an object's absence makes for
another choice, its search goes on by itself, or with those that chose likewise.
"""

import itertools

import numpy as np

from transvariation.typicality.medoid_step import EQUAL, States, Step
from transvariation.typicality.medoid_sums import Indices, State, Sums

_BLOCK = 10_000_000  # numbers worked on at a time


class Searches:
    """Searches by number: search i leaves out object i, search n nobody. Candidate `barred[i]` is none for search i.

    What search i finds is what a search among the other objects alone would find; a search that cannot tell, because
    of rounding, is given up.
    """

    def __init__(self, sums: Sums, barred: Indices):
        self.sums, self.barred = sums, barred

    def build(self, k: int, searches: Indices) -> States:
        """Add, k times, the candidate that lowers the sum of distances the most; the last of equals."""
        states: States = {(): searches}
        for _ in range(k):
            states = self._next(states, None)[1]
        return states

    def swap(self, states: States, save: float = EQUAL) -> States:
        """Exchange a medoid for another candidate, the best pair each time and the first of equals, until none helps.

        An exchange must save more than the share `save` of the sum of distances.
        """
        settled: States = {}
        while states:
            done, states = self._next(states, save)
            for state, searches in done.items():
                join(settled, state, searches)
        return settled

    def _next(self, states: States, save: float | None) -> tuple[States, States]:
        """Make the next step of every search: the states in which searches stay, and those to which they go."""
        stay: States = {}
        go: States = {}
        # Those with most searches first: what these need bounds what others need.
        before = sorted(states.items(), key=lambda item: -len(item[1]))
        batch = max(1, _BLOCK // (self.sums.n * max([1, *map(len, states)])))
        for start in range(0, len(before), batch):
            self._step(dict(before[start : start + batch]), save, stay, go)
        return stay, go

    def _step(self, states: States, save: float | None, stay: States, go: States) -> None:
        """Make the next step of the searches in some states, and add what comes of it to the others."""
        remaining = [[state[:j] + state[j + 1 :] for j in range(len(state))] for state in states]
        if save is None:
            remaining = [[state] for state in states]
        step = Step(self.sums, self.barred, states, remaining, save)
        entry, doubt = step.choose()
        doubt &= step.searches < self.sums.n  # where nobody is left out there is nothing to doubt
        sure = np.flatnonzero(~doubt)
        # Searches stand together by state; here also by what they do next.
        sure = sure[np.lexsort((entry[sure], step.at[sure]))]
        change = (np.diff(step.at[sure]) != 0) | (np.diff(entry[sure]) != 0)
        cuts = [0, *(np.flatnonzero(change) + 1).tolist(), len(sure)] if len(sure) else [0]
        before = list(states)
        for start, stop in itertools.pairwise(cuts):
            one, searches = sure[start], step.searches[sure[start:stop]]
            s, best = int(step.at[one]), int(entry[one])
            if best < 0:
                join(stay, before[s], searches)
            else:
                candidate, j = divmod(best, len(remaining[s]))
                join(go, (*remaining[s][j], candidate), searches)


def join(states: States, state: State, searches: Indices) -> None:
    """Add searches to those that have come to the same medoids."""
    state = tuple(sorted(state))  # so that nothing that follows depends on the way by which these medoids were found
    known = states.get(state)
    states[state] = searches if known is None else np.concatenate([known, searches])
