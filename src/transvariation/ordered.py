"""Samples in an order, such as time: autocorrelation of scores, and contiguous folds with a gap."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import rankdata

from transvariation._typing import Floats, Indices
from transvariation.exceptions import OrderedScores, warn_user

MIN_ORDERED = 20  # scores from which an autocorrelation is computed
N_BLOCK_FOLDS = 10
_SIGNIFICANT_ERRORS = 4.0  # standard errors: exceeded by one sample of exchangeable scores in 30,000
# Adds 0.02 to 0.05 to the error rate; the packaged glass, in no order of time, has up to 0.45.
_HARMFUL_EXCESS = 0.5
_FAR_LAGS = range(8, 13)
_MIN_COMPARED = 40  # rows ten apart must lie within one part of a table that is sorted by class
MAX_ROWS_COMPARED = 500  # three hundred show what is worth a warning
_REMEDY = (
    'the sensitivity may not hold for later samples: if the rows are in the order of time, use calibration="blocks"; '
    "if they are replicates of items, give groups; a table that was sorted by its values needs neither"
)


def normal_scores(values: ArrayLike) -> Floats:
    """Convert each column to centered normal scores of its ranks, with unit mean square; zeros if all are equal.

    Missing values get the score 0.
    """
    ranks = rankdata(values, axis=0, nan_policy="omit")
    scores = np.nan_to_num(ndtri(ranks / (np.count_nonzero(~np.isnan(ranks), axis=0) + 1)))
    scores -= scores.mean(axis=0)
    square = np.mean(scores**2, axis=0)
    varies = square > 1e-12
    return np.where(varies, scores / np.sqrt(np.where(varies, square, 1.0)), 0.0)


def _serial_sum(z: Floats, weights: Mapping[int, float]) -> tuple[float, float]:
    """Sum the products of rows at each lag with its weight, and compare with chance, in standard errors.

    Mean and variance are those over all orders of the rows (Mantel, 1967, Cancer Research 27, 209-220).
    """
    n, total, w, w2 = len(z), 0.0, np.zeros(len(z)), 0.0
    for lag, weight in weights.items():
        total += weight * float((z[lag:] * z[:-lag]).sum())
        w[lag:] += weight
        w[:-lag] += weight
        w2 += 2 * (n - lag) * weight**2
    g = -(z**2).sum(axis=1)  # the products of each row with all others: columns have a mean of zero
    products = z.T @ z if z.shape[1] < n else z @ z.T
    wr, gr = w @ w, g @ g
    g2 = (products**2).sum() - gr
    mean = w.sum() * g.sum() / (n * (n - 1))
    disjoint = (w.sum() ** 2 + 2 * w2 - 4 * wr) * (g.sum() ** 2 + 2 * g2 - 4 * gr) / ((n - 2) * (n - 3))
    square = (2 * w2 * g2 + 4 * (wr - w2) * (gr - g2) / (n - 2) + disjoint) / (n * (n - 1))
    return total, float((2 * total - mean) / math.sqrt(square - mean**2))


def neighbor_correlation(scores: ArrayLike) -> tuple[float, float]:
    """Compute the correlation of neighboring normal scores and its distance from chance in standard errors.

    This is the serial correlation of Wald and Wolfowitz (1943).

    Examples
    --------
    >>> correlation, deviation = neighbor_correlation(range(100))
    >>> round(correlation, 2), round(deviation, 1)
    (0.94, 9.6)
    """
    z = normal_scores(scores)[:, None]
    if not z.any():
        return 0.0, 0.0
    total, deviation = _serial_sum(z, {1: 1.0})
    return total / len(z), deviation


def neighbor_excess(X: Floats) -> tuple[float, float]:
    """Compute how much more neighboring rows are correlated than rows ten apart, and the same in standard errors.

    The correlation is the mean over features. Rows sorted by a feature or by class resemble those ten apart nearly as
    much as their neighbors; rows of a process, and replicates, do not.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.repeat(rng.normal(size=(40, 2)), 3, axis=0) + rng.normal(size=(120, 2)) / 2
    >>> excess, deviation = neighbor_excess(rows)
    >>> round(excess, 2), round(deviation, 1)
    (0.52, 7.3)
    """
    z = normal_scores(X)
    z = z[:, z.any(axis=0)]
    if not z.shape[1]:
        return 0.0, 0.0
    n = len(z)
    total, deviation = _serial_sum(z, {1: 1.0} | {lag: -(n - 1) / (n - lag) / len(_FAR_LAGS) for lag in _FAR_LAGS})
    return total / (n - 1) / z.shape[1], deviation


def correlation_time(scores: ArrayLike) -> float:
    """Estimate how many neighboring scores weigh as much as one independent score: 1 if neighbors are independent.

    One plus twice the sum of the autocorrelations, up to the first pair of lags with a negative sum (Geyer, 1992).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> correlation_time(rng.normal(size=1000)) < 1.3
    True
    """
    z = normal_scores(scores)
    if len(z) < MIN_ORDERED or not z.any():
        return 1.0
    correlations = np.array([z[lag:] @ z[: len(z) - lag] / len(z) for lag in range(len(z) // 4 + 1)])
    pairs = correlations[: 2 * (len(correlations) // 2)].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    kept = pairs[: negative[0]] if len(negative) else pairs
    return float(max(1.0, 2 * np.minimum.accumulate(kept).sum() - 1)) if len(kept) else 1.0


def block_folds(n: int, gap: int = 0, n_folds: int = N_BLOCK_FOLDS) -> list[tuple[Indices, Indices]]:
    """Divide n rows into contiguous folds; rows closer than `gap` to a fold do not describe the class for it.

    Examples
    --------
    >>> for train, test in block_folds(9, gap=1, n_folds=3):
    ...     print(train, test)
    [4 5 6 7 8] [0 1 2]
    [0 1 7 8] [3 4 5]
    [0 1 2 3 4] [6 7 8]
    """
    rows = np.arange(n)
    folds = np.array_split(rows, min(n_folds, n))
    return [(rows[(rows < test[0] - gap) | (rows > test[-1] + gap)], test) for test in folds]


def warn_if_ordered(
    scores: ArrayLike, groups: ArrayLike | None = None, rows: Floats | None = None, *, remedy: str = _REMEDY
) -> None:
    """Warn if neighboring rows have correlated scores, or are alike; with groups, the means of neighboring groups.

    Of `rows`, which may be the first ones only, neighbors are compared with rows ten apart. Exchangeable samples raise
    this warning once in 15,000 fits, and more often if nearly all values are equal: a single rare indicator in 40 rows
    once in 200.
    """
    values = [np.asarray(scores, dtype=float)[:, None], *([] if rows is None else [rows])]
    if groups is not None:
        values = [_group_means(each, np.asarray(groups)[: len(each)]) for each in values]
    who = f"neighboring {'rows' if groups is None else 'groups'}"
    of_scores = values[0][np.isfinite(values[0])]
    if len(of_scores) >= MIN_ORDERED:
        correlation, deviation = neighbor_correlation(of_scores)
        if deviation > _SIGNIFICANT_ERRORS:
            return warn_user(f"the scores of {who} are correlated ({correlation:.2f}): {remedy}", OrderedScores)
    if rows is not None and len(values[1]) >= _MIN_COMPARED:
        excess, deviation = neighbor_excess(values[1])
        if deviation > _SIGNIFICANT_ERRORS and excess > _HARMFUL_EXCESS:
            warn_user(f"{who} are more alike than others ({excess:.2f}): {remedy}", OrderedScores)


def _group_means(values: Floats, groups: ArrayLike) -> Floats:
    """Average the rows of each group, in the order of first appearance."""
    _, first, number = np.unique(groups, return_index=True, return_inverse=True)
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(len(first)))
    means = np.add.reduceat(values[order], starts) / np.bincount(number)[:, None]
    return means[np.argsort(first)]
