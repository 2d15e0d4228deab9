"""Half of the rows describe the class, the other half calibrate: which ones depends on their numbers alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from transvariation.dask.rows import Floats

CALIBRATIONS = ("resubstitution", "split")


def check_calibration(calibration: Any) -> str:
    """Name the mode, or say what to do instead."""
    if isinstance(calibration, str) and calibration in CALIBRATIONS:
        return calibration
    remedy = (
        "every row would be rated by a rule without it, which takes as many centres as there are rows, or as many fits "
        'as folds; with many rows calibration="split" promises more and costs less'
        if isinstance(calibration, str) and calibration in ("loo", "cv")
        else f"choose one of {', '.join(CALIBRATIONS)}"
    )
    raise ValueError(f"calibration={calibration!r} is not for rows in partitions: {remedy}")


def describes(numbers: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Say which rows, by their numbers, are to describe the class: about every second one, without a pattern.

    A bit of each number after thorough mixing (SplitMix64): the same whatever the partitions, and nothing to remember.

    Examples
    --------
    >>> describes(np.arange(12, dtype=np.uint64)).astype(int)
    array([1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1])

    References
    ----------
    Steele, G. L., Lea, D. and Flood, C. H. (2014). Fast splittable pseudorandom number generators. OOPSLA, 453-472.
    """
    z = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z >> np.uint64(63)).astype(bool)


def half(rows: Floats, number: int, starts: NDArray[np.int64], describing: bool) -> Floats:
    """One half of a partition."""
    return rows[_describing(rows, starts[number]) == describing]


def marked(rows: Floats, number: int, starts: NDArray[np.int64]) -> Floats:
    """A partition with a further column: 1 for rows that describe, 0 for those that calibrate."""
    return np.column_stack([rows, _describing(rows, starts[number])])


def _describing(rows: Floats, start: np.int64) -> NDArray[np.bool_]:
    return describes(np.arange(start, start + len(rows), dtype=np.uint64))
