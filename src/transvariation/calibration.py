"""Plan the calibration of a one-class classifier: which samples describe the class, which are scored."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.model_selection import BaseCrossValidator, LeaveOneOut
from sklearn.utils.validation import column_or_1d

from transvariation._typing import Floats, Indices, Rows
from transvariation.conformal import check_sensitivities, group_weights
from transvariation.conformal_calibration import CALIBRATIONS, ConformalCalibration
from transvariation.exceptions import LabelsIgnored, OutliersLeftOut, warn_user
from transvariation.explanation import to_pandas
from transvariation.ordered import N_BLOCK_FOLDS, block_folds, correlation_time
from transvariation.subsample import random_folds

# Rows that describe the class, rows that are scored. None: all others describe, without a list of them for each fold.
Fold = tuple[Indices | None, Indices]

_N_FOLDS = 10


def _mode(calibration: str | BaseCrossValidator) -> str:
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
    # As objects: NumPy would turn a missing label among strings into the string "nan".
    n_missing = int(np.sum(pd.isna(np.asarray(groups, dtype=object))))
    if n_missing:
        raise ValueError(f"groups is missing for {n_missing} of {n} samples; label every sample, or drop these")
    labels = column_or_1d(np.asarray(groups), warn=False)
    if len(labels) != n:
        raise ValueError(f"groups has {len(labels)} labels for {n} samples; give one label per row of X")
    try:
        _, numbers = np.unique(labels, return_inverse=True)
    except TypeError:  # labels of several types have no order but that of appearance
        numbers, _ = pd.factorize(labels)
    if not numbers.any():
        raise ValueError("groups holds a single group; calibration needs at least two")
    return numbers


def calibration_folds(calibration: str | BaseCrossValidator, X: Rows, groups: Indices | None = None) -> list[Fold]:
    """List the (describing, scored) rows of each fold; an empty list for ``"resubstitution"``.

    A single fold leaves the describing samples unscored (split); several folds score every sample once. Those of
    ``"cv"`` and ``"split"`` depend neither on the order of the rows and features nor on units: see
    :func:`transvariation.subsample.random_folds`. Of a sparse matrix they depend on the order and the units of its
    columns. A splitter draws them by position.
    """
    mode, n = _mode(calibration), count_rows(X)
    if mode == "resubstitution":
        return []
    if mode == "custom":
        return _custom_folds(calibration, n, groups)
    units = np.arange(n) if groups is None else groups
    if mode == "loo":
        order = np.argsort(units, kind="stable")
        return [(None, scored) for scored in np.split(order, np.flatnonzero(np.diff(units[order])) + 1)]
    n_folds = 2 if mode == "split" else min(_N_FOLDS, int(units.max()) + 1)
    fold = random_folds(_comparable(X), n_folds, groups)
    numbers = range(1 if mode == "split" else n_folds)
    return [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in numbers]


def _custom_folds(splitter: BaseCrossValidator, n: int, groups: Indices | None) -> list[Fold]:
    folds = list(splitter.split(np.empty((n, 1)), groups=groups))
    scored = np.concatenate([test for _, test in folds])
    if len(np.unique(scored)) < len(scored):
        raise ValueError(f"calibration={splitter!r} scores some samples twice; use a splitter with disjoint folds")
    if groups is not None and any(np.isin(groups[test], groups[train]).any() for train, test in folds):
        raise ValueError(
            f"calibration={splitter!r} splits groups; use a splitter that keeps groups together, such as "
            "GroupKFold(5) or GroupShuffleSplit(1)"
        )
    return folds


def _comparable(X: Rows) -> Floats:
    """Return numbers with the ranks of the values: texts by their alphabetical order, a sparse row by one sum."""
    if issparse(X):
        return X @ np.cos(np.arange(X.shape[1]))[:, None]
    if not (isinstance(X, np.ndarray) and X.dtype.kind in "fiub"):
        table = pd.DataFrame(to_pandas(X)).infer_objects()
        X = np.column_stack([_codes(table.iloc[:, j]) for j in range(table.shape[1])])
    return np.where(np.isfinite(X), X, np.nan)


def _codes(column: pd.Series) -> NDArray:
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=float, na_value=np.nan)
    return np.unique(column.astype(str), return_inverse=True)[1].astype(float)


def target_rows(y: object, n: int, at_least: int) -> Indices | None:
    """Return the samples labeled 1 if the labels are 1 and -1, with a warning; None if no sample is labeled -1.

    Labels 0 and 1 may mark outliers by either: all samples are used, with a warning.
    """
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.shape != (n,) or labels.dtype.kind not in "iufb":
        return None
    values = set(np.unique(labels))
    if values == {0, 1}:
        warn_user(
            f"y labels {np.count_nonzero(labels)} of {n} samples 1 and the others 0, which does not say which are "
            "outliers: all samples are used; fit the known samples alone, or label outliers -1 and the others 1",
            LabelsIgnored,
        )
    if not values <= {-1, 1}:
        return None
    targets = np.flatnonzero(labels == 1)
    if len(targets) == n:
        return None
    if len(targets) < at_least:
        raise ValueError(f"y labels {len(targets)} of {n} samples as targets (1); at least {at_least} are needed")
    warn_user(
        f"y labels {n - len(targets)} of {n} samples as outliers (-1); they are left out, because a one-class "
        "classifier learns from target samples only",
        OutliersLeftOut,
    )
    return targets


def count_rows(X: Rows) -> int:
    """Count the rows of a table, a sparse matrix or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def take_rows(X: Rows, rows: NDArray | None) -> Rows:
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
    calibration : str or splitter, default="resubstitution"
        The parameter of the classifier.
    X : array or table
        The samples, from whose ranks folds are drawn.
    groups : ndarray of int, optional
        The number of the group of each sample.
    block_length : float, default=1
        Of ``"blocks"``: so many neighboring samples count as one. Samples within twice as many of a fold do not
        describe the class for it.
    """

    calibration: str | BaseCrossValidator = "resubstitution"
    X: Rows = ()
    groups: Indices | None = None
    block_length: float = 1.0

    def in_blocks(self, scores: Floats) -> CalibrationPlan:
        """Plan again, from the scores of contiguous folds: a block is as long as their correlation time."""
        return replace(self, block_length=correlation_time(scores))

    @property
    def n(self) -> int:
        """The number of samples."""
        return count_rows(self.X)

    @property
    def mode(self) -> str:
        """``"resubstitution"``, ``"loo"``, ``"cv"``, ``"split"``, ``"blocks"`` or ``"custom"``."""
        return _mode(self.calibration)

    @cached_property
    def folds(self) -> list[Fold]:
        """Describing and scored rows; none for ``"resubstitution"``, one for a split."""
        if self.mode == "blocks":
            if self.groups is not None:
                raise ValueError(
                    'calibration="blocks" takes rows in the order of time and no groups: leave them out, or use "loo" '
                    'or "cv" with groups'
                )
            gap = 0 if self.block_length == 1 else math.ceil(2 * self.block_length)
            return [*block_folds(self.n, min(gap, self.n // N_BLOCK_FOLDS))]
        return calibration_folds(self.calibration, self.X, self.groups)

    @property
    def n_folds(self) -> int:
        """The number of folds; those of ``"loo"`` are counted without listing them."""
        if self.mode != "loo":
            return len(self.folds)
        return self.n if self.groups is None else int(self.groups.max()) + 1

    @property
    def describing(self) -> Indices | None:
        """The samples that describe the class; None for all of them, as always except in a split."""
        return np.asarray(self.folds[0][0]) if self.n_folds == 1 else None

    def calibrated(
        self, scores: Floats, scored: Indices, lowest: float, strata: Indices | None = None
    ) -> ConformalCalibration:
        """Build the calibration from the scores of the rows `scored`; every group weighs 1.

        `strata` are those of all samples: a stratum without calibration samples needs a threshold, too.
        """
        weights = None if self.groups is None else group_weights(self.groups[scored])
        if self.block_length > 1:
            weights = np.full(len(scores), 1 / self.block_length)
        return ConformalCalibration(
            scores,
            None if strata is None else strata[scored],
            weights,
            mode=self.mode,
            n_folds=self.n_folds,
            n_strata=1 if strata is None else int(strata.max()) + 1,
            lowest=lowest,
            rows=None if len(scored) == self.n else scored.astype(np.int32),
        )


def plan_calibration(
    calibration: str | BaseCrossValidator,
    sensitivity: float | ArrayLike,
    X: Rows,
    groups: ArrayLike | None,
    at_least: int = 1,
) -> CalibrationPlan:
    """Check the parameters of a fit to validated samples, and plan its calibration."""
    check_sensitivities(sensitivity)
    _mode(calibration)
    plan = CalibrationPlan(calibration, X, check_groups(groups, count_rows(X)))
    folds = [] if plan.mode == "loo" else plan.folds
    fewest = min((len(train) for train, _ in folds if train is not None), default=at_least)
    if fewest < at_least:
        raise ValueError(
            f"calibration={calibration!r} leaves {fewest} of {plan.n} samples to describe the class, which needs "
            f"{at_least}: give more samples, or use calibration='loo'"
        )
    return plan
