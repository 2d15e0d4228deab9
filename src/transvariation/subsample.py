"""A random subsample that depends on the values of the rows, not on their order."""

import numpy as np
from numpy.typing import NDArray

SPLITMIX_STEP = np.uint64(0x9E3779B97F4A7C15)


def subsample(X: NDArray[np.float64], size: int) -> NDArray[np.intp]:
    """Draw the indices of `size` rows of `X` without replacement.

    Each row gets a pseudorandom number that is a hash of its values (and of how many equal rows precede it); the rows
    with the smallest numbers are drawn. Permuting the rows does not change which values are drawn, and removing a row
    changes at most one of them.

    Examples
    --------
    >>> X = np.arange(10.0)[:, None]
    >>> X[subsample(X, 4), 0]
    array([7., 5., 6., 4.])
    """
    key = row_keys(X)
    order = np.argsort(key, kind="stable")
    new = np.append(True, np.diff(key[order]) != 0)
    n_before = np.arange(len(X)) - np.flatnonzero(new)[np.cumsum(new) - 1]
    key[order] = splitmix64(key[order] + n_before.astype(np.uint64))
    return np.argsort(key, kind="stable")[:size]


def row_keys(X: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Hash the values of each row: equal rows have equal keys.

    Examples
    --------
    >>> keys = row_keys(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    key = np.zeros(len(X), dtype=np.uint64)
    for column in np.ascontiguousarray(X.T) + 0.0:  # -0.0 equals 0.0
        key = splitmix64(key ^ column.view(np.uint64))
    return key


def splitmix64(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash integers with SplitMix64 (Steele, Lea and Flood, 2014): every bit of the result depends on all bits."""
    x = x + SPLITMIX_STEP
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
