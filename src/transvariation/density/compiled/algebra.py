"""Sums, exponentials and small symmetric matrices."""

from math import cos, log, nan, sin, sqrt

import numpy as np

from transvariation.density.compiled import compiled, compiled_sums
from transvariation.density.em import COLLAPSED

LOG_2 = float(np.log(2))
# exp(-d^2 / 2) is 2^-(WHITE d)^2.
WHITE = float(np.sqrt(np.log2(np.e) / 2))


@compiled_sums
def total_of(a):
    """Sum."""
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


# 2^r for |r| <= 1/2, least relative error (2e-16) of all polynomials of this degree.
_C0, _C1, _C2, _C3 = 1.0, 0.6931471805599497, 0.24022650695908768, 0.05550410866445883
_C4, _C5, _C6, _C7 = 0.009618129108034596, 0.0013333558228561767, 0.00015403529961127076, 1.5252658116409854e-05
_C8, _C9, _C10 = 1.3215662835959238e-06, 1.0208537929657404e-07, 7.037278846726901e-09
_ROUNDER = 6755399441055744.0  # 1.5 x 2^52


@compiled(fastmath={"contract", "nsz"})
def exp2_in_place(a):
    """Raise two to powers below 1000; one below -577 counts as that. No branches: several are done at once.

    The relative error is below 1e-15. Added to 1.5 x 2^52, a number is rounded to an integer, whose last bits stand
    where they can be shifted to the exponent of another. Products of 2^-577 are still far from where arithmetic becomes
    slow.
    """
    for i in range(a.size):
        x = a[i] if a[i] > -577.0 else -577.0
        shifted = x + _ROUNDER
        r = x - (shifted - _ROUNDER)
        # The terms in groups of four, which need not wait for one another.
        r2 = r * r
        r4 = r2 * r2
        low = (_C0 + r * _C1) + r2 * (_C2 + r * _C3)
        middle = (_C4 + r * _C5) + r2 * (_C6 + r * _C7)
        q = low + r4 * (middle + r4 * ((_C8 + r * _C9) + r2 * _C10))
        a[i] = np.int64(np.float64(q).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)).view(np.float64)


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
