"""Measure likelihood ratios of pairs of known origin: cost, bounds, misleading ratios and curves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import IsotonicRegression

from transvariation._typing import Bools, Floats, Indices
from transvariation.casework.background.pairs import Pairs
from transvariation.casework.background.rates import Rate, measure_rate

STEP_OF_BOUNDS = 0.01  # of the bounds
PRIOR_ODDS = np.linspace(-2.5, 2.5, 41)  # log10, of the ECE plot
POINTS_DRAWN = 300  # quantiles kept of each Tippett curve


@dataclass(frozen=True)
class Performance:
    """Performance of a likelihood-ratio system on unseen background sources.

    Attributes
    ----------
    cllr : float
        Log-likelihood-ratio cost: 0 for a perfect system, 1 for one without information.
    cllr_min : float
        The same after the best monotone recalibration; the rest of `cllr` is lack of calibration.
    n_same, n_different : int
        Numbers of pairs.
    same_below_one, different_above_one : Rate
        Shares of misleading ratios.
    bounds : tuple of float
        The lowest and the highest log10 ratio that the pairs support.
    bound_errors : tuple of float
        Their Monte Carlo errors.
    tippett_same, tippett_different : tuple of float
        Quantiles of the log10 ratios of either kind of pairs.
    ece : mapping
        ``log10_prior_odds`` and the empirical cross-entropy of the ``system``, of it after the best monotone
        recalibration (``recalibrated``), and of a system without information (``reference``).
    """

    cllr: float
    cllr_min: float
    n_same: int
    n_different: int
    same_below_one: Rate
    different_above_one: Rate
    bounds: tuple[float, float]
    tippett_same: tuple[float, ...]
    tippett_different: tuple[float, ...]
    ece: dict[str, tuple[float, ...]]
    bound_errors: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Unseen:
    """Pairs of known origin: whether each has one source, which sources, its weight and the round of drawing.

    The weights of the pairs of one source sum to 1/2, and so do those of different sources.
    """

    same: Bools
    source: Indices
    other: Indices
    weight: Floats
    part: Indices

    @classmethod
    def join(cls, kinds: Sequence[Pairs]) -> "Unseen":
        """Join pairs of the same and of different sources."""
        weights = np.concatenate([pairs.weight / pairs.weight.sum() / 2 for pairs in kinds])
        same, source, other, part = (
            np.concatenate([getattr(pairs, name) for pairs in kinds]) for name in ("same", "source", "other", "part")
        )
        return cls(same, source, other, weights, part)


def elub(
    log10_lr: Floats,
    same: Bools,
    weight: Floats | None = None,
    numbers: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """Compute the empirical lower and upper bound of log10 likelihood ratios (Vergeer et al., 2016).

    Beyond the bounds, a decision at that threshold would cost more than one without any evidence, if one more
    misleading ratio of either kind were added to the pairs.

    Parameters
    ----------
    log10_lr : ndarray of shape (n,)
    same : ndarray of bool
    weight : ndarray of shape (n,), optional
        By default all pairs of a kind count equally.
    numbers : tuple of float, optional
        How many independent pairs of the same and of different sources there are; by default all.

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> ratios = np.append(np.linspace(-1, 3, 101), np.linspace(-3, 1, 101))
    >>> elub(ratios, np.arange(202) < 101)
    (-1.56, 1.55)
    """
    values = np.clip(log10_lr, -9, 9)
    n_same, n_different = numbers or (same.sum(), (~same).sum())
    first = min(0, int(np.floor(max(values.min(), -np.log10(n_same + 1)) / STEP_OF_BOUNDS)))
    last = max(0, int(np.floor(min(values.max(), np.log10(n_different + 1)) / STEP_OF_BOUNDS)) + 1)
    thresholds = np.linspace(first * STEP_OF_BOUNDS, last * STEP_OF_BOUNDS, last - first + 1)

    def share_at_or_below(kind: Bools) -> Floats:
        order = np.argsort(values[kind])
        weights = np.ones(len(order)) if weight is None else weight[kind][order]
        ranks = np.searchsorted(values[kind][order], thresholds, side="right")
        return np.asarray(np.append(0.0, np.cumsum(weights))[ranks] / weights.sum())

    missed = (share_at_or_below(same) * n_same + 1) / (n_same + 1)
    misled = ((1 - share_at_or_below(~same)) * n_different + 1) / (n_different + 1)
    worse = missed + 10**thresholds * misled > np.minimum(1.0, 10**thresholds)
    low = max(thresholds[worse & (thresholds <= 0)] + STEP_OF_BOUNDS, default=thresholds[0])
    high = min(thresholds[worse & (thresholds >= 0)] - STEP_OF_BOUNDS, default=thresholds[-1])
    return round(min(float(low), 0.0), 10), round(max(float(high), 0.0), 10)


def cllr(log10_lr: Floats, same: Bools, weight: Floats | None = None) -> float:
    """Compute the log-likelihood-ratio cost (Brümmer and du Preez, 2006)."""
    natural = np.asarray(log10_lr) * np.log(10)
    costs = [
        float(np.average(np.logaddexp(0, sign * natural[kind]), weights=None if weight is None else weight[kind]))
        for sign, kind in ((-1, same), (1, ~same))
    ]
    return sum(costs) / 2 / float(np.log(2))


def recalibrated(log10_lr: Floats, same: Bools, weight: Floats | None = None) -> Floats:
    """Recalibrate log10 ratios by the best monotone function of them (pool adjacent violators)."""
    weights = np.where(same, 0.5 / same.sum(), 0.5 / (~same).sum()) if weight is None else weight
    isotonic = IsotonicRegression(y_min=0, y_max=1).fit(log10_lr, same.astype(float), sample_weight=weights)
    share = np.clip(isotonic.predict(log10_lr), 1e-12, 1 - 1e-12)
    return np.log10(share / (1 - share))


def cross_entropy(log10_lr: Floats, same: Bools, weight: Floats | None = None) -> tuple[float, ...]:
    """Compute the empirical cross-entropy at each of `PRIOR_ODDS` (Ramos and Gonzalez-Rodriguez, 2013)."""
    natural, prior = np.asarray(log10_lr) * np.log(10), 1 / (1 + 10**-PRIOR_ODDS)
    odds, weights = PRIOR_ODDS * np.log(10), np.ones(len(same)) if weight is None else weight

    def mean_costs(kind: Bools, sign: int) -> Floats:
        values, at = np.unique(natural[kind], return_inverse=True)  # many lie at the bounds
        shares = np.bincount(at, weights[kind]) / weights[kind].sum()
        return np.array([shares @ np.logaddexp(0, sign * (values + x)) for x in odds])

    return tuple(map(float, (prior * mean_costs(same, -1) + (1 - prior) * mean_costs(~same, 1)) / np.log(2)))


def ece_curves(
    log10_lr: Floats, best: Floats, same: Bools, weight: Floats | None = None
) -> dict[str, tuple[float, ...]]:
    """Compute the curves of the ECE plot: log10 ratios, after the best recalibration, and without information."""
    curves = {"system": log10_lr, "recalibrated": best, "reference": np.zeros(len(same))}
    found = {name: cross_entropy(values, same, weight) for name, values in curves.items()}
    return {"log10_prior_odds": tuple(map(float, PRIOR_ODDS)), **found}


def measure_performance(
    log10_lr: Floats, pairs: Unseen, bounds: tuple[float, float], bound_errors: tuple[float, float] = (0.0, 0.0)
) -> Performance:
    """Measure log10 likelihood ratios of pairs of known origin."""
    same, weight = pairs.same, pairs.weight
    best = recalibrated(log10_lr, same, weight)
    shares = np.linspace(0, 1, POINTS_DRAWN)
    curves = [
        tuple(map(float, np.quantile(log10_lr[at], shares, weights=weight[at], method="inverted_cdf")))
        for at in (same, ~same)
    ]

    def rate(events: Bools, kind: Bools) -> Rate:
        other = None if kind is same else pairs.other[kind]
        return measure_rate(events[kind], pairs.source[kind], other, weight[kind])

    return Performance(
        cllr=cllr(log10_lr, same, weight),
        cllr_min=cllr(best, same, weight),
        n_same=int(same.sum()),
        n_different=int((~same).sum()),
        same_below_one=rate(log10_lr < 0, same),
        different_above_one=rate(log10_lr > 0, ~same),
        bounds=bounds,
        tippett_same=curves[0],
        tippett_different=curves[1],
        ece=ece_curves(log10_lr, best, same, weight),
        bound_errors=bound_errors,
    )
