"""Bivariate orthant probabilities, compiled by numba; see `normal_boxes` for the method."""

from math import erfc, exp, log, log1p, nan, sqrt

import numpy as np

from transvariation.acceleration import compiled, inlined

_ROOT_HALF = sqrt(0.5)
_BEYOND = 1e-260  # bounds tails beyond 36 standard deviations and densities below e^-600
_NEGLIGIBLE = 1e-14
_BLOCK = 256


@inlined
def _exp(y):
    """Compute exp(y) for -40 < y <= 0 to an absolute error of 1e-13: a Taylor polynomial at y / 32, squared five times.

    The integral depends most on values of y near zero, where the polynomial is best.
    """
    r = y * 0.03125
    s = 1 / 3628800.0
    s = s * r + 1 / 362880.0
    s = s * r + 1 / 40320.0
    s = s * r + 1 / 5040.0
    s = s * r + 1 / 720.0
    s = s * r + 1 / 120.0
    s = s * r + 1 / 24.0
    s = s * r + 1 / 6.0
    s = s * r + 0.5
    s = s * r + 1.0
    s = s * r + 1.0
    s *= s
    s *= s
    s *= s
    s *= s
    return s * s


@compiled(fastmath=True)  # the sum in any order; every number here is finite
def _mobius(A, B, w2, down, gain, t, weight, start, stop):
    # With x = N / D, and one division for the three of the formula.
    total = 0.0
    for j in range(start, stop):
        D = 1 + t[j] * down
        step = t[j] * gain
        N = D + step
        D2, N2 = D * D, N * N
        M = D2 + w2 * N2
        inverse = 1 / (N2 * D2 * M)
        exponent = step * (D + N) * inverse * M * (B * D2 - A * N2)
        total += weight[j] * _exp(exponent) * inverse * N2 * D2
    return total * gain


@compiled()
def _logarithmic(A, B, w2, length, reach, t, weight, start, stop):
    log_end = min(log1p(length), reach)
    total = 0.0
    for j in range(start, stop):
        x = exp(t[j] * log_end)
        q = x * x
        total += weight[j] * x * exp((q - 1) * (B / q - A)) / (1 + w2 * q)
    return total * log_end


@compiled()
def _class_of(A, least):
    c = 0
    while least[c] > A:
        c += 1
    return c


@compiled()
def _prepare(h, k, w2, across, along, reach, A, B, W, length, down, gain, exponent):
    """Compute the parameters of the integral for a block of points, without branches: the loop is vectorised."""
    for i in range(len(h)):
        a, b = h[i] + k[i], h[i] - k[i]
        a *= a
        b *= b
        other = 1 / w2[i]
        x, y = 0.125 * a * w2[i], 0.125 * b * other
        exponent[i] = a * across[i] + b * along[i]
        W[i] = w2[i] if x >= y else other
        A[i] = x if x >= y else y
        B[i] = y if x >= y else x
        slope = A[i] - B[i] - reach
        root = sqrt(slope * slope + 4 * reach * A[i])
        v = (2 * reach if slope > 0 else root - slope) / (slope + root if slope > 0 else 2 * max(A[i], 1e-60))
        length[i] = v / (1 + sqrt(1 + v))
        inverse = 1 / sqrt(1 + length[i])
        down[i] = inverse - 1
        gain[i] = length[i] * inverse


@inlined
def _combine(h, k, w2, W, exponent, integral):
    """Compute P(X > h, Y > k) from the integral, for points that are not far out."""
    part = integral * sqrt(W) * exp(-exponent) / (2 * np.pi)
    if w2 != W:  # the density rises from rho down to -1: what is missing of the tail was integrated
        return 0.5 * erfc(max(h, k) * _ROOT_HALF) - part
    if h + k >= 0:
        return part
    # P(h < X < -k), from the side on which it is small.
    if h > 0:
        return 0.5 * (erfc(h * _ROOT_HALF) - erfc(-k * _ROOT_HALF)) + part
    if k > 0:
        return 0.5 * (erfc(k * _ROOT_HALF) - erfc(-h * _ROOT_HALF)) + part
    return 1 - 0.5 * (erfc(-h * _ROOT_HALF) + erfc(-k * _ROOT_HALF)) + part


@compiled()
def _orthants(h, k, w2, across, along, least, first, nodes, weights, reach, logarithmic_from, work, p, missing):
    """Set p to P(X > h, Y > k) and `missing` to a bound on its error, for a block of points.

    The correlation r is given as (1 - r) / (1 + r), 1 / 4 (1 + r) and 1 / 4 (1 - r).
    """
    A, B, W, length, down, gain, exponent = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    _prepare(h, k, w2, across, along, reach, A, B, W, length, down, gain, exponent)
    for i in range(len(h)):
        missing[i] = _BEYOND
        if h[i] >= 36 or k[i] >= 36:
            p[i] = 0.0
        elif h[i] <= -36:
            p[i] = 0.5 * erfc(k[i] * _ROOT_HALF)
        elif k[i] <= -36:
            p[i] = 0.5 * erfc(h[i] * _ROOT_HALF)
        elif w2[i] == 1.0:
            p[i] = 0.25 * erfc(h[i] * _ROOT_HALF) * erfc(k[i] * _ROOT_HALF)
            missing[i] = 0.0
        elif exponent[i] > 600:
            p[i] = _combine(h[i], k[i], w2[i], W[i], 600.0, 0.0)
        else:
            c = _class_of(A[i], least)
            start, stop = np.uint64(first[c]), np.uint64(first[c + 1])
            if c >= logarithmic_from:
                integral = _logarithmic(A[i], B[i], W[i], length[i], reach, nodes, weights, start, stop)
            else:
                integral = _mobius(A[i], B[i], W[i], down[i], gain[i], nodes, weights, start, stop)
            p[i] = _combine(h[i], k[i], w2[i], W[i], exponent[i], integral)
            missing[i] = 0.0


@compiled()
def log_orthants(h, k, rho, least, first, nodes, weights, reach, logarithmic_from, out):
    """Set `out` to log P(X > h, Y > k); NaN where the probability is too small for this method."""
    work, w2, across, along = np.empty((7, _BLOCK)), np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    p, missing = np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, len(h), _BLOCK):
        x, y, r = h[start : start + _BLOCK], k[start : start + _BLOCK], rho[start : start + _BLOCK]
        for i in range(len(x)):
            w2[i], across[i], along[i] = (1 - r[i]) / (1 + r[i]), 0.25 / (1 + r[i]), 0.25 / (1 - r[i])
        _orthants(x, y, w2, across, along, least, first, nodes, weights, reach, logarithmic_from, work, p, missing)
        for i in range(len(x)):
            out[start + i] = log(p[i]) if missing[i] < _NEGLIGIBLE * p[i] else nan
