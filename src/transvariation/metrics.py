"""Measure how well scores separate targets from non-targets: ROC, its area, specificity at a sensitivity.

High score = typical of the target. Sensitivity is the share of targets accepted, specificity the share of
non-targets rejected, where a sample is accepted if its score is at least the threshold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import binom, binomtest, rankdata

from transvariation._typing import Floats
from transvariation.conformal import ROUNDING_ERROR, conformal_threshold, is_accepted

__all__ = ["ROC", "auc", "count_extremes", "roc", "specificity_at_sensitivity", "type_ii_error"]


class ROC(NamedTuple):
    """A receiver operating characteristic curve; one entry per distinct threshold, from accepting none to all.

    The first threshold, infinity, accepts none: a score of infinity counts as the largest finite number.

    Attributes
    ----------
    thresholds : ndarray
        The thresholds, from high to low.
    sensitivity : ndarray
        Share of target samples that score at or above each threshold.
    specificity : ndarray
        Share of non-target samples that score below it.

    See Also
    --------
    transvariation.roc : Compute it.
    """

    thresholds: Floats
    sensitivity: Floats
    specificity: Floats


def _finite(scores: ArrayLike, who: str) -> Floats:
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or not len(scores):
        raise ValueError(f"the scores of the {who} samples have shape {scores.shape}; give a non-empty list of numbers")
    if np.isnan(scores).any():
        raise ValueError(
            f"{np.isnan(scores).sum()} of the scores of the {who} samples are NaN; drop or score them first"
        )
    return scores


def roc(scores_target: ArrayLike, scores_nontarget: ArrayLike) -> ROC:
    """Trace sensitivity and specificity over all thresholds.

    Parameters
    ----------
    scores_target : array-like of shape (n,)
        Scores of target samples (high = typical).
    scores_nontarget : array-like of shape (m,)
        Scores of non-target samples.

    Returns
    -------
    ROC
        The curve.

    See Also
    --------
    transvariation.auc : The area below the curve.
    transvariation.specificity_at_sensitivity : One point of the curve.

    Examples
    --------
    >>> from transvariation import roc
    >>> roc([0.9, 0.4], [0.4, 0.1]).sensitivity
    array([0. , 0.5, 1. , 1. ])
    """
    targets = np.sort(_finite(scores_target, "target"))
    others = np.sort(_finite(scores_nontarget, "non-target"))
    finite = np.minimum(np.concatenate([targets, others]), np.finfo(float).max)  # infinity is the first threshold
    thresholds = np.unique(finite)[::-1]
    return ROC(
        np.append(np.inf, thresholds),
        np.append(0.0, 1 - np.searchsorted(targets, thresholds, side="left") / len(targets)),
        np.append(1.0, np.searchsorted(others, thresholds, side="left") / len(others)),
    )


def auc(scores_target: ArrayLike, scores_nontarget: ArrayLike) -> float:
    """Compute the area under the ROC curve: P(target scores above non-target), ties at one half.

    Parameters
    ----------
    scores_target : array-like of shape (n,)
        Scores of target samples (high = typical).
    scores_nontarget : array-like of shape (m,)
        Scores of non-target samples.

    Returns
    -------
    float
        The area under the ROC curve.

    See Also
    --------
    transvariation.roc : The curve.
    transvariation.specificity_at_sensitivity : One point of it.

    Examples
    --------
    >>> from transvariation import auc
    >>> auc([0.9, 0.4], [0.4, 0.1])
    0.875
    """
    targets, others = _finite(scores_target, "target"), _finite(scores_nontarget, "non-target")
    ranks = rankdata(np.concatenate([targets, others]))[: len(targets)]
    return float((ranks.sum() - len(targets) * (len(targets) + 1) / 2) / (len(targets) * len(others)))


def specificity_at_sensitivity(
    scores_target: ArrayLike, scores_nontarget: ArrayLike, sensitivity: float = 0.9
) -> float:
    """Compute the best specificity among the thresholds that accept at least `sensitivity` of the targets.

    Parameters
    ----------
    scores_target : array-like of shape (n,)
        Scores of target samples (high = typical).
    scores_nontarget : array-like of shape (m,)
        Scores of non-target samples.
    sensitivity : float, default=0.9
        The smallest share of target samples to accept.

    Returns
    -------
    float
        The share of foreign samples below the threshold.

    See Also
    --------
    transvariation.roc : The whole curve.
    transvariation.auc : The area below it.

    Examples
    --------
    >>> from transvariation import specificity_at_sensitivity
    >>> specificity_at_sensitivity([0.9, 0.8, 0.7, 0.2], [0.5, 0.1], sensitivity=0.75)
    1.0
    """
    threshold = conformal_threshold(_finite(scores_target, "target"), sensitivity)
    return float(np.mean(_finite(scores_nontarget, "non-target") < threshold))


def type_ii_error(
    p_values: ArrayLike,
    levels: ArrayLike | None = None,
    *,
    sensitivity: float | ArrayLike = 0.9,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Estimate the type II error beta, the share of foreign samples that are accepted.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        p-values of samples that are known to be foreign, such as ``classifier.p_values(foreign)``. A sample is accepted
        if its p-value exceeds 1 - `sensitivity`.
    levels : array-like of shape (n,), optional
        The foreign class of each sample, or its degree of adulteration. By default all samples are of one class.
    sensitivity : float or array-like, default=0.9
        One or several sensitivities of the classifier.
    confidence : float, default=0.95
        Confidence of the Clopper-Pearson interval of beta.

    Returns
    -------
    DataFrame
        One row per level and sensitivity, with the columns ``level``, ``sensitivity``, ``n``, ``beta``, ``low`` and
        ``high``.

    See Also
    --------
    transvariation.metrics.count_extremes : Counts of extreme samples.

    Examples
    --------
    >>> from transvariation.metrics import type_ii_error
    >>> table = type_ii_error([0.5, 0.02, 0.02, 0.02], levels=[5, 5, 10, 10])
    >>> table[["level", "n", "beta"]]
       level  n  beta
    0      5  2   0.5
    1     10  2   0.0
    """
    values = _finite(p_values, "foreign")
    labels = np.zeros(len(values)) if levels is None else np.asarray(levels)
    rows = []
    for level in np.unique(labels):
        own = values[labels == level]
        for share in np.ravel(sensitivity):
            accepted = int(is_accepted(own, share).sum())
            low, high = binomtest(accepted, len(own)).proportion_ci(confidence)  # Clopper and Pearson's
            rows.append((level, float(share), len(own), accepted / len(own), low, high))
    return pd.DataFrame(rows, columns=["level", "sensitivity", "n", "beta", "low", "high"])


def count_extremes(p_values: ArrayLike, *, confidence: float = 0.95) -> pd.DataFrame:
    """Count the extreme target samples at every level, beside the number expected.

    At a level alpha = i / n, i of n target samples are expected to have a p-value of at most alpha. A
    classifier whose limits are right keeps the observed numbers within the tolerance.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        p-values of target samples, for example of fresh ones.
    confidence : float, default=0.95
        Probability of the tolerance interval at each level, by the binomial distribution.

    Returns
    -------
    DataFrame
        One row per level, with the columns ``alpha``, ``expected``, ``observed``, ``low`` and ``high``.

    See Also
    --------
    transvariation.metrics.type_ii_error : Errors on foreign samples.
    transvariation.displays.AcceptanceDisplay : Draw p-values of groups.

    References
    ----------
    Pomerantsev, A. L. and Rodionova, O. Ye. (2014). Concept and role of extreme objects in PCA/SIMCA. Journal of
    Chemometrics 28, 429-438.

    Examples
    --------
    >>> from transvariation.metrics import count_extremes
    >>> count_extremes([0.1, 0.5, 0.6, 1.0])["observed"].tolist()
    [1, 2, 3, 4]
    """
    values = np.sort(_finite(p_values, "target"))
    expected = np.arange(1, len(values) + 1)
    alpha = expected / len(values)
    tail = (1 - confidence) / 2
    return pd.DataFrame(
        {
            "alpha": alpha,
            "expected": expected,
            "observed": np.searchsorted(values, alpha + ROUNDING_ERROR, side="right"),
            "low": binom.ppf(tail, len(values), alpha),
            "high": binom.ppf(1 - tail, len(values), alpha),
        }
    )
