"""Many objects at once: which of them to call foreign, and one answer for a set said to be from one source."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

# The distribution of the rank sum is computed exactly up to so many pairs, and for sets so small with any number.
_EXACT, _FEW = 20_000, 20


def benjamini_hochberg(p_values: ArrayLike, level: float = 0.1) -> NDArray[np.bool_]:
    """Select objects so that, of those selected, a share of at most `level` is expected to be selected wrongly.

    Each object on its own is rejected wrongly with probability 1 - sensitivity; among a hundred recovered objects that
    makes ten false alarms. Here the share of false alarms among the alarms is held down instead. Conformal p-values
    from one calibration depend on one another in the way that the procedure allows (Bates et al., 2023).

    Parameters
    ----------
    p_values : array-like of shape (q,)
    level : float in (0, 1), default=0.1

    Returns
    -------
    ndarray of bool
        True where the object is called foreign to the target class.

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. JRSS B 57, 289-300.
    Bates, S. et al. (2023). Testing for outliers with conformal p-values. Annals of Statistics 51, 149-178.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.50], level=0.1)
    array([ True,  True,  True, False])
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level} must lie in (0, 1); 0.1 allows one false alarm in ten alarms")
    p = _probabilities(p_values)
    ordered = np.sort(p)
    passed = np.flatnonzero(ordered <= level * np.arange(1, len(p) + 1) / len(p) + 1e-12)
    return p <= ordered[passed[-1]] if len(passed) else np.zeros(len(p), dtype=bool)


def combine_ranks(calibration: ArrayLike, scores: ArrayLike) -> float:
    """Test a whole set: are its scores lower than those of the calibration objects?

    The rank sum (Wilcoxon, Mann and Whitney), one-sided, conservative under ties. If the set's objects and the
    calibration objects are exchangeable, the result is at most alpha with probability at most alpha: it combines a
    set exactly, where multiplying or averaging p-values from one calibration would treat them as independent. For one
    object it is its conformal p-value. A score that is not a number ranks below all others.

    Examples
    --------
    >>> combine_ranks([0.1, 0.2, 0.3, 0.4], [0.05])
    0.2
    >>> round(combine_ranks([0.1, 0.2, 0.3, 0.4], [0.05, 0.15]), 4)
    0.1333
    """
    reference, new = np.sort(np.asarray(calibration, dtype=float)), np.asarray(scores, dtype=float)
    if not len(new):
        raise ValueError("the set is empty; give at least one object")
    new = np.where(np.isnan(new), -np.inf, new)
    above = int(np.searchsorted(reference, new, side="right").sum())
    return _rank_sum_cdf(above, len(reference), len(new))


def combine_p_values(p_values: ArrayLike) -> float:
    """Combine p-values that depend on one another in an unknown way: twice their mean, at most 1.

    References
    ----------
    Vovk, V. and Wang, R. (2020). Combining p-values via averaging. Biometrika 107, 791-808.

    Examples
    --------
    >>> round(combine_p_values([0.01, 0.05]), 4)
    0.06
    """
    return float(min(1.0, 2 * _probabilities(p_values).mean()))


def _probabilities(p_values: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not len(p):
        raise ValueError(f"p-values have shape {p.shape}; give a non-empty list of numbers")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p-value {p[~((p >= 0) & (p <= 1))][0]} is not between 0 and 1")
    return p


def _rank_sum_cdf(u: int, n: int, k: int) -> float:
    """P(U <= u), where U counts the pairs of one of n and one of k exchangeable scores in which the first is lower."""
    few, many = sorted((n, k))
    if few > _FEW and n * k > _EXACT:
        return float(norm.cdf((u + 0.5 - n * k / 2) / np.sqrt(n * k * (n + k + 1) / 12)))
    if 2 * u >= n * k:  # U and n k - U are alike
        return 1.0 if u >= n * k else 1 - _rank_sum_cdf(n * k - u - 1, n, k)
    # The numbers of ways to 0, 1, ..., u are the coefficients of the product of (1 - q^(many + i)) / (1 - q^i) over
    # i = 1, ..., few.
    chances = np.zeros(u + 1)
    chances[0] = 1.0
    for i in range(1, few + 1):
        rounds = -(-len(chances) // i)
        sums = np.pad(chances, (0, rounds * i - len(chances))).reshape(rounds, i).cumsum(axis=0).ravel()[: u + 1]
        chances = sums.copy()
        chances[many + i :] -= sums[: max(u + 1 - many - i, 0)]
        chances *= i / (many + i)  # as many as there are in all: chances, not counts
    return float(min(1.0, chances.sum()))
