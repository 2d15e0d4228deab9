"""CUT: from a sensitivity to a threshold."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_sensitivity(sensitivity: float) -> float:
    """Return the sensitivity as a float, or say why it cannot be one."""
    if not 0 < sensitivity <= 1:
        raise ValueError(f"sensitivity={sensitivity} must lie in (0, 1]; 0.9 accepts nine target objects in ten")
    return float(sensitivity)


def cut(scores: ArrayLike, sensitivity: float) -> float:
    """Find the largest threshold that keeps at least a share `sensitivity` of the scores.

    Objects that score at or above the threshold are accepted. The threshold is one of the scores, the
    ``floor((1 - sensitivity) * n)``-th smallest counted from zero: NumPy's interpolated quantile would fall short of
    the promised share.

    Examples
    --------
    >>> cut([0.1, 0.2, 0.3, 0.4, 0.5], sensitivity=0.8)
    0.2
    """
    scores = np.asarray(scores, dtype=float)
    # 1e-9 undoes (1 - 0.9) * 10 = 0.9999999999999998.
    index = min(int((1 - check_sensitivity(sensitivity)) * len(scores) + 1e-9), len(scores) - 1)
    return float(np.partition(scores, index)[index])


def p_values(calibration: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """Rank each score among calibration scores: (1 + how many are as low or lower) / (n + 1).

    The rank is conservative under ties. If the calibration scores and a new target's score are exchangeable, the
    p-value of a target is at most alpha with probability at most alpha, for every alpha and n.

    Examples
    --------
    >>> p_values([0.1, 0.2, 0.3, 0.4], [0.05, 0.2, 0.9])
    array([0.2, 0.6, 1. ])
    """
    ordered = np.sort(np.asarray(calibration, dtype=float))
    ranks = np.searchsorted(ordered, np.asarray(scores, dtype=float), side="right").astype(np.float64)
    return (1 + ranks) / (len(ordered) + 1)
