"""Calibration scores in partitions: exact thresholds and counts; the halves of a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation._typing import Bools, Floats, Indices
from transvariation.conformal import count_at_or_below, rejection_count
from transvariation.conformal_calibration import ConformalCalibration
from transvariation.dask.partitions import Integers, Partitions
from transvariation.subsample import SPLITMIX_STEP, splitmix64

CALIBRATIONS = ("resubstitution", "split")
_BITS = 16  # of a score, per round of the selection
_GATHER = 100_000  # scores that may be collected in one place


def check_calibration(calibration: Any) -> str:
    """Return the mode, or raise ValueError."""
    if isinstance(calibration, str) and calibration in CALIBRATIONS:
        return calibration
    raise ValueError(
        f"calibration={calibration!r} is not available for rows in partitions; choose one of "
        f"{', '.join(CALIBRATIONS)}. With many rows a split has a stronger guarantee than refits, and costs less"
    )


@dataclass(frozen=True, eq=False)
class PartitionedCalibration(ConformalCalibration):
    """Calibration scores in partitions; `scores` holds those of each stratum, `counts` how many there are."""

    scores: Any = ()  # a list of Partitions with one column
    counts: tuple[int, ...] = ()

    @property
    def sizes(self) -> Floats:
        """The number of calibration rows of each stratum."""
        return np.array(self.counts, dtype=float)

    def _threshold_of(self, strata: Indices, sensitivity: float) -> float:
        """Select the threshold among the scores of the given strata together."""
        n = int(self.sizes[strata].sum())
        below = rejection_count(n, sensitivity, held_out=self.held_out)
        return kth_smallest(self.pool(strata), min(int(below), n - 1), n) if below >= 0 else -np.inf

    def _count(self, strata: Indices, scores: ArrayLike) -> Floats:
        """Count the scores of the given strata at or below each of `scores`."""
        return self.pool(strata).total(_count_at_or_below, np.asarray(scores, dtype=float))

    def _counted(self, strata: Indices) -> dict[str, Any]:
        return {"grouped": False}  # the scores of one split; equal ones are not sought in all partitions

    def pool(self, strata: Indices) -> Partitions:
        """Join the scores of strata."""
        first, *others = (self.scores[k] for k in strata)
        return first.joined(others) if others else first


def _count_at_or_below(scores: Floats, number: int, at: Floats) -> Floats:
    return count_at_or_below(scores[:, 0], at)


def kth_smallest(values: Partitions, k: int, n: int) -> float:
    """Select the number of rank k, from 0, among the n in the first column of all partitions.

    Doubles are read as integers of the same order. Each round counts the leading bits of what is still in question and
    keeps the bin that holds the k-th: half a megabyte per partition and round, four rounds at most.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.dask.partitions import open_partitions
    >>> kth_smallest(open_partitions(np.array([[3.0], [1.0], [2.0], [-5.0]])), 2, 4)
    2.0
    """
    known, prefix = 0, np.uint64(0)  # so many leading bits are known
    while n > _GATHER and known < 64:
        counts = values.total(_histogram, known, prefix)
        up_to = np.cumsum(counts)
        bin_ = int(np.searchsorted(up_to, k, side="right"))
        n = int(counts[bin_])
        k -= int(up_to[bin_]) - n
        prefix = (prefix << np.uint64(_BITS)) | np.uint64(bin_)
        known += _BITS
    if known == 64:
        return float(_doubles(np.array([prefix]))[0])
    rest = np.concatenate(values.map(_matching, known, prefix))
    return float(_doubles(np.partition(rest, k)[k : k + 1])[0])


def _integers(values: Floats) -> NDArray[np.uint64]:
    """Convert doubles to integers in the same order; both zeros are one number."""
    bits = (values + 0.0).view(np.uint64)
    negative = bits >> np.uint64(63) == 1
    return np.where(negative, ~bits, bits | np.uint64(1 << 63))


def _doubles(integers: NDArray[np.uint64]) -> Floats:
    positive = integers >> np.uint64(63) == 1
    return np.where(positive, integers & np.uint64((1 << 63) - 1), ~integers).view(np.float64)


def _matching(rows: Floats, number: int, known: int, prefix: np.uint64) -> NDArray[np.uint64]:
    integers = _integers(rows[:, 0])
    return integers if known == 0 else integers[integers >> np.uint64(64 - known) == prefix]


def _histogram(rows: Floats, number: int, known: int, prefix: np.uint64) -> Integers:
    rest = _matching(rows, number, known, prefix) << np.uint64(known)
    return np.bincount((rest >> np.uint64(64 - _BITS)).astype(np.int64), minlength=1 << _BITS)


def describes(numbers: NDArray[np.uint64]) -> Bools:
    """Return which rows, by their numbers, describe the class in a split: about every second one, without a pattern.

    A bit of the n-th pseudorandom number of SplitMix64 decides about row n, so that partitions do not matter.

    Examples
    --------
    >>> describes(np.arange(12, dtype=np.uint64)).astype(int)
    array([1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1])

    References
    ----------
    Steele, G. L., Lea, D. and Flood, C. H. (2014). Fast splittable pseudorandom number generators. OOPSLA, 453-472.
    """
    return (splitmix64(numbers * SPLITMIX_STEP) >> np.uint64(63)).astype(bool)


def half(rows: Floats, number: int, starts: Integers, describing: bool) -> Floats:
    """Select one half of a partition."""
    return rows[_describing(rows, starts[number]) == describing]


def marked(rows: Floats, number: int, starts: Integers) -> Floats:
    """Append a column: 1 for rows that describe the class, 0 for those that calibrate."""
    return np.column_stack([rows, _describing(rows, starts[number])])


def _describing(rows: Floats, start: np.int64) -> Bools:
    return describes(np.arange(start, start + len(rows), dtype=np.uint64))
