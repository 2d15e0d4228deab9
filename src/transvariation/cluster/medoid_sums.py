"""Sums of distances to the closest medoid, for many sets of medoids: bounds for all candidates, sums where asked for.

A search for medoids compares sum_o min(d(c, o), g(o)) over candidates c, where g is the distance of an object to the
closest of the medoids that remain. Few candidates come near the best. Two lower bounds find them: since min(d, g) grows
no faster than g, the sum for other medoids less sum_o (their g - g)_+; and, where that does not suffice, the sum itself
but for rounding, by min(d, g) = (d + g - |d - g|) / 2.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from transvariation.validation import blocks

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
State = tuple[int, ...]

FEW = 500  # candidates up to which bounding costs more than it saves
_MOST = 0.25  # of the candidates: if so many are to be summed, all are
_CACHED = 50_000  # distances worked on at a time
_KEPT = 20_000_000  # numbers that tables may hold
_ROUNDING = 1e-11  # of a sum of many distances: more than is lost in it


class Table(NamedTuple):
    """For some medoids: how far each object is from the closest, and bounds of the sum when a candidate joins them."""

    reach: Floats  # 0 for "nobody", the object after the last
    low: Floats
    summed: NDArray[np.bool_]  # where the bound is the sum, but for rounding


class Sums:
    """The objects, each a candidate for a medoid, and the sums of their distances to the closest medoid."""

    def __init__(self, X: Floats):
        self.n = len(X)
        self.distances = cdist(X, X)
        self.bounded = self.n > FEW
        self._tables: dict[State, Table] = {}
        self._references: list[Table] = []
        self._to_all = self.distances.sum(axis=1)

    def exactly(self, candidates: Indices, reach: Floats, which: Indices, differences: bool) -> Floats:
        """The sum for each candidate and the row of `reach` named at the same place; less the row's own sum if asked.

        Differences are summed as such: nothing is lost to rounding where an object far away is in both sums.
        """
        sums = np.empty(len(candidates))
        for some in blocks(len(sums), _CACHED // self.n):
            own = reach[which[some], :-1]
            terms = np.minimum(self.distances[candidates[some]], own)
            if differences:
                terms -= own
            sums[some] = terms.sum(axis=1)
        return sums

    def tables(self, sets: Sequence[State]) -> list[Table]:
        """The table of each set of medoids."""
        kept = {medoids: self._tables[medoids] for medoids in sets if medoids in self._tables}
        new = [medoids for medoids in dict.fromkeys(sets) if medoids not in kept]
        if new:
            kept.update(zip(new, self._made(self._to_closest(new)), strict=True))
            if (len(self._tables) + len(kept)) * self.n > _KEPT:
                self._tables.clear()
            self._tables.update(kept)
        return [kept[medoids] for medoids in sets]

    def _to_closest(self, sets: Sequence[State]) -> Floats:
        """For sets of equally many medoids, the distance of every object to the closest; 0 for nobody."""
        reach, medoids = np.zeros((len(sets), self.n + 1)), np.array(sets, dtype=np.intp)
        if not medoids.size:  # no less than any distance
            reach[:, :-1] = self.distances[0] + self.distances[0].max()
            return reach
        reach[:, :-1] = self.distances[medoids[:, 0]]
        for other in medoids.T[1:]:
            np.minimum(reach[:, :-1], self.distances[other], out=reach[:, :-1])
        return reach

    def _made(self, reach: Floats) -> list[Table]:
        """Make a table for every row of `reach`."""
        low, summed = np.empty((len(reach), self.n)), np.zeros((len(reach), self.n), dtype=bool)
        tables = [Table(*rows) for rows in zip(reach, low, summed, strict=True)]
        first = tables if not self.bounded else tables[: not self._references]
        self._sum_up(first)
        reach, low = reach[len(first) :], low[len(first) :]
        if len(reach):
            others = np.array([table.reach for table in self._references])
            apart = cdist(reach, others, "cityblock")
            best, own, other = apart.argmin(axis=1), reach.sum(axis=1), others.sum(axis=1)
            # Half the sum of |a - b| and of a - b is the sum of (a - b)_+.
            less = (apart.min(axis=1) + other[best] - own) / 2 + _ROUNDING * (other[best] + own)
            for row, j in enumerate(best):
                np.subtract(self._references[j].low, less[row], out=low[row])
        return tables

    def sharpen(self, tables: Sequence[Table], top: Floats) -> None:
        """Sum, but for rounding, where a table's bound does not exceed its `top`."""
        whole = []
        for table, limit in zip(tables, top, strict=True):
            rows = np.flatnonzero((table.low <= limit) & ~table.summed)
            if len(rows) > _MOST * self.n:
                whole.append(table)
            elif len(rows) * self.n > _CACHED:  # otherwise few enough to be summed for good
                table.low[rows], table.summed[rows] = self._summed(table.reach[None, :-1], rows)[0], True
        self._sum_up(whole)

    def _sum_up(self, tables: list[Table]) -> None:
        """Sum for all candidates."""
        if not tables:
            return
        sums = self._summed(np.array([table.reach[:-1] for table in tables]), slice(None))
        for table, own in zip(tables, sums, strict=True):
            table.low[:], table.summed[:] = own, True
        if self.bounded:
            self._references += tables

    def _summed(self, reach: Floats, candidates: Indices | slice) -> Floats:
        """The sum for each row of `reach` and each candidate: never more, and only for rounding less."""
        distances = self.distances[candidates]
        both = reach.sum(axis=1)[:, None] + self._to_all[candidates]
        return (both - cdist(reach, distances, "cityblock")) / 2 - _ROUNDING * both
