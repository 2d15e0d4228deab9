"""Integrals of log-concave functions of one variable, many at a time, on the log scale.

The probability of a box, seen as a function of one of its variables, is the density of that variable times the
conditional probability of the rest: positive and log-concave. It has one peak, falls off on both sides, and its
integral has no cancelling terms.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# Takes points of shape (len(rows), n) and the rows they belong to; returns the log integrand there.
LogIntegrand = Callable[[Floats, NDArray[np.intp]], Floats]

_REACH = 32.0  # the integrand is followed down to e^-32 of its peak
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_MAX_PANELS = 512


def integrate_log_concave(f: LogIntegrand, lower: Floats, upper: Floats, *, tolerance: float = 1e-11) -> Floats:
    """Compute the log of the integral of exp(f) from `lower` to `upper` for every row.

    Examples
    --------
    >>> half = integrate_log_concave(lambda x, rows: -x * x, np.zeros(1), np.full(1, np.inf))
    >>> bool(np.isclose(np.exp(half[0]), np.sqrt(np.pi) / 2, rtol=1e-12))
    True
    """
    rows = np.arange(len(lower))
    low, high = _bracket(f, lower, upper, rows)
    mode, peak = _peak(f, low, high, rows)
    left = _reach(f, mode, np.maximum(lower, _outside(f, mode, lower, peak, -1.0, rows)), peak, rows)
    right = _reach(f, mode, np.minimum(upper, _outside(f, mode, upper, peak, 1.0, rows)), peak, rows)
    result = np.full(len(rows), np.nan)
    before = np.full(len(rows), np.inf)
    panels = 2
    while len(rows) and panels <= _MAX_PANELS:
        value = _composite(f, left[rows], right[rows], peak[rows], rows, panels)
        with np.errstate(invalid="ignore"):
            done = ~(np.abs(value - before[rows]) > tolerance)
        result[rows] = value
        before[rows] = value
        rows, panels = rows[~done], 2 * panels
    return result


def _at(f: LogIntegrand, x: Floats, rows: NDArray[np.intp]) -> Floats:
    return f(x[:, None], rows)[:, 0]


def _bracket(f: LogIntegrand, lower: Floats, upper: Floats, rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Two points around the peak: from the finite point nearest to zero, in steps that double, as long as f rises."""
    start = np.clip(0.0, lower, upper)
    ends = []
    for side, limit in ((-1.0, lower), (1.0, upper)):
        here, step = start, 1.0
        value = _at(f, here, rows)
        end, rising = start.copy(), np.ones(len(rows), dtype=bool)
        while rising.any() and step < 1e10:
            there = np.maximum(limit, here - step) if side < 0 else np.minimum(limit, here + step)
            new = _at(f, there, rows)
            end = np.where(rising, there, end)
            rising &= (new > value) & (there != limit)
            here, value, step = there, new, 2 * step
        ends.append(end)
    return ends[0], ends[1]


def _peak(f: LogIntegrand, low: Floats, high: Floats, rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Golden section, to about 1e-5 of the bracket."""
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(26):
        a, b = high - golden * (high - low), low + golden * (high - low)
        up = _at(f, a, rows) < _at(f, b, rows)
        low, high = np.where(up, a, low), np.where(up, high, b)
    mode = (low + high) / 2
    return mode, _at(f, mode, rows)


def _outside(f: LogIntegrand, mode: Floats, limit: Floats, peak: Floats, side: float, rows: NDArray[np.intp]) -> Floats:
    """A point beyond which the integrand no longer matters."""
    step = np.full(len(rows), 1e-3)
    for _ in range(60):
        there = mode + side * step
        near = (_at(f, np.clip(there, -1e150, 1e150), rows) > peak - _REACH) & (side * there < side * limit)
        if not near.any():
            break
        step = np.where(near, 2 * step, step)
    return mode + side * step


def _reach(f: LogIntegrand, mode: Floats, outside: Floats, peak: Floats, rows: NDArray[np.intp]) -> Floats:
    """Bisect for the point where the integrand has fallen by _REACH, or the end of the range."""
    inside = mode
    ended = _at(f, outside, rows) > peak - _REACH
    for _ in range(6):
        middle = (inside + outside) / 2
        near = _at(f, middle, rows) > peak - _REACH
        inside, outside = np.where(near, middle, inside), np.where(near | ended, outside, middle)
    return outside


def _composite(
    f: LogIntegrand, left: Floats, right: Floats, peak: Floats, rows: NDArray[np.intp], panels: int
) -> Floats:
    width = (right - left) / panels
    offsets = (np.arange(panels)[:, None] + (1 + _NODES) / 2).reshape(-1)
    values = np.exp(f(left[:, None] + width[:, None] * offsets, rows) - peak[:, None])
    with np.errstate(divide="ignore"):
        log_integral: Floats = peak + np.log(values @ np.tile(_WEIGHTS / 2, panels) * width)
    return log_integral
