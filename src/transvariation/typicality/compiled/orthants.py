"""Bivariate orthants in machine code: the integral of `bivariate`, point by point."""

from math import erfc, exp, log, log1p, sqrt
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from transvariation.typicality.compiled import inlined

Floats = NDArray[np.float64]

_ROOT_HALF = sqrt(0.5)


def _arithmetic(**options: Any) -> Any:
    """Compile without a check of each divisor for zero, which would keep a loop from running on vectors."""

    def compile_it(function: Any) -> Any:
        try:
            return njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        except RuntimeError:  # no writable folder: compile anew in each process
            return njit(nogil=True, error_model="numpy", **options)(function)

    return compile_it


@inlined
def _exp(y):
    """exp(y) for -40 < y <= 0: a Taylor polynomial at y / 128, squared seven times, for several y at once."""
    r = y * 0.0078125
    s = 1 / 39916800.0
    s = s * r + 1 / 3628800.0
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
    s *= s
    s *= s
    return s * s


@_arithmetic(fastmath=True)  # the sum in any order; every number here is finite
def _mobius(A, B, w2, length, t, weight):
    # As in `bivariate`, with x = N / D, and one division for the three that the formula has.
    root = sqrt(1 + length)
    down, gain = 1 / root - 1, length / root
    total = 0.0
    for j in range(len(t)):
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
def _logarithmic(A, B, w2, length, reach, t, weight):
    log_end = min(log1p(length), reach)
    total = 0.0
    for j in range(len(t)):
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
def log_orthants(h, k, rho, least, first, nodes, weights, reach, logarithmic_from, out):
    """Fill `out` with log P(X > h, Y > k); 1 where a point lies too far out for probabilities as numbers."""
    for i in range(len(h)):
        if abs(h[i]) >= 36 or abs(k[i]) >= 36:
            out[i] = 1.0
            continue
        r = rho[i]
        a, b = h[i] + k[i], h[i] - k[i]
        w2 = (1 - r) / (1 + r)
        A, B = a * a * (w2 / 8), b * b / (8 * w2)
        exponent = a * a / (4 * (1 + r)) + b * b / (4 * (1 - r))
        if exponent > 600:
            out[i] = 1.0
            continue
        falling = A >= B
        if not falling:
            A, B, w2 = B, A, 1 / w2
        slope = A - B - reach
        root = sqrt(slope * slope + 4 * reach * A)
        v = 2 * reach / (slope + root) if slope > 0 else (root - slope) / (2 * max(A, 1e-60))
        length = v / (1 + sqrt(1 + v))
        c = _class_of(A, least)
        t, weight = nodes[first[c] : first[c + 1]], weights[first[c] : first[c + 1]]
        if c >= logarithmic_from:
            integral = _logarithmic(A, B, w2, length, reach, t, weight)
        else:
            integral = _mobius(A, B, w2, length, t, weight)
        part = integral * sqrt(w2) * exp(-exponent) / (2 * np.pi)
        if not falling:
            out[i] = log(0.5 * erfc(max(h[i], k[i]) * _ROOT_HALF) - part)
        elif a >= 0:
            out[i] = log(part)
        # P(h < X < -k), from the side on which it is small.
        elif h[i] > 0:
            out[i] = log(0.5 * (erfc(h[i] * _ROOT_HALF) - erfc(-k[i] * _ROOT_HALF)) + part)
        elif k[i] > 0:
            out[i] = log(0.5 * (erfc(k[i] * _ROOT_HALF) - erfc(-h[i] * _ROOT_HALF)) + part)
        else:
            out[i] = log(1 - 0.5 * (erfc(-h[i] * _ROOT_HALF) + erfc(-k[i] * _ROOT_HALF)) + part)


def compiled_log_orthants(
    h: Floats, k: Floats, rho: Floats, rules: list[tuple[float, Floats, Floats]], reach: float, logarithmic_from: int
) -> Floats:
    """Compute log P(X > h, Y > k), or 1, which is no log probability, where plain NumPy has to.

    `rules` lists from which A on which nodes on (0, 1) and weights serve; from `logarithmic_from` on for log x.
    """
    out = np.empty(len(h))
    least = np.array([rule[0] for rule in rules])
    first = np.cumsum([0] + [len(rule[1]) for rule in rules])
    nodes, weights = (np.concatenate([rule[i] for rule in rules]) for i in (1, 2))
    arrays = (np.ascontiguousarray(v) for v in (h, k, rho))
    log_orthants(*arrays, least, first, nodes, weights, reach, logarithmic_from, out)
    return out
