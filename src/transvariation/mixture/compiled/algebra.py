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
def exp_of(x):
    """Exponentiate a number below 700; one below -400 counts as that. No branches: a loop can do several at once.

    Accurate to 2 ulp. Added to 1.5 x 2^52, a number is rounded to an integer, whose last bits stand where they can be
    shifted to the exponent of another number. Products of e^-400 are still far from where arithmetic becomes slow.
    """
    x = x if x > -400.0 else -400.0
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    k = shifted - 6755399441055744.0
    r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10
    # The terms in groups of four, which need not wait for one another.
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (1 / 2 + r * (1 / 6))
    middle = (1 / 24 + r * (1 / 120)) + r2 * (1 / 720 + r * (1 / 5040))
    high = (1 / 40320 + r * (1 / 362880)) + r2 * (1 / 3628800 + r * (1 / 39916800))
    q = low + r4 * (middle + r4 * (high + r4 * (1 / 479001600)))
    return np.int64(np.float64(q).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)).view(np.float64)


@compiled(fastmath={"contract", "nsz"})
def exp_in_place(a):
    """Exponentiate numbers, see `exp_of`."""
    for i in range(a.size):
        a[i] = exp_of(a[i])


@compiled()
def turn(a, d, o):
    """Cosine and sine of the angle at which a cos^2 + 2 o cos sin + d sin^2 is smallest, between -90 and 90 degrees."""
    angle = 0.5 * np.arctan2(-2 * o, d - a)
    return cos(angle), sin(angle)


@compiled()
def eigen(A, values, vectors):
    """Diagonalise a symmetric matrix by Jacobi's rotations, largest eigenvalue first. A is used up."""
    p = A.shape[0]
    if p == 2:
        a, d, o = A[0, 0], A[1, 1], A[0, 1]
        t = 0.0
        if o != 0.0:
            tau = (d - a) / (2 * o)
            t = (1.0 if tau >= 0 else -1.0) / (abs(tau) + sqrt(1 + tau * tau))
        c = 1 / sqrt(1 + t * t)
        s = t * c
        a -= t * o
        d += t * o
        first = 0 if a >= d else 1
        values[first], values[1 - first] = a, d
        vectors[0, first], vectors[1, first] = c, -s
        vectors[0, 1 - first], vectors[1, 1 - first] = s, c
        return
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
