"""Likelihood ratios of same source against different sources, given a background.

Two scores of a pair of fragments are combined by logistic regression: the ratio of the three-level model, which knows
how rare the fragments are, and the transvariation probability of their difference, which assumes no distribution. Pairs
of background sources that neither has seen, compared in the case's own design, calibrate the combination and bound it
(Vergeer et al., 2016).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from transvariation._typing import Bools, Floats
from transvariation.casework.background.pairs import N_PAIR_PARTS, Pairs, scaled_differences
from transvariation.casework.background.performance import Performance, Unseen, elub, measure_performance
from transvariation.casework.background.same_source import SameSourceDifferences
from transvariation.casework.background.three_level import ThreeLevelModel

RIDGE_PENALTY = 1e-6  # keeps the slopes finite if the scores separate all pairs
SYSTEM = "three_level"
MIN_SOURCES_FOR_RATIOS = 30  # fewer sources do not show how sources differ
_N_FOLDS = 5  # of sources: the pairs of a fold are calibrated by the others
LARGEST_LOG_RATIO = 20.0  # larger raw log10 ratios are extrapolation; their size must not steer the calibration


@dataclass(frozen=True)
class CalibratedRatio:
    """A likelihood ratio for one design of comparison.

    Attributes
    ----------
    model : ThreeLevelModel
    differences : SameSourceDifferences
    calibrate : callable
        From raw scores to log10 ratios.
    performance : Performance
    parts : list of callable
        The calibration by each part of the pairs, which show the Monte Carlo error.
    """

    model: ThreeLevelModel
    differences: SameSourceDifferences
    calibrate: Callable[[Floats], Floats]
    performance: Performance
    parts: list[Callable[[Floats], Floats]]

    def log10_lr(self, pairs: Pairs) -> Floats:
        """Compute calibrated log10 likelihood ratios, within the bounds."""
        return np.clip(self.calibrate(self._raw(pairs)), *self.performance.bounds)

    def errors(self, pairs: Pairs) -> Floats:
        """Estimate the Monte Carlo errors of the calibrated log10 likelihood ratios."""
        raw, (low, high) = self._raw(pairs), self.performance.bounds
        found = np.array([calibrate(raw) for calibrate in self.parts])
        errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        value = self.calibrate(raw)
        at_low, at_high = self.performance.bound_errors
        return np.where(value <= low, at_low, np.where(value >= high, at_high, errors))

    def _raw(self, pairs: Pairs) -> Floats:
        own = self.model.log10_lr(pairs, self.differences.design)
        return np.column_stack([own, self.differences.score(scaled_differences(pairs))])


def calibrate_background(
    model: ThreeLevelModel, differences: SameSourceDifferences, others: Pairs, other_scores: Floats
) -> CalibratedRatio:
    """Calibrate and bound the combined scores by pairs of background sources.

    Parameters
    ----------
    model : ThreeLevelModel
        Of the same stabilized background as the differences.
    differences : SameSourceDifferences
    others : Pairs
        Of different sources.
    other_scores : ndarray of shape (n,)
        Their scores by the differences.
    """
    kinds = differences.pairs_, others
    own = np.concatenate([model.held_out_log10_lr(pairs, differences.design) for pairs in kinds])
    raw = np.column_stack([own, np.append(differences.calibration_, other_scores)])
    pairs = Unseen.join(kinds)

    def calibration(at: Bools) -> Callable[[Floats], Floats]:
        return calibrated_ratio(raw[at], pairs.same[at], pairs.weight[at])

    ratios, fold = np.empty(len(raw)), pairs.source % _N_FOLDS
    for number in range(_N_FOLDS):
        ratios[fold == number] = calibration(fold != number)(raw[fold == number])
    n = differences.n_sources_
    numbers = sum(len(differences.sources_[i]) for i in np.unique(kinds[0].source)), n * (n - 1) // 2
    rounds = [int(kind.part.max()) + 1 for kind in kinds]
    n_parts = min(N_PAIR_PARTS, *(n if n > 1 else N_PAIR_PARTS for n in rounds))
    whole = np.repeat([n == 1 for n in rounds], [len(kind.part) for kind in kinds])  # all comparisons: nothing is drawn
    parts = [whole | (pairs.part % n_parts == i) for i in range(n_parts)]
    ends = np.array([elub(ratios[at], pairs.same[at], pairs.weight[at], numbers) for at in parts])
    errors, calibrations = ends.std(axis=0, ddof=1) / np.sqrt(len(parts)), [calibration(at) for at in parts]
    bounds = elub(ratios, pairs.same, pairs.weight, numbers)
    measured = measure_performance(np.clip(ratios, *bounds), pairs, bounds, (float(errors[0]), float(errors[1])))
    return CalibratedRatio(model, differences, calibration(np.ones(len(raw), dtype=bool)), measured, calibrations)


def calibrated_ratio(raw: Floats, same: Bools, weight: Floats) -> Callable[[Floats], Floats]:
    """Fit a logistic regression of same source on raw scores, at even prior odds; return it as a function.

    No score counts against its own direction.

    Parameters
    ----------
    raw : ndarray of shape (n,) or (n, k)
        High = same source.
    same : ndarray of bool, shape (n,)
    weight : ndarray of shape (n,)
    """

    def columns(values: Floats) -> Floats:
        scores = np.clip(values, -LARGEST_LOG_RATIO, LARGEST_LOG_RATIO).reshape(len(values), -1)
        return np.column_stack([np.ones(len(scores)), scores])

    signed = np.where(same, 1.0, -1.0)[:, None] * columns(raw)
    shares = weight / np.where(same, weight[same].sum(), weight[~same].sum()) / 2

    def cost(slopes: Floats) -> tuple[float, Floats]:
        margins = signed @ slopes
        gradient = RIDGE_PENALTY * slopes - (shares * expit(-margins)) @ signed
        return float(RIDGE_PENALTY / 2 * slopes @ slopes - shares @ log_expit(margins)), gradient

    start = np.append(0.0, np.ones(signed.shape[1] - 1))
    limits = [(None, None)] + [(0.0, None)] * (len(start) - 1)
    slopes = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=limits).x / np.log(10)
    return lambda values: columns(values) @ slopes
