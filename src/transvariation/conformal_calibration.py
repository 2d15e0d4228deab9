"""The calibration scores of a classifier, and what follows from them: thresholds, p-values, certificates, reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

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
        The training rows that the scores belong to.

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
    strata: Indices | None = None
    weights: Floats | None = None
    mode: str = field(default="split", kw_only=True)
    n_folds: int = field(default=1, kw_only=True)
    n_strata: int = field(default=0, kw_only=True)
    lowest: float = field(default=-np.inf, kw_only=True)
    rows: Indices | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        given = (("scores", np.float64), ("strata", None), ("weights", np.float64))
        arrays: Fields = {
            name: np.asarray(value, dtype)
            for name, dtype in given
            if (value := getattr(self, name)) is not None or name == "scores"
        }
        shapes = {name: array.shape for name, array in arrays.items()}
        if len(set(shapes.values())) > 1 or len(shapes["scores"]) != 1 or not shapes["scores"][0]:
            raise ValueError(
                "give scores, and strata and weights if any, as lists of equal length, at least 1; not of the shapes "
                f"{shapes}"
            )
        if self.mode not in (*CALIBRATIONS, "custom"):
            raise ValueError(f"mode={self.mode!r} is unknown; choose one of {', '.join(CALIBRATIONS)}, custom")
        check_numbers(arrays["scores"], "calibration score", "leave the sample out, or score it")
        if "weights" in arrays:
            check_weights(arrays["weights"])
        if "strata" in arrays and (arrays["strata"].dtype.kind not in "iu" or arrays["strata"].min() < 0):
            raise ValueError(f"strata must be whole numbers 0, 1, ..., not {np.unique(arrays['strata'])[0]}")
        n_strata = self.n_strata or (int(arrays["strata"].max()) + 1 if "strata" in arrays else 1)
        self.__dict__.update(arrays, n_strata=n_strata)

    @property
    def held_out(self) -> bool:
        """Whether the samples were scored by a classifier fitted without them."""
        return self.n_folds > 0

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
        strata = np.zeros(len(self.scores), dtype=np.intp) if self.strata is None else self.strata
        return np.round(np.bincount(strata, self.weights, minlength=self.n_strata), 10)

    @property
    def _every(self) -> Indices:
        return np.arange(self.n_strata)

    def _threshold_of(self, strata: Indices, sensitivity: float) -> float:
        """Compute the threshold from the scores of the given strata together."""
        scores, weights = self._pool(strata)
        return conformal_threshold(scores, sensitivity, weights, held_out=self.held_out)

    def _count(self, strata: Indices, scores: ArrayLike) -> Floats:
        """Count the samples or groups of the given strata that score at or below each of `scores`."""
        reference, weights = self._pool(strata)
        return count_at_or_below(reference, scores, weights)

    def _pool(self, strata: Indices) -> tuple[Floats, Floats | None]:
        if self.strata is None or len(strata) == self.n_strata:
            return self.scores, self.weights
        chosen = np.zeros(self.n_strata, dtype=bool)
        chosen[strata] = True
        inside = chosen[self.strata]
        return self.scores[inside], None if self.weights is None else self.weights[inside]

    def _pools(self, sensitivity: float | ArrayLike) -> list[Indices]:
        """List the strata that share a threshold. Strata too small to support the sensitivity are pooled.

        With one sensitivity per stratum, and without held-out scores, each stratum is a pool.
        """
        check_sensitivities(sensitivity, self.n_strata)
        if self.n_strata == 1 or not self.held_out or np.ndim(sensitivity):
            return [np.array([stratum]) for stratum in self._every]
        pools = pool_strata(self.sizes, sensitivity)  # type: ignore[arg-type]
        return [np.flatnonzero(pools == pool) for pool in range(pools.max() + 1)]

    def _occupied(self, strata: Indices) -> Indices:
        """Replace strata without calibration samples by all strata."""
        return strata if self.sizes[strata].sum() > 0 else self._every

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
        for strata in self._pools(sensitivity):
            thresholds[strata] = self._threshold_of(self._occupied(strata), shares[strata[0]])
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

    def _counts(self, scores: ArrayLike, strata: ArrayLike | None, pools: list[Indices]) -> tuple[Floats, Floats]:
        """Count, for each new sample, the calibration samples of its pool at or below its score, and all of them."""
        scores = np.asarray(scores, dtype=float)
        if strata is None and self.n_strata == 1:
            return self._count(self._every, scores), self.sizes
        own = np.asarray(strata)
        if own.shape != scores.shape or not np.isin(own, self._every).all():
            raise ValueError(f"strata must be one of 0, ..., {self.n_strata - 1} for each of {len(scores)} scores")
        counts, sizes = np.empty((2, len(scores)))
        for pool in pools:
            inside, reference = np.isin(own, pool), self._occupied(pool)
            counts[inside], sizes[inside] = self._count(reference, scores[inside]), self.sizes[reference].sum()
        return counts, sizes

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
            n = int(self.rows.max()) + 1  # a split leaves out rows, perhaps the last ones
            if weights.ndim != 1 or len(weights) < n or (self.n_folds > 1 and len(weights) > n):
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
        counts, sizes = self._counts(scores, strata, [np.array([stratum]) for stratum in self._every])
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
        return rank_sum_p_value(int(self._count(pools[0], scores).sum()), int(self.sizes.sum()), np.size(scores))

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
        shares = check_sensitivities(sensitivity, self.n_strata)
        result = np.zeros(self.n_strata, dtype=bool)
        for strata in self._pools(sensitivity):
            n = float(self.sizes[self._occupied(strata)].sum())
            result[strata] = self.held_out and n < required_n(shares[strata[0]]) - ROUNDING_ERROR
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
        pools, shares = self._pools(sensitivity), check_sensitivities(sensitivity, self.n_strata)
        each = self._confidence(confidence, len(pools))
        smallest, bounds = [], []
        for strata in pools:
            reference = self._occupied(strata)
            n = float(self.sizes[reference].sum())
            smallest.append(float((1 + self._count(reference, [self.lowest])[0]) / (1 + n)))
            bounds.append(sensitivity_bound(n, shares[strata[0]], each, **self._counted(reference)))
        sizes = [float(self.sizes[strata].sum()) for strata in pools]
        several = np.ndim(sensitivity) > 0
        return CoverageReport(
            calibration=self.mode,
            sensitivity=tuple(map(float, np.ravel(sensitivity))) if several else float(sensitivity),  # type: ignore[arg-type]
            guarantee=guarantee_in_words(self.mode, self.n_folds, self.unit, len(pools), self.too_few(sensitivity)),
            n=int(round(self.sizes.sum(), 6)),
            unit=self.unit,
            n_per_stratum=tuple(int(size) if size.is_integer() else size for size in sizes),
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
        strata = np.flatnonzero(self.sizes)
        n, each = self.sizes[strata], self._confidence(confidence, len(strata))
        level = max(
            guaranteed_sensitivity(float(size), sensitivity, each, **self._counted(np.array([stratum])))
            for stratum, size in zip(strata, n, strict=True)
        )
        if level == 1:
            warn_user(
                f"sensitivity={sensitivity} cannot be guaranteed with confidence={confidence} by {n.min():.0f} "
                f"held-out {self.unit}, so that every sample is accepted: "
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
        return np.array([self._threshold_of(self._every, level) for level in nominal]), nominal, lower, upper

    def _confidence(self, confidence: float, n_bounds: int) -> float:
        """Share the probability of an error among bounds (Bonferroni); halve it for scores of several folds.

        These are not independent. That half is enough, and that equal scores then count once, was measured.
        """
        return 1 - (1 - check_confidence(confidence)) / (n_bounds * (2 if self.n_folds > 1 else 1))

    def _counted(self, strata: Indices) -> Fields:
        """Say how the samples of the given strata are counted by a bound."""
        if self.unit != "samples" or self.n_folds == 1:
            return {"grouped": self.unit != "samples"}
        return {"n_distinct": len(np.unique(self._pool(strata)[0]))}
