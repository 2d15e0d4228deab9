"""The probability that a standard normal variable falls into an interval, without losing digits in the tails."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Floats = NDArray[np.float64]

_LOG_ROOT_2PI = 0.5 * np.log(2 * np.pi)
_FARTHEST = 1e150  # so that its square is a number
_NODES, _WEIGHTS = (rule / 2 for rule in np.polynomial.legendre.leggauss(10))


def log_interval(lower: Floats, upper: Floats) -> Floats:
    r"""Compute :math:`\log(\Phi(b) - \Phi(a))` elementwise; -inf where the interval is empty.

    Seen from the side on which the interval lies both terms are small, so that far out the difference keeps its
    relative precision; over a narrow interval the density is integrated instead.

    Examples
    --------
    >>> log_interval(np.array([0.0, 9.0]), np.array([1.0, np.inf])).round(3)
    array([ -1.075, -43.628])
    """
    a, b = np.broadcast_arrays(np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))
    empty = a >= b
    with np.errstate(invalid="ignore"):  # -inf + inf: the whole line, the same from either side
        flip = a + b > 0
    a, b = np.where(flip, -b, a), np.where(flip, -a, b)
    b = np.maximum(b, -_FARTHEST)
    near = log_ndtr(b)
    result = np.array(near)
    both = np.isfinite(a)
    if both.any():
        result[both] = _difference(a[both], b[both], near[both])
    result[empty] = -np.inf
    return result


def _difference(a: Floats, b: Floats, near: Floats) -> Floats:
    """log(Phi(b) - Phi(a)) for finite a < b with a + b <= 0: the interval lies to the left, or about zero."""
    width, middle = b - a, (a + b) / 2
    thin = (width > 0) & (width < 1) & (width * np.abs(middle) < 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = near + np.log(-np.expm1(log_ndtr(a) - near))
    w, m = width[thin, None], middle[thin, None]
    # Here Phi(a) and Phi(b) are close, and the density is as good as a polynomial: integrate it.
    density = (np.exp(-w * _NODES * (m + w * _NODES / 2)) * _WEIGHTS).sum(axis=1)
    result[thin] = np.log(w[:, 0] * density) - m[:, 0] ** 2 / 2 - _LOG_ROOT_2PI
    return result
