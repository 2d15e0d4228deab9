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
_SIGNIFICANT_ERRORS = 4.0  # standard errors: exceeded by one sample of exchangeable scores in 30,000
_REMEDY = (
    'the sensitivity may not hold for later samples: if the rows are in the order of time, use calibration="blocks"; '
    "if they are replicates of items, give groups; a table that was sorted by its values needs neither"
)


def normal_scores(column: ArrayLike) -> Floats:
    """Convert values to centered normal scores of their ranks, with unit mean square; zeros if all are equal."""
    scores = norm.ppf(rankdata(column) / (np.size(column) + 1))
    scores -= scores.mean()
    square = float(np.mean(scores**2))
    return scores / math.sqrt(square) if square > 1e-12 else np.zeros_like(scores)


def neighbor_correlation(scores: ArrayLike) -> tuple[float, float]:
    """Compute the correlation of neighboring normal scores and its distance from chance in standard errors.

    Mean and variance are those over all orders of the scores (Wald and Wolfowitz, 1943).

    Examples
    --------
    >>> correlation, deviation = neighbor_correlation(range(100))
    >>> round(correlation, 2), round(deviation, 1)
    (0.94, 9.6)
    """
    z = normal_scores(scores)
    n, serial, fourth = len(z), float(z[1:] @ z[:-1]), float((z**4).sum())
    if not fourth:
        return 0.0, 0.0
    # Mean products of two pairs of neighbors: equal pairs, pairs that share one, disjoint pairs.
    equal = (n * n - fourth) / (n * (n - 1))
    overlap = (2 * fourth - n * n) / (n * (n - 1) * (n - 2))
    disjoint = (3 * n * n - 6 * fourth) / (n * (n - 1) * (n - 2) * (n - 3))
    mean = -1.0  # (n - 1) products with a mean of -1 / (n - 1) each
    variance = (n - 1) * equal + 2 * (n - 2) * overlap + (n - 2) * (n - 3) * disjoint - mean**2
    return serial / n, (serial - mean) / math.sqrt(variance)


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


def warn_if_ordered(scores: ArrayLike, groups: ArrayLike | None = None, *, remedy: str = _REMEDY) -> None:
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
    if deviation > _SIGNIFICANT_ERRORS:
        warn_user(
            f"the scores of neighboring {'rows' if groups is None else 'groups'} are correlated ({correlation:.2f}): "
            + remedy,
            OrderedScores,
        )
