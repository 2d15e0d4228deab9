"""EM for Gaussian mixtures, compiled by numba: one fit after the other, the samples in blocks that stay in the cache.

The algorithm is that of `em` and `covariance_models`, whose docstrings explain the steps; tests compare the two.
"""

from collections.abc import Sequence
from math import log, nan

import numpy as np

from transvariation._typing import Floats, Indices
from transvariation.acceleration import compiled
from transvariation.density.compiled.m_steps import CODES, COMMON, inlined, log_root_determinant, m_step, whiten
from transvariation.density.em import SMALLEST_SIZE, Mixtures, least_scatter, variance_floor

_BLOCK_SAMPLES = 128  # samples
_LOG2_E = 1 / log(2)
_LOG2_2PI = log(2 * np.pi) / log(2)

# Sums may be taken in any order, so that several terms are added at once.
_vectorised = compiled(forceinline=True, fastmath={"reassoc", "contract", "nsz", "arcp"})

# 2^r for |r| <= 1/2: the polynomial of this degree with the least relative error, 2e-16.
_EXP2 = np.array(
    [1.0, 0.6931471805599497, 0.24022650695908768, 0.05550410866445883, 0.009618129108034596, 0.0013333558228561767]
    + [0.00015403529961127076, 1.5252658116409854e-05, 1.3215662835959238e-06, 1.0208537929657404e-07]
    + [7.037278846726901e-09]
)
_ROUNDING_SHIFT = 6755399441055744.0  # 1.5 x 2^52
_LOWEST_EXPONENT = -1000.0
# The bits of 2^-400: where a sample's density is smaller, those of single components might be below 2^_LOWEST_EXPONENT.
_FAR_BITS = (1023 - 400) << 52


@_vectorised
def _log2_densities(x, m, means, T, constant, deviation, part, z):
    """Set ``z[k, i]`` to `constant[k]` minus the squared distance of sample i from mean k, for the first m samples.

    The matrices T are those of `whiten`.
    """
    p = len(x)
    for k in range(len(means)):
        if p == 2:  # the most frequent case, in one loop
            u, v, r, s, t, c = means[k, 0], means[k, 1], T[k, 0, 0], T[k, 1, 0], T[k, 1, 1], constant[k]
            for i in range(m):
                dx, dy = x[0, i] - u, x[1, i] - v
                z[k, i] = c - r * dx**2 - t * (s * dx + dy) ** 2
            continue
        for i in range(m):
            z[k, i] = constant[k]
        for j in range(p):
            center = means[k, j]
            for i in range(m):
                deviation[j, i] = x[j, i] - center
                part[i] = deviation[j, i]
            for h in range(j):
                t = T[k, j, h]
                for i in range(m):
                    part[i] += t * deviation[h, i]
            t = T[k, j, j]
            for i in range(m):
                z[k, i] -= t * part[i] * part[i]


@_vectorised
def _subtract_largest(z, m, n_samples):
    """Subtract from the log2 densities of each sample the largest; return the sum of these."""
    total = 0.0
    for i in range(m):
        top = z[0, i]
        for k in range(1, len(z)):
            top = max(top, z[k, i])
        for k in range(len(z)):
            z[k, i] -= top
        total += top if i < n_samples else 0.0
    return total


@compiled(forceinline=True, fastmath={"contract", "nsz"})
def exp2(z, m, total, c):
    """Replace z by 2^z, with relative error 1e-15, and add up its rows; exponents below -1000 count as -1000.

    There are no branches and no calls, so that the loop is vectorized. Added to 1.5 x 2^52 a number is rounded to an
    integer, whose last bits are then shifted into the exponent. The coefficients c are `_EXP2`: in registers, where
    constants would be loaded in every step.
    """
    c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 = c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10]
    for k in range(len(z)):
        for i in range(m):
            x = max(z[k, i], _LOWEST_EXPONENT)
            shifted = x + _ROUNDING_SHIFT
            r = x - (shifted - _ROUNDING_SHIFT)
            r2 = r * r
            r4 = r2 * r2
            low = (c0 + r * c1) + r2 * (c2 + r * c3)
            middle = (c4 + r * c5) + r2 * (c6 + r * c7)
            q = low + r4 * (middle + r4 * ((c8 + r * c9) + r2 * c10))
            bits = np.float64(q).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
            z[k, i] = np.int64(bits).view(np.float64)
            total[i] += z[k, i]


@_vectorised
def _log2_likelihood(z, m, share, coefficients, n_samples):
    """Turn log2 densities into densities and the factors that make them memberships.

    Return the log2 likelihood, and the number of samples whose density is too small.
    """
    share[:] = 0.0
    exp2(z, m, share, coefficients)
    share[n_samples:] = 1.0
    # The log of a product replaces the sum of logs; the exponents are added, so that the product does not overflow.
    exponents, product, n_far = np.int64(0), 1.0, np.int64(0)
    for i in range(m):
        bits = np.float64(share[i]).view(np.int64)
        exponents += (bits >> 52) - 1023
        product *= np.int64((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)
        n_far += bits < _FAR_BITS
        share[i] = 1 / share[i]
    share[n_samples:] = 0.0
    return exponents + log(product) * _LOG2_E, n_far


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
            center, total = means[k, a], 0.0
            for i in range(m):
                deviation[a, i] = x[a, i] - center
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
    """Set the means and moments of the labeled samples."""
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


@inlined
def _move_means(p, N, shift, W, means, least_scatter):
    """Move the means to the weighted means and the scatter with them; False if a component has no samples left."""
    for k in range(len(N)):
        if not N[k] > SMALLEST_SIZE:
            return False
        inverse, trace = 1 / N[k], 0.0
        for a in range(p):
            step = shift[k, a] * inverse
            means[k, a] += step
            for b in range(a + 1):
                W[k, a, b] -= step * shift[k, b]
            trace += W[k, a, a]
        if trace <= N[k] * least_scatter:
            for a in range(p):
                for b in range(a + 1):
                    W[k, a, b] = 0.0
    return True


@inlined
def _work_arrays(p, G, m):
    """Allocate what fits of up to G components need, once for all of them."""
    N, shift, W, V, T = np.empty(G), np.empty((G, p)), np.empty((G, p, p)), np.empty((G, p, p)), np.empty((G, p, p))
    w, v, volume, constant, z = np.empty((G, p)), np.empty((G, p)), np.empty(G), np.empty(G), np.empty((G, m))
    C, L, D = np.empty((1, p, p)), np.empty((p, p)), np.empty((1, p, p))
    deviation, part, share = np.empty((p, m)), np.empty(m), np.empty(m)
    return N, shift, W, V, T, w, v, volume, constant, z, C, L, D, deviation, part, share, _EXP2.copy()


@inlined
def _fit(p, blocks, labels, model, tol, max_iter, floor, least_scatter, weights, means, S, work):
    """Fit one mixture; return its log likelihood, NaN if a component collapses, and the number of iterations."""
    G, n, m = len(weights), len(labels), blocks.shape[2]
    N, shift, W, V, T, w, v, volume, constant, z, C, L, D, deviation, part, share, coefficients = work
    N, shift, W, V, T, w, v = N[:G], shift[:G], W[:G], V[:G], T[:G], w[:G], v[:G]
    volume, constant, z = volume[:G], constant[:G], z[:G]
    N[:], shift[:], W[:], volume[:] = 0.0, 0.0, 0.0, 1.0
    means[:] = 0.0
    _start(blocks, labels, means, z, share, deviation, part, N, shift, W)
    loglik, iteration, count = nan, 0, 1 if COMMON[model] else G
    for iteration in range(1, max_iter + 1):
        if not _move_means(p, N, shift, W, means, least_scatter):
            return nan, iteration
        size = np.sum(N)
        if not m_step(p, model, W, N, size, floor, S, volume, D, iteration == 1, C, L, T, V, w, v):
            return nan, iteration
        if not whiten(p, S, count, floor, L, T):
            return nan, iteration
        for k in range(G):
            weights[k] = N[k] / size
            if k < count:
                constant[k] = log_root_determinant(p, T, k, weights[k]) * _LOG2_E - 0.5 * p * _LOG2_2PI
            else:
                constant[k] = constant[0] + log(weights[k] / weights[0]) * _LOG2_E
            N[k] = 0.0
            for i in range(p):
                shift[k, i] = 0.0
                for j in range(i + 1):
                    W[k, i, j] = 0.0
                    if k >= count:
                        T[k, i, j] = T[0, i, j]
                if k < count:
                    T[k, i, i] *= 0.5 * _LOG2_E  # exp(-d / 2) is 2^(-0.5 log2(e) d)
        highest = np.max(constant)
        constant -= highest
        last, loglik = loglik, n * highest
        for i in range(len(blocks)):
            n_samples = min(m, n - i * m)
            used = -(-n_samples // 8) * 8
            _log2_densities(blocks[i], used, means, T, constant, deviation, part, z)
            value, n_far = _log2_likelihood(z, used, share, coefficients, n_samples)
            if n_far:
                _log2_densities(blocks[i], used, means, T, constant, deviation, part, z)
                loglik += _subtract_largest(z, used, n_samples)
                value, n_far = _log2_likelihood(z, used, share, coefficients, n_samples)
            loglik += value
            _add_moments(blocks[i], means, z, share, deviation, part, N, shift, W)
        loglik /= _LOG2_E
        if abs(loglik - last) < tol * (1 + abs(loglik)):
            break
    for k in range(G):
        for i in range(p):
            for j in range(p):
                S[k, i, j] = S[min(k, count - 1), max(i, j), min(i, j)]
    return loglik, iteration


@inlined
def _fit_each(p, blocks, labels, starts, models, first, tol, max_iter, floor, least, weights, means, S, loglik, n_iter):
    work = _work_arrays(p, np.max(np.diff(first)), blocks.shape[2])
    for i in range(len(models)):
        a, b = first[i], first[i + 1]
        loglik[i], n_iter[i] = _fit(
            p, blocks, labels[starts[i]], models[i], tol, max_iter, floor, least, weights[a:b], means[a:b], S[a:b], work
        )


@compiled()
def _fit_plane(*arguments):
    """Fit several mixtures in two features: the constant lets the compiler unroll the loops over features."""
    _fit_each(2, *arguments)


@compiled()
def _fit_space(blocks, *arguments):
    """Fit several mixtures in any number of features."""
    _fit_each(blocks.shape[1], blocks, *arguments)


def fit_mixtures(
    X: Floats,
    problems: Sequence[tuple[str, int]],
    starts: dict[int, Indices],
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
) -> Mixtures:
    """Fit several mixtures to the same data by EM; the compiled replacement of `em.fit_mixtures`."""
    n, p = X.shape
    models, sizes = zip(*problems, strict=True)
    center = X.mean(axis=0)
    X = X - center
    size = min(_BLOCK_SAMPLES, -(-n // 16) * 16)
    blocks = np.zeros((-(-n // size), size, p))
    blocks.reshape(-1, p)[:n] = X
    row_of = {G: row for row, G in enumerate(starts)}
    first = np.concatenate([[0], np.cumsum(sizes)])
    weights, means, covariances = np.empty(first[-1]), np.empty((first[-1], p)), np.empty((first[-1], p, p))
    loglik, n_iter = np.empty(len(problems)), np.empty(len(problems), dtype=np.int64)
    fit = _fit_plane if p == 2 else _fit_space
    fit(
        np.ascontiguousarray(blocks.swapaxes(1, 2)),
        np.stack(list(starts.values())),
        np.array([row_of[G] for G in sizes]),
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
    means += center
    return Mixtures(first, weights, means, covariances, loglik, n_iter)
