"""Ask a fitted rule for all that it says of the recovered objects, whatever the sensitivity."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from transvariation.base import OneClassClassifier
from transvariation.casework.coverage_text import in_plain_words
from transvariation.casework.result import Pooling
from transvariation.casework.warnings_ import cautions
from transvariation.conformal import benjamini_hochberg, combine_p_values, sensitivity_for_n
from transvariation.tables import Pair

FALSE_DISCOVERY_RATE = 0.1


def poolings(rule: OneClassClassifier, unknown: pd.DataFrame, pair: Pair, way_out: str) -> tuple[Pooling, ...]:
    """Give the answers at all sensitivities: one, unless several parts of the control have thresholds of their own.

    The result keeps them rather than the rule, so that a case out of a JSON file moves as well, and in a browser.
    `way_out` is what to do where the rule can reject nothing.
    """
    levels = rule._calibration.pooling_levels()
    return tuple(_pooling(rule, level, unknown, pair, way_out) for level in levels)


def _pooling(rule: OneClassClassifier, level: int, unknown: pd.DataFrame, pair: Pair, way_out: str) -> Pooling:
    sensitivity = sensitivity_for_n(level)
    coverage = in_plain_words(rule.coverage_report(sensitivity=sensitivity))
    ranks = rule.p_values(unknown, sensitivity=sensitivity)
    selected, combined = _together(rule, unknown, ranks, pair.recovered.groups, sensitivity)
    return Pooling(
        up_to=level,
        p_values=tuple(map(float, ranks)),
        coverage=replace(coverage, sensitivity=level / (level + 1)),
        selected=tuple(name for name, foreign in zip(pair.recovered.ids, selected, strict=True) if foreign),
        combined_p_value=combined,
        cautions=cautions(coverage, len(pair.control.X), way_out),
    )


def _together(
    rule: OneClassClassifier,
    unknown: pd.DataFrame,
    ranks: NDArray[np.float64],
    sources: Sequence[str] | None,
    sensitivity: float,
) -> tuple[NDArray[np.bool_], float]:
    """Which objects are called foreign among so many, and the p-value of all; replicates are not counted as objects."""
    if sources is None or len(set(sources)) == len(sources):
        return benjamini_hochberg(ranks, FALSE_DISCOVERY_RATE), rule.combined_p_value(unknown, sensitivity=sensitivity)
    names, number = np.unique(np.asarray(sources), return_inverse=True)
    own = [ranks[number == k] for k in range(len(names))]
    of_source = [float(p[0]) if len(p) == 1 else combine_p_values(p) for p in own]
    return benjamini_hochberg(of_source, FALSE_DISCOVERY_RATE)[number], combine_p_values(ranks)
