"""One p-value for several samples of one source."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from transvariation.conformal import check_p_values

# The rank-sum distribution is exact up to this number of pairs, and for any number of pairs with a set this small.
_EXACT_PAIRS, _EXACT_SIZE = 20_000, 20


def combine_p_values(p_values: ArrayLike) -> float:
    """Combine p-values of unknown dependence: twice their mean, at most 1.

    References
    ----------
    Vovk, V. and Wang, R. (2020). Combining p-values via averaging. Biometrika 107, 791-808.

    Examples
    --------
    >>> round(combine_p_values([0.01, 0.05]), 4)
    0.06
    """
    return float(min(1.0, 2 * check_p_values(p_values).mean()))


def rank_sum_p_value(u: int, n: int, k: int) -> float:
    """Compute P(U <= u), where U counts the pairs of one of n and one of k exchangeable scores with the first lower.

    The one-sided rank-sum test (Wilcoxon, Mann and Whitney) of k new scores against n calibration scores. It is valid
    if all are exchangeable, whereas multiplying or averaging p-values from one calibration would treat them as
    independent; for one new score it is the conformal p-value. Exact where one of the sets or the number of pairs is
    small, otherwise by the normal limit.

    Examples
    --------
    >>> rank_sum_p_value(0, 4, 1)
    0.2
    """
    few, many = sorted((n, k))
    if few > _EXACT_SIZE and n * k > _EXACT_PAIRS:
        return float(norm.cdf((u + 0.5 - n * k / 2) / np.sqrt(n * k * (n + k + 1) / 12)))
    if 2 * u >= n * k:  # U is symmetric about n k / 2
        return 1.0 if u >= n * k else 1 - rank_sum_p_value(n * k - u - 1, n, k)
    # The numbers of arrangements with U = 0, 1, ..., u are the coefficients of the product of
    # (1 - q^(many + i)) / (1 - q^i) over i = 1, ..., few; here divided by the number of all arrangements.
    probability = np.zeros(u + 1)
    probability[0] = 1.0
    for i in range(1, few + 1):
        rounds = -(-len(probability) // i)
        padded = np.pad(probability, (0, rounds * i - len(probability)))
        sums = padded.reshape(rounds, i).cumsum(axis=0).ravel()[: u + 1]
        probability = sums.copy()
        probability[many + i :] -= sums[: max(u + 1 - many - i, 0)]
        probability *= i / (many + i)
    return float(min(1.0, probability.sum()))
