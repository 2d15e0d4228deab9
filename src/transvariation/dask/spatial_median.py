"""The spatial median of rows in partitions, with the same bits as on one machine.

Newton's sums are taken over blocks of rows that do not depend on the partitions: each has `SUM_ROWS` rows.
A partition sums the blocks that lie within it. Rows of a block that straddles partitions are fetched once and
summed here. The sums of the blocks are then added in the order of the rows, as on one machine.
"""

import numpy as np

from transvariation._typing import Floats
from transvariation.dask.calibration import kth_smallest
from transvariation.dask.partitions import Integers, Partitions
from transvariation.depth.median import (
    SUM_ROWS,
    Rows,
    distance_from,
    midpoint,
    position_on_line,
    spatial_median_of_rows,
    sums_of_blocks,
)


def spatial_median_of_partitions(rows: Partitions) -> Floats:
    """Find the spatial median of inspected rows."""
    return spatial_median_of_rows(_Parted(rows))


class _Parted(Rows):
    def __init__(self, rows: Partitions):
        self._rows = rows
        self._starts = rows.starts
        self.shape = int(self._starts[-1]), rows.width
        self._edges: dict[int, Floats] | None = None

    def max(self) -> float:
        return self._rows.extremes[1]

    def min(self) -> float:
        return self._rows.extremes[0]

    def __mul__(self, unit: float) -> "_Parted":
        scaled = self._rows.derive(_times, unit)
        return _Parted(scaled.inspect())

    def __getitem__(self, which: int | slice) -> Floats:
        if isinstance(which, slice):
            return self._rows.take(np.arange(*which.indices(len(self))))
        return self._rows.take(np.array([which % len(self)]))[0]

    def block_sums(self, y: Floats) -> Floats:
        if self._edges is None:
            self._edges = self._straddling()
        parts = {block: sums_of_blocks(rows, y, len(self)) for block, rows in self._edges.items()}
        for start, inside in zip(self._starts, self._rows.map(_sums_inside, self._starts, y), strict=False):
            if inside is not None:
                parts[-(-int(start) // SUM_ROWS)] = inside
        return np.concatenate([parts[block] for block in sorted(parts)])

    def _straddling(self) -> dict[int, Floats]:
        """Collect the rows of each block that lies in several partitions."""
        pieces: dict[int, list[Floats]] = {}
        for found in self._rows.map(_edges, self._starts):
            for block, rows in found:
                pieces.setdefault(block, []).append(rows)
        return {block: np.concatenate(rows) for block, rows in pieces.items()}

    def median_on_line(self) -> Floats:
        n = len(self)
        if self.shape[1] == 1:
            low, high = (np.array([kth_smallest(self._rows, k, n)]) for k in ((n - 1) // 2, n // 2))
            return midpoint(low, high)
        first = self[0]
        found = self._rows.map(_farthest, first)
        far = max((f for f in found if f is not None), key=lambda f: f[0])[1]  # the first of equals
        placed = self._rows.derive(_place, first, far)
        return midpoint(*(self._at_rank(placed, k) for k in ((n - 1) // 2, n // 2)))

    def _at_rank(self, placed: Partitions, k: int) -> Floats:
        """Find the row of rank k along the line; ties are in the order of the rows."""
        value = kth_smallest(placed, k, len(self))
        below, equal = np.transpose(placed.map(_below_and_at, value))
        k -= int(below.sum())
        part = int(np.searchsorted(np.cumsum(equal), k, side="right"))
        within = k - int(equal[:part].sum())
        return next(row for row in placed.map(_nth_at, value, part, within) if row is not None)


def _times(rows: Floats, number: int, unit: float) -> Floats:
    return rows * unit


def _whole_blocks(starts: Integers, number: int) -> tuple[int, int]:
    """Return the range of rows whose blocks lie entirely in a partition; the last block of all may be short."""
    begin, end = int(starts[number]), int(starts[number + 1])
    first = -(-begin // SUM_ROWS) * SUM_ROWS
    last = end if end == starts[-1] else end // SUM_ROWS * SUM_ROWS
    return (first - begin, last - begin) if last > first else (end - begin, end - begin)


def _sums_inside(rows: Floats, number: int, starts: Integers, y: Floats) -> Floats | None:
    low, high = _whole_blocks(starts, number)
    return sums_of_blocks(rows[low:high], y, int(starts[-1])) if high > low else None


def _edges(rows: Floats, number: int, starts: Integers) -> list[tuple[int, Floats]]:
    """Return the rows of a partition whose blocks extend into other partitions."""
    low, high = _whole_blocks(starts, number)
    found = []
    for begin, end in ((0, low), (high, len(rows))):
        while begin < end:
            block = int(begin + starts[number]) // SUM_ROWS
            stop = min(end, (block + 1) * SUM_ROWS - int(starts[number]))
            found.append((block, rows[begin:stop].copy()))
            begin = stop
    return found


def _farthest(rows: Floats, number: int, first: Floats) -> tuple[float, Floats] | None:
    if not len(rows):
        return None
    distance = distance_from(rows, first)
    i = int(np.argmax(distance))
    return float(distance[i]), rows[i].copy()


def _place(rows: Floats, number: int, first: Floats, far: Floats) -> Floats:
    return np.column_stack([position_on_line(rows, first, far), rows])


def _below_and_at(placed: Floats, number: int, value: float) -> tuple[int, int]:
    return int((placed[:, 0] < value).sum()), int((placed[:, 0] == value).sum())


def _nth_at(placed: Floats, number: int, value: float, part: int, within: int) -> Floats | None:
    return placed[np.flatnonzero(placed[:, 0] == value)[within], 1:].copy() if number == part else None
