"""Random subsamples and folds that depend on what the rows are, not on their order or the units of their values."""

import numpy as np
from numpy.typing import NDArray

from transvariation._typing import Floats, Indices

SPLITMIX_STEP = np.uint64(0x9E3779B97F4A7C15)
_ROUNDING_ERROR = 1e-12  # of the range of a column: smaller differences may be lost when the unit changes
_N_BINS, _FIRST_EDGE = 32, np.sqrt(2) - 1  # of histograms; decimal numbers do not fall on irrational edges


def subsample(X: Floats, size: int) -> Indices:
    """Draw the indices of `size` rows of `X` without replacement.

    Each row gets a pseudorandom number that is a hash of the ranks of its values (and of how many equal rows precede
    it); the rows with the smallest numbers are drawn. Which rows are drawn depends neither on the order of the rows and
    columns nor on the unit or the origin of a column.

    Examples
    --------
    >>> X = np.arange(10.0)[:, None]
    >>> X[subsample(X, 4), 0]
    array([9., 1., 7., 4.])
    >>> X[subsample(1000 * X + 7, 4), 0]
    array([9., 1., 7., 4.])
    """
    return _shuffled(_rank_keys(X))[:size]


def random_folds(X: Floats, n_folds: int, groups: Indices | None = None) -> Indices:
    """Draw the number of the fold of each row of `X`, or of each group 0, 1, ...; the sizes differ by one at most.

    Rows, or groups, are put into the order of a hash of their ranks and are dealt out in turn. The folds depend neither
    on the order of the rows and columns nor on the unit or the origin of a column. Which of several equal rows or
    groups is in which fold depends on their order, and changes nothing.

    The hash is one of the whole table, too: its ranks, and a histogram of each column. Another sample of the
    same distribution is divided by other ranks, as if at random, also if it has a single column.

    Examples
    --------
    >>> X = np.arange(6.0)[:, None] ** 2
    >>> random_folds(X, 2), random_folds(1000 * X[::-1] + 7, 2)
    (array([0, 1, 1, 0, 1, 0]), array([0, 1, 0, 1, 1, 0]))
    >>> random_folds(X, 2, np.array([0, 0, 0, 1, 1, 2]))
    array([0, 0, 0, 0, 0, 1])
    """
    histograms = np.array([_histogram_key(column) for column in X.T], dtype=np.uint64)
    keys = splitmix64(_rank_keys(X) ^ histograms.sum(dtype=np.uint64))
    if groups is not None:
        of_rows, keys = keys, np.zeros(int(groups.max()) + 1, dtype=np.uint64)
        np.add.at(keys, groups, of_rows)
    folds = deal_out(_shuffled(keys), n_folds)
    return folds if groups is None else folds[groups]


def deal_out(order: Indices, n_folds: int) -> Indices:
    """Return the number of the fold of each item, if items are dealt out to the folds in turn, in the given order."""
    folds = np.empty(len(order), dtype=np.intp)
    folds[order] = np.arange(len(order)) % n_folds
    return folds


def _shuffled(key: NDArray[np.uint64]) -> Indices:
    """Order keys by a hash of each and of how many equal ones precede it."""
    order = np.argsort(key, kind="stable")
    new = np.append(True, np.diff(key[order]) != 0)
    n_before = np.arange(len(key)) - np.flatnonzero(new)[np.cumsum(new) - 1]
    shuffled = np.empty_like(key)
    shuffled[order] = splitmix64(key[order] + n_before.astype(np.uint64))
    return np.argsort(shuffled, kind="stable")


def _histogram_key(values: Floats) -> np.uint64:
    """Hash how many values are in each part of the range; ranks alone are the same for all columns without ties."""
    present = values[~np.isnan(values)]
    size = np.abs(present).max(initial=np.finfo(float).tiny)
    relative = present / size - present.min(initial=size) / size
    bins = (_N_BINS * relative / max(relative.max(initial=0.0), np.finfo(float).tiny) + _FIRST_EDGE).astype(np.intp)
    counts = np.bincount(bins, minlength=_N_BINS + 1).astype(np.uint64)
    return splitmix64(counts + (np.arange(len(counts), dtype=np.uint64) << np.uint64(32))).sum(dtype=np.uint64)


def row_keys(X: Floats) -> NDArray[np.uint64]:
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


def column_order(X: Floats) -> Indices:
    """Return an order of columns of integers, such as ranks, whatever the order of the columns and rows.

    Examples
    --------
    >>> X = np.array([[1.0, 3.0, 2.0], [2.0, 2.0, 1.0], [3.0, 1.0, 3.0]])
    >>> X[:, column_order(X)]
    array([[3., 2., 1.],
           [2., 1., 2.],
           [1., 3., 3.]])
    """
    return np.argsort(_signatures([*np.ascontiguousarray(X.T).astype(np.int64).view(np.uint64)]), kind="stable")


def _rank_keys(X: Floats) -> NDArray[np.uint64]:
    """Hash each row: a sum over the columns, each of which adds its signature."""
    levels = [_levels(column) for column in X.T]
    key = np.zeros(len(X), dtype=np.uint64)
    for level, signature in zip(levels, _signatures(levels), strict=True):
        key += splitmix64(level ^ signature)
    return splitmix64(key)


def _signatures(levels: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Hash each column; neither the order of the columns nor that of the rows changes its hash."""
    row_hash = splitmix64(np.sum(levels, axis=0, dtype=np.uint64))
    return splitmix64(np.array([(level * row_hash).sum(dtype=np.uint64) for level in levels], dtype=np.uint64))


def _levels(values: Floats) -> NDArray[np.uint64]:
    """Number the distinct values in ascending order from 1; missing values come last."""
    order = np.argsort(values)
    ordered = values[order]
    n_present = int(np.count_nonzero(~np.isnan(ordered)))
    size = max(np.abs(ordered[:n_present]).max(initial=0.0), np.finfo(float).tiny)
    steps = np.diff(ordered / size)
    width = (ordered[max(n_present - 1, 0)] - ordered[0]) / size if n_present else 0.0
    new = np.zeros(len(values), dtype=np.uint64)
    new[1:] = ~(steps <= _ROUNDING_ERROR * width)  # so is the first of the missing values
    new[n_present + 1 :] = 0
    levels = np.empty(len(values), dtype=np.uint64)
    levels[order] = np.cumsum(new) + np.uint64(1)
    return levels


def splitmix64(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash integers with SplitMix64 (Steele, Lea and Flood, 2014): every bit of the result depends on all bits."""
    x = x + SPLITMIX_STEP
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
