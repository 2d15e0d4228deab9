"""What each variable says alone: the objects judged by it and nothing else, whatever the rule of the case."""

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from transvariation.casework.result import Reason
from transvariation.conformal import RejectsNothing, sensitivity_for_n
from transvariation.depth.probability import transvariation_probability
from transvariation.kernel_tocc import KernelTOCC

MOST = 2000  # control objects by which a variable is judged; of more, so many are drawn by lot


def reasons(
    known: pd.DataFrame,
    unknown: pd.DataFrame,
    groups: NDArray | None,
    seed: int,
    progress: Callable[[str], None] = lambda words: None,
) -> list[tuple[Reason, ...]]:
    """Compare every object with the control, one variable at a time, most telling first."""
    lot = _lot(len(known), groups, seed)
    few, of_few = known.iloc[lot], None if groups is None else groups[lot]
    columns: list[list[Reason]] = []
    for i, name in enumerate(known.columns):
        progress(f"judging by each variable alone, {i} of {known.shape[1]} done")
        own, theirs = known[name].to_numpy(), unknown[name].to_numpy()
        median = float(np.median(own))
        tp = transvariation_probability(own, theirs, tau_max="half")
        ranks = _p_values(few[[name]].to_numpy(), theirs[:, None], of_few)
        side = np.array(["below", "at", "above"])[np.sign(theirs - median).astype(int) + 1]
        columns.append(
            [
                Reason(str(name), float(theirs[i]), median, str(side[i]), float(tp[i]), float(ranks[i]), False)
                for i in range(len(theirs))
            ]
        )
    return [tuple(sorted(row, key=lambda reason: (reason.p_value, reason.tp))) for row in zip(*columns, strict=True)]


def smallest_alone(n: int, groups: NDArray | None, seed: int) -> float:
    """Give the smallest p-value that a reason can have: that of what is rated below all that the lot fell on."""
    lot = _lot(n, groups, seed)
    return 1 / (len(lot if groups is None else np.unique(groups[lot])) + 1)


def _p_values(own: NDArray[np.float64], theirs: NDArray[np.float64], groups: NDArray | None) -> NDArray[np.float64]:
    """Judge by one variable as a case does by default: every control object is rated without itself.

    Counting would not do, also not without oneself: in small samples all beyond the edge would share tp = 0 with so
    many control objects that nothing could be rejected.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RejectsNothing)  # only p-values are used
        return KernelTOCC(sensitivity=sensitivity_for_n(1)).fit(own, groups=groups).p_values(theirs)


def _lot(n: int, groups: NDArray | None, seed: int) -> NDArray[np.intp]:
    if n <= MOST:
        return np.arange(n)
    order = np.random.default_rng(seed).permutation(n)
    lot = np.arange(MOST)
    if groups is not None:  # of every group at least one, so that there are as many to count
        lot = np.union1d(lot, np.unique(groups[order], return_index=True)[1][:MOST])
    return np.sort(order[lot])
