"""One pass over the data for the spatial median: nothing is stored but sums."""

import math

import numpy as np

from transvariation.acceleration import compiled

_ROWS = 512  # intermediate results stay in the nearest cache

# Sums may be taken in any order, so that several run at once; the data are known to hold no NaN.
_LOOSE = {"reassoc", "contract", "nnan", "nsz"}


@compiled
def fused_pass(X, y, size):
    """Sum over the rows not at y in blocks of `size` rows; the columns are those of `median.sums_of_blocks`."""
    n, p = X.shape
    out = np.zeros((-(-n // size), 7 + p + p * p))
    squares, inverse, difference, moment = np.empty(_ROWS), np.empty(_ROWS), np.empty((p, _ROWS)), np.empty((p, p))
    for k in range(len(out)):
        moment[:] = 0.0
        first, stop = k * size, min(n, (k + 1) * size)
        nearest, square, ties = 0, np.inf, 0
        for start in range(first, stop, _ROWS):
            rows = X[start : min(stop, start + _ROWS)]
            _add_rows(rows, y, squares, difference, inverse, out[k], moment)
            for i in range(len(rows)):
                if 0.0 < squares[i] < square:
                    nearest, square, ties = start - first + i, squares[i], 1
                elif squares[i] == square:
                    ties += 1
        for u in range(p):
            for v in range(p):
                hessian = -moment[max(u, v), min(u, v)]
                out[k, 4 + p + u * p + v] = hessian + out[k, 1] if u == v else hessian
        out[k, -3], out[k, -2], out[k, -1] = nearest, square, ties
    return out


@compiled(fastmath=_LOOSE)
def _add_rows(X, y, squares, difference, inverse, sums, moment):
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
        sums[4 + u] += total
        for v in range(u + 1):
            e = difference[v]
            total = 0.0
            for i in range(n):
                total += d[i] * e[i] * inverse[i]
            moment[u, v] += total
