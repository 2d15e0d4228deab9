"""BUILD and SWAP for a sample and, in the same run, for every sample with one object less.

What the search chooses by are sums over the objects, and a sum without an object is the sum less one term. So searches
that have made the same choices so far are in the same state but for one term; where an object's absence makes for
another choice, its search goes on by itself, or with those that chose likewise.
"""

import itertools

import numpy as np

from transvariation.cluster.medoid_step import States, Step
from transvariation.cluster.medoid_sums import Floats, Indices, State, Sums

_BLOCK = 10_000_000  # numbers worked on at a time


def search(X: Floats, k: int, searches: Indices) -> States:
    """What searches come to: number i leaves out row i of `X`, number n nobody.

    What search i finds is what a search among the other objects alone would find; a search that cannot tell, because
    of rounding, is given up.
    """
    sums = Sums(X)
    states: States = {(): searches}
    settled: States = {}
    # BUILD: add the candidate that lowers the sum of distances the most, the last of equals.
    for _ in range(k):
        states = _next(sums, states, swap=False)[1]
    # SWAP: exchange a medoid for another candidate, the best pair and the first of equals, until none helps.
    while states:
        done, states = _next(sums, states, swap=True)
        for state, own in done.items():
            join(settled, state, own)
    return settled


def _next(sums: Sums, states: States, swap: bool) -> tuple[States, States]:
    """Make the next step of every search: the states in which searches stay, and those to which they go."""
    stay: States = {}
    go: States = {}
    # Those with most searches first: what these need bounds what others need.
    before = sorted(states.items(), key=lambda item: -len(item[1]))
    batch = max(1, _BLOCK // (sums.n * max([1, *map(len, states)])))
    for start in range(0, len(before), batch):
        _step(sums, dict(before[start : start + batch]), swap, stay, go)
    return stay, go


def _step(sums: Sums, states: States, swap: bool, stay: States, go: States) -> None:
    """Make the next step of the searches in some states, and add what comes of it to the others."""
    remaining = [[state[:j] + state[j + 1 :] for j in range(len(state))] for state in states]
    if not swap:
        remaining = [[state] for state in states]
    step = Step(sums, states, remaining, swap)
    entry, doubt = step.choose()
    doubt &= step.searches < sums.n  # where nobody is left out there is nothing to doubt
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
