"""EM in two variables, where most searches are: closed forms, and loops over objects that do several at once."""

from math import inf, log, log2, nan, pi, sqrt

import numpy as np

from transvariation.density.compiled import compiled, compiled_sums
from transvariation.density.compiled.algebra import LOG_2, WHITE, exp2_in_place
from transvariation.density.compiled.m_steps import COMMON_COVARIANCE
from transvariation.density.compiled.plane_steps import (
    COVARIANCE,
    GAIN,
    MEAN,
    N_ROWS,
    SCALE,
    SCATTER,
    SIZE,
    WHITENER,
    m_step,
    row_sum,
)
from transvariation.density.em import COLLAPSED, SMALLEST_SIZE

_LOW, _HIGH = 1e-100, 1e200  # how high densities may be at their means for sums and products to be numbers
_SMALL = 1e-150  # of the highest density: what powers of two are cut off at is nothing to this


@compiled_sums
def _moments(XT, z, share, c):
    """Move the means and take the scatter about them; False if a component has no objects left.

    An object's membership in component k is ``c[GAIN, k] * z[k] * share``.
    """
    x, y = XT[0], XT[1]
    for k in range(len(z)):
        row, u, v, gain = z[k], c[MEAN, k], c[MEAN + 1, k], c[GAIN, k]
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
        c[SIZE, k] = size * gain
        if not size * gain > SMALLEST_SIZE:
            return False
        sx /= size
        sy /= size
        c[MEAN, k], c[MEAN + 1, k] = u + sx, v + sy
        c[SCATTER, k] = (xx - size * sx * sx) * gain
        c[SCATTER + 1, k] = (yy - size * sy * sy) * gain
        c[SCATTER + 2, k] = (xy - size * sx * sy) * gain
    return True


@compiled()
def _whiten(c, floor, common):
    """Invert the Cholesky factors T: a component's density is ``gain * 2^-|T d|^2``. False if one has collapsed."""
    n = row_sum(c, SIZE)
    r, s, t = 0.0, 0.0, 0.0
    for k in range(c.shape[1]):
        if k == 0 or not common:
            a, d, o = c[COVARIANCE, k], c[COVARIANCE + 1, k], c[COVARIANCE + 2, k]
            if not a > floor[0]:
                return False
            r = 1 / sqrt(a)
            o *= r
            left = d - o * o
            if not left > max(COLLAPSED * d, floor[1]):
                return False
            t = 1 / sqrt(left)
            s = -o * r * t
        c[WHITENER, k], c[WHITENER + 1, k], c[WHITENER + 2, k] = WHITE * r, WHITE * s, WHITE * t
        c[GAIN, k] = c[SIZE, k] * r * t / (2 * pi * n)
    return True


@compiled(fastmath={"contract", "nsz"})
def _exponents(XT, z, c):
    """Fill in the binary logarithms of the densities, but for the gain."""
    x, y = XT[0], XT[1]
    for k in range(len(z)):
        row, u, v = z[k], c[MEAN, k], c[MEAN + 1, k]
        r, s, t = c[WHITENER, k], c[WHITENER + 1, k], c[WHITENER + 2, k]
        for i in range(len(x)):
            dx = x[i] - u
            a, b = r * dx, s * dx + t * (y[i] - v)
            row[i] = -(a * a + b * b)


@compiled(fastmath={"contract", "nsz"})
def _totals(z, c, total):
    """Sum the densities of each object."""
    first = c[GAIN, 0]
    for i in range(len(total)):
        total[i] = first * z[0, i]
    for k in range(1, len(z)):
        row, gain = z[k], c[GAIN, k]
        for i in range(len(total)):
            total[i] += gain * row[i]


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
def _sum_up(z, c, total, share, n, least):
    """Turn exponents into powers and sum these over the components, and the logarithms of the sums over the objects."""
    exp2_in_place(z.reshape(-1))
    _totals(z, c, total)
    for i in range(n, len(total)):
        total[i] = 1.0
    loglik = _log_sum(total, share, least)
    for i in range(n, len(total)):
        share[i] = 0.0
    return loglik


@compiled()
def _e_step(XT, z, c, total, share, n):
    """Fill in densities and one over their sums; return the log likelihood. From the n-th on objects do not count."""
    _exponents(XT, z, c)
    lowest, highest = c[GAIN, 0], c[GAIN, 0]
    for k in range(1, len(z)):
        lowest, highest = min(lowest, c[GAIN, k]), max(highest, c[GAIN, k])
    loglik = -inf
    if lowest > _LOW and highest < _HIGH:
        loglik = _sum_up(z, c, total, share, n, _SMALL * highest)
    if loglik == -inf:
        _exponents(XT, z, c)
        loglik = _relative_to_largest(z, c, n)
        loglik += _sum_up(z, c, total, share, n, 0.0)
    return loglik


@compiled()
def _relative_to_largest(z, c, n):
    """Divide densities that leave the range of numbers by the largest of each object; return what the logarithms lose.

    The gains are taken up in the exponents.
    """
    for k in range(len(z)):
        height = log2(c[GAIN, k])
        c[GAIN, k] = 1.0
        for i in range(n):
            z[k, i] += height
    lost = 0.0
    for i in range(n):
        top = z[0, i]
        for k in range(1, len(z)):
            top = max(top, z[k, i])
        lost += top * LOG_2
        for k in range(len(z)):
            z[k, i] -= top
    return lost


@compiled()
def fit(XT, labels, G, model, tol, max_iter, floor, weights, means, covariances):
    """Fit one mixture, as `space.fit` does."""
    n = len(labels)
    z, c = np.zeros((G, XT.shape[1])), np.zeros((N_ROWS, G))
    total, share = np.empty(XT.shape[1]), np.ones(XT.shape[1])
    for i in range(n):
        k = labels[i]
        if k >= 0:
            z[k, i] = 1.0
            c[SIZE, k] += 1.0
            c[MEAN, k] += XT[0, i]
            c[MEAN + 1, k] += XT[1, i]
    for k in range(G):
        c[MEAN, k] /= max(c[SIZE, k], 1.0)
        c[MEAN + 1, k] /= max(c[SIZE, k], 1.0)
        c[GAIN, k] = c[SCALE, k] = 1.0
    common = COMMON_COVARIANCE[model]
    loglik = -inf
    for iteration in range(1, max_iter + 1):
        if not _moments(XT, z, share, c):
            return nan, iteration
        m_step(model, c, iteration == 1)
        if not _whiten(c, floor, common):
            return nan, iteration
        last, loglik = loglik, _e_step(XT, z, c, total, share, n)
        if abs(loglik - last) < tol * (1 + abs(loglik)):
            break
    size = row_sum(c, SIZE)
    for k in range(G):
        weights[k] = c[SIZE, k] / size
        means[k, 0], means[k, 1] = c[MEAN, k], c[MEAN + 1, k]
        covariances[k, 0, 0], covariances[k, 1, 1] = c[COVARIANCE, k], c[COVARIANCE + 1, k]
        covariances[k, 0, 1] = covariances[k, 1, 0] = c[COVARIANCE + 2, k]
    return loglik, iteration
