"""Thresholds and p-values from calibration scores; combined p-values; false discovery rate.

Scores are high for typical samples. They are counted with weights, so that replicates of one item count as one item:
with :func:`group_weights` every group weighs 1, however many samples it has.
"""

import math
import os
import sys
import warnings
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control, norm

Floats = NDArray[np.float64]

_PACKAGE = os.path.dirname(__file__) + os.sep
_ROUNDING = 1e-9  # undoes (1 - 0.9) * 10 = 0.9999999999999998 and sums of thirds that miss a whole number
# The rank-sum distribution is exact up to this number of pairs, and for any number of pairs with a set this small.
_EXACT_PAIRS, _EXACT_SIZE = 20_000, 20


class RejectsNothing(UserWarning):
    """The threshold is the lowest attainable score, so the classifier accepts everything."""


class RejectsNearlyAll(UserWarning):
    """Nearly all new samples have the lowest attainable score, below the threshold."""


class TooFewSamples(UserWarning):
    """The calibration samples are too few to support the sensitivity."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the calling line outside this package, so that Python reports each of the user's fits once."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def check_sensitivity(sensitivity: float) -> float:
    """Return the sensitivity as a float, or raise ValueError."""
    if not isinstance(sensitivity, Real):
        raise ValueError(f"sensitivity={sensitivity!r} is not a number; 0.9 accepts 90% of the target samples")
    if not 0 < sensitivity <= 1:
        raise ValueError(f"sensitivity={sensitivity} must lie in (0, 1]; 0.9 accepts 90% of the target samples")
    return float(sensitivity)


def required_n(sensitivity: float) -> float:
    """Compute how many held-out samples (or groups) a sensitivity needs; infinity for 1.

    Examples
    --------
    >>> required_n(0.9), required_n(0.95), required_n(0.99)
    (9.0, 19.0, 99.0)
    """
    alpha = 1 - check_sensitivity(sensitivity)
    return float(math.ceil(1 / alpha - _ROUNDING) - 1) if alpha > 0 else math.inf


def rejection_count(n: float, sensitivity: float, *, held_out: bool) -> float:
    """Compute how many of n scores may fall below the threshold; its integer part is the threshold's rank.

    Held-out scores that are too few for the sensitivity allow no rejection among themselves; this warns.

    Examples
    --------
    >>> int(rejection_count(87, 0.9, held_out=False)), int(rejection_count(87, 0.9, held_out=True))
    (8, 7)
    """
    alpha = 1 - check_sensitivity(sensitivity)
    if not held_out:
        return alpha * n + _ROUNDING
    if alpha * (n + 1) < 1 - _ROUNDING:
        need = required_n(sensitivity)
        remedy = f"calibrate with at least {need:.0f}" if math.isfinite(need) else "no number of samples supports 1"
        warn_user(
            f"sensitivity={sensitivity} is not supported by {n:.0f} held-out samples or groups: {remedy}, or lower the "
            f"sensitivity to at most {n / (n + 1):.3g}, which is used instead",
            TooFewSamples,
        )
        return 0.0
    return alpha * (n + 1) - 1 + _ROUNDING


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
        needs ``n >= required_n(sensitivity)``; with fewer, the lowest score becomes the threshold, with a warning.

    Examples
    --------
    >>> conformal_threshold([0.1, 0.2, 0.3, 0.4, 0.5], sensitivity=0.8)
    0.2
    >>> conformal_threshold([0.1, 0.2, 0.3, 0.4, 0.5], sensitivity=0.8, held_out=True)
    0.1
    """
    values = np.asarray(scores, dtype=float)
    n = float(len(values) if weights is None else np.asarray(weights, dtype=float).sum())
    below = rejection_count(n, sensitivity, held_out=held_out)
    if weights is None:
        rank = min(int(below), len(values) - 1)
        return float(np.partition(values, rank)[rank])
    ordered, cumulated = _cumulated(values, weights)
    return float(ordered[min(int(np.searchsorted(cumulated[1:], below, side="right")), len(ordered) - 1)])


def margin(scores: ArrayLike, thresholds: ArrayLike) -> Floats:
    """Subtract thresholds from scores; equal values give 0, also where both are infinite.

    Examples
    --------
    >>> margin([-np.inf, 0.5], -np.inf)
    array([ 0., inf])
    """
    scores, thresholds = np.asarray(scores, dtype=float), np.asarray(thresholds, dtype=float)
    return np.subtract(scores, thresholds, out=np.zeros_like(scores), where=scores != thresholds)


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
    n = float(np.size(calibration) if weights is None else round(np.asarray(weights, dtype=float).sum(), 10))
    return (1 + count_at_or_below(calibration, scores, weights)) / (n + 1)


def count_at_or_below(calibration: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Count the calibration scores, or sum their weights, at or below each score; NaN counts as the lowest score.

    Examples
    --------
    >>> count_at_or_below([0.1, 0.2, 0.3], [0.2, float("nan")])
    array([2., 0.])
    """
    ordered, cumulated = _cumulated(np.asarray(calibration, dtype=float), weights)
    scores = np.asarray(scores, dtype=float)
    ranks = np.searchsorted(ordered, np.where(np.isnan(scores), -np.inf, scores), side="right")
    return cumulated[ranks]


def _cumulated(scores: Floats, weights: ArrayLike | None) -> tuple[Floats, Floats]:
    """Sort the scores and cumulate their weights, from zero on."""
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


def pool_strata(sizes: ArrayLike, sensitivity: float) -> NDArray[np.intp]:
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


def benjamini_hochberg(p_values: ArrayLike, level: float = 0.1) -> NDArray[np.bool_]:
    """Select samples such that the expected share of targets among those selected is at most `level`.

    A single target is rejected with probability 1 - sensitivity, so that among a hundred targets ten are rejected.
    This procedure controls the share of false rejections among all rejections instead. Conformal p-values from one
    calibration depend on one another in a way that the procedure allows (Bates et al., 2023).

    Parameters
    ----------
    p_values : array-like of shape (q,)
        The p-values of all samples that are judged.
    level : float in (0, 1), default=0.1
        The false discovery rate.

    Returns
    -------
    ndarray of bool
        True where the sample is selected as foreign to the target class.

    See Also
    --------
    scipy.stats.false_discovery_control : The adjusted p-values.

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. JRSS B 57, 289-300.
    Bates, S. et al. (2023). Testing for outliers with conformal p-values. Annals of Statistics 51, 149-178.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.50], level=0.1)
    array([ True,  True,  True, False])
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level} must lie in (0, 1); 0.1 allows one false rejection in ten rejections")
    return false_discovery_control(_check_p_values(p_values)) <= level + 1e-12


def combine_ranks(calibration: ArrayLike, scores: ArrayLike) -> float:
    """Compute one p-value for a set of scores: are they lower than the calibration scores?

    The one-sided rank-sum test (Wilcoxon, Mann and Whitney), conservative under ties. It is valid if the set and the
    calibration samples are exchangeable, whereas multiplying or averaging p-values from one calibration would treat
    them as independent. For one score it is the conformal p-value. A score that is not a number ranks below all others.

    Examples
    --------
    >>> combine_ranks([0.1, 0.2, 0.3, 0.4], [0.05])
    0.2
    >>> round(combine_ranks([0.1, 0.2, 0.3, 0.4], [0.05, 0.15]), 4)
    0.1333
    """
    if not np.size(scores):
        raise ValueError("scores is empty; give at least one sample")
    return rank_sum_p_value(int(count_at_or_below(calibration, scores).sum()), np.size(calibration), np.size(scores))


def combine_p_values(p_values: ArrayLike) -> float:
    """Combine p-values of unknown dependence: twice their mean, at most 1.

    References
    ----------
    Vovk, V. and Wang, R. (2020). Combining p-values via averaging. Biometrika 107, 791-808.

    Examples
    --------
    >>> round(combine_p_values([0.01, 0.05]), 4)
    0.06
    """
    return float(min(1.0, 2 * _check_p_values(p_values).mean()))


def _check_p_values(p_values: ArrayLike) -> Floats:
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not len(p):
        raise ValueError(f"p-values have shape {p.shape}; give a non-empty list of numbers")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p-value {p[~((p >= 0) & (p <= 1))][0]} is not between 0 and 1")
    return p


def rank_sum_p_value(u: int, n: int, k: int) -> float:
    """Compute P(U <= u), where U counts the pairs of one of n and one of k exchangeable scores with the first lower.

    Exact where one of the sets or the number of pairs is small, otherwise by the normal limit.

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
