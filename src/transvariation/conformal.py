"""Thresholds and p-values from calibration scores; combined p-values.

Scores are high for typical samples. They are counted with weights, so that replicates of one item count as one item:
with :func:`group_weights` every group weighs 1, however many samples it has.
"""

import math
import os
import sys
import textwrap
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from transvariation._typing import Bools, Floats, Indices
from transvariation.certificate import (
    check_confidence,
    check_sensitivity,
    guaranteed_sensitivity,
    required_n,
    sensitivity_band,
    sensitivity_bound,
)

_PACKAGE = os.path.dirname(__file__) + os.sep
_ROUNDING = 1e-9  # undoes (1 - 0.9) * 10 = 0.9999999999999998 and sums of thirds that miss a whole number
# The rank-sum distribution is exact up to this number of pairs, and for any number of pairs with a set this small.
_EXACT_PAIRS, _EXACT_SIZE = 20_000, 20


class RejectsNothing(UserWarning):
    """The threshold is the lowest attainable score, so the classifier accepts everything."""


class RejectsNearlyAll(UserWarning):
    """Nearly all new samples have the lowest attainable score, below the threshold."""


class OutliersLeftOut(UserWarning):
    """Training samples that are labelled as outliers are not used."""


class UnknownCategories(UserWarning):
    """Held-out samples have categories that the classifier fitted without them does not know."""


class DuplicatedSamples(UserWarning):
    """Many training samples are copies of others."""


class TooFewSamples(UserWarning):
    """The calibration samples are too few to support the sensitivity."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the calling line outside this package, so that Python reports each of the user's fits once."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def rejection_count(n: float, sensitivity: float, *, held_out: bool) -> float:
    """Compute how many of n scores may fall below the threshold; its integer part is the threshold's rank.

    Held-out scores that are too few for the sensitivity give -1 and a warning: everything is accepted, as a p-value of
    at least ``1 / (n + 1)`` demands.

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
            f"sensitivity={sensitivity} is not supported by {n:.0f} held-out samples or groups, so that every sample "
            f"is accepted: {remedy}, or lower the sensitivity to at most {n / (n + 1):.3g}",
            TooFewSamples,
        )
        return -1.0
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
        needs ``n >= required_n(sensitivity)``; with fewer, everything is accepted, with a warning: the threshold is
        minus infinity.

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
    if below < 0:
        return -np.inf
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
        if array.shape != np.shape(like) or not (np.isfinite(array) & (array >= 0)).all():
            raise ValueError(f"{name} must be {np.size(like)} finite numbers of at least 0, not of shape {array.shape}")
    return (count_at_or_below(calibration, scores, known) + new) / (known.sum() + new)


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
    return float(min(1.0, 2 * check_p_values(p_values).mean()))


def check_p_values(p_values: ArrayLike) -> Floats:
    """Return p-values as an array, or raise ValueError."""
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


@dataclass(frozen=True)
class CoverageReport:
    """Statement about the share of new target samples that a fitted classifier accepts.

    Attributes
    ----------
    calibration : str
        The mode: ``"resubstitution"``, ``"loo"``, ``"cv"``, ``"split"``, ``"blocks"`` or ``"custom"``.
    sensitivity : float or tuple of float
        The nominal level: the share of new target samples to accept.
    guarantee : str
        What holds, and under which assumptions.
    n : int
        The number of calibration samples, or groups.
    unit : str
        ``"samples"``, ``"groups"``, or ``"blocks"`` of neighboring samples that count as one.
    n_per_stratum : tuple of int or float
        The same for each stratum of the class with its own threshold, after small strata were pooled. A group that lies
        in several strata counts in each by its share.
    smallest_p_value : float
        1 / (n + 1), the smallest p-value that this number of samples or groups allows.
    smallest_per_stratum : tuple of float
        For each entry of `n_per_stratum` the p-value of a sample with the lowest attainable score. It is larger than
        1 / (n + 1) where calibration samples share that score: counting gives tp = 0 to all samples beyond the edge.
    confidence : float
        The probability that `sensitivity_bound` holds.
    sensitivity_bound : float or None
        A lower bound of the true sensitivity of this classifier: the share of new target samples that it accepts. With
        several thresholds, all have it together. None for ``"resubstitution"``.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass
    >>> control = load_glass().control[["K", "Mg"]]
    >>> classifier = TOCC(sensitivity=0.8, calibration="loo").fit(control)
    >>> report = classifier.coverage_report()
    >>> report.n, report.unit, round(report.smallest_p_value, 4)
    (87, 'samples', 0.0114)
    >>> round(report.attainable_p_value, 4)
    0.1591
    """

    calibration: str
    sensitivity: float | tuple[float, ...]
    guarantee: str
    n: int
    unit: str
    n_per_stratum: tuple[float, ...]
    smallest_p_value: float
    smallest_per_stratum: tuple[float, ...] = ()
    confidence: float = 0.95
    sensitivity_bound: float | None = None

    @property
    def attainable_p_value(self) -> float:
        """The smallest p-value that this classifier can give to any sample."""
        return min(self.smallest_per_stratum, default=self.smallest_p_value)

    def __str__(self) -> str:
        level = self.sensitivity if isinstance(self.sensitivity, float) else ", ".join(map(str, self.sensitivity))
        lines = [
            f"nominal sensitivity  {level}",
            f"calibration          {self.calibration}, {self.n} {self.unit}",
            f"smallest p-value     {self.smallest_p_value:.3g}",
        ]
        if self.attainable_p_value > self.smallest_p_value + 1e-9:
            lines[-1] += f"; this classifier gives no sample less than {self.attainable_p_value:.3g}"
        if len(self.n_per_stratum) > 1:
            sizes = ", ".join(map(str, self.n_per_stratum))
            lines.insert(2, f"thresholds           {len(self.n_per_stratum)}, from {sizes}")
        if self.sensitivity_bound is not None:
            share = math.floor(1000 * self.sensitivity_bound + _ROUNDING) / 10
            lines.append(f"this classifier      accepts at least {share:g}% with {100 * self.confidence:g}% confidence")
        guarantee = textwrap.fill(f"guarantee            {self.guarantee}", 90, subsequent_indent=21 * " ")
        return "\n".join([*lines, guarantee])


@dataclass(frozen=True, eq=False)
class ConformalCalibration:
    """Thresholds, p-values and the coverage report that follow from calibration scores; no classifier is needed.

    All results are computed from three quantities: `sizes`, `threshold_of` and `count_at_or_below`. A subclass whose
    scores are not in memory overrides these and nothing else.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Scores of target samples, high = typical.
    strata : array-like of int of shape (n,), optional
        The Mondrian category of each sample, 0, 1, ...; by default there is one stratum.
    weights : array-like of shape (n,), optional
        Weights that sum to 1 within each group, see :func:`group_weights`: replicates of one item count as one item.
    mode : str, default="split"
        Where the scores come from: ``"split"``, ``"cv"``, ``"loo"``, ``"blocks"``, ``"custom"`` or
        ``"resubstitution"``.
    n_folds : int, default=1
        0: the training samples were scored by the classifier that they were used to fit; 1: split.
    n_strata : int, optional
        By default the largest stratum and one; more if some strata have no calibration sample.
    lowest : float, default=-inf
        The lowest attainable score.
    rows : array-like of int of shape (n,), optional
        The training rows that the scores belong to.

    Examples
    --------
    >>> from transvariation import ConformalCalibration
    >>> calibration = ConformalCalibration([0.1, 0.2, 0.3, 0.4])
    >>> calibration.p_values([0.05, 0.25])
    array([0.2, 0.6])
    >>> calibration.thresholds(0.8)
    array([0.1])
    """

    scores: Floats
    strata: Indices | None = None
    weights: Floats | None = None
    mode: str = field(default="split", kw_only=True)
    n_folds: int = field(default=1, kw_only=True)
    n_strata: int = field(default=0, kw_only=True)
    lowest: float = field(default=-np.inf, kw_only=True)
    rows: Indices | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.n_strata:  # a classifier has converted the arrays
            return
        given = (("scores", np.float64), ("strata", np.intp), ("weights", np.float64))
        arrays = {
            name: np.asarray(getattr(self, name), dtype) for name, dtype in given if getattr(self, name) is not None
        }
        shapes = {name: array.shape for name, array in arrays.items()}
        if len(set(shapes.values())) > 1 or len(shapes["scores"]) != 1 or not shapes["scores"][0]:
            raise ValueError(f"scores, strata and weights must be lists of equal length, not of the shapes {shapes}")
        arrays["n_strata"] = int(arrays["strata"].max()) + 1 if "strata" in arrays else 1  # type: ignore[assignment]
        self.__dict__.update(arrays)

    @property
    def held_out(self) -> bool:
        """Whether the samples were scored by a classifier fitted without them."""
        return self.n_folds > 0

    @property
    def unit(self) -> str:
        """What is counted: ``"samples"``, ``"groups"`` or ``"blocks"``."""
        return "samples" if self.weights is None else "blocks" if self.mode == "blocks" else "groups"

    # What a subclass overrides.

    @cached_property
    def sizes(self) -> Floats:
        """The number of samples or groups of each stratum; a group in several strata counts by its share."""
        strata = np.zeros(len(self.scores), dtype=np.intp) if self.strata is None else self.strata
        return np.round(np.bincount(strata, self.weights, minlength=self.n_strata), 10)

    def threshold_of(self, strata: Indices, sensitivity: float) -> float:
        """Compute the threshold from the scores of the given strata together.

        Parameters
        ----------
        strata : ndarray of int
            Numbers of strata.
        sensitivity : float in (0, 1], or one per stratum
            The share of new target samples to accept.

        Returns
        -------
        float
        """
        scores, weights = self._pool(strata)
        return conformal_threshold(scores, sensitivity, weights, held_out=self.held_out)

    def count_at_or_below(self, strata: Indices, scores: ArrayLike) -> Floats:
        """Count the samples or groups of the given strata that score at or below each of `scores`.

        Parameters
        ----------
        strata : ndarray of int
            Numbers of strata.
        scores : array-like of shape (q,)
            Scores of new samples.

        Returns
        -------
        ndarray of shape (q,)
        """
        reference, weights = self._pool(strata)
        return count_at_or_below(reference, scores, weights)

    def _pool(self, strata: Indices) -> tuple[Floats, Floats | None]:
        if self.strata is None or len(strata) == self.n_strata:
            return self.scores, self.weights
        chosen = np.zeros(self.n_strata, dtype=bool)
        chosen[strata] = True
        inside = chosen[self.strata]
        return self.scores[inside], None if self.weights is None else self.weights[inside]

    # What follows from it.

    def pools(self, sensitivity: float | ArrayLike) -> list[Indices]:
        """List the strata that share a threshold. Strata too small to support the sensitivity are pooled.

        With one sensitivity per stratum, and without held-out scores, each stratum is a pool.

        Parameters
        ----------
        sensitivity : float in (0, 1], or one per stratum
            The share of new target samples to accept.

        Returns
        -------
        list of ndarray of int
        """
        check_sensitivities(sensitivity, self.n_strata)
        if self.n_strata == 1 or not self.held_out or np.ndim(sensitivity):
            return [np.array([k]) for k in range(self.n_strata)]
        pools = pool_strata(self.sizes, sensitivity)  # type: ignore[arg-type]
        return [np.flatnonzero(pools == pool) for pool in range(pools.max() + 1)]

    def thresholds(self, sensitivity: float | ArrayLike) -> Floats:
        """Compute the threshold of each stratum.

        Parameters
        ----------
        sensitivity : float in (0, 1], or one per stratum
            The share of new target samples to accept.

        Returns
        -------
        ndarray of shape (n_strata,)
        """
        shares = check_sensitivities(sensitivity, self.n_strata)
        thresholds = np.empty(self.n_strata)
        for strata in self.pools(sensitivity):
            thresholds[strata] = self.threshold_of(self.occupied(strata), shares[strata[0]])
        return thresholds

    def p_values(
        self, scores: ArrayLike, strata: ArrayLike | None = None, sensitivity: float | ArrayLike = 0.9
    ) -> Floats:
        """Compute conformal p-values; the sensitivity determines which strata are pooled.

        Parameters
        ----------
        scores : array-like of shape (q,)
            Scores of new samples.
        strata : array-like of int of shape (q,), optional
            The stratum of each new sample; by default there is one.
        sensitivity : float in (0, 1], or one per stratum
            The share of new target samples to accept.

        Returns
        -------
        ndarray of shape (q,)
        """
        scores = np.asarray(scores, dtype=float)
        result = np.empty(len(scores))
        own = np.zeros(len(scores), dtype=np.intp) if strata is None else strata
        for pool in self.pools(sensitivity):
            inside, reference = np.isin(own, pool), self.occupied(pool)
            count = self.count_at_or_below(reference, scores[inside])
            result[inside] = (1 + count) / (1 + self.sizes[reference].sum())
        return result

    def weighted_p_values(self, scores: ArrayLike, known: ArrayLike, new: ArrayLike) -> Floats:
        """Compute p-values for another population from the weights of all training rows and of the new samples.

        Parameters
        ----------
        scores : array-like of shape (q,)
            Scores of new samples.
        known : array-like of shape (n_training,)
            The weight of each training sample; without `rows`, of each calibration score.
        new : array-like of shape (q,)
            The weight of each new sample.

        Returns
        -------
        ndarray of shape (q,)
        """
        if self.n_strata > 1:
            raise ValueError("weights need a classifier with one threshold, not one per stratum")
        weights = np.asarray(known, dtype=float)
        if self.rows is not None:
            if weights.ndim != 1 or len(weights) <= self.rows.max():
                raise ValueError(f"weights of shape {weights.shape} are not one for each training sample")
            weights = weights[self.rows]
        return weighted_p_values(self.scores, scores, weights * (1.0 if self.weights is None else self.weights), new)

    def ranks(self, scores: ArrayLike | None = None, strata: Indices | None = None) -> Floats:
        """Compute the share of its stratum that scores at or below each score; by default each calibration score.

        Parameters
        ----------
        scores : array-like of shape (q,)
            Scores of new samples.
        strata : array-like of int of shape (q,), optional
            The stratum of each new sample; by default there is one.

        Returns
        -------
        ndarray of shape (q,)
        """
        if scores is None:
            scores, strata = self.scores, self.strata
        scores = np.asarray(scores, dtype=float)
        result = np.empty(len(scores))
        own = np.zeros(len(scores), dtype=np.intp) if strata is None else strata
        for stratum in range(self.n_strata):
            inside, reference = own == stratum, self.occupied(np.array([stratum]))
            result[inside] = self.count_at_or_below(reference, scores[inside]) / self.sizes[reference].sum()
        return result

    def combined_p_value(self, scores: Floats, strata: Indices | None, sensitivity: float | ArrayLike) -> float:
        """Compute one p-value for a set: the rank sum where samples are exchangeable, else twice the mean.

        Parameters
        ----------
        scores : array-like of shape (q,)
            Scores of new samples.
        strata : array-like of int of shape (q,), optional
            The stratum of each new sample; by default there is one.
        sensitivity : float in (0, 1], or one per stratum
            The share of new target samples to accept.

        Returns
        -------
        float
        """
        pools = self.pools(sensitivity)
        if self.unit != "samples" or len(pools) > 1:
            return combine_p_values(self.p_values(scores, strata, sensitivity))
        count = self.count_at_or_below(pools[0], scores).sum()
        return rank_sum_p_value(int(count), int(self.sizes.sum()), len(scores))

    def too_few(self, sensitivity: float | ArrayLike) -> Bools:
        """Return for each stratum whether its calibration samples are too few, so that it accepts everything.

        Parameters
        ----------
        sensitivity : float in (0, 1], or one per stratum
            The share of new target samples to accept.

        Returns
        -------
        bool
        """
        shares = check_sensitivities(sensitivity, self.n_strata)
        result = np.zeros(self.n_strata, dtype=bool)
        for strata in self.pools(sensitivity):
            n = float(self.sizes[self.occupied(strata)].sum())
            result[strata] = self.held_out and n < required_n(shares[strata[0]]) - _ROUNDING
        return result

    def count_lowest(self) -> float:
        """Count the samples or groups that have the lowest attainable score."""
        return _number(self.count_at_or_below(np.arange(self.n_strata), [self.lowest])[0])

    def coverage_report(self, sensitivity: float | ArrayLike, confidence: float = 0.95) -> CoverageReport:
        """Report what holds for new target samples on average, and for this calibration with a confidence.

        Parameters
        ----------
        sensitivity : float in (0, 1], or one per stratum
            The share of new target samples to accept.
        confidence : float in (0, 1)
            The probability that the bounds hold.

        Returns
        -------
        CoverageReport
        """
        pools, shares = self.pools(sensitivity), check_sensitivities(sensitivity, self.n_strata)
        sizes = [_number(self.sizes[strata].sum()) for strata in pools]
        smallest, bounds = [], []
        for strata in pools:
            reference = self.occupied(strata)
            n = float(self.sizes[reference].sum())
            count = self.count_at_or_below(reference, [self.lowest])[0]
            smallest.append(float((1 + count) / (1 + n)))
            each = self._confidence(confidence, len(pools))
            bounds.append(sensitivity_bound(n, shares[strata[0]], each, **self._counted(reference)))
        several = np.ndim(sensitivity) > 0
        guarantee = _guarantee(self.mode, self.n_folds, self.unit == "groups", len(pools))
        if (too_few := self.too_few(sensitivity)).any():
            where = "Every sample" if too_few.all() else "In some strata every sample"
            guarantee = (
                f"{where} is accepted: the calibration {self.unit} are too few for the sensitivity, see required_n. "
                + guarantee
            )
        return CoverageReport(
            calibration=self.mode,
            sensitivity=tuple(map(float, np.ravel(sensitivity))) if several else float(sensitivity),  # type: ignore[arg-type]
            guarantee=guarantee,
            n=int(round(self.sizes.sum(), 6)),
            unit=self.unit,
            n_per_stratum=tuple(sizes),
            smallest_p_value=1 / (max(sizes) + 1),
            smallest_per_stratum=tuple(smallest),
            confidence=float(confidence),
            sensitivity_bound=min(bounds) if self.held_out else None,
        )

    def guaranteed_sensitivity(self, sensitivity: float, confidence: float) -> float:
        """Compute the nominal sensitivity at which the true one is at least `sensitivity` with this confidence.

        With several strata, that of the stratum that needs the highest; the confidence is shared among them.

        Parameters
        ----------
        sensitivity : float in (0, 1], or one per stratum
            The share of new target samples to accept.
        confidence : float in (0, 1)
            The probability that the bounds hold.

        Returns
        -------
        float
        """
        strata = np.flatnonzero(self.sizes)
        n, each = self.sizes[strata], self._confidence(confidence, len(strata))
        level = max(
            guaranteed_sensitivity(float(size), sensitivity, each, **self._counted(np.array([stratum])))
            for stratum, size in zip(strata, n, strict=True)
        )
        if level == 1:
            need = required_n(sensitivity, each)
            remedy = f"calibrate with at least {need:.0f}" if math.isfinite(need) else "no number of samples supports 1"
            warn_user(
                f"sensitivity={sensitivity} cannot be guaranteed with confidence={confidence} by {n.min():.0f} "
                f"held-out {self.unit}, so that every sample is accepted: {remedy}",
                TooFewSamples,
            )
        return level

    def sensitivity_band(self, confidence: float = 0.95) -> tuple[Floats, Floats, Floats, Floats]:
        """Compute bounds of the true sensitivity that hold for all thresholds at once, with one threshold only.

        Parameters
        ----------
        confidence : float in (0, 1)
            The probability that the bounds hold.

        Returns
        -------
        thresholds, nominal, lower, upper : ndarrays of shape (k,)
            See :func:`transvariation.certificate.sensitivity_band`.
        """
        if self.n_strata > 1 or not self.held_out:
            raise ValueError("a band needs held-out scores and one threshold; this calibration has not")
        nominal, lower, upper = sensitivity_band(
            float(self.sizes.sum()), self._confidence(confidence, 1), grouped=self.unit != "samples"
        )
        every = np.arange(1)
        return np.array([self.threshold_of(every, level) for level in nominal]), nominal, lower, upper

    def _confidence(self, confidence: float, n_bounds: int) -> float:
        """Share the probability of an error among bounds (Bonferroni); halve it for scores of several folds.

        These are not independent. That half is enough, and that equal scores then count once, was measured.
        """
        return 1 - (1 - check_confidence(confidence)) / (n_bounds * (2 if self.n_folds > 1 else 1))

    def _counted(self, strata: Indices) -> dict[str, Any]:
        """Say how the samples of the given strata are counted by a bound."""
        if self.unit != "samples" or self.n_folds == 1:
            return {"grouped": self.unit != "samples"}
        return {"n_distinct": len(np.unique(self._pool(strata)[0]))}

    def occupied(self, strata: Indices) -> Indices:
        """Replace strata without calibration samples by all strata.

        Parameters
        ----------
        strata : ndarray of int
            Numbers of strata.

        Returns
        -------
        ndarray of int
        """
        return strata if self.sizes[strata].sum() > 0 else np.arange(self.n_strata)


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


def _number(n: float) -> int | float:
    return int(n) if float(n).is_integer() else float(n)


def _guarantee(mode: str, n_folds: int, grouped: bool, n_pools: int) -> str:
    if mode == "resubstitution":
        return (
            "None for new samples: the training samples were scored by the classifier fitted to them, which is "
            "optimistic. The share holds among the training samples only."
        )
    unit, who = ("group", "a sample of a new group") if grouped else ("sample", "a new target sample")
    stratum = " of its stratum" if n_pools > 1 else ""
    if mode == "split" or n_folds == 1:
        given = " given the strata, which depend on the describing samples only" if n_pools > 1 else ""
        return (
            f"Exact for every sample size and distribution: {who} is accepted with probability at least the nominal "
            f"sensitivity{given}, if it is exchangeable with the calibration {unit}s{stratum}. This holds on average "
            "over calibrations, not for each."
        )
    if mode == "blocks":
        return (
            "Approximate: each sample was scored by a classifier fitted without the samples before and after it, in "
            f"{n_folds} contiguous folds with a gap; neighboring samples whose scores are correlated count as one. A "
            "later sample is accepted with about the nominal probability if the process does not change."
        )
    left_out, how = (f"one {unit}", "by leave-one-out") if mode == "loo" else ("one fold", f"in {n_folds} folds")
    return (
        f"Approximate: each {unit} was scored by a classifier fitted without it, {how}; new samples are scored by the "
        f"classifier fitted to all. {who[0].upper()}{who[1:]} is accepted with about the nominal probability if "
        f"leaving out {left_out} hardly changes the scores{stratum}. There is no bound for every distribution; the "
        "split mode has one. The confidence of the bound for this classifier was measured in simulations."
    )
