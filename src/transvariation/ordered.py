"""Samples in an order, such as time: autocorrelation of scores, and contiguous folds with a gap."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, rankdata

from transvariation._typing import Floats, Indices
from transvariation.exceptions import OrderedScores, warn_user

MIN_ORDERED = 20  # scores from which an autocorrelation is computed
N_BLOCK_FOLDS = 10
SIGNIFICANT_STANDARD_ERRORS = 4.0  # standard errors: exceeded by one sample of exchangeable scores in 30,000


def lag_correlations(scores: ArrayLike, n_lags: int) -> Floats:
    """Compute the autocorrelations of the normal scores of a series at lags 1, 2, ..., `n_lags`.

    Examples
    --------
    >>> lag_correlations([1, 2, 3, 4, 5, 6], 2).round(2)
    array([0.46, 0.06])
    """
    normal = norm.ppf(rankdata(scores) / (len(np.asarray(scores)) + 1))
    normal -= normal.mean()
    total = float(normal @ normal)
    if total <= 0:
        return np.zeros(n_lags)
    return np.array([normal[lag:] @ normal[:-lag] / total for lag in range(1, n_lags + 1)])


def neighbor_correlation(scores: ArrayLike) -> tuple[float, float]:
    """Compute the correlation of neighboring scores and its distance from chance in standard errors.

    If the order has no meaning, the correlation is -1 / (n - 1) on average, with a variance of about 1 / n.

    Examples
    --------
    >>> correlation, deviation = neighbor_correlation(range(100))
    >>> round(correlation, 2), round(deviation, 1)
    (0.94, 9.5)
    """
    n = len(np.asarray(scores))
    correlation = float(lag_correlations(scores, 1)[0])
    return correlation, (correlation + 1 / (n - 1)) * math.sqrt(n)


def correlation_time(scores: ArrayLike) -> float:
    """Estimate how many neighboring scores weigh as much as one independent score: 1 if neighbors are independent.

    One plus twice the sum of the autocorrelations, up to the first pair of lags with a negative sum (Geyer, 1992).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> correlation_time(rng.normal(size=1000)) < 1.3
    True
    """
    values = np.asarray(scores, dtype=float)
    if len(values) < MIN_ORDERED:
        return 1.0
    correlations = np.append(1.0, lag_correlations(values, max(len(values) // 4, 3)))
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


def warn_if_ordered(scores: ArrayLike, groups: ArrayLike | None = None) -> None:
    """Warn if the calibration scores of neighboring rows are correlated; with groups, the means of neighboring groups.

    Exchangeable samples raise this warning once in 30,000 fits.
    """
    values = np.asarray(scores, dtype=float)
    if groups is not None:
        _, first, number = np.unique(np.asarray(groups), return_index=True, return_inverse=True)
        values = (np.bincount(number, values) / np.bincount(number))[np.argsort(first, kind="stable")]
    values = values[np.isfinite(values)]
    if len(values) < MIN_ORDERED:
        return
    correlation, deviation = neighbor_correlation(values)
    if deviation > SIGNIFICANT_STANDARD_ERRORS:
        warn_user(
            f"the scores of neighboring {'rows' if groups is None else 'groups'} are correlated ({correlation:.2f}): "
            "the sensitivity may not hold for later samples: if the rows are in the order of time, use "
            'calibration="blocks"; if they are replicates of items, give groups; a table that was sorted by its values '
            "needs neither",
            OrderedScores,
        )
