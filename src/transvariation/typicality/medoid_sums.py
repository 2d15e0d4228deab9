"""Sums of distances to the closest medoid, for many sets of medoids: bounds for all candidates, sums where asked for.

A search for medoids compares sum_o min(d(c, o), g(o)) over candidates c, where g is the distance of an object to the
closest of the medoids that remain. Few candidates come near the best. Two lower bounds find them: since min(d, g) grows
no faster than g, the sum for other medoids less sum_o (their g - g)_+; and, where that does not suffice, the sum in
single precision.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from transvariation.typicality.rows import blocks

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
State = tuple[int, ...]

FEW = 700  # candidates up to which bounding costs more than it saves
_MOST = 0.25  # of the candidates: if so many are to be summed, all are
_FIRST = 6  # tables to begin with
_BLOCK = 500_000  # distances worked on at a time; those of FEW candidates and objects are not more
_CACHED = 50_000  # the same where each is used once
_KEPT = 20_000_000  # numbers that tables may hold
_ROUNDING = 1e-11  # more than is lost in a sum of many distances


class Table(NamedTuple):
    """For some medoids: how far each object is from the closest, and bounds of the sum when a candidate joins them."""

    reach: Floats  # 0 for "nobody", the object after the last
    low: Floats
    summed: NDArray[np.bool_]  # where the bound is the sum, but for rounding


class Sums:
    """Candidates for medoids, and the objects whose distances to the closest medoid are summed.

    If `held`, so is the table of all distances; otherwise they are computed when needed.
    """

    def __init__(self, candidates: Floats, objects: Floats, held: bool):
        self.m, self.n = len(candidates), len(objects)
        self.bounded = self.m > FEW
        self._candidates, self._objects = candidates, objects
        self._tables: dict[State, Table] = {}
        self._references: list[Table] = []
        self._held = cdist(candidates, objects) if held else None
        self._unit = 1.0 if self._held is None else self._held.max() or 1.0
        self._single = None if self._held is None else (self._held / self._unit).astype(np.float32)
        # Fresh memory for every block would cost more than what is done in it.
        self._ones = np.ones(self.n, dtype=np.float32 if held else np.float64)
        self._room = np.empty((max(1, _BLOCK // self.n), self.n), dtype=self._ones.dtype)

    def distances(self, candidates: Indices) -> Floats:
        """Distances of candidates (rows) to all objects (columns)."""
        return cdist(self._candidates[candidates], self._objects) if self._held is None else self._held[candidates]

    def between(self, candidates: Indices, objects: Indices) -> Floats:
        """The distance of each candidate to the object at the same place; to nobody it is any number."""
        objects = np.minimum(objects, self.n - 1)
        if self._held is None:
            return np.linalg.norm(self._candidates[candidates] - self._objects[objects], axis=1)
        return self._held[candidates, objects]

    def exactly(self, candidates: Indices, reach: Floats, which: Indices, differences: bool) -> Floats:
        """The sum for each candidate and the row of `reach` named at the same place; less the row's own sum if asked.

        Differences are summed as such: nothing is lost to rounding where an object far away is in both sums.
        """
        sums = np.empty(len(candidates))
        for some in blocks(len(sums), _CACHED // self.n):
            own = reach[which[some], :-1]
            terms = np.minimum(self.distances(candidates[some]), own)
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
            one = self.distances(np.array([0]))
            reach[:, :-1] = one + one.max()
            return reach
        near = self._held
        if near is None:
            different, number = np.unique(medoids, return_inverse=True)
            near, medoids = self.distances(different), number.reshape(medoids.shape)
        reach[:, :-1] = near[medoids[:, 0]]
        for other in medoids.T[1:]:
            np.minimum(reach[:, :-1], near[other], out=reach[:, :-1])
        return reach

    def _made(self, reach: Floats) -> list[Table]:
        """Make a table for every row of `reach`."""
        low, summed = np.empty((len(reach), self.m)), np.zeros((len(reach), self.m), dtype=bool)
        tables = [Table(*rows) for rows in zip(reach, low, summed, strict=True)]
        if not self.bounded and self._single is not None:
            # So few candidates that several tables are summed at a time.
            step = max(1, min(_CACHED, self._room.size) // self._single.size)
            for start in range(0, len(reach), step):
                own = self._scaled(reach[start : start + step, :-1])[:, None]
                room = self._room[: len(own) * self.m].reshape(len(own), self.m, self.n)
                low[start : start + step] = self._less_rounding(np.minimum(self._single, own, out=room) @ self._ones)
            return tables
        if not self._references:
            first = tables[:_FIRST] if self.bounded else tables
            self._sum_up(first, [np.arange(self.m)] * len(first))
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
        asked = []
        for table, limit in zip(tables, top, strict=True):
            rows = np.flatnonzero((table.low <= limit) & ~table.summed)
            if len(rows) * self.n > _CACHED:  # otherwise few enough to be summed for good
                asked.append((table, rows if len(rows) <= _MOST * self.m else np.arange(self.m)))
        self._sum_up([table for table, _ in asked], [rows for _, rows in asked])

    def _sum_up(self, tables: list[Table], wanted: list[Indices]) -> None:
        """Sum for the candidates wanted in each table: never more than the sum, but for rounding not less."""
        if not tables:
            return
        scaled, wide = [self._scaled(table.reach[:-1]) for table in tables], len(self._room)
        # Every distance is fetched once for all tables.
        rows = np.arange(self.m) if self._held is not None else np.unique(np.concatenate(wanted))
        for start in range(0, len(rows), wide):
            block = rows[start : start + wide]
            near = self._near(block)
            for table, reach, own in zip(tables, scaled, wanted, strict=True):
                some = own[slice(*np.searchsorted(own, (block[0], block[-1] + 1)))]
                terms = self._room[: len(some)]
                if len(some) == len(block):
                    np.minimum(near, reach, out=terms)
                else:
                    np.take(near, np.searchsorted(block, some), axis=0, out=terms, mode="clip")
                    np.minimum(terms, reach, out=terms)
                table.low[some] = self._less_rounding(terms @ self._ones)
        for table, own in zip(tables, wanted, strict=True):
            table.summed[own] = True
            if len(own) == self.m and self.bounded:
                self._references.append(table)

    def _scaled(self, reach: Floats) -> NDArray[np.floating]:
        return (reach / self._unit).astype(self._ones.dtype)

    def _less_rounding(self, sums: NDArray[np.floating]) -> Floats:
        """However terms are added up, no more than this is lost; nor by numbers too small for single precision."""
        share = 1 - (self.n + 8) * float(np.spacing(self._ones[0]))
        return (sums * np.float64(share) - 1e-35) * self._unit

    def _near(self, block: Indices) -> NDArray[np.floating]:
        """Distances of some candidates; if they are held, of successive ones, in units of the largest."""
        if self._single is None:
            return cdist(self._candidates[block], self._objects)
        return self._single[block[0] : block[-1] + 1]
