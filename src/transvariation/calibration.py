"""Calibrate a one-class classifier: folds, held-out scores, thresholds, p-values and the coverage report."""

import textwrap
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold, LeaveOneOut, ShuffleSplit
from sklearn.utils.validation import check_consistent_length, column_or_1d

from transvariation.conformal import (
    check_sensitivity,
    combine_p_values,
    conformal_threshold,
    count_at_or_below,
    group_weights,
    pool_strata,
    rank_sum_p_value,
)

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
# Rows that describe the class, rows that are scored. None: all others describe, without a list of them for each fold.
Fold = tuple[Indices | None, Indices]

CALIBRATIONS = ("resubstitution", "loo", "cv", "split")
_N_FOLDS = 10


def _mode(calibration: Any) -> str:
    """Return the mode that a `calibration` parameter selects; ``"custom"`` for a splitter."""
    if isinstance(calibration, str) and calibration in CALIBRATIONS:
        return calibration
    if isinstance(calibration, LeaveOneOut):
        return "loo"
    if hasattr(calibration, "split") and hasattr(calibration, "get_n_splits"):
        return "custom"
    raise ValueError(
        f"calibration={calibration!r} is unknown; choose one of {', '.join(CALIBRATIONS)}, or pass a scikit-learn "
        "splitter such as KFold(5)"
    )


def check_groups(groups: ArrayLike | None, n: int) -> Indices | None:
    """Number the groups 0, 1, ... and check that there is one label per sample and more than one group."""
    if groups is None:
        return None
    import pandas as pd

    # As objects: NumPy would turn a missing label among strings into the string "nan".
    n_missing = int(np.sum(pd.isna(np.asarray(groups, dtype=object))))
    if n_missing:
        raise ValueError(f"groups is missing for {n_missing} of {n} samples; label every sample, or drop these")
    labels = column_or_1d(np.asarray(groups), warn=False)
    check_consistent_length(np.empty(n), labels)
    try:
        _, numbers = np.unique(labels, return_inverse=True)
    except TypeError:  # labels of several types have no order but that of appearance
        numbers, _ = pd.factorize(labels)
    if not numbers.any():
        raise ValueError("groups holds a single group; calibration needs at least two")
    return numbers


def calibration_folds(calibration: Any, n: int, groups: Indices | None = None) -> list[Fold]:
    """List the (describing, scored) rows of each fold; an empty list for ``"resubstitution"``.

    A single fold leaves the describing samples unscored (split); several folds score every sample once.
    """
    mode = _mode(calibration)
    if mode == "resubstitution":
        return []
    if mode == "loo" and groups is None:
        return [(None, row) for row in np.arange(n)[:, None]]
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    if mode == "loo":
        order = np.argsort(units, kind="stable")
        return [(None, scored) for scored in np.split(order, np.flatnonzero(np.diff(units[order])) + 1)]
    n_folds = min(_N_FOLDS, int(units.max()) + 1)
    if mode == "custom":
        splitter = calibration
    elif mode == "cv":
        splitter = KFold(n_folds, shuffle=True, random_state=0) if groups is None else GroupKFold(n_folds)
    else:
        splitter = (ShuffleSplit if groups is None else GroupShuffleSplit)(1, test_size=0.5, random_state=0)
    folds = list(splitter.split(np.empty((n, 1)), groups=groups))
    scored = np.concatenate([test for _, test in folds])
    if len(np.unique(scored)) < len(scored):
        raise ValueError(f"calibration={calibration!r} scores some samples twice; use a splitter with disjoint folds")
    if groups is not None and any(np.isin(groups[test], groups[train]).any() for train, test in folds):
        raise ValueError(
            f"calibration={calibration!r} splits groups; use a splitter that keeps groups together, such as "
            "GroupKFold(5) or GroupShuffleSplit(1)"
        )
    return folds


def take_rows(X: Any, rows: NDArray | None) -> Any:
    """Select rows of an array, a DataFrame or an Arrow table; None selects all."""
    if rows is None:
        return X
    if hasattr(type(X), "column_names"):
        return X.take(rows)
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


@dataclass(frozen=True, eq=False)
class CalibrationPlan:
    """Which samples describe the class, and which are scored to calibrate it.

    Attributes
    ----------
    mode : str
        ``"resubstitution"``, ``"loo"``, ``"cv"``, ``"split"`` or ``"custom"``.
    folds : list of (describing, scored) rows
        Empty for ``"resubstitution"``; one for a split.
    groups : ndarray of int, optional
        The number of the group of each sample.
    """

    mode: str = "resubstitution"
    folds: list[Fold] = field(default_factory=list)
    groups: Indices | None = None

    def describing(self, X: Any) -> Any:
        """Select the samples that describe the class: all of them, except in a split."""
        return take_rows(X, self.folds[0][0] if len(self.folds) == 1 else None)

    def calibration(
        self, scores: Floats, scored: Indices, lowest: float, strata: Indices | None = None
    ) -> "Calibration":
        """Build the calibration from the scores of the rows `scored`; every group weighs 1.

        `strata` are those of all samples: a stratum without calibration samples needs a threshold, too.
        """
        return Calibration(
            self.mode,
            len(self.folds),
            scores,
            None if strata is None else strata[scored],
            1 if strata is None else int(strata.max()) + 1,
            None if self.groups is None else group_weights(self.groups[scored]),
            lowest,
        )


def plan_calibration(calibration: Any, sensitivity: Any, n: int, groups: ArrayLike | None) -> CalibrationPlan:
    """Check the parameters of a fit to n samples, and divide these as the calibration does."""
    check_sensitivities(sensitivity)
    mode, numbers = _mode(calibration), check_groups(groups, n)
    return CalibrationPlan(mode, calibration_folds(calibration, n, numbers), numbers)


@dataclass(frozen=True)
class CoverageReport:
    """Statement about the share of new target samples that a fitted classifier accepts.

    Attributes
    ----------
    calibration : str
        The mode: ``"resubstitution"``, ``"loo"``, ``"cv"``, ``"split"`` or ``"custom"``.
    sensitivity : float or tuple of float
        The nominal level: the share of new target samples to accept.
    guarantee : str
        What holds, and under which assumptions.
    n : int
        The number of calibration samples, or groups.
    unit : str
        ``"samples"`` or ``"groups"``.
    n_per_stratum : tuple of int or float
        The same for each stratum of the class with its own threshold, after small strata were pooled. A group that lies
        in several strata counts in each by its share.
    smallest_p_value : float
        1 / (n + 1), the smallest p-value that this number of samples or groups allows.
    likely_sensitivity : tuple of float, or None
        The central 90% range of the true sensitivity of a classifier calibrated with this number of samples. Known for
        the split mode without groups and with one threshold.
    smallest_per_stratum : tuple of float
        For each entry of `n_per_stratum` the p-value of a sample with the lowest attainable score. It is larger than
        1 / (n + 1) where calibration samples share that score: counting gives tp = 0 to all samples beyond the edge.

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
    likely_sensitivity: tuple[float, float] | None
    smallest_per_stratum: tuple[float, ...] = ()

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
        if self.likely_sensitivity:
            lines.append("true sensitivity     {:.2f} to {:.2f} in 90% of fits".format(*self.likely_sensitivity))
        guarantee = textwrap.fill(f"guarantee            {self.guarantee}", 90, subsequent_indent=21 * " ")
        return "\n".join([*lines, guarantee])


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibration scores of a fitted classifier: thresholds, p-values and the coverage report follow from them.

    All results are computed from three quantities: `sizes`, `threshold_of` and `count_at_or_below`. A subclass whose
    scores are not in memory overrides these and nothing else.

    Parameters
    ----------
    mode : str
        The calibration mode, see :class:`CalibrationPlan`.
    n_folds : int
        0: the training samples were scored by the classifier that they were used to fit; 1: split.
    scores : ndarray of shape (n,)
    strata : ndarray of shape (n,), optional
        The Mondrian category of each sample, 0, 1, ...; by default there is one stratum.
    n_strata : int, default=1
    weights : ndarray of shape (n,), optional
        Weights that sum to 1 within each group.
    lowest : float, optional
        The lowest attainable score.
    """

    mode: str
    n_folds: int
    scores: Floats
    strata: Indices | None = None
    n_strata: int = 1
    weights: Floats | None = None
    lowest: float = -np.inf

    @property
    def held_out(self) -> bool:
        """Whether the samples were scored by a classifier fitted without them."""
        return self.n_folds > 0

    @property
    def unit(self) -> str:
        """What is counted: ``"samples"`` or ``"groups"``."""
        return "samples" if self.weights is None else "groups"

    # What a subclass overrides.

    @cached_property
    def sizes(self) -> Floats:
        """The number of samples or groups of each stratum; a group in several strata counts by its share."""
        strata = np.zeros(len(self.scores), dtype=np.intp) if self.strata is None else self.strata
        return np.round(np.bincount(strata, self.weights, minlength=self.n_strata), 10)

    def threshold_of(self, strata: Indices, sensitivity: float) -> float:
        """Compute the threshold from the scores of the given strata together."""
        scores, weights = self._pool(strata)
        return conformal_threshold(scores, sensitivity, weights, held_out=self.held_out)

    def count_at_or_below(self, strata: Indices, scores: ArrayLike) -> Floats:
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

    # What follows from it.

    def pools(self, sensitivity: float | ArrayLike) -> list[Indices]:
        """List the strata that share a threshold. Strata too small to support the sensitivity are pooled.

        With one sensitivity per stratum, and without held-out scores, each stratum is a pool.
        """
        check_sensitivities(sensitivity, self.n_strata)
        if self.n_strata == 1 or not self.held_out or np.ndim(sensitivity):
            return [np.array([k]) for k in range(self.n_strata)]
        pools = pool_strata(self.sizes, sensitivity)  # type: ignore[arg-type]
        return [np.flatnonzero(pools == pool) for pool in range(pools.max() + 1)]

    def thresholds(self, sensitivity: float | ArrayLike) -> Floats:
        """Compute the threshold of each stratum."""
        shares = check_sensitivities(sensitivity, self.n_strata)
        thresholds = np.empty(self.n_strata)
        for strata in self.pools(sensitivity):
            thresholds[strata] = self.threshold_of(self.occupied(strata), shares[strata[0]])
        return thresholds

    def p_values(self, scores: Floats, strata: Indices | None, sensitivity: float | ArrayLike) -> Floats:
        """Compute conformal p-values; the sensitivity determines which strata are pooled."""
        result = np.empty(len(scores))
        own = np.zeros(len(scores), dtype=np.intp) if strata is None else strata
        for pool in self.pools(sensitivity):
            inside, reference = np.isin(own, pool), self.occupied(pool)
            count = self.count_at_or_below(reference, scores[inside])
            result[inside] = (1 + count) / (1 + self.sizes[reference].sum())
        return result

    def ranks(self, scores: Floats, strata: Indices | None) -> Floats:
        """Compute the share of each stratum that scores at or below each score."""
        result = np.empty(len(scores))
        own = np.zeros(len(scores), dtype=np.intp) if strata is None else strata
        for stratum in range(self.n_strata):
            inside, reference = own == stratum, self.occupied(np.array([stratum]))
            result[inside] = self.count_at_or_below(reference, scores[inside]) / self.sizes[reference].sum()
        return result

    def combined_p_value(self, scores: Floats, strata: Indices | None, sensitivity: float | ArrayLike) -> float:
        """Compute one p-value for a set: the rank sum where samples are exchangeable, else twice the mean."""
        pools = self.pools(sensitivity)
        if self.unit == "groups" or len(pools) > 1:
            return combine_p_values(self.p_values(scores, strata, sensitivity))
        count = self.count_at_or_below(pools[0], scores).sum()
        return rank_sum_p_value(int(count), int(self.sizes.sum()), len(scores))

    def count_lowest(self) -> float:
        """Count the samples or groups that have the lowest attainable score."""
        return _number(self.count_at_or_below(np.arange(self.n_strata), [self.lowest])[0])

    def coverage_report(self, sensitivity: float | ArrayLike) -> CoverageReport:
        """Report what holds for new target samples."""
        pools = self.pools(sensitivity)
        sizes = [_number(self.sizes[strata].sum()) for strata in pools]
        smallest = []
        for strata in pools:
            reference = self.occupied(strata)
            count = self.count_at_or_below(reference, [self.lowest])[0]
            smallest.append(float((1 + count) / (1 + self.sizes[reference].sum())))
        several = np.ndim(sensitivity) > 0
        exact = self.n_folds == 1 and self.unit == "samples" and len(pools) == 1 and not several
        return CoverageReport(
            calibration=self.mode,
            sensitivity=tuple(map(float, np.ravel(sensitivity))) if several else float(sensitivity),  # type: ignore[arg-type]
            guarantee=_guarantee(self.mode, self.n_folds, self.unit == "groups", len(pools)),
            n=int(round(self.sizes.sum(), 6)),
            unit=self.unit,
            n_per_stratum=tuple(sizes),
            smallest_p_value=1 / (max(sizes) + 1),
            likely_sensitivity=self._likely_sensitivity(float(sensitivity)) if exact else None,  # type: ignore[arg-type]
            smallest_per_stratum=tuple(smallest),
        )

    def occupied(self, strata: Indices) -> Indices:
        """Replace strata without calibration samples by all strata."""
        return strata if self.sizes[strata].sum() > 0 else np.arange(self.n_strata)

    def _likely_sensitivity(self, sensitivity: float) -> tuple[float, float]:
        """Compute the central 90% range of the true sensitivity, a Beta variable over repeated calibrations.

        Several calibration samples at the threshold raise the upper end: only lower scores are rejected. At the
        lowest attainable score everything is accepted.
        """
        every, n = np.arange(self.n_strata), int(self.sizes.sum())
        threshold = float(self.thresholds(sensitivity)[0])
        most = max(int((1 - sensitivity) * (n + 1) + 1e-9), 1)
        below = 0
        if threshold > -np.inf:
            below = int(self.count_at_or_below(every, [np.nextafter(threshold, -np.inf)])[0])
        at = int(self.count_at_or_below(every, [threshold])[0]) - below
        fewest = below if at > 1 or threshold <= self.lowest else most
        low = beta.ppf(0.05, n + 1 - most, most)
        high = beta.ppf(0.95, n + 1 - fewest, fewest) if fewest else 1.0
        return float(low), float(high)


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
    left_out, how = (f"one {unit}", "by leave-one-out") if mode == "loo" else ("one fold", f"in {n_folds} folds")
    return (
        f"Approximate: each {unit} was scored by a classifier fitted without it, {how}; new samples are scored by the "
        f"classifier fitted to all. {who[0].upper()}{who[1:]} is accepted with about the nominal probability if "
        f"leaving out {left_out} hardly changes the scores{stratum}. There is no bound for every distribution; the "
        "split mode has one."
    )
