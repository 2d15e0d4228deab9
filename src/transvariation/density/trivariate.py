"""Trivariate normal box probabilities: one variable integrated over, the other two given it."""

import numpy as np
from numpy.typing import NDArray

from transvariation.density.bivariate import log_box2
from transvariation.density.conditioning import integrate_log_concave

Floats = NDArray[np.float64]

_LOG_ROOT_2PI = 0.5 * np.log(2 * np.pi)
_BLOCK = 2048  # boxes at a time; each needs some hundred bivariate ones


def log_box3(lower: Floats, upper: Floats, corr: Floats) -> Floats:
    r"""Compute the log probability of boxes of shape (q, 3) under the normal distribution with correlations `corr`.

    .. math:: P = \int_{a_1}^{b_1} \phi(x) \, P(a_2 < X_2 < b_2, a_3 < X_3 < b_3 \mid X_1 = x) \, dx

    The variable integrated over is the one least correlated with the others, for which the integrand is smoothest.

    Examples
    --------
    >>> equal = np.full((3, 3), 0.5) + np.eye(3) / 2
    >>> np.exp(log_box3(np.zeros((1, 3)), np.full((1, 3), np.inf), equal))
    array([0.25])
    """
    first = int(np.argmin(np.abs(corr - np.eye(3)).max(axis=1)))
    others = np.delete(np.arange(3), first)
    slope = corr[first, others]
    spread = np.sqrt((1 - slope) * (1 + slope))
    rho = (corr[others[0], others[1]] - slope[0] * slope[1]) / (spread[0] * spread[1])
    result = np.full(len(lower), -np.inf)
    kept = np.flatnonzero((lower < upper).all(axis=1))
    for start in range(0, len(kept), _BLOCK):
        block = kept[start : start + _BLOCK]
        low, high = lower[block], upper[block]

        def log_integrand(x: Floats, rows: NDArray[np.intp], low: Floats = low, high: Floats = high) -> Floats:
            mean = x[:, :, None] * slope
            sides = [((side[rows][:, None, others] - mean) / spread).reshape(-1, 2) for side in (low, high)]
            return log_box2(sides[0], sides[1], rho).reshape(x.shape) - x * x / 2 - _LOG_ROOT_2PI

        result[block] = integrate_log_concave(log_integrand, low[:, first], high[:, first], tolerance=1e-9)
    return result
