"""One pass of the spatial median over the data, fused: nothing is stored but sums."""

import math

import numpy as np

from transvariation.acceleration import compiled

_ROWS = 512  # what is in between stays in the nearest cache

# Sums may be taken in any order, which lets them run several abreast; the data are known to hold no NaN.
_LOOSE = {"reassoc", "contract", "nnan", "nsz"}


@compiled
def fused_pass(X, y, size):
    """Sum over the rows not at y in blocks of so many rows; the columns are those of `median.sums_of_blocks`."""
    n, p = X.shape
    out = np.zeros((-(-n // size), 7 + p + p * p))
    squares, difference, inverse = np.empty(_ROWS), np.empty((p, _ROWS)), np.empty(_ROWS)
    for k in range(len(out)):
        block = X[k * size : (k + 1) * size]
        sums, resultant, moment = out[k, :4], out[k, 4 : 4 + p], np.zeros((p, p))
        nearest, square, ties = 0, np.inf, 0
        for start in range(0, len(block), _ROWS):
            rows = block[start : start + _ROWS]
            if p == 2:
                _rows_of_two(rows.reshape(-1), y, squares, sums, resultant, moment)
            else:
                _rows(rows, y, squares, difference, inverse, sums, resultant, moment)
            if _least(squares[: len(rows)]) > np.float64(square).view(np.uint64):
                continue
            for i in range(len(rows)):
                if 0.0 < squares[i] < square:
                    nearest, square, ties = start + i, squares[i], 1
                elif squares[i] == square:
                    ties += 1
        hessian = out[k, 4 + p : -3].reshape((p, p))
        for u in range(p):
            for v in range(u):
                hessian[u, v] = hessian[v, u] = -moment[u, v]
            hessian[u, u] = sums[1] - moment[u, u]
        out[k, -3], out[k, -2], out[k, -1] = nearest, square, ties
    return out


@compiled(fastmath=_LOOSE, error_model="numpy")
def _rows_of_two(flat, y, squares, sums, resultant, moment):
    y0, y1 = y[0], y[1]
    objective, weight, weight2, at = 0.0, 0.0, 0.0, 0.0
    r0, r1, m00, m10, m11 = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(flat) // 2):  # flat: a step of two that the compiler can see
        a, b = flat[2 * i] - y0, flat[2 * i + 1] - y1
        s = a * a + b * b
        squares[i] = s
        w = 1.0 / math.sqrt(s)
        w = w if s > 0.0 else 0.0
        at += 1.0 if s == 0.0 else 0.0
        objective += s * w
        weight += w
        weight2 += w * w
        a *= w
        b *= w
        r0 += a
        r1 += b
        m00 += a * a * w
        m10 += a * b * w
        m11 += b * b * w
    sums[0] += objective
    sums[1] += weight
    sums[2] += weight2
    sums[3] += at
    resultant[0] += r0
    resultant[1] += r1
    moment[0, 0] += m00
    moment[1, 0] += m10
    moment[1, 1] += m11


@compiled(fastmath=_LOOSE, error_model="numpy")
def _rows(X, y, squares, difference, inverse, sums, resultant, moment):
    n, p = X.shape
    squares[:n] = 0.0
    for u in range(p):
        d, c = difference[u], y[u]
        for i in range(n):
            d[i] = X[i, u] - c
            squares[i] += d[i] * d[i]
    objective, weight, weight2, at = 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        s = squares[i]
        w = 1.0 / math.sqrt(s)
        w = w if s > 0.0 else 0.0
        at += 1.0 if s == 0.0 else 0.0
        objective += s * w
        weight += w
        weight2 += w * w
        inverse[i] = w
    sums[0] += objective
    sums[1] += weight
    sums[2] += weight2
    sums[3] += at
    for u in range(p):
        d = difference[u]
        total = 0.0
        for i in range(n):
            d[i] *= inverse[i]
            total += d[i]
        resultant[u] += total
    for u in range(p):
        d = difference[u]
        for v in range(u + 1):
            e = difference[v]
            total = 0.0
            for i in range(n):
                total += d[i] * e[i] * inverse[i]
            moment[u, v] += total


@compiled
def concluded(blocks, p):
    """The same as `median._concluded`, but for the way to solve for the step: Gauss's."""
    sums = np.zeros(4 + p + p * p)
    nearest, ties = 0, 0.0
    for k in range(len(blocks)):
        for j in range(len(sums)):
            sums[j] += blocks[k, j]
        if blocks[k, -2] < blocks[nearest, -2]:
            nearest, ties = k, 0.0
        if blocks[k, -2] == blocks[nearest, -2]:
            ties += blocks[k, -1]
    resultant, hessian = sums[4 : 4 + p], sums[4 + p :].reshape((p, p))
    pull = ties / math.sqrt(blocks[nearest, -2])
    return sums[0], sums[1], sums[2], sums[3], nearest, pull, resultant, hessian, _solve(hessian, resultant)


@compiled
def _solve(hessian, resultant):
    """Eliminate without exchanging rows, as a positive definite matrix allows; nothing where a pivot vanishes."""
    A, x = hessian.copy(), resultant.copy()
    p = len(x)
    none = 1e-12 * np.diag(hessian).max()
    for k in range(p):
        if not A[k, k] > none:
            return x[:0]
        for i in range(k + 1, p):
            share = A[i, k] / A[k, k]
            for j in range(k, p):
                A[i, j] -= share * A[k, j]
            x[i] -= share * x[k]
    for k in range(p - 1, -1, -1):
        for j in range(k + 1, p):
            x[k] -= A[k, j] * x[j]
        x[k] /= A[k, k]
    return x


@compiled
def largest(X):
    """The largest absolute value: of numbers without their sign, the bits sort as they do."""
    bits = X.reshape(-1).view(np.int64)
    most = 0
    for i in range(len(bits)):
        most = max(most, bits[i] & 0x7FFFFFFFFFFFFFFF)
    return np.int64(most).view(np.float64)


@compiled
def _least(squares):
    """The smallest positive one. Bits of such floats sort as they do, and 0 - 1 is the largest of all words."""
    bits = squares.view(np.uint64)
    least = np.uint64(0) - np.uint64(1)
    for i in range(len(bits)):
        least = min(least, bits[i] - np.uint64(1))
    return np.uint64(least + np.uint64(1))
