"""Bounds of the true sensitivity of one fitted classifier, from the ranks of its calibration scores.

The *sensitivity* is the share of new target samples that are accepted. The nominal sensitivity holds on average over
calibrations; one calibration may have been lucky or not. The bounds here hold for this one, with a stated confidence.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache
from numbers import Real

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfc, xlogy
from scipy.stats import beta, binom, poisson

from transvariation._typing import Floats, Indices

_ROUNDING_ERROR = 1e-9
_BAND_RANKS = 200  # ranks at which a simultaneous band is computed


def check_sensitivity(sensitivity: float) -> float:
    """Return the sensitivity as a float, or raise ValueError."""
    if not isinstance(sensitivity, Real):
        raise ValueError(f"sensitivity={sensitivity!r} is not a number; 0.9 accepts 90% of the target samples")
    if not 0 < sensitivity <= 1:
        percent = f"; did you mean {sensitivity / 100:g}?" if 10 <= sensitivity < 100 else ""
        raise ValueError(
            f"sensitivity={sensitivity} must lie in (0, 1]; 0.9 accepts 90% of the target samples{percent}"
        )
    return float(sensitivity)


def check_confidence(confidence: float) -> float:
    """Return the confidence as a float, or raise ValueError."""
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must lie in (0, 1); 0.95 is usual")
    return float(confidence)


def required_n(sensitivity: float, confidence: float | None = None) -> float:
    """Compute how many held-out samples (or groups) a sensitivity needs; infinity for 1.

    The *sensitivity* is the share of new target samples that are accepted.

    Parameters
    ----------
    sensitivity : float in (0, 1]
        The share of new target samples to accept.
    confidence : float in (0, 1), optional
        With it, the number from which on a threshold guarantees the sensitivity for this calibration with this
        probability, and still rejects something; of ``"split"``, while ``"loo"`` and ``"cv"`` need those of half the
        error, such as 0.975 instead of 0.95. By default, for the sensitivity on average over calibrations.

    Returns
    -------
    float

    See Also
    --------
    transvariation.CoverageReport : What a calibration guarantees.

    Examples
    --------
    >>> from transvariation import required_n
    >>> required_n(0.9), required_n(0.95), required_n(0.99)
    (9.0, 19.0, 99.0)
    >>> required_n(0.9, confidence=0.95)
    29.0
    """
    alpha = 1 - check_sensitivity(sensitivity)
    if alpha <= 0:
        return math.inf
    if confidence is not None:
        return float(math.ceil(math.log(1 - check_confidence(confidence)) / math.log1p(-alpha) - _ROUNDING_ERROR))
    return float(math.ceil(1 / alpha - _ROUNDING_ERROR) - 1)


def sensitivity_bound(
    n: float, sensitivity: float, confidence: float = 0.95, *, grouped: bool = False, n_distinct: int | None = None
) -> float:
    """Compute a lower bound of the true sensitivity of a classifier calibrated by n held-out scores.

    The threshold is the k-th smallest of n scores, ``k = floor((1 - sensitivity) * (n + 1))``. Over repeated
    calibrations the true sensitivity follows Beta(n + 1 - k, k), or is larger where scores are tied; the bound is a
    quantile of that distribution (Wilks, 1941). With groups, the share of a group below the threshold is any number
    between 0 and 1, and the bound is that of Hoeffding and Bentkus (Bates et al., 2021), which is a little lower.

    Parameters
    ----------
    n : float
        The number of calibration samples, or of groups.
    sensitivity : float in (0, 1]
        The nominal sensitivity.
    confidence : float in (0, 1), default=0.95
        The probability, over calibrations, that the bound holds.
    grouped : bool, default=False
        Whether groups are counted, whose samples need not lie on one side of the threshold.
    n_distinct : int, optional
        The number of different scores, if equal ones are to count once; by default n. Scores of one split are
        independent, equal or not; those of several folds are not.

    Returns
    -------
    float
        1 if the threshold accepts everything: n is too small for the sensitivity.

    References
    ----------
    Wilks, S. S. (1941). Determination of sample sizes for setting tolerance limits. Annals of Mathematical Statistics
    12, 91-96.
    Bates, S., Angelopoulos, A., Lei, L., Malik, J. and Jordan, M. (2021). Distribution-free, risk-controlling
    prediction sets. Journal of the ACM 68, 43.

    Examples
    --------
    >>> round(sensitivity_bound(100, 0.9, confidence=0.95), 4)
    0.8482
    >>> round(sensitivity_bound(100, 0.9, confidence=0.95, grouped=True), 4)
    0.8227
    """
    below = (1 - check_sensitivity(sensitivity)) * (n + 1)  # the next sample counts as well
    delta = 1 - check_confidence(confidence)
    if below < 1 - _ROUNDING_ERROR:
        return 1.0
    if not grouped:
        units = 1 + (n if n_distinct is None else n_distinct)
        share = math.floor(below + _ROUNDING_ERROR) / (n + 1)
        return float(beta.ppf(delta, units * (1 - share), units * share))
    share = max(below - 1, 0.0) / n
    return 1 - float(brentq(lambda gamma: _hoeffding_bentkus(n, share, gamma) - delta, share + 1e-12, 1 - 1e-12))


def _hoeffding_bentkus(n: float, share: float, mean: float) -> float:
    """Bound the probability that n values in [0, 1] with at least this mean have a mean of at most `share`."""
    divergence = xlogy(share, share / mean) + xlogy(1 - share, (1 - share) / (1 - mean))
    return float(min(np.exp(-n * divergence), math.e * binom.cdf(math.ceil(n * share - _ROUNDING_ERROR), n, mean)))


def guaranteed_sensitivity(
    n: float, sensitivity: float, confidence: float = 0.95, *, grouped: bool = False, n_distinct: int | None = None
) -> float:
    """Compute the lowest nominal sensitivity whose :func:`sensitivity_bound` is at least `sensitivity`.

    Parameters
    ----------
    n : float
        The number of calibration samples, or of groups.
    sensitivity : float in (0, 1]
        What the true sensitivity should be at least.
    confidence : float in (0, 1), default=0.95
        The probability, over calibrations, that it is.
    grouped : bool, default=False
        Whether groups are counted.
    n_distinct : int, optional
        The number of different scores, if equal ones are to count once.

    Returns
    -------
    float
        1 if n is smaller than ``required_n(sensitivity, confidence)``.

    Examples
    --------
    >>> round(guaranteed_sensitivity(100, 0.9, confidence=0.95), 4)
    0.9505
    >>> sensitivity_bound(100, 0.9505, confidence=0.95) >= 0.9
    True
    >>> guaranteed_sensitivity(20, 0.9, confidence=0.95)
    1.0
    """
    share = check_sensitivity(sensitivity)

    def too_low(k: int) -> bool:
        return sensitivity_bound(n, 1 - k / (n + 1), confidence, grouped=grouped, n_distinct=n_distinct) < share

    # The more scores are below the threshold, the lower is the bound.
    k = bisect_left(range(1, math.floor((1 - share) * (n + 1) + _ROUNDING_ERROR) + 1), True, key=too_low)
    return 1 - k / (n + 1)


def sensitivity_band(n: float, confidence: float = 0.95, *, grouped: bool = False) -> tuple[Floats, Floats, Floats]:
    """Compute bounds of the true sensitivity that hold for all thresholds at once.

    With one sample per group the band consists of equal local levels: at each rank the same probability is left out,
    chosen such that all bounds hold together with exactly the stated confidence. With groups it is the band of
    Dvoretzky, Kiefer and Wolfowitz for groups, widened because groups may be split by a threshold.

    Parameters
    ----------
    n : float
        The number of calibration samples, or of groups.
    confidence : float in (0, 1), default=0.95
        The probability, over calibrations, that all bounds hold.
    grouped : bool, default=False
        Whether groups are counted.

    Returns
    -------
    nominal : ndarray of shape (k,)
        Nominal sensitivities, ``1 - rank / (n + 1)``, in decreasing order; at most 200.
    lower, upper : ndarrays of shape (k,)
        Bounds of the true sensitivity at each.

    References
    ----------
    Berk, R. H. and Jones, D. H. (1979). Goodness-of-fit test statistics that dominate the Kolmogorov statistics.
    Zeitschrift für Wahrscheinlichkeitstheorie 47, 47-59.
    Aldor-Noiman, S., Brown, L. D., Buja, A., Rolke, W. and Stine, R. A. (2013). The power to see: a new graphical
    test of normality. The American Statistician 67, 249-260.
    Moscovich, A. and Nadler, B. (2017). Fast calculation of boundary crossing probabilities for Poisson processes.
    Statistics and Probability Letters 123, 177-182.

    Examples
    --------
    >>> nominal, lower, upper = sensitivity_band(100, confidence=0.95)
    >>> at = abs(nominal - 0.9).argmin()
    >>> round(float(lower[at]), 3), round(float(upper[at]), 3)
    (0.79, 0.969)
    """
    check_confidence(confidence)
    ranks = _band_ranks(int(n))
    nominal = 1 - ranks / (n + 1)
    if grouped:
        margin = _grouped_margin(n, confidence)
        empirical = 1 - (ranks - 1) / n
        return nominal, np.maximum(empirical - margin, 0.0), np.minimum(empirical + margin, 1.0)
    level = _local_level(int(n), confidence)
    return nominal, beta.ppf(level, n + 1 - ranks, ranks), beta.isf(level, n + 1 - ranks, ranks)


def _band_ranks(n: int) -> Indices:
    return np.unique(np.round(np.linspace(1, n, min(n, _BAND_RANKS))).astype(int))


@lru_cache(maxsize=64)
def _local_level(n: int, confidence: float) -> float:
    """Find the local level of a band at the chosen ranks of n uniform order statistics, by bisection."""
    ranks = _band_ranks(n)

    def excess(log_level: float) -> float:
        level = math.exp(log_level)
        lower, upper = beta.ppf(level, ranks, n + 1 - ranks), beta.isf(level, ranks, n + 1 - ranks)
        return _inside_probability(n, ranks, lower, upper) - confidence

    delta = 1 - confidence  # Bonferroni's level is too small, the level of a single rank too large
    return math.exp(brentq(excess, math.log(delta / (4 * len(ranks))), math.log(delta), xtol=1e-4))


def _inside_probability(n: int, ranks: Indices, lower: Floats, upper: Floats) -> float:
    """Compute the probability that the order statistics of n uniform variables lie in their intervals.

    The number of variables up to time t is a Poisson process given that it ends at n (Moscovich and Nadler, 2017). At
    each bound, the states that violate it are dropped.
    """
    times = np.concatenate([lower, upper, [1.0]])
    at_most = np.concatenate([ranks - 1, np.full(len(ranks) + 1, n)])
    at_least = np.concatenate([np.zeros(len(ranks), dtype=int), ranks, [n]])
    order = np.argsort(times, kind="stable")
    at_most = np.minimum.accumulate(at_most[order][::-1])[::-1]
    at_least = np.maximum.accumulate(at_least[order])
    state, first, before = np.ones(1), 0, 0.0
    for time, low, high in zip(times[order], at_least, at_most, strict=True):
        mean = n * (time - before)
        if high < low:
            return 0.0
        reach = min(high - first, int(mean + 12 * math.sqrt(mean) + 30)) + 1
        state = np.convolve(state, poisson.pmf(np.arange(reach), mean))[low - first : high - first + 1]
        state = np.pad(state, (0, max(0, high - low + 1 - len(state))))
        first, before = low, time
    return float(state[0] / poisson.pmf(n, n))


def _grouped_margin(n: float, confidence: float) -> float:
    """Compute the half-width of a simultaneous band for groups.

    One random sample of each group would obey the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart. The weighted
    shares are the average over such draws, so that their largest deviation D is smaller in convex order, and
    P(D >= d) <= E(D' - c)+ / (d - c) for each c < d.
    """
    c = np.linspace(0, 4, 2_000) / math.sqrt(2 * n)
    excess = math.sqrt(math.pi / (2 * n)) * erfc(c * math.sqrt(2 * n))
    return float((c + excess / (1 - confidence)).min())
