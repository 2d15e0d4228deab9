"""Exact selection: the k-th smallest of numbers in many places, without sorting or gathering them.

Doubles are read as integers of the same order. Each round counts, in every partition, the leading bits of what is
still in question, and keeps the bin that holds the k-th: half a megabyte per partition and round, added up on the way.
Four rounds at most, fewer where the rest can be gathered.
"""

import numpy as np
from numpy.typing import NDArray

from transvariation.dask.rows import Floats, Rows

_BITS = 16
_GATHER = 100_000  # numbers that may come to one place


def kth_smallest(values: Rows, k: int, n: int) -> float:
    """Find the number of rank k, from 0, among the n in the first column of all partitions.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.dask.blocks import LocalRows
    >>> parts = [np.array([[3.0], [1.0]]), np.array([[2.0], [-5.0]])]
    >>> kth_smallest(LocalRows(lambda: parts), 2, 4)
    2.0
    """
    known, prefix = 0, np.uint64(0)  # so many leading bits are known
    while n > _GATHER and known < 64:
        counts = values.total(_histogram, known, prefix)
        upto = np.cumsum(counts)
        bin_ = int(np.searchsorted(upto, k, side="right"))
        n = int(counts[bin_])
        k -= int(upto[bin_]) - n
        prefix = (prefix << np.uint64(_BITS)) | np.uint64(bin_)
        known += _BITS
    if known == 64:
        return float(_doubles(np.array([prefix]))[0])
    rest = np.concatenate(values.map(_within, known, prefix))
    return float(_doubles(np.partition(rest, k)[k : k + 1])[0])


def _integers(values: Floats) -> NDArray[np.uint64]:
    """Integers in the same order as the doubles; both zeros are one number."""
    bits = (values + 0.0).view(np.uint64)
    negative = bits >> np.uint64(63) == 1
    return np.where(negative, ~bits, bits | np.uint64(1 << 63))


def _doubles(integers: NDArray[np.uint64]) -> Floats:
    positive = integers >> np.uint64(63) == 1
    return np.where(positive, integers & np.uint64((1 << 63) - 1), ~integers).view(np.float64)


def _within(rows: Floats, number: int, known: int, prefix: np.uint64) -> NDArray[np.uint64]:
    integers = _integers(rows[:, 0])
    return integers if known == 0 else integers[integers >> np.uint64(64 - known) == prefix]


def _histogram(rows: Floats, number: int, known: int, prefix: np.uint64) -> NDArray[np.int64]:
    rest = _within(rows, number, known, prefix) << np.uint64(known)
    return np.bincount((rest >> np.uint64(64 - _BITS)).astype(np.int64), minlength=1 << _BITS)
