"""A sample of the rows, drawn by their values: the same in whatever order they stand, and nearly so without one."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def subsample(X: Floats, size: int) -> tuple[Indices, Indices]:
    """Draw `size` rows, and say for each row of `X` which place of the draw falls vacant without it.

    Each row gets a number that looks random but depends on its values alone, and on how many equal rows stand before
    it; the rows with the smallest are drawn, in this order. Without a row, the first ``size - 1`` of them lose at most
    one and the last moves up: that is the place named for rows that were not drawn.

    Examples
    --------
    >>> X = np.arange(10.0)[:, None]
    >>> drawn, vacant = subsample(X, 4)
    >>> X[drawn, 0]
    array([7., 5., 6., 4.])
    >>> vacant
    array([3, 3, 3, 3, 3, 1, 2, 0, 3, 3])
    """
    number = np.zeros(len(X), dtype=np.uint64)
    for column in np.ascontiguousarray(X.T) + 0.0:  # -0.0 equals 0.0
        number = _stirred(number ^ column.view(np.uint64))
    order = np.argsort(number, kind="stable")
    step = np.flatnonzero(np.diff(number[order]))
    starts, ends = np.append(0, step + 1), np.append(step, len(X) - 1)
    run = np.repeat(np.arange(len(starts)), ends - starts + 1)
    lot = np.empty_like(number)
    lot[order] = _stirred(number[order] + (np.arange(len(X)) - starts[run]).astype(np.uint64))
    drawn = np.argsort(lot, kind="stable")[:size]
    # Of equal rows, whichever is left out, the number of the last is gone.
    place, last = np.full(len(X), size - 1), np.empty(len(X), dtype=np.intp)
    place[drawn] = np.arange(size)
    last[order] = order[ends[run]]
    return drawn, place[last]


def _stirred(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Steele, Lea and Flood's SplitMix64: every bit of the result depends on every bit of x."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
