"""Sums, exponentials and small symmetric matrices."""

from math import cos, log, nan, sin, sqrt

import numpy as np

from transvariation.mixture.compiled import compiled, compiled_sums
from transvariation.mixture.em import COLLAPSED


@compiled_sums
def total_of(a):
    """Sum."""
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


@compiled(fastmath={"contract", "nsz"})
def exp_in_place(a, bits, power):
    """Exponentiate numbers <= 0 in place. Branch-free, so that the compiler can do four at a time; accurate to 2 ulp.

    `power` is the memory of `bits` read as floats: an integer shifted to where the exponent stands is a power of two.
    """
    for i in range(a.size):
        x = max(a[i], -700.0)
        k = np.floor(x * 1.4426950408889634 + 0.5)
        r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
        q = 1 / 479001600
        q = q * r + 1 / 39916800
        q = q * r + 1 / 3628800
        q = q * r + 1 / 362880
        q = q * r + 1 / 40320
        q = q * r + 1 / 5040
        q = q * r + 1 / 720
        q = q * r + 1 / 120
        q = q * r + 1 / 24
        q = q * r + 1 / 6
        q = q * r + 1 / 2
        q = q * r + 1.0
        a[i] = q * r + 1.0
        bits[i] = (np.int64(np.int32(k)) + 1023) << 52
    for i in range(a.size):
        a[i] *= power[i]


@compiled()
def turn(a, d, o):
    """Cosine and sine of the angle at which a cos^2 + 2 o cos sin + d sin^2 is smallest, between -90 and 90 degrees."""
    angle = 0.5 * np.arctan2(-2 * o, d - a)
    return cos(angle), sin(angle)


@compiled()
def eigen(A, values, vectors):
    """Diagonalise a symmetric matrix by Jacobi's rotations, largest eigenvalue first. A is used up."""
    p = A.shape[0]
    for i in range(p):
        for j in range(p):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(50):
        off = 0.0
        for i in range(p - 1):
            for j in range(i + 1, p):
                o = A[i, j]
                if o * o <= 1e-34 * abs(A[i, i] * A[j, j]):
                    continue
                off += 1.0
                tau = (A[j, j] - A[i, i]) / (2 * o)
                t = (1.0 if tau >= 0 else -1.0) / (abs(tau) + sqrt(1 + tau * tau))
                c = 1 / sqrt(1 + t * t)
                s = t * c
                for h in range(p):
                    x, y = A[h, i], A[h, j]
                    A[h, i], A[h, j] = c * x - s * y, s * x + c * y
                    x, y = vectors[h, i], vectors[h, j]
                    vectors[h, i], vectors[h, j] = c * x - s * y, s * x + c * y
                for h in range(p):
                    x, y = A[i, h], A[j, h]
                    A[i, h], A[j, h] = c * x - s * y, s * x + c * y
        if off == 0.0:
            break
    for i in range(p):
        values[i] = A[i, i]
    for i in range(p - 1):
        top = i
        for j in range(i + 1, p):
            if values[j] > values[top]:
                top = j
        if top != i:
            values[i], values[top] = values[top], values[i]
            for h in range(p):
                vectors[h, i], vectors[h, top] = vectors[h, top], vectors[h, i]


@compiled()
def whiten(S, floor, L, T):
    """Invert the Cholesky factor of S into T; return half the log determinant, NaN if S has collapsed."""
    p = S.shape[0]
    half = 1.0
    total = 0.0
    for i in range(p):
        for j in range(i):
            x = S[i, j]
            for h in range(j):
                x -= L[i, h] * L[j, h]
            L[i, j] = x * T[j, j]
        left = S[i, i]
        for h in range(i):
            left -= L[i, h] * L[i, h]
        if not left > max(COLLAPSED * S[i, i], floor[i]):
            return nan
        half = sqrt(left)
        total += log(half)
        L[i, i] = half
        T[i, i] = 1 / half
        for j in range(i):
            x = 0.0
            for h in range(j, i):
                x -= L[i, h] * T[h, j]
            T[i, j] = x * T[i, i]
    return total


@compiled()
def pool(W, out):
    """Sum matrices."""
    for i in range(W.shape[1]):
        for j in range(W.shape[1]):
            total = 0.0
            for k in range(W.shape[0]):
                total += W[k, i, j]
            out[i, j] = total
