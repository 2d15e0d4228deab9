"""Integrals of log-concave functions of one feature, many at a time, on the log scale.

The probability of a box, seen as a function of one of its features, is the density of that feature times the
conditional probability of the rest: positive and log-concave. It has one peak, falls off on both sides, and its
integral has no canceling terms.
"""

from collections.abc import Callable

import numpy as np

from transvariation._typing import Floats, Indices

# Takes points of shape (len(rows), n) and the rows they belong to; returns the log integrand there.
LogIntegrand = Callable[[Floats, Indices], Floats]

_LOG_REACH = 32.0  # the integrand is followed down to e^-32 of its peak
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# Weights that continue the polynomial through the nodes of a panel to its lower end.
_TO_THE_END = np.linalg.solve(np.polynomial.legendre.legvander(_NODES, 15).T, (-1.0) ** np.arange(16))
# Panels of equal width first; where those do not settle, panels that shrink by halves towards either end.
_EQUAL = [np.linspace(0, 1, n + 1) for n in (2, 4, 8, 16, 32, 64)]
_HALVES = 0.5 ** np.arange(40, 0, -1)
_ENDS = np.concatenate([[0.0], _HALVES, 1 - _HALVES[-2::-1], [1.0]])
_SHRINKING = [np.interp(np.arange(0, 80 + 1 / n, 1 / n), np.arange(81), _ENDS) for n in (1, 2, 4, 8)]
_UNSEEN_SHARE = 1e-6  # of the peak: largest difference at an end between the integrand and its extrapolation
_MAX_ROUNDS = 24
_STRIDES = np.concatenate([-(3.0 ** np.arange(18, -3, -1)), [0.0], 3.0 ** np.arange(-2, 19)])
_GRID = np.linspace(0, 1, 9)
_DOUBLINGS = 2.0 ** np.arange(1, 9)


def integrate_log_concave(f: LogIntegrand, lower: Floats, upper: Floats, *, tolerance: float = 1e-11) -> Floats:
    """Compute the log of the integral of exp(f) from `lower` to `upper` for every row, independently of the others.

    Examples
    --------
    >>> half = integrate_log_concave(lambda x, rows: -x * x, np.zeros(1), np.full(1, np.inf))
    >>> bool(np.isclose(np.exp(half[0]), np.sqrt(np.pi) / 2, rtol=1e-12))
    True
    """
    low, high, mode, peak = _peak(f, lower, upper)
    left = _reach(f, mode, np.maximum(mode - low, high - mode), lower, peak, -1.0)
    right = _reach(f, mode, np.maximum(mode - low, high - mode), upper, peak, 1.0)
    result = np.full(len(lower), np.inf)
    rows = _refine(f, left, right, peak, np.arange(len(lower)), _EQUAL, tolerance, result)
    if len(rows):  # a narrow edge, which at an end all nodes may have missed
        left[rows], right[rows] = (_tight(f, mode[rows], end[rows], peak[rows], rows) for end in (left, right))
        _refine(f, left, right, peak, rows, _SHRINKING, tolerance, result)
    return result


def _refine(
    f: LogIntegrand,
    left: Floats,
    right: Floats,
    peak: Floats,
    rows: Indices,
    divisions: list[Floats],
    tolerance: float,
    result: Floats,
) -> Indices:
    """Integrate over ever finer panels until two agree and the ends are resolved; return the rows not converged."""
    for breaks in divisions:
        if not len(rows):
            break
        value, unseen = _composite(f, left[rows], right[rows], peak[rows], rows, breaks)
        with np.errstate(invalid="ignore"):
            going_on = (np.abs(value - result[rows]) > tolerance) | (unseen > _UNSEEN_SHARE)
        result[rows] = value
        rows = rows[going_on]
    return rows


def _best(values: Floats, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the two neighbors of the largest value, between which the peak must lie, its place and itself."""
    last = x.shape[1] - 1
    best, final = np.argmax(values, axis=1), last - np.argmax(values[:, ::-1], axis=1)
    each = np.arange(len(x))
    return x[each, np.maximum(best - 1, 0)], x[each, np.minimum(final + 1, last)], x[each, best], values[each, best]


def _peak(f: LogIntegrand, lower: Floats, upper: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Bracket the peak on a wide grid about the finite point nearest to zero, then on ever narrower ones.

    It is enough to know the peak as long as f varies little about it.
    """
    rows = np.arange(len(lower))
    start = np.clip(0.0, lower, upper)
    x = np.clip(start[:, None] + _STRIDES, lower[:, None], upper[:, None])
    low, high, mode, peak = _best(f(x, rows), x)
    for _ in range(_MAX_ROUNDS):
        x = low[rows, None] + (high - low)[rows, None] * _GRID
        values = f(x, rows)
        low[rows], high[rows], mode[rows], peak[rows] = _best(values, x)
        with np.errstate(invalid="ignore"):
            rows = rows[~(values.max(axis=1) - values.min(axis=1) < 1)]
        if not len(rows):
            break
    return low, high, mode, peak


def _reach(f: LogIntegrand, mode: Floats, width: Floats, limit: Floats, peak: Floats, side: float) -> Floats:
    """Compute a point where the integrand has fallen by _LOG_REACH, or the end of the range if that comes first."""
    rows, inside, outside = np.arange(len(mode)), mode.copy(), mode.copy()
    step = np.maximum(width, 1e-13 * (1 + np.abs(mode)))
    for _ in range(_MAX_ROUNDS):
        x = mode[rows, None] + side * step[rows, None] * _DOUBLINGS
        x = np.maximum(x, limit[rows, None]) if side < 0 else np.minimum(x, limit[rows, None])
        fallen = (f(x, rows) < peak[rows, None] - _LOG_REACH) | (x == limit[rows, None])
        first = np.argmax(fallen, axis=1)
        each = np.arange(len(rows))
        first = np.where(fallen.any(axis=1), first, len(_DOUBLINGS) - 1)
        inside[rows] = np.where(first > 0, x[each, np.maximum(first - 1, 0)], inside[rows])
        outside[rows] = x[each, first]
        step[rows] *= _DOUBLINGS[-1]
        rows = rows[~fallen.any(axis=1)]
        if not len(rows):
            break
    # The last doubling may have gone twice as far as needed: look in between.
    x = inside[:, None] + (outside - inside)[:, None] * _GRID[1:]
    fallen = f(x, np.arange(len(mode))) < peak[:, None] - _LOG_REACH
    return np.where(fallen.any(axis=1), x[np.arange(len(mode)), np.argmax(fallen, axis=1)], outside)


def _tight(f: LogIntegrand, mode: Floats, end: Floats, peak: Floats, rows: Indices) -> Floats:
    """Compute exactly where the integrand has fallen by _LOG_REACH: a steep fall then begins right at the end."""
    each, near, far = np.arange(len(rows)), mode, end
    for _ in range(12):
        x = near[:, None] + (far - near)[:, None] * _GRID
        fallen = f(x, rows) < peak[:, None] - _LOG_REACH
        first = np.where(fallen.any(axis=1), np.argmax(fallen, axis=1), len(_GRID) - 1)
        near, far = x[each, np.maximum(first - 1, 0)], x[each, first]
    return far


def _composite(
    f: LogIntegrand, left: Floats, right: Floats, peak: Floats, rows: Indices, breaks: Floats
) -> tuple[Floats, Floats]:
    """Compute the log integral, and the error of the outermost panels extrapolated to the ends."""
    panel = np.diff(breaks)[:, None]
    offsets = np.append((breaks[:-1, None] + panel * (1 + _NODES) / 2).reshape(-1), [0.0, 1.0])
    width = right - left
    values = np.exp(f(left[:, None] + width[:, None] * offsets, rows) - peak[:, None])
    values, ends = values[:, :-2], values[:, -2:]
    # A sum, not a matrix product, whose rounding would depend on the number of rows.
    total = (values * (panel * _WEIGHTS / 2).reshape(-1)).sum(axis=1)
    n = len(_NODES)
    outermost = np.stack([values[:, :n], values[:, : -n - 1 : -1]], axis=1)
    unseen = np.abs((outermost * _TO_THE_END).sum(axis=2) - ends).max(axis=1)
    with np.errstate(divide="ignore"):
        log_integral: Floats = peak + np.log(total * width)
    return log_integral, unseen
