"""EM in two variables, where most searches are: closed forms, and loops over objects that do several at once."""

from math import inf, log, log2, nan, pi, sqrt

import numpy as np

from transvariation.mixture.compiled import compiled, compiled_sums
from transvariation.mixture.compiled.algebra import LOG_2, WHITE, exp2_in_place, total_of
from transvariation.mixture.compiled.m_steps import COMMON_COVARIANCE
from transvariation.mixture.compiled.plane_steps import m_step
from transvariation.mixture.em import COLLAPSED, SMALLEST_SIZE

_LOW, _HIGH = 1e-100, 1e200  # how high densities may be at their means for sums and products to be numbers
_SMALL = 1e-150  # of the highest density: what powers of two are cut off at is nothing to this


@compiled_sums
def _moments(x, y, z, share, gain, N, means, W):
    """Move the means and take the scatter about them; False if a component has no objects left.

    An object's membership in component k is ``gain[k] * z[k] * share``.
    """
    for k in range(len(z)):
        row, u, v = z[k], means[0, k], means[1, k]
        size, sx, sy, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(len(x)):
            dx, dy = x[i] - u, y[i] - v
            weight = row[i] * share[i]
            wx, wy = weight * dx, weight * dy
            size += weight
            sx += wx
            sy += wy
            xx += wx * dx
            xy += wx * dy
            yy += wy * dy
        N[k] = size * gain[k]
        if not N[k] > SMALLEST_SIZE:
            return False
        sx /= size
        sy /= size
        means[0, k] = u + sx
        means[1, k] = v + sy
        W[0, k] = (xx - size * sx * sx) * gain[k]
        W[1, k] = (yy - size * sy * sy) * gain[k]
        W[2, k] = (xy - size * sx * sy) * gain[k]
    return True


@compiled()
def _whiten(S, N, floor, common, T, gain):
    """Invert the Cholesky factors: a component's density is ``gain * 2^-|T d|^2``. False if one has collapsed."""
    n = total_of(N)
    r, s, t = 0.0, 0.0, 0.0
    for k in range(len(N)):
        if k == 0 or not common:
            a, d, o = S[0, k], S[1, k], S[2, k]
            if not a > floor[0]:
                return False
            r = 1 / sqrt(a)
            o *= r
            left = d - o * o
            if not left > max(COLLAPSED * d, floor[1]):
                return False
            t = 1 / sqrt(left)
            s = -o * r * t
        T[0, k], T[1, k], T[2, k] = WHITE * r, WHITE * s, WHITE * t
        gain[k] = N[k] * r * t / (2 * pi * n)
    return True


@compiled(fastmath={"contract", "nsz"})
def _exponents(x, y, z, means, T):
    """Fill in the binary logarithms of the densities, but for the gain."""
    for k in range(len(z)):
        row, u, v = z[k], means[0, k], means[1, k]
        r, s, t = T[0, k], T[1, k], T[2, k]
        for i in range(len(x)):
            dx = x[i] - u
            a, b = r * dx, s * dx + t * (y[i] - v)
            row[i] = -(a * a + b * b)


@compiled(fastmath={"contract", "nsz"})
def _totals(z, gain, total):
    """Sum the densities of each object."""
    for i in range(len(total)):
        total[i] = gain[0] * z[0, i]
    for k in range(1, len(z)):
        row, g = z[k], gain[k]
        for i in range(len(total)):
            total[i] += g * row[i]


@compiled(fastmath={"reassoc", "contract", "nsz", "nnan"})
def _log_sum(total, share, least):
    """Sum logarithms, fill in one over each number; -inf if one is smaller than the least.

    The logarithm of a product is the sum of logarithms, and the bits of a number tell its exponent and its mantissa:
    exponents are added, mantissas multiplied, some hundreds at a time.
    """
    lowest, result = inf, 0.0
    for start in range(0, len(total), 512):
        stop = min(start + 512, len(total))
        exponents, product = np.uint64(0), 1.0
        for i in range(start, stop):
            value = total[i]
            share[i] = 1 / value
            lowest = min(lowest, value)
            bits = np.float64(value).view(np.uint64)
            exponents += bits >> np.uint64(52)
            mantissa = np.uint64((bits & np.uint64(0xFFFFFFFFFFFFF)) | np.uint64(0x3FF0000000000000))
            product *= mantissa.view(np.float64)
        result += (np.int64(exponents) - 1023 * (stop - start)) * LOG_2 + log(product)
    return result if lowest >= least else -inf


@compiled()
def _e_step(x, y, z, means, T, gain, total, share, n):
    """Fill in densities and one over their sums; return the log likelihood. From the n-th on objects do not count."""
    _exponents(x, y, z, means, T)
    lowest, highest = gain[0], gain[0]
    for k in range(1, len(gain)):
        lowest, highest = min(lowest, gain[k]), max(highest, gain[k])
    if lowest > _LOW and highest < _HIGH:
        loglik = _sum_up(z, gain, total, share, n, _SMALL * highest)
        if loglik > -inf:
            return loglik
        _exponents(x, y, z, means, T)
    return _far_e_step(z, gain, total, share, n)


@compiled()
def _sum_up(z, gain, total, share, n, least):
    """Turn exponents into powers and sum these over the components, and the logarithms of the sums over the objects."""
    exp2_in_place(z.reshape(-1))
    _totals(z, gain, total)
    for i in range(n, len(total)):
        total[i] = 1.0
    loglik = _log_sum(total, share, least)
    for i in range(n, len(total)):
        share[i] = 0.0
    return loglik


@compiled()
def _far_e_step(z, gain, total, share, n):
    """The same where densities leave the range of numbers: relative to the largest of each object."""
    for k in range(len(z)):
        height = log2(gain[k])
        gain[k] = 1.0
        for i in range(n):
            z[k, i] += height
    loglik = 0.0
    for i in range(n):
        top = z[0, i]
        for k in range(1, len(z)):
            top = max(top, z[k, i])
        loglik += top * LOG_2
        for k in range(len(z)):
            z[k, i] -= top
    return loglik + _sum_up(z, gain, total, share, n, 0.0)


@compiled()
def fit(XT, labels, G, model, tol, max_iter, floor, weights, means, covariances):
    """Fit one mixture, as `em._fit` does."""
    x, y, n = XT[0], XT[1], len(labels)
    z = np.zeros((G, len(x)))
    N, gain, scale, centres = np.zeros(G), np.ones(G), np.ones(G), np.zeros((2, G))
    for i in range(n):
        k = labels[i]
        if k >= 0:
            z[k, i] = 1.0
            N[k] += 1.0
            centres[0, k] += x[i]
            centres[1, k] += y[i]
    for k in range(G):
        centres[0, k] /= max(N[k], 1.0)
        centres[1, k] /= max(N[k], 1.0)
    W, S, T = np.empty((3, G)), np.empty((3, G)), np.empty((3, G))
    w, v, turned, axes = np.empty((2, G)), np.empty((2, G)), np.empty((2, G)), np.zeros(2)
    total, share = np.empty(len(x)), np.ones(len(x))
    common = COMMON_COVARIANCE[model]
    loglik = -inf
    for iteration in range(1, max_iter + 1):
        if not _moments(x, y, z, share, gain, N, centres, W):
            return nan, iteration
        m_step(model, W, N, S, scale, axes, iteration == 1, w, v, turned)
        if not _whiten(S, N, floor, common, T, gain):
            return nan, iteration
        last, loglik = loglik, _e_step(x, y, z, centres, T, gain, total, share, n)
        if abs(loglik - last) < tol * (1 + abs(loglik)):
            break
    size = total_of(N)
    for k in range(G):
        weights[k] = N[k] / size
        means[k, 0], means[k, 1] = centres[0, k], centres[1, k]
        covariances[k, 0, 0], covariances[k, 1, 1] = S[0, k], S[1, k]
        covariances[k, 0, 1] = covariances[k, 1, 0] = S[2, k]
    return loglik, iteration
