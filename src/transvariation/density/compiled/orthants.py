"""Bivariate orthants in machine code: the integral of `bivariate`, point by point."""

from functools import partial
from math import erfc, exp, log, log1p, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transvariation.acceleration import compiled, inlined

Floats = NDArray[np.float64]

_ROOT_HALF = sqrt(0.5)
_BEYOND = 1e-260  # bounds what lies 36 standard deviations out, and densities below e^-600
_NEGLIGIBLE = 1e-14
_BLOCK = 256


# Without a check of each divisor for zero, which would keep a loop from running on vectors.
_arithmetic = partial(compiled, error_model="numpy")


@inlined
def _exp(y):
    """exp(y) for -40 < y <= 0, to 13 digits of 1: a Taylor polynomial at y / 32, squared five times, for several y.

    A polynomial of degree d misses the integral of exp by about 32^-d of it: what counts most is where y is near zero.
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


@_arithmetic(fastmath=True)  # the sum in any order; every number here is finite
def _mobius(A, B, w2, down, gain, t, weight, start, stop):
    # As in `bivariate`, with x = N / D, and one division for the three that the formula has.
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


@_arithmetic()
def _logarithmic(A, B, w2, length, reach, t, weight, start, stop):
    log_end = min(log1p(length), reach)
    total = 0.0
    for j in range(start, stop):
        x = exp(t[j] * log_end)
        q = x * x
        total += weight[j] * x * exp((q - 1) * (B / q - A)) / (1 + w2 * q)
    return total * log_end


@_arithmetic()
def _class_of(A, least):
    c = 0
    while least[c] > A:
        c += 1
    return c


@_arithmetic()
def _prepare(h, k, w2, across, along, reach, A, B, W, length, down, gain, exponent):
    """The integral's parameters for a block of points, without branches, so that several are worked out at once."""
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
    """P(X > h, Y > k) from the integral, for points that are not far out."""
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


@_arithmetic()
def _orthants(h, k, w2, across, along, least, first, nodes, weights, reach, logarithmic_from, room, p, missing):
    """Fill in P(X > h, Y > k) and a bound on what it may lack, for a block of points.

    The correlation r comes as (1 - r) / (1 + r), 1 / 4 (1 + r) and 1 / 4 (1 - r).
    """
    A, B, W, length, down, gain, exponent = room[0], room[1], room[2], room[3], room[4], room[5], room[6]
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


@_arithmetic()
def log_orthants(h, k, rho, least, first, nodes, weights, reach, logarithmic_from, out):
    """Fill `out` with log P(X > h, Y > k); 1 where a point lies too far out for probabilities as numbers."""
    room, w2, across, along = np.empty((7, _BLOCK)), np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    p, missing = np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, len(h), _BLOCK):
        x, y, r = h[start : start + _BLOCK], k[start : start + _BLOCK], rho[start : start + _BLOCK]
        for i in range(len(x)):
            w2[i], across[i], along[i] = (1 - r[i]) / (1 + r[i]), 0.25 / (1 + r[i]), 0.25 / (1 - r[i])
        _orthants(x, y, w2, across, along, least, first, nodes, weights, reach, logarithmic_from, room, p, missing)
        for i in range(len(x)):
            out[start + i] = log(p[i]) if missing[i] < _NEGLIGIBLE * p[i] else 1.0


@_arithmetic()
def log_mixture_orthants(
    lower, upper, shares, means, scales, rho, least, first, nodes, weights, reach, logarithmic_from, out
):
    """Fill `out` with the log probabilities of boxes under a mixture; 1 where that takes more than orthants as numbers.

    One pass over the boxes, a few at a time, the components inside; all that is stored in between stays in the cache.
    """
    room, w2, across, along = np.empty((7, _BLOCK)), np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    h, k, p, missing = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    corner, side = np.empty((2, _BLOCK)), np.empty((2, _BLOCK))
    total, lacking = np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, len(lower), _BLOCK):
        m = min(_BLOCK, len(lower) - start)
        for i in range(m):
            total[i], lacking[i] = 0.0, 0.0
            # A box that is open to one side of each axis is an orthant, seen from that side.
            for u in range(2):
                a, b = lower[start + i, u], upper[start + i, u]
                side[u, i] = 1.0 if b == np.inf else -1.0
                corner[u, i] = a if b == np.inf else b
                if b < np.inf and a > -np.inf:
                    lacking[i] = 1.0
        for g in range(len(shares)):
            one, sum_, difference = (1 - rho[g]) / (1 + rho[g]), 0.25 / (1 + rho[g]), 0.25 / (1 - rho[g])
            for i in range(m):
                h[i] = side[0, i] * (corner[0, i] - means[g, 0]) * scales[g, 0]
                k[i] = side[1, i] * (corner[1, i] - means[g, 1]) * scales[g, 1]
                same = side[0, i] == side[1, i]  # otherwise one axis is turned, and so the correlation
                w2[i] = one if same else 1 / one
                across[i] = sum_ if same else difference
                along[i] = difference if same else sum_
            _orthants(
                h[:m], k, w2, across, along, least, first, nodes, weights, reach, logarithmic_from, room, p, missing
            )
            for i in range(m):
                total[i] += shares[g] * p[i]
                lacking[i] += shares[g] * missing[i]
        for i in range(m):
            out[start + i] = log(total[i]) if lacking[i] < _NEGLIGIBLE * total[i] else 1.0


def compiled_log_orthants(h: Floats, k: Floats, rho: Floats, *rules: Any) -> Floats:
    """Compute log P(X > h, Y > k), or 1, which is no log probability, where plain NumPy has to.

    `rules` are those of `bivariate`.
    """
    out = np.empty(len(h))
    arrays = (np.ascontiguousarray(v) for v in (h, k, rho))
    log_orthants(*arrays, *rules, out)
    return out


def compiled_log_mixture_boxes(
    shares: Floats, means: Floats, covs: Floats, lower: Floats, upper: Floats, *rules: Any
) -> Floats:
    """Compute the log probabilities of boxes (q, 2) under a mixture, or 1 where plain NumPy has to; no box is NaN."""
    out = np.empty(len(lower))
    scales = np.sqrt(np.diagonal(covs, axis1=1, axis2=2))
    rho = covs[:, 0, 1] / (scales[:, 0] * scales[:, 1])
    lower, upper = np.ascontiguousarray(lower), np.ascontiguousarray(upper)  # they may be broadcast
    log_mixture_orthants(lower, upper, shares, means, 1 / scales, rho, *rules, out)
    return out
