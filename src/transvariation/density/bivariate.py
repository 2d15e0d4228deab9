r"""Bivariate normal orthant probabilities that keep their digits far into the tails.

Plackett's identity says that L(h, k, r) = P(X > h, Y > k) grows with the correlation r at the rate of the bivariate
density at (h, k). From r = -1, where L is the probability of an interval, up to rho, every term is positive; from
rho up to r = 1, where L is one tail, the same integral is what is missing. Between the two the density rises and
falls once in r, and one of the two ranges has it falling all the way: that one is integrated, so that nothing large
ever cancels.

With w = sqrt((1 - r) / (1 + r)) = x sqrt((1 - rho) / (1 + rho)), a = h + k and b = h - k the integral reads

.. math:: \frac{e^{-E}}{2 \pi} \int_1^\infty e^{-A (x^2 - 1) + B (1 - x^{-2})} \frac{2 w_\rho}{1 + w_\rho^2 x^2} dx,
          \quad A = \frac{a^2 w_\rho^2}{8}, \; B = \frac{b^2}{8 w_\rho^2}, \;
          E = \frac{a^2}{4 (1 + \rho)} + \frac{b^2}{4 (1 - \rho)},

with A >= B on the falling side (the other is its mirror image): a Gaussian tail, which Gauss-Legendre nodes over the
range that matters integrate to eleven digits.

References
----------
Plackett, R. L. (1954). A reduction formula for normal multivariate integrals. Biometrika 41, 351-360.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from transvariation.acceleration import use_compiled
from transvariation.density.conditioning import integrate_log_concave
from transvariation.density.interval import log_interval
from transvariation.validation import blocks

Floats = NDArray[np.float64]

_REACH = 27.0  # the integrand is followed down to e^-27 of its start
_FARTHEST = 1e70  # so that squares of squares are numbers
_BLOCK = 1 << 17  # points at a time, to bound the memory
_FEW = 512  # fewer points than this are quicker with all nodes in one go
_CACHED = 1 << 13  # points at a time in the quadrature, so that the working arrays stay in the cache
_LOG_2PI = np.log(2 * np.pi)


def log_orthant2(h: Floats, k: Floats, rho: Floats | float) -> Floats:
    """Compute log P(X > h, Y > k) for standard normal X, Y with correlation -1 < rho < 1, elementwise.

    Examples
    --------
    >>> np.exp(log_orthant2(np.array([0.0, -np.inf]), np.array([0.0, 0.0]), 0.5))
    array([0.33333333, 0.5       ])
    """
    h, k, rho = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (h, k, rho)))
    shape, (h, k, rho) = h.shape, (v.reshape(-1) for v in (h, k, rho))
    if use_compiled(h.size // 2):
        return _compiled(h, k, rho).reshape(shape)
    result = np.empty(h.size)
    for part in blocks(h.size, _BLOCK):
        result[part] = _orthants(h[part], k[part], rho[part])
    return result.reshape(shape)


def _compiled(h: Floats, k: Floats, rho: Floats) -> Floats:
    """The same in machine code, except for points so far out that their probability is hardly a number."""
    from transvariation.density.compiled.orthants import compiled_log_orthants

    result = compiled_log_orthants(h, k, rho, *_rules())
    far = np.flatnonzero(result > 0.5)
    if len(far):
        result[far] = _orthants(h[far], k[far], rho[far])
    return result


def compiled_mixture(weights: Floats, means: Floats, covs: Floats, lower: Floats, upper: Floats) -> Floats | None:
    """Compute log probabilities of boxes of shape (q, 2) under a mixture in one compiled pass; 1 where it cannot.

    None where machine code is not worth its while: for few boxes, unless something larger has fetched it before.
    """
    if not use_compiled(len(lower) * len(means) // 2):
        return None
    from transvariation.density.compiled.orthants import compiled_log_mixture_boxes

    return compiled_log_mixture_boxes(weights, means, covs, lower, upper, *_rules())


def _orthants(h: Floats, k: Floats, rho: Floats) -> Floats:
    finite = np.isfinite(h) & np.isfinite(k)
    if finite.all():
        return _finite(h, k, rho)
    # An absent side leaves the tail of the other variable; a side at +inf leaves nothing.
    result: Floats = log_ndtr(-np.maximum(h, k))
    result[finite] = _finite(h[finite], k[finite], rho[finite])
    return result


def _finite(h: Floats, k: Floats, rho: Floats) -> Floats:
    h, k = np.clip(h, -_FARTHEST, _FARTHEST), np.clip(k, -_FARTHEST, _FARTHEST)
    a, b = h + k, h - k
    w2 = (1 - rho) / (1 + rho)
    A, B = a * a * (w2 / 8), b * b / (8 * w2)
    exponent = a * a / (4 * (1 + rho)) + b * b / (4 * (1 - rho))
    falling = A >= B  # the density falls from rho down to -1; otherwise from rho up to 1
    w2 = np.where(falling, w2, 1 / w2)
    log_part = np.log(_integral(np.maximum(A, B), np.minimum(A, B), w2)) - exponent - _LOG_2PI
    result = log_part
    rest = falling & (a < 0)
    if rest.any():
        result[rest] = np.logaddexp(log_interval(h[rest], -k[rest]), log_part[rest])
    rest = ~falling
    if rest.any():
        whole = log_ndtr(-np.maximum(h[rest], k[rest]))
        # Less than the whole is missing; far out, rounding may say otherwise.
        result[rest] = whole + np.log1p(-np.exp(np.minimum(log_part[rest] - whole, -1e-12)))
    return result


# From which A on how many Gauss-Legendre nodes give eleven digits. A small A leaves a long range of x.
_CLASSES = ((0.5, 16), (0.1, 20), (0.03, 24), (0.01, 28), (1e-4, 36), (0.0, 72))
_RULES = {n: np.polynomial.legendre.leggauss(n) for _, n in _CLASSES}


@cache
def _rules() -> tuple[Floats, NDArray[np.intp], Floats, Floats, float, int]:
    """The quadrature as the compiled kernels want it.

    From which A on each class of nodes serves and where these begin; all nodes on (0, 1) and their weights, end to end;
    the reach; from which class on to take log x.
    """
    first = np.cumsum([0] + [n for _, n in _CLASSES])
    nodes, weights = (np.concatenate([_RULES[n][i] for _, n in _CLASSES]) for i in (0, 1))
    least = np.array([least for least, _ in _CLASSES])
    return least, first, nodes / 2 + 0.5, weights, _REACH, int((least >= 0.01).sum())


def _integral(A: Floats, B: Floats, w2: Floats) -> Floats:
    """The integral over x of the module's docstring, for A >= B >= 0."""
    # Where A v - B v / (1 + v) reaches _REACH for v = x^2 - 1: a quadratic equation, solved without cancellation.
    slope = A - B - _REACH
    root = np.sqrt(slope * slope + 4 * _REACH * A)
    steep = slope > 0
    v = np.where(steep, 2 * _REACH, root - slope) / np.where(steep, slope + root, 2 * np.maximum(A, 1e-60))
    length = v / (1 + np.sqrt(1 + v))  # the range of x - 1, which may be tiny
    result = np.empty_like(A)
    below = np.inf
    for least, n_nodes in _CLASSES:
        chosen = np.flatnonzero((least <= A) & (below > A))
        for start in range(0, len(chosen), _CACHED):
            part = chosen[start : start + _CACHED]
            result[part] = _quadrature(A[part], B[part], w2[part], length[part], n_nodes, least < 0.01)
        below = least
    return result * np.sqrt(w2)


def _quadrature(A: Floats, B: Floats, w2: Floats, length: Floats, n_nodes: int, logarithmic: bool) -> Floats:
    """Sum the integrand over the nodes: one after the other for many points, in one go for few, to the same bits."""
    place = (_log_nodes if logarithmic else _mobius_nodes)(length)
    integral = np.zeros_like(A)
    rule = np.stack(_RULES[n_nodes])[:, :, None]
    for node, weight in [rule] if len(A) < _FEW else rule.transpose(1, 0, 2):
        beyond, value = place(node / 2 + 0.5)
        v = beyond + 2
        v *= beyond
        q = v + 1
        exponent = B / q
        exponent -= A
        exponent *= v
        np.exp(exponent, out=exponent)
        value *= exponent
        q *= w2
        q += 1
        value /= q
        value *= weight
        for row in np.atleast_2d(value):
            integral += row
    return integral


def _mobius_nodes(length: Floats) -> Callable[[Floats], tuple[Floats, Floats]]:
    """x - 1 from 0 to `length` for t from 0 to 1, and dx / dt, by the fractional linear map with x(1/2)^2 = x(1)."""
    root = np.sqrt(1 + length)
    down, gain = 1 / root - 1, length / root

    def place(t: Floats) -> tuple[Floats, Floats]:
        inverse = t * down
        inverse += 1
        np.divide(1, inverse, out=inverse)
        slope = inverse * gain
        beyond = t * slope
        slope *= inverse
        return beyond, slope

    return place


def _log_nodes(length: Floats) -> Callable[[Floats], tuple[Floats, Floats]]:
    """The same with t proportional to log x; beyond x = e^27 the factor 1 / x^2 leaves nothing."""
    log_end = np.minimum(np.log1p(length), _REACH)

    def place(t: Floats) -> tuple[Floats, Floats]:
        x = np.exp(t * log_end)
        return x - 1, x * log_end

    return place


def log_box2(lower: Floats, upper: Floats, rho: float) -> Floats:
    """Compute the log probability of boxes of shape (q, 2) under the standard bivariate normal distribution.

    Each axis is turned so that the box lies on its positive side; an orthant is then one term, any other box the sum
    of up to four, of which the first is the largest. Where they cancel, one variable is integrated over instead.

    Examples
    --------
    >>> log_box2(np.array([[-1.0, 20.0]]), np.array([[1.0, np.inf]]), -0.9).round(3)
    array([-970.64])
    """
    (a, b, turned), (c, d, turned_too) = (_turned(lower[:, u], upper[:, u]) for u in (0, 1))
    sign = np.where(turned == turned_too, rho, -rho)
    result = log_orthant2(a, c, sign)
    result[(a >= b) | (c >= d)] = -np.inf
    rest = np.flatnonzero(((b < np.inf) | (d < np.inf)) & (result > -np.inf))
    if len(rest):
        low, high = np.column_stack([a[rest], c[rest]]), np.column_stack([b[rest], d[rest]])
        result[rest] = _subtract(result[rest], low, high, sign[rest])
    return result


def _turned(lower: Floats, upper: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Turn an axis where the interval lies to the left of zero."""
    with np.errstate(invalid="ignore"):  # -inf + inf: the whole axis, the same from either side
        turn = lower + upper < 0
    return np.where(turn, -upper, lower), np.where(turn, -lower, upper), turn


def _subtract(first: Floats, low: Floats, high: Floats, rho: Floats) -> Floats:
    """Take away from the orthant at the lower corner what lies beyond the upper sides."""
    share = 1 - np.exp(log_orthant2(high[:, 0], low[:, 1], rho) - first)
    share -= np.exp(log_orthant2(low[:, 0], high[:, 1], rho) - first) - np.exp(
        log_orthant2(high[:, 0], high[:, 1], rho) - first
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = first + np.log(share)
    lost = share < 1e-3  # three digits at most may cancel
    if lost.any():
        result[lost] = _condition(low[lost], high[lost], rho[lost])
    return result


def _condition(low: Floats, high: Floats, rho: Floats) -> Floats:
    """Integrate the first variable's density times the conditional probability of the second one's interval."""
    spread = np.sqrt((1 - rho) * (1 + rho))

    def log_integrand(x: Floats, rows: NDArray[np.intp]) -> Floats:
        mean, sd = rho[rows, None] * x, spread[rows, None]
        inside = log_interval((low[rows, 1, None] - mean) / sd, (high[rows, 1, None] - mean) / sd)
        return inside - x * x / 2 - _LOG_2PI / 2

    return integrate_log_concave(log_integrand, low[:, 0], high[:, 0])
