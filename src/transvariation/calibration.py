"""Who rates whom: the folds of a calibration, the ratings of held-out objects, and what each mode may promise."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold, LeaveOneGroupOut, LeaveOneOut, ShuffleSplit
from sklearn.utils.validation import check_consistent_length, column_or_1d

from transvariation.parallel import run_in_processes

if TYPE_CHECKING:
    from transvariation.base import OneClassClassifier

CALIBRATIONS = ("resubstitution", "loo", "cv", "split")
# Who describes and who is then rated. None describes by all others: lists of these would grow with n^2.
Fold = tuple[Any, NDArray[np.intp]]

_N_FOLDS = 10


def check_calibration(calibration: Any) -> str:
    """Name the mode of a `calibration` parameter, or say why it is none."""
    if isinstance(calibration, str) and calibration in CALIBRATIONS:
        return calibration
    if isinstance(calibration, LeaveOneOut):
        return "loo"  # by the same name or by its own, and so without n fits where there is a shorter way
    if hasattr(calibration, "split") and hasattr(calibration, "get_n_splits"):
        return "custom"
    raise ValueError(
        f"calibration={calibration!r} is unknown; choose one of {', '.join(CALIBRATIONS)}, or give a splitter of "
        "scikit-learn such as KFold(5)"
    )


def check_groups(groups: ArrayLike | None, X: NDArray[np.float64]) -> NDArray | None:
    """Number the groups, one number per object, or say what is wrong with them.

    Numbers can be kept in any file, labels of the user's own cannot; and all that counts is which are equal.
    """
    if groups is None:
        return None
    import pandas as pd

    # As objects: among strings NumPy would turn a missing label into the string "nan".
    n_missing = int(np.sum(pd.isna(np.asarray(groups, dtype=object))))
    if n_missing:
        raise ValueError(f"groups is missing for {n_missing} of {len(X)} objects; name the item of each, or drop them")
    labels = column_or_1d(np.asarray(groups), warn=False)
    check_consistent_length(X, labels)
    try:
        _, numbers = np.unique(labels, return_inverse=True)
    except TypeError:  # labels of several kinds have no order but that of their appearance
        numbers, _ = pd.factorize(labels)
    if not numbers.any():
        raise ValueError("groups names one group only; a rule needs at least two that can stand in for one another")
    return numbers


def folds_of(calibration: Any, X: NDArray[np.float64], groups: NDArray | None) -> list[Fold]:
    """List who describes and who is then rated, as (describing, rated) indices; none for ``"resubstitution"``.

    One fold leaves the describing objects unrated (split); several rate every object once (cross, leave-one-out).
    """
    mode = check_calibration(calibration)
    if mode == "resubstitution":
        return []
    if mode == "loo" and groups is None:
        return [(None, rated) for rated in np.arange(len(X))[:, None]]
    n_units = len(X) if groups is None else len(np.unique(groups))
    n_folds = min(_N_FOLDS, n_units)
    plain = {
        "cv": KFold(n_folds, shuffle=True, random_state=0),
        "split": ShuffleSplit(1, test_size=0.5, random_state=0),
    }
    grouped = {
        "loo": LeaveOneGroupOut(),
        "cv": GroupKFold(n_folds),
        "split": GroupShuffleSplit(1, test_size=0.5, random_state=0),
    }
    splitter = calibration if mode == "custom" else (plain if groups is None else grouped)[mode]
    folds = list(splitter.split(X, groups=groups))
    rated = np.concatenate([test for _, test in folds])
    if len(np.unique(rated)) < len(rated):
        raise ValueError(f"calibration={calibration!r} rates some objects twice; give a splitter with disjoint folds")
    if groups is not None and any(np.isin(groups[rated], groups[describing]).any() for describing, rated in folds):
        raise ValueError(
            f"calibration={calibration!r} rates objects of a group that others of it helped to describe; give a "
            "splitter that keeps groups together, such as GroupKFold(5) or GroupShuffleSplit(1)"
        )
    return folds


def rate_held_out(
    rule: "OneClassClassifier", X: NDArray[np.float64], folds: list[Fold], seconds: float | None = None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Describe the class anew in every fold and rate the objects left out of it.

    Returns the rated objects' indices, in order, and their ratings. Folds run in parallel where the rule has an
    `n_jobs` or under ``joblib.parallel_config``, unless `seconds`, what one fold is likely to take, says that it would
    be a loss; the result is the same.
    """
    pieces = [(rule, X, *fold) for fold in folds]
    ratings = run_in_processes(_rate, pieces, getattr(rule, "n_jobs", None), seconds)
    rated = np.concatenate([test for _, test in folds])
    order = np.argsort(rated)
    return rated[order], np.concatenate(ratings)[order]


def _rate(
    rule: "OneClassClassifier", X: NDArray[np.float64], train: NDArray[np.intp] | None, test: NDArray[np.intp]
) -> NDArray[np.float64]:
    stand_in = clone(rule)
    if hasattr(rule, "n_jobs"):
        stand_in.n_jobs = 1  # the folds are what workers share
    stand_in.n_features_in_ = rule.n_features_in_
    if hasattr(rule, "feature_names_in_"):
        stand_in.feature_names_in_ = rule.feature_names_in_
    stand_in._describe(np.delete(X, test, axis=0) if train is None else X[train])
    return stand_in._score(X[test])


@dataclass(frozen=True)
class CoverageReport:
    """What a fitted rule promises about fresh target objects, and on what grounds.

    Attributes
    ----------
    calibration : str
        The mode: ``"resubstitution"``, ``"loo"``, ``"cv"``, ``"split"`` or ``"custom"``.
    sensitivity : float or tuple of float
        The nominal level: the share of fresh target objects to accept.
    guarantee : str
        What holds, in words, and what does not.
    n : int
        How many objects, or groups, the threshold was counted from.
    unit : str
        ``"objects"`` or ``"groups"``.
    n_per_part : tuple of int or float
        The same for each part of the class with a threshold of its own, after small parts were pooled. A group that
        lies in several parts counts in each by its share.
    smallest_p_value : float
        1 / (n + 1), the smallest that so many objects or groups allow.
    likely_sensitivity : tuple of float, or None
        Between these two lies, nine times in ten, the true sensitivity of a rule calibrated with so many objects.
        Known for the split mode without groups and with one threshold.
    smallest_per_part : tuple of float
        For each part of `n_per_part` the p-value of an object rated as low as the rule can rate. It is larger where
        calibrating objects share that rating: counting gives tp = 0 to all beyond the edge.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass
    >>> rule = TOCC(sensitivity=0.8, calibration="loo").fit(load_glass().control[["K", "Mg"]])
    >>> report = rule.coverage_report()
    >>> report.n, report.unit, round(report.smallest_p_value, 4)
    (87, 'objects', 0.0114)
    >>> round(report.attainable_p_value, 4)
    0.1591
    """

    calibration: str
    sensitivity: float | tuple[float, ...]
    guarantee: str
    n: int
    unit: str
    n_per_part: tuple[float, ...]
    smallest_p_value: float
    likely_sensitivity: tuple[float, float] | None
    smallest_per_part: tuple[float, ...] = ()

    @property
    def attainable_p_value(self) -> float:
        """No p-value of this rule can be smaller."""
        return min(self.smallest_per_part, default=self.smallest_p_value)

    def __str__(self) -> str:
        level = self.sensitivity if isinstance(self.sensitivity, float) else ", ".join(map(str, self.sensitivity))
        lines = [
            f"nominal sensitivity  {level}",
            f"calibration          {self.calibration}, {self.n} {self.unit}",
            f"smallest p-value     {self.smallest_p_value:.3g}",
        ]
        if self.attainable_p_value > self.smallest_p_value + 1e-9:
            lines[-1] += f"; of this rule {self.attainable_p_value:.3g}, however foreign the object"
        if len(self.n_per_part) > 1:
            lines.insert(2, f"thresholds           {len(self.n_per_part)}, from {', '.join(map(str, self.n_per_part))}")
        if self.likely_sensitivity:
            lines.append("true sensitivity     {:.2f} to {:.2f} in nine fits of ten".format(*self.likely_sensitivity))
        return "\n".join([*lines, f"guarantee            {self.guarantee}"])


def guarantee(mode: str, n_folds: int, grouped: bool, n_parts: int) -> str:
    """Say what a calibration mode promises, and no more."""
    if mode == "resubstitution":
        return (
            "None for fresh objects: the training objects were rated by the rule that they shaped, which flatters. "
            "The share holds among the training objects only."
        )
    unit, who = ("group", "an object of a new group") if grouped else ("object", "a new target object")
    part = " of its part of the class" if n_parts > 1 else ""
    if mode == "split" or n_folds == 1:
        given = " given the parts, which the describing objects alone drew" if n_parts > 1 else ""
        return (
            f"Exact for every sample size and distribution: {who} is accepted with probability at least the nominal "
            f"sensitivity{given}, if it is exchangeable with the calibrating {unit}s{part}. On average over "
            "calibrations, not for each."
        )
    left_out, how = (f"one {unit}", "all in turn") if mode == "loo" else ("one fold", f"in {n_folds} folds")
    return (
        f"Approximate: each {unit} was rated by a rule that had not seen it, {how}; new objects are rated by the rule "
        f"from all. {who[0].upper()}{who[1:]} is accepted with about the nominal probability, as far as leaving out "
        f"{left_out} hardly changes the ratings{part}. No bound for every distribution; the split mode has one."
    )


def likely_sensitivity(
    scores: NDArray[np.float64], threshold: float, sensitivity: float, lowest: float
) -> tuple[float, float]:
    """Bracket the true sensitivity of a split rule, which varies from calibration to calibration as a Beta variable.

    If several calibrating objects score just the threshold, more may be accepted: all but what scores lower. If it is
    the lowest score that there is, all are.
    """
    tied = threshold <= lowest or np.count_nonzero(scores == threshold) > 1
    return likely_by_counts(len(scores), sensitivity, int(np.count_nonzero(scores < threshold)) if tied else None)


def likely_by_counts(n: int, sensitivity: float, fewest: int | None) -> tuple[float, float]:
    """Bracket the true sensitivity, given that ties leave at least `fewest` of n calibrating objects to reject."""
    most = max(int((1 - sensitivity) * (n + 1) + 1e-9), 1)
    fewest = most if fewest is None else fewest
    low = beta.ppf(0.05, n + 1 - most, most)
    high = beta.ppf(0.95, n + 1 - fewest, fewest) if fewest else 1.0
    return float(low), float(high)
