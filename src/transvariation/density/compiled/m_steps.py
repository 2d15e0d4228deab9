"""M-steps of the covariance models, compiled by numba; see `covariance_models` for the method.

Functions take the number of features p as their first argument: a constant lets the compiler unroll the loops. Of
symmetric matrices they use the lower triangles.
"""

from math import atan2, cos, exp, log, nan, sin, sqrt

import numpy as np

from transvariation.acceleration import compiled
from transvariation.density.covariance_models import (
    AXES_ROUNDS,
    AXES_ROUNDS_PLANE,
    AXES_TOL,
    INNER_ROUNDS,
    INNER_TOL,
    MODELS,
    NULL_SHARE,
)
from transvariation.density.em import COLLAPSED_SHARE

inlined = compiled(forceinline=True)

CODES = {name: code for code, name in enumerate(MODELS)} | {"E": 0, "V": 1}
# The letters of each model: volume and shape equal or not; shape spherical; axes given (0), common (1), free (2).
_EQUAL_VOLUME = np.array([name[0] == "E" for name in MODELS])
_EQUAL_SHAPE = np.array([name[1] == "E" for name in MODELS])
_SPHERICAL = np.array([name[1] == "I" for name in MODELS])
_AXES = np.array([{"I": 0, "E": 1, "V": 2}[name[2]] for name in MODELS])
# Models whose components have the same covariance, of which only the first is computed.
COMMON = (_AXES < 2) & _EQUAL_VOLUME & (_EQUAL_SHAPE | _SPHERICAL)


@inlined
def whiten(p, S, count, floor, L, T):
    """Invert the factors of ``S = L D L'``, L with a unit diagonal; False if a component has collapsed.

    Below its diagonal T becomes the inverse of L, on it the inverse of D.
    """
    for k in range(count):
        for i in range(p):
            left = S[k, i, i]
            for j in range(i):
                x = S[k, i, j]
                for h in range(j):
                    x -= L[h, i] * L[j, h]
                L[j, i], L[i, j] = x, x * T[k, j, j]
                left -= x * L[i, j]
            if not left > max(COLLAPSED_SHARE * S[k, i, i], floor[i]):
                return False
            T[k, i, i] = 1 / left
            for j in range(i):
                x = -L[i, j]
                for h in range(j + 1, i):
                    x -= L[i, h] * T[k, h, j]
                T[k, i, j] = x
    return True


@inlined
def log_root_determinant(p, T, k, factor):
    """Compute the log of `factor` times the root of the determinant of the inverse covariance."""
    total, product = 0.0, factor
    for i in range(p):
        product *= sqrt(T[k, i, i])
        if i % 2 == 1 or i == p - 1:  # of more factors the product might overflow
            total += log(product)
            product = 1.0
    return total


@inlined
def _scale(p, A, k, factor, out):
    """Set a matrix of `out` to a multiple of that of A."""
    for i in range(p):
        for j in range(i + 1):
            out[k, i, j] = factor * A[k, i, j]


@inlined
def _pool(p, W, volume, out):
    """Sum the matrices, each divided by its volume, into the first matrix of `out`."""
    for i in range(p):
        for j in range(i + 1):
            out[0, i, j] = 0.0
    for k in range(len(W)):
        inverse = 1 / volume[k]
        for i in range(p):
            for j in range(i + 1):
                out[0, i, j] += W[k, i, j] * inverse


@inlined
def _rotate(p, A, k, i, j, c, s, rows):
    """Rotate the columns i and j of matrix k, and its rows as well if `rows`."""
    for h in range(p):
        x, y = A[k, h, i], A[k, h, j]
        A[k, h, i], A[k, h, j] = c * x + s * y, c * y - s * x
    if rows:
        for h in range(p):
            x, y = A[k, i, h], A[k, j, h]
            A[k, i, h], A[k, j, h] = c * x + s * y, c * y - s * x


@compiled()
def _complete_axes(vectors, rank):
    """Replace the eigenvectors after the first `rank`, which are arbitrary, by directions near coordinate axes."""
    p = len(vectors)
    left = np.empty(p)
    for column in range(rank, p):
        for axis in range(p):
            square = 0.0
            for i in range(p):
                left[i] = 1.0 if i == axis else 0.0
                for h in range(column):
                    left[i] -= vectors[i, h] * vectors[axis, h]
                square += left[i] * left[i]
            if square > 0.9 / p:
                for i in range(p):
                    vectors[i, column] = left[i] / sqrt(square)
                break


@inlined
def _eigen(p, A, values, vectors):
    """Diagonalise symmetric matrices by Jacobi's rotations, largest eigenvalue first; A is overwritten."""
    for k in range(len(A)):
        for i in range(p):
            for j in range(p):
                vectors[k, i, j] = 1.0 if i == j else 0.0
                A[k, i, j] = A[k, max(i, j), min(i, j)]
        for _ in range(50 if p > 2 else 1):  # two variables need one rotation
            done = True
            for i in range(p - 1):
                for j in range(i + 1, p):
                    o = A[k, i, j]
                    if o * o <= 1e-34 * abs(A[k, i, i] * A[k, j, j]):
                        continue
                    done = False
                    tau = (A[k, i, i] - A[k, j, j]) / (2 * o)
                    t = (1.0 if tau >= 0 else -1.0) / (abs(tau) + sqrt(1 + tau * tau))
                    c = 1 / sqrt(1 + t * t)
                    _rotate(p, A, k, i, j, c, t * c, True)
                    _rotate(p, vectors, k, i, j, c, t * c, False)
            if done:
                break
        for i in range(p):
            values[k, i] = A[k, i, i]
        for i in range(p - 1):
            top = i
            for j in range(i + 1, p):
                if values[k, j] > values[k, top]:
                    top = j
            if top != i:
                values[k, i], values[k, top] = values[k, top], values[k, i]
                for h in range(p):
                    vectors[k, h, i], vectors[k, h, top] = vectors[k, h, top], vectors[k, h, i]
        rank = 0
        while rank < p and values[k, rank] > NULL_SHARE * values[k, 0]:
            rank += 1
        if p > 2 and rank < p - 1:
            _complete_axes(vectors[k], rank)


@inlined
def _geometric_mean(p, values, k):
    if p == 2:
        return sqrt(values[k, 0] * values[k, 1])
    total = 0.0
    for i in range(p):
        total += log(values[k, i])
    return exp(total / p)


@inlined
def _common_axes(p, W, D, V, w):
    """Rotate the common axes D, from where they are, towards those of the criterion; w is the scatter along them."""
    G = len(W)
    for k in range(G):
        for a in range(p):
            for b in range(a + 1):
                x = 0.0
                for i in range(p):
                    for j in range(p):
                        x += D[0, i, a] * W[k, max(i, j), min(i, j)] * D[0, j, b]
                V[k, a, b] = V[k, b, a] = x
            w[k, a] = V[k, a, a]
    for _ in range(AXES_ROUNDS_PLANE if p == 2 else AXES_ROUNDS):
        largest = 0.0
        for i in range(p - 1):
            for j in range(i + 1, p):
                a, d, o = 0.0, 0.0, 0.0
                for k in range(G):
                    weight = _geometric_mean(p, w, k) * (1 / w[k, i] - 1 / w[k, j])
                    a += weight * w[k, i]
                    d += weight * w[k, j]
                    o += weight * V[k, i, j]
                angle = 0.5 * atan2(-2 * o, d - a)
                c, s = cos(angle), sin(angle)
                largest = max(largest, abs(2 * c * s))
                _rotate(p, D, 0, i, j, c, s, False)
                for k in range(G):
                    _rotate(p, V, k, i, j, c, s, True)
                    w[k, i], w[k, j] = V[k, i, i], V[k, j, j]
        if not largest >= AXES_TOL:
            break


@inlined
def _variances(p, w, N, n, equal_volume, equal_shape, volume, v):
    """Turn scatter w along the axes into variances v along them, by what the components share."""
    G = len(w)
    if equal_volume and equal_shape:
        for j in range(p):
            total = 0.0
            for k in range(G):
                total += w[k, j]
            for k in range(G):
                v[k, j] = total / n
    elif equal_volume:
        total = 0.0
        for k in range(G):
            volume[k] = _geometric_mean(p, w, k)
            total += volume[k]
        for k in range(G):
            factor = total / (n * volume[k])
            for j in range(p):
                v[k, j] = w[k, j] * factor
    elif equal_shape:
        shape, inverse = np.empty((1, p)), np.empty(p)
        for _ in range(INNER_ROUNDS):
            for j in range(p):
                shape[0, j] = 0.0
            for k in range(G):
                factor = 1 / volume[k]
                for j in range(p):
                    shape[0, j] += w[k, j] * factor
            size = _geometric_mean(p, shape, 0)
            for j in range(p):
                inverse[j] = size / shape[0, j]
            moved = False
            for k in range(G):
                new = 0.0
                for j in range(p):
                    new += w[k, j] * inverse[j]
                new /= p * N[k]
                moved |= abs(new - volume[k]) > INNER_TOL * new
                volume[k] = new
            if not moved:
                break
        for j in range(p):
            for k in range(G):
                v[k, j] = volume[k] / inverse[j]
    else:
        for k in range(G):
            factor = 1 / N[k]
            for j in range(p):
                v[k, j] = w[k, j] * factor


@inlined
def _proportional(p, W, N, volume, C, L, T, S):
    """VEE: one matrix, with a volume for each component."""
    G = len(W)
    floor, size = np.zeros(p), nan
    for _ in range(INNER_ROUNDS):
        _pool(p, W, volume, C)
        regular = whiten(p, C, 1, floor, L, T)
        size = exp(-2 * log_root_determinant(p, T, 0, 1.0) / p) if regular else nan
        moved = False
        for k in range(G):
            new = 0.0
            for a in range(p):
                for i in range(a + 1):
                    x = T[0, a, i] if i < a else 1.0
                    for j in range(a + 1):
                        new += T[0, a, a] * x * (T[0, a, j] if j < a else 1.0) * W[k, max(i, j), min(i, j)]
            new *= size / (p * N[k])
            moved |= abs(new - volume[k]) > INNER_TOL * new
            volume[k] = new
        if not moved:
            break
    for k in range(G):
        for i in range(p):
            for j in range(i + 1):
                S[k, i, j] = volume[k] * (C[0, i, j] / size)


@inlined
def m_step(p, model, W, N, n, floor, S, volume, D, first, C, L, T, V, w, v):
    """Set the covariances S from the scatter matrices W; `volume` and `D` are kept between iterations.

    False if a component has no scatter in some direction, where this leaves the common axes to rounding errors.
    """
    G = len(W)
    axes, equal_volume, equal_shape = _AXES[model], _EQUAL_VOLUME[model], _EQUAL_SHAPE[model]
    if axes == 1 and equal_shape and not equal_volume:
        _proportional(p, W, N, volume, C, L, T, S)
        return True
    if axes == 1 and equal_shape:  # EEE
        _pool(p, W, volume, C)  # volumes are one
        _scale(p, C, 0, 1 / n, S)
        return True
    if axes == 2 and not equal_volume and not equal_shape:  # VVV
        for k in range(G):
            _scale(p, W, k, 1 / N[k], S)
        return True
    if axes == 0:
        for k in range(G):
            trace = 0.0
            for j in range(p):
                w[k, j] = W[k, j, j]
                trace += W[k, j, j]
            if _SPHERICAL[model]:
                for j in range(p):
                    w[k, j] = trace / p
        equal_shape |= _SPHERICAL[model] and equal_volume
    elif axes == 1:
        for k in range(G):
            _scale(p, W, k, 1 / N[k], S)
        if not whiten(p, S, G, floor, L, T):
            return False
        if first:
            _pool(p, W, volume, C)
            _eigen(p, C, v, D)
        _common_axes(p, W, D, V, w)
    else:
        for k in range(G):
            _scale(p, W, k, 1.0, S)
        _eigen(p, S, w, V)
    _variances(p, w, N, n, equal_volume, equal_shape, volume, v)
    for k in range(G):
        for i in range(p):
            for j in range(i + 1):
                x = v[k, i] if axes == 0 and i == j else 0.0
                if axes == 1:
                    for h in range(p):
                        x += D[0, i, h] * D[0, j, h] * v[k, h]
                elif axes == 2:
                    for h in range(p):
                        x += V[k, i, h] * V[k, j, h] * v[k, h]
                S[k, i, j] = x
    return True
