"""How well scores separate targets from non-targets: ROC, its area, specificity at a sensitivity.

High score = typical of the target. Sensitivity is the share of targets accepted, specificity the share of
non-targets rejected, both by the rule "accept if score >= threshold".
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from transvariation.conformal import conformal_threshold


class ROC(NamedTuple):
    """A receiver operating characteristic curve; one entry per distinct threshold, from accepting none to all.

    The first threshold, infinity, stands for accepting none, even a score of infinity: the largest number accepts that.
    """

    thresholds: NDArray[np.float64]
    sensitivity: NDArray[np.float64]
    specificity: NDArray[np.float64]


def _finite(scores: ArrayLike, who: str) -> NDArray[np.float64]:
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or not len(scores):
        raise ValueError(f"the scores of the {who} objects have shape {scores.shape}; give a non-empty list of numbers")
    if np.isnan(scores).any():
        raise ValueError(
            f"{np.isnan(scores).sum()} of the scores of the {who} objects are NaN; drop or score them first"
        )
    return scores


def roc(scores_target: ArrayLike, scores_nontarget: ArrayLike) -> ROC:
    """Trace sensitivity and specificity over all thresholds.

    Examples
    --------
    >>> roc([0.9, 0.4], [0.4, 0.1]).sensitivity
    array([0. , 0.5, 1. , 1. ])
    """
    targets = np.sort(_finite(scores_target, "target"))
    others = np.sort(_finite(scores_nontarget, "non-target"))
    finite = np.minimum(np.concatenate([targets, others]), np.finfo(float).max)  # or infinity would stand there twice
    thresholds = np.unique(finite)[::-1]
    return ROC(
        np.append(np.inf, thresholds),
        np.append(0.0, 1 - np.searchsorted(targets, thresholds, side="left") / len(targets)),
        np.append(1.0, np.searchsorted(others, thresholds, side="left") / len(others)),
    )


def auc(scores_target: ArrayLike, scores_nontarget: ArrayLike) -> float:
    """Compute the area under the ROC curve: P(target scores above non-target), ties at one half.

    Examples
    --------
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

    Examples
    --------
    >>> specificity_at_sensitivity([0.9, 0.8, 0.7, 0.2], [0.5, 0.1], sensitivity=0.75)
    1.0
    """
    threshold = conformal_threshold(_finite(scores_target, "target"), sensitivity)
    return float(np.mean(_finite(scores_nontarget, "non-target") < threshold))
