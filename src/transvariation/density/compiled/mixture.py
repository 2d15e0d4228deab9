"""EM for Gaussian mixtures, compiled by numba: one fit after the other, the samples in blocks that stay in the cache.

The algorithm is that of `em` and `covariance_models`, whose docstrings explain the steps; tests compare the two.
"""

from collections.abc import Sequence
from functools import partial
from math import atan2, cos, exp, log, nan, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from transvariation.acceleration import compiled as _compiled
from transvariation.density.covariance_models import (
    AXES_ROUNDS,
    AXES_ROUNDS_PLANE,
    AXES_TOL,
    INNER_ROUNDS,
    INNER_TOL,
    MODELS,
    NULL,
    VVE_BY_LIKELIHOOD,
    Array,
)
from transvariation.density.em import COLLAPSED, SMALLEST_SIZE, Mixture, least_scatter, variance_floor

_BLOCK = 128  # samples
_LOG_2PI = log(2 * np.pi)
_LOG2_E = 1 / log(2)
_ROOT = sqrt(0.5 * _LOG2_E)  # exp(-d^2 / 2) is 2^-(_ROOT d)^2

# Division by zero gives inf, as in NumPy: a check of each divisor would keep loops from being vectorised.
compiled = partial(_compiled, error_model="numpy")
_inlined = compiled(forceinline=True)
# Sums may be taken in any order, so that several terms are added at once.
_vectorised = compiled(fastmath={"reassoc", "contract", "nsz", "arcp"})

CODES = {name: code for code, name in enumerate((*MODELS, VVE_BY_LIKELIHOOD))} | {"E": 0, "V": 1}
_VVE_BY_LIKELIHOOD = CODES[VVE_BY_LIKELIHOOD]
# The letters of each model: volume and shape equal or not; shape spherical; axes given (0), common (1), free (2).
_NAMES = (*MODELS, "VVE")
_EQUAL_VOLUME = np.array([name[0] == "E" for name in _NAMES])
_EQUAL_SHAPE = np.array([name[1] == "E" for name in _NAMES])
_SPHERICAL = np.array([name[1] == "I" for name in _NAMES])
_AXES = np.array([{"I": 0, "E": 1, "V": 2}[name[2]] for name in _NAMES])

# 2^r for |r| <= 1/2: the polynomial of this degree with the least relative error, 2e-16.
_C0, _C1, _C2, _C3 = 1.0, 0.6931471805599497, 0.24022650695908768, 0.05550410866445883
_C4, _C5, _C6, _C7 = 0.009618129108034596, 0.0013333558228561767, 0.00015403529961127076, 1.5252658116409854e-05
_C8, _C9, _C10 = 1.3215662835959238e-06, 1.0208537929657404e-07, 7.037278846726901e-09
_ROUNDER = 6755399441055744.0  # 1.5 x 2^52


@_vectorised
def _log2_densities(x, means, T, constant, deviation, part, z):
    """Set ``z[k, i] = constant[k] - |T[k] d|^2`` for the deviation d of sample i from mean k."""
    p, m = x.shape
    for k in range(len(means)):
        if p == 2:  # the most frequent case, in one loop
            u, v, r, s, t = means[k, 0], means[k, 1], T[k, 0, 0], T[k, 1, 0], T[k, 1, 1]
            for i in range(m):
                dx, dy = x[0, i] - u, x[1, i] - v
                z[k, i] = constant[k] - (r * dx) ** 2 - (s * dx + t * dy) ** 2
            continue
        for i in range(m):
            z[k, i] = constant[k]
        for j in range(p):
            centre, t = means[k, j], T[k, j, j]
            for i in range(m):
                deviation[j, i] = x[j, i] - centre
                part[i] = t * deviation[j, i]
            for h in range(j):
                t = T[k, j, h]
                for i in range(m):
                    part[i] += t * deviation[h, i]
            for i in range(m):
                z[k, i] -= part[i] * part[i]


@compiled(fastmath={"contract", "nsz"})
def exp2_below(z, top, total):
    """Replace z by 2^(z - top), with relative error 1e-15, and add up its rows; differences below -577 count as -577.

    There are no branches and no calls, so that the loop is vectorised. Added to 1.5 x 2^52 a number is rounded to an
    integer, whose last bits are then shifted into the exponent.
    """
    for k in range(len(z)):
        for i in range(z.shape[1]):
            x = max(z[k, i] - top[i], -577.0)
            shifted = x + _ROUNDER
            r = x - (shifted - _ROUNDER)
            r2 = r * r
            r4 = r2 * r2
            low = (_C0 + r * _C1) + r2 * (_C2 + r * _C3)
            middle = (_C4 + r * _C5) + r2 * (_C6 + r * _C7)
            q = low + r4 * (middle + r4 * ((_C8 + r * _C9) + r2 * _C10))
            bits = np.float64(q).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
            z[k, i] = np.int64(bits).view(np.float64)
            total[i] += z[k, i]


@_vectorised
def _log_likelihood(z, top, share, n_samples):
    """Turn log2 densities into densities and the factors that make them memberships; return the log likelihood.

    Columns from n_samples on are padding.
    """
    m = z.shape[1]
    for i in range(m):
        top[i], share[i] = z[0, i], 0.0
    for k in range(1, len(z)):
        for i in range(m):
            top[i] = max(top[i], z[k, i])
    exp2_below(z, top, share)
    loglik = 0.0
    for i in range(n_samples):
        loglik += top[i]
    loglik /= _LOG2_E
    for start in range(0, n_samples, 32):  # sums lie between 1 and G: the log of a product replaces a sum of logs
        product = 1.0
        for i in range(start, min(start + 32, n_samples)):
            product *= share[i]
        loglik += log(product)
    for i in range(m):
        share[i] = 1 / share[i]
    for i in range(n_samples, m):
        share[i] = 0.0
    return loglik


@_vectorised
def _add_moments(x, means, z, share, deviation, part, N, shift, W):
    """Add the moments of a block about the present means; sample i belongs to component k by ``z[k, i] share[i]``."""
    p, m = x.shape
    for k in range(len(means)):
        if p == 2:
            u, v = means[k, 0], means[k, 1]
            size, sx, sy, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for i in range(m):
                dx, dy, weight = x[0, i] - u, x[1, i] - v, z[k, i] * share[i]
                wx, wy = weight * dx, weight * dy
                size += weight
                sx += wx
                sy += wy
                xx += wx * dx
                xy += wx * dy
                yy += wy * dy
            N[k] += size
            shift[k, 0] += sx
            shift[k, 1] += sy
            W[k, 0, 0] += xx
            W[k, 1, 0] += xy
            W[k, 1, 1] += yy
            continue
        total = 0.0
        for i in range(m):
            z[k, i] *= share[i]
            total += z[k, i]
        N[k] += total
        for a in range(p):
            centre, total = means[k, a], 0.0
            for i in range(m):
                deviation[a, i] = x[a, i] - centre
                part[i] = z[k, i] * deviation[a, i]
                total += part[i]
            shift[k, a] += total
            for b in range(a + 1):
                total = 0.0
                for i in range(m):
                    total += part[i] * deviation[b, i]
                W[k, a, b] += total


@compiled()
def _start(blocks, labels, means, z, share, deviation, part, N, shift, W):
    """Set the means and moments of the labelled samples."""
    p, m = blocks.shape[1:]
    for i in range(len(labels)):
        if labels[i] >= 0:
            N[labels[i]] += 1.0
            for a in range(p):
                means[labels[i], a] += blocks[i // m, a, i % m]
    for k in range(len(N)):
        for a in range(p):
            means[k, a] /= max(N[k], 1.0)
        N[k] = 0.0
    share[:] = 1.0
    for j in range(len(blocks)):
        z[:] = 0.0
        for i in range(j * m, min(j * m + m, len(labels))):
            if labels[i] >= 0:
                z[labels[i], i % m] = 1.0
        _add_moments(blocks[j], means, z, share, deviation, part, N, shift, W)


@_inlined
def _move_means(p, N, shift, W, means, least_scatter):
    """Move the means to the weighted means and the scatter with them; False if a component has no samples left."""
    for k in range(len(N)):
        if not N[k] > SMALLEST_SIZE:
            return False
        trace = 0.0
        for a in range(p):
            shift[k, a] /= N[k]
            means[k, a] += shift[k, a]
            for b in range(a + 1):
                W[k, a, b] -= N[k] * shift[k, a] * shift[k, b]
                W[k, b, a] = W[k, a, b]
            trace += W[k, a, a]
        if trace <= N[k] * least_scatter:
            for a in range(p):
                for b in range(p):
                    W[k, a, b] = 0.0
    return True


@_inlined
def _whiten(p, S, floor, common, L, T, half_log_determinant):
    """Invert the Cholesky factors of S into T; False if a component has collapsed."""
    for k in range(len(S)):
        if k > 0 and common:
            half_log_determinant[k] = half_log_determinant[0]
            for i in range(p):
                for j in range(i + 1):
                    T[k, i, j] = T[0, i, j]
            continue
        half_log_determinant[k] = 0.0
        for i in range(p):
            for j in range(i):
                x = S[k, i, j]
                for h in range(j):
                    x -= L[i, h] * L[j, h]
                L[i, j] = x * T[k, j, j]
            left = S[k, i, i]
            for h in range(i):
                left -= L[i, h] * L[i, h]
            if not left > max(COLLAPSED * S[k, i, i], floor[i]):
                return False
            root = sqrt(left)
            L[i, i] = root
            T[k, i, i] = 1 / root
            half_log_determinant[k] += log(root)
            for j in range(i):
                x = 0.0
                for h in range(j, i):
                    x -= L[i, h] * T[k, h, j]
                T[k, i, j] = x * T[k, i, i]
    return True


@_inlined
def _pool(p, W, volume, out):
    """Sum the matrices, each divided by its volume, into the first matrix of `out`."""
    for i in range(p):
        for j in range(p):
            total = 0.0
            for k in range(len(W)):
                total += W[k, i, j] / volume[k]
            out[0, i, j] = total


@_inlined
def _rotate(p, A, k, i, j, c, s, rows):
    """Rotate the columns i and j of matrix k, and its rows as well if asked."""
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


@_inlined
def _eigen(p, A, values, vectors):
    """Diagonalise symmetric matrices by Jacobi's rotations, largest eigenvalue first; A is overwritten."""
    for k in range(len(A)):
        for i in range(p):
            for j in range(p):
                vectors[k, i, j] = 1.0 if i == j else 0.0
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
        while rank < p and values[k, rank] > NULL * values[k, 0]:
            rank += 1
        if p > 2 and rank < p - 1:
            _complete_axes(vectors[k], rank)


@_inlined
def _geometric_mean(p, values, k):
    if p == 2:
        return sqrt(values[k, 0] * values[k, 1])
    total = 0.0
    for i in range(p):
        total += log(values[k, i])
    return exp(total / p)


@_inlined
def _common_axes(p, W, N, D, by_likelihood, V, w):
    """Rotate the common axes D, from where they are, towards those of the criterion; w is the scatter along them."""
    G = len(W)
    for k in range(G):
        for a in range(p):
            for b in range(p):
                V[k, a, b] = 0.0
                for i in range(p):
                    for j in range(p):
                        V[k, a, b] += D[0, i, a] * W[k, i, j] * D[0, j, b]
            w[k, a] = V[k, a, a]
    for _ in range(AXES_ROUNDS_PLANE if p == 2 else AXES_ROUNDS):
        largest = 0.0
        for i in range(p - 1):
            for j in range(i + 1, p):
                a, d, o = 0.0, 0.0, 0.0
                for k in range(G):
                    size = N[k] if by_likelihood else _geometric_mean(p, w, k)
                    weight = size * (1 / w[k, i] - 1 / w[k, j])
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


@_inlined
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
            for j in range(p):
                v[k, j] = w[k, j] / volume[k] * (total / n)
    elif equal_shape:
        shape = np.empty((1, p))
        for _ in range(INNER_ROUNDS):
            for j in range(p):
                shape[0, j] = 0.0
                for k in range(G):
                    shape[0, j] += w[k, j] / volume[k]
            size = _geometric_mean(p, shape, 0)
            moved = False
            for k in range(G):
                new = 0.0
                for j in range(p):
                    new += w[k, j] * size / shape[0, j]
                new /= p * N[k]
                moved |= abs(new - volume[k]) > INNER_TOL * new
                volume[k] = new
            if not moved:
                break
        for k in range(G):
            for j in range(p):
                v[k, j] = volume[k] * shape[0, j] / size
    else:
        for k in range(G):
            for j in range(p):
                v[k, j] = w[k, j] / N[k]


@_inlined
def _proportional(p, W, N, volume, C, L, T, S):
    """VEE: one matrix, with a volume for each component."""
    G = len(W)
    floor, half = np.zeros(p), np.full(1, nan)
    size = 1.0
    for _ in range(INNER_ROUNDS):
        _pool(p, W, volume, C)
        size = exp(2 * half[0] / p) if _whiten(p, C, floor, False, L, T, half) else nan
        moved = False
        for k in range(G):
            new = 0.0
            for a in range(p):
                for i in range(a + 1):
                    for j in range(a + 1):
                        new += T[0, a, i] * T[0, a, j] * W[k, i, j]
            new *= size / (p * N[k])
            moved |= abs(new - volume[k]) > INNER_TOL * new
            volume[k] = new
        if not moved:
            break
    for k in range(G):
        for i in range(p):
            for j in range(p):
                S[k, i, j] = volume[k] * (C[0, i, j] / size)


@_inlined
def _m_step(p, model, W, N, n, S, volume, D, first, C, L, T, V, w, v):
    """Set the covariances S from the scatter matrices W; `volume` and `D` are kept between iterations."""
    G = len(W)
    axes, equal_volume, equal_shape = _AXES[model], _EQUAL_VOLUME[model], _EQUAL_SHAPE[model]
    if axes == 1 and equal_shape and not equal_volume:
        _proportional(p, W, N, volume, C, L, T, S)
        return
    if axes == 1 and equal_shape:  # EEE
        _pool(p, W, volume, C)  # volumes are one
        for k in range(G):
            for i in range(p):
                for j in range(p):
                    S[k, i, j] = C[0, i, j] / n
        return
    if axes == 2 and not equal_volume and not equal_shape:  # VVV
        for k in range(G):
            for i in range(p):
                for j in range(p):
                    S[k, i, j] = W[k, i, j] / N[k]
        return
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
        if first:
            _pool(p, W, volume, C)
            _eigen(p, C, v, D)
        _common_axes(p, W, N, D, model == _VVE_BY_LIKELIHOOD, V, w)
    else:
        for k in range(G):
            for i in range(p):
                for j in range(p):
                    S[k, i, j] = W[k, i, j]
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
                S[k, i, j] = S[k, j, i] = x


@_inlined
def _fit(p, blocks, labels, model, tol, max_iter, floor, least_scatter, weights, means, S):
    """Fit one mixture; return its log likelihood, NaN if a component collapses, and the number of iterations."""
    G, n, m = len(weights), len(labels), blocks.shape[2]
    N, shift, W = np.zeros(G), np.zeros((G, p)), np.zeros((G, p, p))
    V, T, w, v = np.zeros((G, p, p)), np.zeros((G, p, p)), np.ones((G, p)), np.ones((G, p))
    C, L, D = np.zeros((1, p, p)), np.zeros((p, p)), np.zeros((1, p, p))
    z, deviation, part, top, share = np.empty((G, m)), np.empty((p, m)), np.empty(m), np.empty(m), np.empty(m)
    volume, half, constant = np.ones(G), np.empty(G), np.empty(G)
    common = _AXES[model] < 2 and _EQUAL_VOLUME[model] and (_EQUAL_SHAPE[model] or _SPHERICAL[model])
    means[:] = 0.0
    _start(blocks, labels, means, z, share, deviation, part, N, shift, W)
    loglik, iteration = nan, 0
    for iteration in range(1, max_iter + 1):
        if not _move_means(p, N, shift, W, means, least_scatter):
            return nan, iteration
        size = np.sum(N)
        _m_step(p, model, W, N, size, S, volume, D, iteration == 1, C, L, T, V, w, v)
        if not _whiten(p, S, floor, common, L, T, half):
            return nan, iteration
        for k in range(G):
            weights[k] = N[k] / size
            constant[k] = (log(weights[k]) - half[k] - 0.5 * p * _LOG_2PI) * _LOG2_E
            N[k] = 0.0
            for i in range(p):
                shift[k, i] = 0.0
                for j in range(p):
                    T[k, i, j] *= _ROOT
                    W[k, i, j] = 0.0
        last, loglik = loglik, 0.0
        for i in range(len(blocks)):
            _log2_densities(blocks[i], means, T, constant, deviation, part, z)
            loglik += _log_likelihood(z, top, share, min(m, n - i * m))
            _add_moments(blocks[i], means, z, share, deviation, part, N, shift, W)
        if abs(loglik - last) < tol * (1 + abs(loglik)):
            break
    return loglik, iteration


@_inlined
def _fit_each(p, blocks, labels, models, first, tol, max_iter, floor, least, weights, means, S, loglik, n_iter):
    for i in range(len(models)):
        a, b = first[i], first[i + 1]
        loglik[i], n_iter[i] = _fit(
            p, blocks, labels[i], models[i], tol, max_iter, floor, least, weights[a:b], means[a:b], S[a:b]
        )


@compiled()
def _fit_plane(*arguments):
    """Fit several mixtures in two variables: the constant lets the compiler unroll the loops over variables."""
    _fit_each(2, *arguments)


@compiled()
def _fit_space(blocks, *arguments):
    """Fit several mixtures in any number of variables."""
    _fit_each(blocks.shape[1], blocks, *arguments)


def fit_mixtures(
    X: Array,
    problems: Sequence[tuple[str, int]],
    starts: dict[int, NDArray[np.intp]],
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
) -> list[Mixture | None]:
    """Fit several mixtures to the same data by EM; the compiled replacement of `em.fit_mixtures`."""
    n, p = X.shape
    centre = X.mean(axis=0)
    X = X - centre
    size = min(_BLOCK, -(-n // 8) * 8)
    blocks = np.zeros((-(-n // size), size, p))
    blocks.reshape(-1, p)[:n] = X
    models, sizes = zip(*problems, strict=True)
    first = np.concatenate([[0], np.cumsum(sizes)])
    weights, means, covariances = np.empty(first[-1]), np.empty((first[-1], p)), np.empty((first[-1], p, p))
    loglik, n_iter = np.empty(len(problems)), np.empty(len(problems), dtype=np.int64)
    fit = _fit_plane if p == 2 else _fit_space
    fit(
        np.ascontiguousarray(blocks.swapaxes(1, 2)),
        np.stack([starts[G] for G in sizes]),
        np.array([CODES[model] for model in models]),
        first,
        tol,
        max_iter,
        variance_floor(X),
        least_scatter(X),
        weights,
        means,
        covariances,
        loglik,
        n_iter,
    )
    means += centre
    ends = first.tolist()
    results: list[Mixture | None] = []
    for a, b, value, count in zip(ends[:-1], ends[1:], loglik.tolist(), n_iter.tolist(), strict=True):
        fit = Mixture(weights[a:b], means[a:b], covariances[a:b], value, count, count < max_iter)
        results.append(fit if value == value else None)  # NaN: collapsed
    return results
