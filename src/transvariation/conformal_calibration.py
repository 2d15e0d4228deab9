"""The calibration scores of a classifier, and what follows from them: thresholds, p-values, certificates, reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Bools, Fields, Floats, Indices
from transvariation.certificate import (
    check_confidence,
    guaranteed_sensitivity,
    required_n,
    sensitivity_band,
    sensitivity_bound,
)
from transvariation.conformal import (
    ROUNDING_ERROR,
    check_numbers,
    check_sensitivities,
    check_weights,
    conformal_threshold,
    count_at_or_below,
    enough_samples,
    pool_strata,
    rank_sum_p_value,
    weighted_p_values,
)
from transvariation.coverage_report import CoverageReport, guarantee_in_words
from transvariation.exceptions import TooFewSamples, warn_user

CALIBRATIONS = ("resubstitution", "loo", "cv", "split", "blocks")


class _Pool(NamedTuple):
    """Calibration scores that share a threshold."""

    strata: Indices
    scores: Floats
    weights: Floats | None
    n: float  # samples or groups
    sensitivity: float


@dataclass(frozen=True, eq=False)
class ConformalCalibration:
    """Thresholds, p-values and the coverage report that follow from calibration scores; no classifier is needed.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Scores of target samples, high = typical.
    strata : array-like of int of shape (n,), optional
        The Mondrian category of each sample, 0, 1, ...; by default there is one stratum.
    weights : array-like of shape (n,), optional
        Weights that sum to 1 within each group, such as one third for each of three replicates: replicates of one item
        count as one item.
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
        The training rows that the scores belong to; by default all, in their order.

    See Also
    --------
    transvariation.CoverageReport : What a calibration guarantees.
    transvariation.required_n : How many samples a sensitivity needs.

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
    strata: Indices | Any = None  # zeros, if it is not given
    weights: Floats | None = None
    mode: str = field(default="split", kw_only=True)
    n_folds: int = field(default=1, kw_only=True)
    n_strata: int = field(default=0, kw_only=True)
    lowest: float = field(default=-np.inf, kw_only=True)
    rows: Indices | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        scores, n = np.asarray(self.scores, dtype=np.float64), np.size(self.scores)
        strata = np.zeros(n, dtype=np.int8) if self.strata is None else np.asarray(self.strata)
        weights = None if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        shapes = [each.shape for each in (scores, strata, weights) if each is not None]
        if set(shapes) != {(n,)} or not n:
            raise ValueError(
                "give scores, and strata and weights if any, as lists of equal length, at least 1; not of the shapes "
                + ", ".join(map(str, shapes))
            )
        if self.mode not in (*CALIBRATIONS, "custom"):
            raise ValueError(f"mode={self.mode!r} is unknown; choose one of {', '.join(CALIBRATIONS)}, custom")
        check_numbers(scores, "calibration score", "leave the sample out, or score it")
        if weights is not None:
            check_weights(weights)
        if strata.dtype.kind not in "iu" or strata.min() < 0:
            raise ValueError(f"strata must be whole numbers 0, 1, ..., not {np.unique(strata)[0]}")
        n_strata = self.n_strata or int(strata.max()) + 1
        self.__dict__.update(scores=scores, strata=strata, weights=weights, n_strata=n_strata)

    @property
    def held_out(self) -> bool:
        """Whether the samples were scored by a classifier fitted without them."""
        return self.n_folds > 0

    @property
    def training_rows(self) -> Indices:
        """The training row that each score belongs to."""
        return np.arange(len(self.scores)) if self.rows is None else self.rows

    @property
    def unit(self) -> str:
        """What is counted: ``"samples"``, ``"groups"`` or ``"blocks"``."""
        return "samples" if self.weights is None else "blocks" if self.mode == "blocks" else "groups"

    @property
    def n_exchangeable(self) -> int | None:
        """The number of samples, if each counts as one and all share one threshold; None otherwise.

        The joint distribution of the p-values of several new samples is known in this case.
        """
        alone = self.held_out and self.unit == "samples" and self.n_strata == 1
        return round(float(self.sizes.sum())) if alone else None

    @cached_property
    def sizes(self) -> Floats:
        """The number of samples or groups of each stratum; a group in several strata counts by its share."""
        return np.round(np.bincount(self.strata, self.weights, minlength=self.n_strata), 10)

    def _pools(self, sensitivity: float | ArrayLike | None) -> list[_Pool]:
        """Divide the scores by threshold. Strata too small to support the sensitivity are pooled.

        With one sensitivity per stratum or none at all, and without held-out scores, each stratum is a pool.
        """
        shares = [1.0] * self.n_strata if sensitivity is None else check_sensitivities(sensitivity, self.n_strata)
        numbers = np.arange(self.n_strata)
        if self.held_out and sensitivity is not None and not np.ndim(sensitivity):
            numbers = pool_strata(self.sizes, shares[0])
        pools = []
        for number in range(numbers.max() + 1):
            strata = np.flatnonzero(numbers == number)
            # Strata without calibration samples use those of all.
            used = strata if self.sizes[strata].any() else np.arange(self.n_strata)
            inside = np.isin(self.strata, used)
            weights = None if self.weights is None else self.weights[inside]
            pools.append(_Pool(strata, self.scores[inside], weights, float(self.sizes[used].sum()), shares[strata[0]]))
        return pools

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
        check_sensitivities(sensitivity, self.n_strata)  # None would be no sensitivity at all
        thresholds = np.empty(self.n_strata)
        for pool in self._pools(sensitivity):
            threshold = conformal_threshold(pool.scores, pool.sensitivity, pool.weights, held_out=self.held_out)
            thresholds[pool.strata] = threshold
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
        counts, sizes = self._counts(scores, strata, self._pools(sensitivity))
        return (1 + counts) / (1 + sizes)

    def _counts(self, scores: ArrayLike, strata: ArrayLike | None, pools: list[_Pool]) -> tuple[Floats, Floats]:
        """Count, for each new sample, the calibration samples of its pool at or below its score, and all of them."""
        scores = np.asarray(scores, dtype=float)
        own = np.zeros(scores.shape, dtype=np.intp) if strata is None and self.n_strata == 1 else np.asarray(strata)
        if own.shape != scores.shape or not np.isin(own, np.arange(self.n_strata)).all():
            raise ValueError(f"strata must be one of 0, ..., {self.n_strata - 1} for each of {len(scores)} scores")
        counts, sizes = np.empty((2, len(scores)))
        for pool in pools:
            inside = np.isin(own, pool.strata)
            counts[inside], sizes[inside] = count_at_or_below(pool.scores, scores[inside], pool.weights), pool.n
        return counts, sizes

    def weighted_p_values(self, scores: ArrayLike, known: ArrayLike, new: ArrayLike) -> Floats:
        """Compute p-values for another population from the weights of all training rows and of the new samples.

        Parameters
        ----------
        scores : array-like of shape (q,)
            Scores of new samples.
        known : array-like of shape (n_training,)
            The weight of each training sample.
        new : array-like of shape (q,)
            The weight of each new sample.

        Returns
        -------
        ndarray of shape (q,)
        """
        if self.n_strata > 1:
            raise ValueError("weights need a classifier with one threshold, not one per stratum")
        weights = np.asarray(known, dtype=float)
        n = int(self.training_rows.max()) + 1
        more = self.rows is not None and self.n_folds == 1  # a split leaves out rows, perhaps the last ones
        if weights.ndim != 1 or len(weights) < n or (len(weights) > n and not more):
            raise ValueError(f"weights of shape {weights.shape} are not one for each training sample")
        weights = weights[self.training_rows]
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
        counts, sizes = self._counts(scores, strata, self._pools(None))
        return counts / sizes

    def combined_p_value(
        self, scores: ArrayLike, strata: Indices | None = None, sensitivity: float | ArrayLike = 0.9
    ) -> float:
        """Compute one p-value for a set: the rank sum where samples are exchangeable, else twice the mean.

        Twice the mean is valid under any dependence (Vovk and Wang, 2020, Combining p-values via averaging, Biometrika
        107, 791-808).

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
        if not np.size(scores):
            raise ValueError("scores is empty; give at least one sample")
        pools = self._pools(sensitivity)
        if self.unit != "samples" or len(pools) > 1:
            return float(min(1.0, 2 * self.p_values(scores, strata, sensitivity).mean()))
        below = count_at_or_below(pools[0].scores, scores)
        return rank_sum_p_value(int(below.sum()), len(self.scores), np.size(scores))

    def too_few(self, sensitivity: float | ArrayLike) -> Bools:
        """Return for each stratum whether its calibration samples are too few, so that it accepts everything.

        Parameters
        ----------
        sensitivity : float in (0, 1], or one per stratum
            The share of new target samples to accept.

        Returns
        -------
        ndarray of bool of shape (n_strata,)
        """
        result = np.zeros(self.n_strata, dtype=bool)
        for pool in self._pools(sensitivity):
            result[pool.strata] = self.held_out and pool.n < required_n(pool.sensitivity) - ROUNDING_ERROR
        return result

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
        pools = self._pools(sensitivity)
        each = self._confidence(confidence, len(pools))
        lowest = [count_at_or_below(pool.scores, [self.lowest], pool.weights)[0] for pool in pools]
        bounds = [sensitivity_bound(pool.n, pool.sensitivity, each, **self._counted(pool)) for pool in pools]
        sizes = [float(self.sizes[pool.strata].sum()) for pool in pools]
        several = np.ndim(sensitivity) > 0
        return CoverageReport(
            calibration=self.mode,
            sensitivity=tuple(map(float, np.ravel(sensitivity))) if several else float(sensitivity),  # type: ignore[arg-type]
            guarantee=guarantee_in_words(self.mode, self.n_folds, self.unit, len(pools), self.too_few(sensitivity)),
            n=int(round(self.sizes.sum(), 6)),
            unit=self.unit,
            n_per_stratum=tuple(int(size) if size.is_integer() else size for size in sizes),
            smallest_p_value=1 / (max(sizes) + 1),
            smallest_per_stratum=tuple(
                float((1 + count) / (1 + pool.n)) for count, pool in zip(lowest, pools, strict=True)
            ),
            confidence=float(confidence),
            sensitivity_bound=min(bounds) if self.held_out else None,
        )

    def guaranteed_sensitivity(self, sensitivity: float, confidence: float) -> float:
        """Compute the nominal sensitivity at which the true one is at least `sensitivity` with this confidence.

        With several strata, that of the stratum that needs the highest; the confidence is shared among them.

        Parameters
        ----------
        sensitivity : float in (0, 1]
            The share of new target samples to accept.
        confidence : float in (0, 1)
            The probability that the bounds hold.

        Returns
        -------
        float
        """
        if not self.held_out:
            raise ValueError(
                f"sensitivity={sensitivity} cannot be guaranteed with confidence={confidence} by "
                "calibration='resubstitution': fit with calibration='loo', 'cv' or 'split'"
            )
        pools = [pool for pool in self._pools(None) if self.sizes[pool.strata].any()]
        each = self._confidence(confidence, len(pools))
        level = max(guaranteed_sensitivity(pool.n, sensitivity, each, **self._counted(pool)) for pool in pools)
        if level == 1:
            warn_user(
                f"sensitivity={sensitivity} cannot be guaranteed with confidence={confidence} by "
                f"{min(pool.n for pool in pools):.0f} held-out {self.unit}, so that every sample is accepted: "
                + enough_samples(required_n(sensitivity, each)),
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
            For each threshold the nominal sensitivity, and the bounds of the true one, which hold for all at once.
        """
        if self.n_strata > 1 or not self.held_out:
            raise ValueError("a band needs held-out scores and one threshold; this calibration has not")
        nominal, lower, upper = sensitivity_band(
            float(self.sizes.sum()), self._confidence(confidence, 1), grouped=self.unit != "samples"
        )
        return np.array([self.thresholds(level)[0] for level in nominal]), nominal, lower, upper

    def _confidence(self, confidence: float, n_bounds: int) -> float:
        """Share the probability of an error among bounds (Bonferroni); halve it for scores of several folds.

        These are not independent. That half is enough, and that equal scores then count once, was measured.
        """
        return 1 - (1 - check_confidence(confidence)) / (n_bounds * (2 if self.n_folds > 1 else 1))

    def _counted(self, pool: _Pool) -> Fields:
        """Say how the samples of a pool are counted by a bound."""
        if self.unit != "samples" or self.n_folds == 1:
            return {"grouped": self.unit != "samples"}
        return {"n_distinct": len(np.unique(pool.scores))}
