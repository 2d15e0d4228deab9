r"""Probabilities of boxes under the standard normal distribution in one, two and three features, on the log scale.

Orthants in two features are computed by Plackett's identity: L(h, k, r) = P(X > h, Y > k) grows with the correlation r
at the rate of the bivariate density at (h, k). From r = -1, where L is the probability of an interval, up to rho, every
term is positive; from rho up to r = 1, where L is one tail, the same integral is what is missing. Between the two the
density rises and falls once in r, and in one of the two ranges it only falls: that range is integrated, and no large
terms cancel.

With w = sqrt((1 - r) / (1 + r)) = x sqrt((1 - rho) / (1 + rho)), a = h + k and b = h - k the integral is

.. math:: \frac{e^{-E}}{2 \pi} \int_1^\infty e^{-A (x^2 - 1) + B (1 - x^{-2})} \frac{2 w_\rho}{1 + w_\rho^2 x^2} dx,
          \quad A = \frac{a^2 w_\rho^2}{8}, \; B = \frac{b^2}{8 w_\rho^2}, \;
          E = \frac{a^2}{4 (1 + \rho)} + \frac{b^2}{4 (1 - \rho)},

with A >= B in the falling range (the other is its mirror image): a Gaussian tail, which Gauss-Legendre nodes over the
range that matters integrate to eleven digits.

Every function treats each box independently of the others, to the last bit.

References
----------
Plackett, R. L. (1954). A reduction formula for normal multivariate integrals. Biometrika 41, 351-360.
"""

import numpy as np
from scipy.special import log_ndtr

from transvariation._typing import Bools, Floats, Indices
from transvariation.density.log_concave_integral import integrate_log_concave
from transvariation.validation import blocks

_LOG_2PI = float(np.log(2 * np.pi))
_FARTHEST_1D = 1e150  # so that squares are numbers
_FARTHEST_2D = 1e70  # so that squares of squares are numbers
_LOG_REACH = 27.0  # the integrand is followed down to e^-27 of its start
_BLOCK_POINTS = 1 << 17  # at a time, to bound the memory
_BLOCK_NODES = 1 << 15  # nodes x points at a time, so that the working arrays stay in the cache
_BOXES_3D = 2048  # at a time; each needs some hundred bivariate ones
_THIN_NODES, _THIN_WEIGHTS = (values / 2 for values in np.polynomial.legendre.leggauss(10))
# From which A on how many Gauss-Legendre nodes give eleven digits; below 0.01 they are placed in log x.
_CLASSES = ((0.5, 16), (0.1, 20), (0.03, 24), (0.01, 28), (1e-4, 36), (0.0, 72))
_LOGARITHMIC_BELOW = 0.01
_RULES = {n: np.polynomial.legendre.leggauss(n) for _, n in _CLASSES}


def log_interval(lower: Floats, upper: Floats) -> Floats:
    r"""Compute :math:`\log(\Phi(b) - \Phi(a))` elementwise; -inf where the interval is empty.

    Intervals are reflected to the left of zero, where both terms are small and their difference keeps its relative
    precision; over a narrow interval the density is integrated instead.

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
    b = np.maximum(b, -_FARTHEST_1D)
    near = log_ndtr(b)
    result = np.array(near)
    both = np.isfinite(a)
    if both.any():
        result[both] = _log_difference(a[both], b[both], near[both])
    result[empty] = -np.inf
    return result


def _log_difference(a: Floats, b: Floats, near: Floats) -> Floats:
    """Compute log(Phi(b) - Phi(a)) for finite a < b with a + b <= 0."""
    width, middle = b - a, (a + b) / 2
    thin = (width > 0) & (width < 1) & (width * np.abs(middle) < 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = near + np.log(-np.expm1(log_ndtr(a) - near))
    w, m = width[thin, None], middle[thin, None]
    # Here Phi(a) and Phi(b) are close, and the density is nearly a polynomial: integrate it.
    density = (np.exp(-w * _THIN_NODES * (m + w * _THIN_NODES / 2)) * _THIN_WEIGHTS).sum(axis=1)
    result[thin] = np.log(w[:, 0] * density) - m[:, 0] ** 2 / 2 - _LOG_2PI / 2
    return result


def log_orthant2(h: Floats, k: Floats, rho: Floats | float) -> Floats:
    """Compute log P(X > h, Y > k) for standard normal X, Y with correlation -1 < rho < 1, elementwise.

    Examples
    --------
    >>> np.exp(log_orthant2(np.array([0.0, -np.inf]), np.array([0.0, 0.0]), 0.5))
    array([0.33333333, 0.5       ])
    """
    h, k, rho = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (h, k, rho)))
    shape, (h, k, rho) = h.shape, (v.reshape(-1) for v in (h, k, rho))
    result = np.empty(h.size)
    for part in blocks(h.size, _BLOCK_POINTS):
        result[part] = _log_orthants(h[part], k[part], rho[part])
    return result.reshape(shape)


def _log_orthants(h: Floats, k: Floats, rho: Floats) -> Floats:
    finite = np.isfinite(h) & np.isfinite(k)
    # An absent side leaves the tail of the other variable; a side at +inf leaves nothing.
    result: Floats = log_ndtr(-np.maximum(h, k))
    result[finite] = _log_finite_orthants(h[finite], k[finite], rho[finite])
    return result


def _log_finite_orthants(h: Floats, k: Floats, rho: Floats) -> Floats:
    h, k = np.clip(h, -_FARTHEST_2D, _FARTHEST_2D), np.clip(k, -_FARTHEST_2D, _FARTHEST_2D)
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
        # Less than the whole is missing; far out, rounding could make it more.
        result[rest] = whole + np.log1p(-np.exp(np.minimum(log_part[rest] - whole, -1e-12)))
    return result


def _integral(A: Floats, B: Floats, w2: Floats) -> Floats:
    """Compute the integral over x of the module's docstring, for A >= B >= 0."""
    # Where A v - B v / (1 + v) reaches _LOG_REACH for v = x^2 - 1: a quadratic equation, solved without cancellation.
    slope = A - B - _LOG_REACH
    root = np.sqrt(slope * slope + 4 * _LOG_REACH * A)
    steep = slope > 0
    v = np.where(steep, 2 * _LOG_REACH, root - slope) / np.where(steep, slope + root, 2 * np.maximum(A, 1e-60))
    length = v / (1 + np.sqrt(1 + v))  # the range of x - 1, which may be tiny
    result = np.empty_like(A)
    below = np.inf
    for least, n_nodes in _CLASSES:
        chosen = np.flatnonzero((least <= A) & (below > A))
        for part in blocks(len(chosen), _BLOCK_NODES // n_nodes):
            rows = chosen[part]
            place = _log_nodes if least < _LOGARITHMIC_BELOW else _mobius_nodes
            result[rows] = _quadrature(A[rows], B[rows], w2[rows], *place(length[rows], n_nodes), n_nodes)
        below = least
    return result * np.sqrt(w2)


def _quadrature(A: Floats, B: Floats, w2: Floats, beyond: Floats, slope: Floats, n_nodes: int) -> Floats:
    """Sum the integrand over the nodes x = 1 + beyond, of shape (n_nodes, points)."""
    v = beyond * (beyond + 2)
    q = v + 1
    exponent = B / q
    exponent -= A
    exponent *= v
    values = np.exp(exponent, out=exponent)
    q *= w2
    q += 1
    values *= slope
    values /= q
    values *= _RULES[n_nodes][1][:, None]
    total = np.zeros_like(A)
    for row in values:  # one after the other: the rounding of sum(axis=0) depends on the number of points
        total += row
    return total


def _mobius_nodes(length: Floats, n_nodes: int) -> tuple[Floats, Floats]:
    """Place x - 1 from 0 to `length` by the fractional linear map of t in (0, 1) with x(1/2)^2 = x(1); also dx / dt."""
    t = _unit_nodes(n_nodes)
    root = np.sqrt(1 + length)
    inverse = 1 / (1 + t * (1 / root - 1))
    slope = inverse * (length / root)
    return t * slope, slope * inverse


def _log_nodes(length: Floats, n_nodes: int) -> tuple[Floats, Floats]:
    """Place x - 1 with t proportional to log x; beyond x = e^27 the factor 1 / x^2 leaves nothing. Also dx / dt."""
    log_end = np.minimum(np.log1p(length), _LOG_REACH)
    x = np.exp(_unit_nodes(n_nodes) * log_end)
    return x - 1, x * log_end


def _unit_nodes(n_nodes: int) -> Floats:
    return _RULES[n_nodes][0][:, None] / 2 + 0.5


def log_box2(lower: Floats, upper: Floats, rho: Floats | float) -> Floats:
    """Compute log probabilities of boxes of shape (q, 2) under the standard bivariate normal distribution.

    Each axis is reflected so that the box lies on its positive side; an orthant is then one term, any other box the sum
    of up to four, of which the first is the largest. Where they cancel, one feature is integrated numerically.

    Examples
    --------
    >>> log_box2(np.array([[-1.0, 20.0]]), np.array([[1.0, np.inf]]), -0.9).round(3)
    array([-970.64])
    """
    (a, b, reflected), (c, d, reflected_too) = (_reflect(lower[:, u], upper[:, u]) for u in (0, 1))
    rho = np.where(reflected == reflected_too, rho, -np.asarray(rho))
    result = log_orthant2(a, c, rho)
    result[(a >= b) | (c >= d)] = -np.inf
    rest = np.flatnonzero(((b < np.inf) | (d < np.inf)) & (result > -np.inf))
    if len(rest):
        low, high = np.column_stack([a[rest], c[rest]]), np.column_stack([b[rest], d[rest]])
        result[rest] = _subtract(result[rest], low, high, rho[rest])
    return result


def _reflect(lower: Floats, upper: Floats) -> tuple[Floats, Floats, Bools]:
    """Reflect intervals that lie to the left of zero."""
    with np.errstate(invalid="ignore"):  # -inf + inf: the whole axis, the same from either side
        reflected = lower + upper < 0
    if not reflected.any():
        return lower, upper, reflected
    return np.where(reflected, -upper, lower), np.where(reflected, -lower, upper), reflected


def _subtract(first: Floats, low: Floats, high: Floats, rho: Floats) -> Floats:
    """Subtract from the orthant at the lower corner what lies beyond the upper sides."""
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
    """Integrate the first feature's density times the conditional probability of the second one's interval."""
    spread = np.sqrt((1 - rho) * (1 + rho))

    def log_integrand(x: Floats, rows: Indices) -> Floats:
        mean, sd = rho[rows, None] * x, spread[rows, None]
        inside = log_interval((low[rows, 1, None] - mean) / sd, (high[rows, 1, None] - mean) / sd)
        return inside - x * x / 2 - _LOG_2PI / 2

    return integrate_log_concave(log_integrand, low[:, 0], high[:, 0])


def log_box3(lower: Floats, upper: Floats, corr: Floats) -> Floats:
    r"""Compute log probabilities of boxes of shape (q, 3) under the normal distribution with correlations `corr`.

    .. math:: P = \int_{a_1}^{b_1} \phi(x) \, P(a_2 < X_2 < b_2, a_3 < X_3 < b_3 \mid X_1 = x) \, dx

    The feature that is integrated is the one least correlated with the others, for which the integrand is smoothest.

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
    for part in blocks(len(kept), _BOXES_3D):
        low, high = lower[kept[part]], upper[kept[part]]

        def log_integrand(x: Floats, rows: Indices, low: Floats = low, high: Floats = high) -> Floats:
            mean = x[:, :, None] * slope
            sides = [((side[rows][:, None, others] - mean) / spread).reshape(-1, 2) for side in (low, high)]
            log_p = log_box2(sides[0], sides[1], rho)
            return log_p.reshape(x.shape) - x * x / 2 - _LOG_2PI / 2

        result[kept[part]] = integrate_log_concave(log_integrand, low[:, first], high[:, first], tolerance=1e-9)
    return result
