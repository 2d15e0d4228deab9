"""Thresholds and p-values from calibration scores.

Scores are high for typical samples. They are counted with weights, so that replicates of one item count as one item:
with :func:`group_weights` every group weighs 1, however many samples it has.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from transvariation._typing import Bools, Floats, Indices
from transvariation.certificate import check_sensitivity, required_n
from transvariation.exceptions import TooFewSamples, warn_user

ROUNDING_ERROR = 1e-9  # undoes (1 - 0.9) * 10 = 0.9999999999999998 and sums of thirds that miss a whole number
# The rank-sum distribution is exact up to this number of pairs, and for any number of pairs with a set this small.
_EXACT_PAIRS, _EXACT_SIZE = 20_000, 20
_TAIL_SIZE = 10  # scores to which an exponential tail is fitted


def conformal_threshold(
    scores: ArrayLike, sensitivity: float, weights: ArrayLike | None = None, *, held_out: bool = False
) -> float:
    """Compute the largest threshold that accepts at least a share `sensitivity` of the scores.

    Scores at or above the threshold are accepted. The threshold is one of the scores, the
    ``floor((1 - sensitivity) * n)``-th smallest counted from zero. NumPy's interpolated quantile would accept fewer.

    Parameters
    ----------
    scores : array-like of shape (n,)
    sensitivity : float in (0, 1]
    weights : array-like of shape (n,), optional
        The weight of each score; by default 1.
    held_out : bool, default=False
        Whether the samples were scored by a classifier fitted without them. The share then holds for the next sample,
        which is counted as well: the accepted samples are exactly those with a p-value above ``1 - sensitivity``. This
        needs ``n >= required_n(sensitivity)``; with fewer, everything is accepted, with a warning: the threshold is
        minus infinity.

    Examples
    --------
    >>> conformal_threshold([0.1, 0.2, 0.3, 0.4, 0.5], sensitivity=0.8)
    0.2
    >>> conformal_threshold([0.1, 0.2, 0.3, 0.4, 0.5], sensitivity=0.8, held_out=True)
    0.1
    """
    alpha = 1 - check_sensitivity(sensitivity)
    ordered, cumulated = _cumulated(scores, weights)
    n = cumulated[-1]
    if held_out and alpha * (n + 1) < 1 - ROUNDING_ERROR:
        highest = math.floor(1000 * n / (n + 1) + ROUNDING_ERROR) / 1000
        warn_user(
            f"sensitivity={sensitivity} is not supported by {n:.0f} held-out samples or groups, so that every sample "
            f"is accepted: {enough_samples(required_n(sensitivity))}, or lower the sensitivity to at most {highest}",
            TooFewSamples,
        )
        return -np.inf
    below = (alpha * (n + 1) - 1 if held_out else alpha * n) + ROUNDING_ERROR
    return float(ordered[min(int(np.searchsorted(cumulated[1:], below, side="right")), len(ordered) - 1)])


def enough_samples(need: float) -> str:
    """Name the remedy for too few calibration samples."""
    return f"calibrate with at least {need:.0f}" if math.isfinite(need) else "no number of samples supports 1"


@overload
def is_accepted(p_values: float, sensitivity: float) -> bool: ...
@overload
def is_accepted(p_values: Floats, sensitivity: float | Floats) -> Bools: ...


def is_accepted(p_values: float | Floats, sensitivity: float | Floats) -> bool | Bools:
    """Return whether p-values do not reject at a sensitivity: the only comparison of a p-value with a level.

    Parameters
    ----------
    p_values : float or ndarray
    sensitivity : float
        The share of targets to accept.

    Returns
    -------
    bool or ndarray of bool

    Examples
    --------
    >>> is_accepted(0.1, 0.9), is_accepted(0.11, 0.9)
    (False, True)
    """
    return p_values > 1 - sensitivity + ROUNDING_ERROR


def check_numbers(
    values: Floats, name: str = "score", remedy: str = "the classifier is damaged; fit it again"
) -> Floats:
    """Return values that are numbers, infinite ones among them; others would pass for rejections and are refused.

    Examples
    --------
    >>> check_numbers(np.array([0.5, np.nan]))
    Traceback (most recent call last):
    ValueError: the score of sample 1 (the first is 0) is not a number: the classifier is damaged; fit it again
    """
    if (wrong := np.isnan(values)).any():
        at = int(np.argmax(wrong))
        raise ValueError(f"the {name} of sample {at} (the first is 0) is not a number: {remedy}")
    return values


def rounded_up(scores: Floats) -> Floats:
    """Return the largest values that count as equal to scores, in every comparison of a new score with a known one.

    The sums behind a score are rounded differently if a sample is scored alone or with others. A known sample that is
    scored again equals itself, and a relative difference of less than 1e-9 never rejects.

    Examples
    --------
    >>> rounded_up(np.array([-np.inf, -1.0, 0.0, 1.0])) >= [-np.inf, -0.9999999999, 0.0, 1.0000000001]
    array([ True,  True,  True,  True])
    """
    return np.maximum(scores * (1 + ROUNDING_ERROR), scores * (1 - ROUNDING_ERROR))


def margin(scores: ArrayLike, thresholds: ArrayLike) -> Floats:
    """Subtract thresholds from scores; values that are equal up to rounding give 0, also where both are infinite.

    Examples
    --------
    >>> margin([-np.inf, 0.5], -np.inf)
    array([ 0., inf])
    >>> margin([0.3], 0.1 + 0.2)
    array([0.])
    """
    scores, thresholds = np.asarray(scores, dtype=float), np.asarray(thresholds, dtype=float)
    equal = (scores == thresholds) | ((scores < thresholds) & (thresholds <= rounded_up(scores)))
    return np.subtract(scores, thresholds, out=np.zeros_like(scores), where=~equal)


def p_values(calibration: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Compute conformal p-values: (1 + number of calibration scores at or below each score) / (n + 1).

    Conservative under ties. A score that is not a number ranks below all others.

    If the calibration scores and a new target's score are exchangeable, the p-value of a target is at most alpha with
    probability at most alpha, for every alpha and n. With `group_weights` the same holds if the groups are exchangeable
    and the new sample belongs to a new group.

    References
    ----------
    Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic Learning in a Random World. Springer.
    Lee, Y., Barber, R. F. and Willett, R. (2023). Distribution-free inference with hierarchical data. arXiv:2306.06342.

    Examples
    --------
    >>> p_values([0.1, 0.2, 0.3, 0.4], [0.05, 0.2, 0.9])
    array([0.2, 0.6, 1. ])
    """
    n = np.size(calibration) if weights is None else np.round(np.sum(weights), 10)
    return (1 + count_at_or_below(calibration, scores, weights)) / (n + 1)


def tail_p_values(calibration: ArrayLike, scores: ArrayLike) -> Floats:
    r"""Compute p-values with a model of the lowest calibration scores, for a few samples: an exponential tail.

    Ranks among n scores end at :math:`1 / (n + 1)`. Below the :math:`k + 1` st lowest score u the p-value is

    .. math:: p(s) = \frac{k + 1}{n + 1} \left(1 + \frac{u - s}{k m}\right)^{-k}

    where m is the mean distance from u of the k scores below it: ten, or half of fewer than twenty. It is exact for
    scores with an exponential tail, whose scale is estimated from k values, and an extrapolation for all others: no
    bound holds for every distribution. Above u, and if the k scores equal u, p-values are ranks.

    Parameters
    ----------
    calibration : array-like of shape (n,)
        Calibration scores.
    scores : array-like of shape (q,)
        Scores of new samples.

    Returns
    -------
    ndarray of shape (q,)

    Examples
    --------
    >>> tail_p_values([-1.0, -2.0, -3.0, -4.0, -6.0, -8.0], [-1.5, -5.0, -10.0, -30.0]).round(4)
    array([0.8571, 0.313 , 0.1017, 0.0089])
    """
    known, new = np.sort(np.asarray(calibration, dtype=float)), np.asarray(scores, dtype=float)
    ranks = p_values(known, new)
    k = min(_TAIL_SIZE, len(known) // 2)
    mean = float((known[k] - known[:k]).mean()) if k else 0.0
    if not mean > 0:
        return ranks
    beyond = np.maximum(known[k] - np.where(np.isnan(new), -np.inf, new), 0.0)
    return np.where(beyond > 0, (k + 1) / (len(known) + 1) * (1 + beyond / (k * mean)) ** -k, ranks)


def rank_sum_p_value(u: int, n: int, k: int) -> float:
    """Compute P(U <= u), where U counts the pairs of one of n and one of k exchangeable scores with the first lower.

    The one-sided rank-sum test (Wilcoxon, Mann and Whitney) of k new scores against n calibration scores. It is valid
    if all are exchangeable, whereas multiplying or averaging p-values from one calibration would treat them as
    independent; for one new score it is the conformal p-value. Exact where one of the sets or the number of pairs is
    small, otherwise by the normal limit.

    Examples
    --------
    >>> rank_sum_p_value(0, 4, 1)
    0.2
    """
    few, many = sorted((n, k))
    if few > _EXACT_SIZE and n * k > _EXACT_PAIRS:
        return float(norm.cdf((u + 0.5 - n * k / 2) / np.sqrt(n * k * (n + k + 1) / 12)))
    if 2 * u >= n * k:  # U is symmetric about n k / 2
        return 1.0 if u >= n * k else 1 - rank_sum_p_value(n * k - u - 1, n, k)
    # The numbers of arrangements with U = 0, 1, ..., u are the coefficients of the product of
    # (1 - q^(many + i)) / (1 - q^i) over i = 1, ..., few; here divided by the number of all arrangements.
    probability = np.zeros(u + 1)
    probability[0] = 1.0
    for i in range(1, few + 1):
        rounds = -(-len(probability) // i)
        padded = np.pad(probability, (0, rounds * i - len(probability)))
        sums = padded.reshape(rounds, i).cumsum(axis=0).ravel()[: u + 1]
        probability = sums.copy()
        probability[many + i :] -= sums[: max(u + 1 - many - i, 0)]
        probability *= i / (many + i)
    return float(min(1.0, probability.sum()))


def weighted_p_values(calibration: ArrayLike, scores: ArrayLike, weights: ArrayLike, new_weights: ArrayLike) -> Floats:
    """Compute p-values for another population, with the ratio of the densities as weights.

    The weight of the calibration scores at or below each score and of the new sample itself, by the weight of all of
    them. Valid if the weights are proportional to the ratio of the density of the new population to that of the
    calibration samples.

    Parameters
    ----------
    calibration : array-like of shape (n,)
        Calibration scores.
    scores : array-like of shape (q,)
        Scores of new samples.
    weights : array-like of shape (n,)
        The ratio at each calibration sample.
    new_weights : array-like of shape (q,)
        The ratio at each new sample.

    Returns
    -------
    ndarray of shape (q,)

    References
    ----------
    Tibshirani, R. J., Barber, R. F., Candès, E. J. and Ramdas, A. (2019). Conformal prediction under covariate shift.
    NeurIPS 32.

    Examples
    --------
    >>> weighted_p_values([0.1, 0.2, 0.3, 0.4], [0.05, 0.2], [1, 1, 1, 1], [1, 4])
    array([0.2 , 0.75])
    """
    known, new = np.asarray(weights, dtype=float), np.asarray(new_weights, dtype=float)
    for name, array, like in (("weights", known, calibration), ("new_weights", new, scores)):
        if array.shape != np.shape(like):
            raise ValueError(f"{name} of shape {array.shape} are not one for each of {np.size(like)} samples")
    check_weights(known)
    check_weights(new, "new_weights", or_all_zero=True)
    return (count_at_or_below(calibration, scores, known) + new) / (known.sum() + new)


def check_weights(weights: Floats, name: str = "weights", *, or_all_zero: bool = False) -> None:
    """Raise ValueError unless weights are finite and not negative, nor all of them zero."""
    if (wrong := ~(np.isfinite(weights) & (weights >= 0))).any():
        raise ValueError(f"{name} must be finite numbers of at least 0, not {weights[wrong][0]}; clip extreme ratios")
    if not or_all_zero and not weights.any():
        raise ValueError(f"{name} are all 0: no known sample counts; give one or more of them a weight above 0")


def count_at_or_below(calibration: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Count the calibration scores, or sum their weights, at or below each score, or equal to it up to rounding.

    NaN counts as the lowest score.

    Examples
    --------
    >>> count_at_or_below([0.1, 0.2, 0.3], [0.2, float("nan")])
    array([2., 0.])
    """
    ordered, cumulated = _cumulated(calibration, weights)
    scores = np.asarray(scores, dtype=float)
    return cumulated[np.searchsorted(ordered, rounded_up(np.where(np.isnan(scores), -np.inf, scores)), side="right")]


def _cumulated(scores: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Floats]:
    """Sort the scores and cumulate their weights, from zero on."""
    scores = np.asarray(scores, dtype=float)
    if weights is None:
        return np.sort(scores), np.arange(len(scores) + 1.0)
    order = np.argsort(scores, kind="stable")
    # Thirds and sevenths do not add up to whole groups exactly.
    return scores[order], np.round(np.cumsum(np.append(0.0, np.asarray(weights, dtype=float)[order])), 10)


def group_weights(groups: ArrayLike) -> Floats:
    """Compute sample weights that sum to 1 within each group.

    Examples
    --------
    >>> group_weights(["a", "a", "b"])
    array([0.5, 0.5, 1. ])
    """
    _, index, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    return 1.0 / sizes[index]


def pool_strata(sizes: ArrayLike, sensitivity: float) -> Indices:
    """Assign strata to pools: strata too small to support the sensitivity share one threshold.

    If these are too small together as well, the smallest of the others join them.

    Parameters
    ----------
    sizes : array-like
        The number of held-out samples (or groups) of each stratum.
    sensitivity : float in (0, 1]

    Examples
    --------
    >>> pool_strata([30, 5, 40, 6], 0.9)
    array([0, 1, 2, 1])
    """
    sizes = np.asarray(sizes)
    ascending = np.argsort(sizes, kind="stable")
    total = np.cumsum(sizes[ascending])
    need = min(required_n(sensitivity), total[-1])
    n_small = int(np.count_nonzero(sizes < need))
    if not n_small:
        return np.arange(len(sizes))
    pooled = ascending[: max(n_small, int(np.searchsorted(total, need)) + 1)]
    pools = np.arange(len(sizes))
    pools[pooled] = pooled.min()
    return np.unique(pools, return_inverse=True)[1]


def check_sensitivities(sensitivity: float | ArrayLike, n_strata: int | None = None) -> list[float]:
    """Return one sensitivity per stratum; without their number, only check what is given."""
    shares = np.asarray(sensitivity, dtype=object)
    if n_strata is not None and shares.ndim and shares.size != n_strata:
        strata = "stratum" if n_strata == 1 else "strata"
        raise ValueError(
            f"sensitivity={sensitivity!r} has {shares.size} values for {n_strata} {strata} of the class; give one "
            "number, or one per stratum"
        )
    repeats = 1 if shares.ndim or n_strata is None else n_strata
    return [check_sensitivity(share) for share in shares.ravel()] * repeats


def check_p_values(p_values: ArrayLike) -> Floats:
    """Return p-values as an array, or raise ValueError."""
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not len(p):
        raise ValueError(f"p-values have shape {p.shape}; give a non-empty list of numbers")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p-value {p[~((p >= 0) & (p <= 1))][0]} is not between 0 and 1")
    return p
