"""CUT: from a sensitivity to a threshold, from a score to a p-value.

Scores are counted with weights, so that replicates of one item count as one item: with `group_weights` every group
weighs 1, however many objects it has. Without groups every object weighs 1 and n is the number of objects.
"""

import math
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_PACKAGE = os.path.dirname(__file__) + os.sep
_MANY, _THIN = 20_000, 64  # from so many scores on, a first look at every 64th saves time
_ROUNDING = 1e-9  # undoes (1 - 0.9) * 10 = 0.9999999999999998 and sums of thirds that miss a whole number


class RejectsNothing(UserWarning):
    """A rule was calibrated that can reject nothing: its threshold is the lowest rating that there is."""


_threshold_matters: ContextVar[bool] = ContextVar("_threshold_matters", default=True)


@contextmanager
def ignoring_power() -> Iterator[None]:
    """Fit rules of which only the ratings are wanted: what their own thresholds can reject is nobody's concern.

    Not by a filter of warnings, which all threads share.
    """
    before = _threshold_matters.set(False)
    try:
        yield
    finally:
        _threshold_matters.reset(before)


def warn_rejects_nothing(sensitivity: object, n_lowest: float, n: float, unit: str, smallest_p_value: float) -> None:
    """Say that a rule can reject nothing, why, and what would; unless nobody asked for its threshold."""
    if not _threshold_matters.get():
        return
    highest = math.floor(100 * (1 - smallest_p_value)) / 100
    remedy = "KernelTOCC or fewer variables"
    if highest >= 0.5:  # less would be no remedy
        remedy = f"KernelTOCC, fewer variables or a sensitivity of at most {highest}"
    words = (
        f"sensitivity={sensitivity} leaves a rule that can reject nothing, however absurd the object: "
        f"{n_lowest / n:.0%} of the calibrating {unit} ({n_lowest:.3g} of {n}) have the lowest rating that there is, "
        f"and so that is the threshold; use {remedy}"
    )
    _warn(words, RejectsNothing)


def _warn(words: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this package that led here: Python tells each line once, and all rules pass here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(words, category, stacklevel=level)


def check_sensitivity(sensitivity: float) -> float:
    """Return the sensitivity as a float, or say why it cannot be one."""
    if not isinstance(sensitivity, Real):
        raise ValueError(f"sensitivity={sensitivity!r} is not a number; 0.9 accepts nine target objects in ten")
    if not 0 < sensitivity <= 1:
        raise ValueError(f"sensitivity={sensitivity} must lie in (0, 1]; 0.9 accepts nine target objects in ten")
    return float(sensitivity)


def conformal_threshold(
    scores: ArrayLike, sensitivity: float, weights: ArrayLike | None = None, *, held_out: bool = False
) -> float:
    """Find the largest threshold that keeps at least a share `sensitivity` of the scores.

    Objects that score at or above the threshold are accepted. The threshold is one of the scores, the
    ``floor((1 - sensitivity) * n)``-th smallest counted from zero: NumPy's interpolated quantile would fall short of
    the promised share.

    Parameters
    ----------
    scores : array-like of shape (n,)
    sensitivity : float in (0, 1]
    weights : array-like of shape (n,), optional
        What each score counts for; by default 1.
    held_out : bool, default=False
        Whether the objects were rated by a rule that had not seen them. If so the share is promised to the next
        object, which is counted in: accepted are exactly the objects whose p-value exceeds ``1 - sensitivity``.
        That needs ``n >= required(sensitivity)``; with fewer, the lowest score becomes the threshold, with a warning.

    Examples
    --------
    >>> conformal_threshold([0.1, 0.2, 0.3, 0.4, 0.5], sensitivity=0.8)
    0.2
    >>> conformal_threshold([0.1, 0.2, 0.3, 0.4, 0.5], sensitivity=0.8, held_out=True)
    0.1
    """
    plain = np.asarray(scores, dtype=float)
    below = rejected(float(len(plain) if weights is None else np.sum(weights)), sensitivity, held_out=held_out)
    if weights is None:  # one order statistic: no need to sort for it
        place = min(int(below), len(plain) - 1)
        return _order_statistic(plain, place)
    ordered, counted = _counted(plain, weights)
    return float(ordered[min(int(np.searchsorted(counted, below, side="right")), len(ordered) - 1)])


def rejected(n: float, sensitivity: float, *, held_out: bool) -> float:
    """Say how many of n scores a threshold may reject; its whole part is the rank of the threshold among them.

    Held-out scores that are too few for the sensitivity may none be rejected, with a warning: see `cut`.

    Examples
    --------
    >>> int(rejected(87, 0.9, held_out=False)), int(rejected(87, 0.9, held_out=True))
    (8, 7)
    """
    alpha, more = 1 - check_sensitivity(sensitivity), 1 if held_out else 0
    if held_out and alpha * (n + 1) < 1 - _ROUNDING:
        _warn(too_few(sensitivity, n))
        return 0.0
    return alpha * (n + more) - more + _ROUNDING


def margin(scores: ArrayLike, thresholds: ArrayLike) -> Floats:
    """Subtract thresholds from scores; a score just at its threshold is 0 above it, also where both are infinite.

    Examples
    --------
    >>> margin([-np.inf, 0.5], -np.inf)
    array([ 0., inf])
    """
    scores, thresholds = np.asarray(scores, dtype=float), np.asarray(thresholds, dtype=float)
    return np.subtract(scores, thresholds, out=np.zeros_like(scores), where=scores != thresholds)


def _order_statistic(scores: Floats, k: int) -> float:
    """The k-th smallest, counted from zero."""
    if len(scores) >= _MANY and k < len(scores) // 4:
        # A thin sample in order has a bound that most scores exceed and, nearly surely, more than k do not.
        thin = np.sort(scores[::_THIN])
        about = k // _THIN
        few = scores.take(np.flatnonzero(scores <= thin[min(about + 4 * math.isqrt(about) + 4, len(thin) - 1)]))
        scores = few if len(few) > k else scores
    return float(np.partition(scores, k)[k])


def p_values(calibration: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """Rank each score among calibration scores: (1 + how many are as low or lower) / (n + 1).

    A score that is not a number ranks below all others: whatever could not be rated is not typical.

    The rank is conservative under ties. If the calibration scores and a new target's score are exchangeable, the
    p-value of a target is at most alpha with probability at most alpha, for every alpha and n. With
    `group_weights` the same holds if the groups are exchangeable and the new object belongs to a new group.

    References
    ----------
    Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic Learning in a Random World. Springer.
    Lee, Y., Barber, R. F. and Willett, R. (2023). Distribution-free inference with hierarchical data. arXiv:2306.06342.

    Examples
    --------
    >>> p_values([0.1, 0.2, 0.3, 0.4], [0.05, 0.2, 0.9])
    array([0.2, 0.6, 1. ])
    """
    ordered, counted = _counted(calibration, weights)
    scores = np.asarray(scores, dtype=float)
    ranks = np.searchsorted(ordered, np.where(np.isnan(scores), -np.inf, scores), side="right")
    return (1 + np.append(0.0, counted)[ranks]) / (counted[-1] + 1)


def group_weights(groups: ArrayLike) -> Floats:
    """Share one count among the objects of each group.

    Examples
    --------
    >>> group_weights(["a", "a", "b"])
    array([0.5, 0.5, 1. ])
    """
    _, index, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    return 1.0 / sizes[index]


def required(sensitivity: float) -> float:
    """Count the held-out objects (or groups) that a promise of `sensitivity` needs; infinity for 1.

    Examples
    --------
    >>> required(0.9), required(0.95), required(0.99)
    (9.0, 19.0, 99.0)
    """
    alpha = 1 - check_sensitivity(sensitivity)
    return float(math.ceil(1 / alpha - _ROUNDING) - 1) if alpha > 0 else math.inf


def sensitivity_for_n(n: int) -> float:
    """Give a sensitivity whose promise needs n held-out objects: from the middle of them all, far from rounding.

    Examples
    --------
    >>> required(sensitivity_for_n(9)), required(sensitivity_for_n(100_000))
    (9.0, 100000.0)
    """
    return (n - 0.5) / (n + 0.5)


def pool_strata(sizes: ArrayLike, sensitivity: float) -> NDArray[np.intp]:
    """Give each part of a class its pool: parts too small to promise the sensitivity share one threshold.

    The smallest parts join until they are large enough together.

    Parameters
    ----------
    sizes : array-like of int
        How many held-out objects (or groups) each part has.
    sensitivity : float in (0, 1]

    Examples
    --------
    >>> pool_strata([30, 5, 40, 6], 0.9)
    array([0, 1, 2, 1])
    """
    sizes = np.asarray(sizes)
    pools = np.arange(len(sizes))
    ascending = np.argsort(sizes, kind="stable")
    together = np.cumsum(sizes[ascending])
    need = min(required(sensitivity), together[-1])
    if sizes[ascending[0]] < need:
        joined = ascending[: int(np.searchsorted(together, need)) + 1]
        # The rest may still hold parts that are too small; they are larger than those joined, and join as well.
        joined = np.union1d(joined, np.flatnonzero(sizes < need))
        pools[joined] = joined[0]
    return np.unique(pools, return_inverse=True)[1]


def _counted(scores: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Floats]:
    """The scores in order, and how much lies at or below each."""
    scores = np.asarray(scores, dtype=float)
    if weights is None:
        return np.sort(scores), np.arange(1.0, len(scores) + 1)
    order = np.argsort(scores, kind="stable")
    # Thirds and sevenths do not add up to whole groups by themselves.
    return scores[order], np.round(np.cumsum(np.asarray(weights, dtype=float)[order]), 10)


def too_few(sensitivity: float, n: float) -> str:
    """Say that so many held-out objects cannot promise the sensitivity, and what would."""
    need = required(sensitivity)
    remedy = f"calibrate with at least {need:.0f}, or" if math.isfinite(need) else "no number of them can;"
    return (
        f"sensitivity={sensitivity} cannot be promised from {n:.0f} held-out objects or groups; the most they support "
        f"is {n / (n + 1):.3g}, used instead: {remedy} ask for less"
    )
