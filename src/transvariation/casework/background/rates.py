"""Measured error rates with their intervals, by source."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, t

from transvariation._typing import Floats, Indices

INTERVAL_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Rate:
    """A share of comparisons, as measured.

    Attributes
    ----------
    share : float
    n : int
        The number of comparisons.
    low, high : float
        Its 95% interval, by source.
    """

    share: float
    n: int
    low: float
    high: float


def measure_rate(
    events: ArrayLike,
    source: ArrayLike,
    other: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    *,
    learned: float = 1.0,
) -> Rate:
    """Compute a share of comparisons and its 95% interval, which allows for comparisons that have a source in common.

    The variance of the share counts every two comparisons with a source in common (Aronow, Samii and Assenova, 2015).
    The interval is the exact one of as many independent comparisons as have this variance (Korn and Graubard, 1998). If
    no comparison, or every one, is an event, the interval is that of as many independent comparisons as there are
    sources, or pairs of different sources, to one side. No other interval ends before this one: few events of one or
    two sources show hardly any variance.

    Parameters
    ----------
    events : array-like of bool, shape (n,)
    source : array-like of int, shape (n,)
        The source of the known fragments.
    other : array-like of int, optional
        The source of the questioned fragments; by default the same.
    weight : array-like, optional
        By default all comparisons count equally.
    learned : float, default=1.0
        The share of the sources that each comparison was learned from, by cross-validation. What is learned from them
        varies as well, so that the variance is divided by this share.

    Examples
    --------
    >>> one, other = np.nonzero(~np.eye(64, dtype=bool))
    >>> round(measure_rate([False] * len(one), one, other).high, 4)  # 2016 pairs of sources
    0.0015
    >>> rate = measure_rate([True, False] * 50, np.arange(100))
    >>> rate.share, round(rate.low, 2), round(rate.high, 2)
    (0.5, 0.4, 0.6)
    >>> rate = measure_rate([True] * 14, np.arange(14))  # one-sided
    >>> rate.share, round(rate.low, 2), rate.high
    (1.0, 0.81, 1.0)
    """
    return measure_rates(np.asarray(events)[:, None], source, other, weight, learned=learned)[0]


def measure_rates(
    events: ArrayLike,
    source: ArrayLike,
    other: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    *,
    learned: float = 1.0,
) -> list[Rate]:
    """Compute shares of the same comparisons, one for each column of events: see :func:`measure_rate`."""
    happened = np.asarray(events, dtype=bool)
    n = len(happened)
    w = np.full(n, 1 / n) if weight is None else np.asarray(weight, dtype=float) / np.sum(weight)
    members = [np.unique(np.asarray(source), return_inverse=True)[1]]
    if other is not None:
        joined = np.unique(np.concatenate([source, other]), return_inverse=True)[1]
        members = [joined[:n], joined[n:]]
    n_sources = int(max(at.max() for at in members)) + 1
    pair = np.unique(
        np.minimum(members[0], members[-1]) * n_sources + np.maximum(members[0], members[-1]), return_inverse=True
    )[1]
    return [_rate(event.astype(float), w, members, n_sources, pair, learned) for event in happened.T]


def _rate(event: Floats, w: Floats, members: list[Indices], n_sources: int, pair: Indices, learned: float) -> Rate:
    n = len(event)
    share = 1.0 if event.all() else float(np.clip(w @ event, 0.0, 1.0))  # weights may add up to less by rounding
    edge = float((1 - INTERVAL_CONFIDENCE) ** (1 / (pair.max() + 1)))
    if share in (0.0, 1.0):
        return Rate(share, n, edge if share else 0.0, 1.0 if share else 1 - edge)
    residual = w * (event - share)
    of_source = sum(np.bincount(at, residual, n_sources) for at in members)
    variance = float((np.asarray(of_source) ** 2).sum())
    if len(members) == 2:
        of_pair = float((np.bincount(pair, residual) ** 2).sum())
        variance = max(variance - of_pair, of_pair)
    freedom = max(n_sources - 1, 1)
    effective = share * (1 - share) / max(variance * n_sources / freedom / learned, 1e-300)
    effective = min(effective * (t.ppf(0.975, max(n - 1, 1)) / t.ppf(0.975, freedom)) ** 2, float(n))
    tail, hits = (1 - INTERVAL_CONFIDENCE) / 2, share * effective
    low, high = beta.ppf(tail, hits, effective - hits + 1), beta.ppf(1 - tail, hits + 1, effective - hits)
    return Rate(share, n, min(float(low), edge), max(float(high), 1 - edge))
