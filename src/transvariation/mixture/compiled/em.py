"""EM, one fit after the other; see `em` of the package above."""

from collections.abc import Sequence
from math import inf, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from transvariation.mixture.compiled import compiled, compiled_sums
from transvariation.mixture.compiled.algebra import exp_in_place, exp_of, total_of, whiten
from transvariation.mixture.compiled.m_steps import CODES, COMMON_COVARIANCE, m_step
from transvariation.mixture.em import COLLAPSED, SMALLEST_SIZE, Mixture, variance_floor
from transvariation.mixture.models import Array

_LOG_2PI = float(np.log(2 * np.pi))
_LOG_2 = float(np.log(2))
_PADDED = 16  # objects are made up to a multiple of this, so that no loop ends with single ones
_TINY, _HUGE = 1e-150, 1e250  # the densities' sums that one pass is good for: what it cuts off is nothing to them


@compiled_sums
def _moments(XT, z, share, N, means, W, weighted):
    """Move the means and take the scatter about them; False if a component has no objects left.

    An object's membership in component k is ``z[k] * share``.
    """
    p, n = XT.shape
    for k in range(len(z)):
        if p == 2:  # the usual case, in one pass
            x, y, u, v = XT[0], XT[1], means[k, 0], means[k, 1]
            row = z[k]
            size, sx, sy, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for i in range(n):
                dx, dy = x[i] - u, y[i] - v
                weight = row[i] * share[i]
                wx, wy = weight * dx, weight * dy
                size += weight
                sx += wx
                sy += wy
                xx += wx * dx
                xy += wx * dy
                yy += wy * dy
            if not size > SMALLEST_SIZE:
                return False
            N[k] = size
            sx /= size
            sy /= size
            means[k, 0] += sx
            means[k, 1] += sy
            W[k, 0, 0] = xx - size * sx * sx
            W[k, 1, 1] = yy - size * sy * sy
            W[k, 0, 1] = W[k, 1, 0] = xy - size * sx * sy
            continue
        size = 0.0
        for i in range(n):
            size += z[k, i] * share[i]
        N[k] = size
        if not size > SMALLEST_SIZE:
            return False
        for a in range(p):
            m = means[k, a]
            total = 0.0
            for i in range(n):
                x = z[k, i] * share[i] * (XT[a, i] - m)
                weighted[a, i] = x
                total += x
            W[k, a, a] = total / N[k]  # the shift, for now
            for b in range(a + 1):
                m = means[k, b]
                total = 0.0
                for i in range(n):
                    total += weighted[a, i] * (XT[b, i] - m)
                if b < a:
                    W[k, a, b] = total
                else:
                    weighted[a, 0] = total
        for a in range(p):
            for b in range(a):
                W[k, a, b] -= N[k] * W[k, a, a] * W[k, b, b]
                W[k, b, a] = W[k, a, b]
        for a in range(p):
            shift = W[k, a, a]
            means[k, a] += shift
            W[k, a, a] = weighted[a, 0] - N[k] * shift * shift
    return True


@compiled(fastmath={"contract", "nsz"})
def _e_step_plane(x, y, z, constant, means, T, total, share, real):
    """The E-step in two variables, component by component; -inf if densities are too small or large for that."""
    n = len(x)
    for k in range(len(z)):
        if not constant[k] < 500:
            return -inf
    for i in range(n):
        total[i] = 0.0
    for k in range(len(z)):
        row = z[k]
        c, u, v = constant[k], means[k, 0], means[k, 1]
        r, s, t = T[k, 0, 0], T[k, 1, 0], T[k, 1, 1]
        for i in range(n):
            dx = x[i] - u
            a, b = r * dx, s * dx + t * (y[i] - v)
            row[i] = c - 0.5 * (a * a + b * b)
        for i in range(n):
            row[i] = exp_of(row[i])
            total[i] += row[i]
    return _log_sum(total, share, real)


@compiled(fastmath={"reassoc", "contract", "nsz", "nnan"})
def _log_sum(total, share, real):
    """Sum the logarithms of the totals of the real objects and divide by them; -inf if one is too small or large.

    The logarithm of a product is the sum of logarithms, and the bits of a number tell its exponent and its mantissa:
    exponents are added, mantissas multiplied, some hundreds at a time.
    """
    lowest, highest = 1.0, 1.0
    for i in range(len(total)):
        value = total[i] if real[i] > 0 else 1.0
        total[i] = value
        share[i] = real[i] / value
        lowest = min(lowest, value)
        highest = max(highest, value)
    if lowest < _TINY or highest > _HUGE:
        return -inf
    loglik = 0.0
    for start in range(0, len(total), 512):
        exponents, product = 0, 1.0
        for i in range(start, min(start + 512, len(total))):
            bits = np.float64(total[i]).view(np.int64)
            exponents += (bits >> 52) - 1023
            product *= np.int64((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)
        loglik += exponents * _LOG_2 + log(product)
    return loglik


@compiled(fastmath={"contract", "nsz"})
def _e_step(XT, z, constant, means, T, buffer, share, real):
    """Fill in densities, relative to the largest of each object, and one over their sums; return the log likelihood."""
    p, n = XT.shape
    G = len(z)
    part, top, total = buffer[0], buffer[1], buffer[2]
    for i in range(n):
        top[i] = -inf
        total[i] = 0.0
    for k in range(G):
        row = z[k]
        for i in range(n):
            row[i] = 0.0
        for j in range(p):
            for i in range(n):
                part[i] = 0.0
            for h in range(j + 1):
                t, m = T[k, j, h], means[k, h]
                x = XT[h]
                for i in range(n):
                    part[i] += t * (x[i] - m)
            for i in range(n):
                row[i] += part[i] * part[i]
        for i in range(n):
            row[i] = constant[k] - 0.5 * row[i]
            top[i] = max(top[i], row[i])
    for k in range(G):
        row = z[k]
        for i in range(n):
            row[i] -= top[i]
    exp_in_place(z.reshape(-1))
    for k in range(G):
        row = z[k]
        for i in range(n):
            total[i] += row[i]
    loglik = 0.0
    # Each total lies between 1 and G: the logarithm of a product of some is as good as the sum of their logarithms.
    product = 1.0
    for i in range(n):
        share[i] = real[i] / total[i]
        if real[i] > 0:
            loglik += top[i]
            product *= total[i]
            if product > 1e100:
                loglik += log(product)
                product = 1.0
    return loglik + log(product)


@compiled()
def _whiten_all(S, weights, floor, common, L, T, constant):
    """Invert the Cholesky factors and work out the densities' logarithms at the means; False if one has collapsed."""
    p = S.shape[1]
    for k in range(len(S)):
        if k > 0 and common:
            T[k] = T[0]
            constant[k] = constant[0] + log(weights[k] / weights[0])
        elif p == 2:
            a, o, d = S[k, 0, 0], S[k, 0, 1], S[k, 1, 1]
            if not a > max(COLLAPSED * a, floor[0]):
                return False
            r = 1 / sqrt(a)
            o *= r
            left = d - o * o
            if not left > max(COLLAPSED * d, floor[1]):
                return False
            t = 1 / sqrt(left)
            T[k, 0, 0], T[k, 1, 0], T[k, 1, 1] = r, -o * r * t, t
            constant[k] = log(weights[k] * r * t) - _LOG_2PI
        else:
            half = whiten(S[k], floor, L, T[k])
            if np.isnan(half):
                return False
            constant[k] = log(weights[k]) - half - 0.5 * p * _LOG_2PI
    return True


@compiled()
def _fit(XT, real, labels, G, model, tol, max_iter, floor, weights, means, S):
    """Fit one mixture; return its log likelihood, NaN if a component collapses, and the number of iterations."""
    p, n = XT.shape
    z = np.zeros((G, n))
    N = np.zeros(G)
    for k in range(G):
        for a in range(p):
            means[k, a] = 0.0
    for i in range(len(labels)):
        k = labels[i]
        if k >= 0:
            z[k, i] = 1.0
            N[k] += 1.0
            for a in range(p):
                means[k, a] += XT[a, i]
    for k in range(G):
        for a in range(p):
            means[k, a] /= max(N[k], 1.0)
    W, V, T = np.empty((G, p, p)), np.empty((G, p, p)), np.zeros((G, p, p))
    L, U, D = np.zeros((p, p)), np.zeros((p, p)), np.zeros((p, p))
    w, v = np.empty((G, p)), np.empty((G, p))
    weighted = np.empty((p, n))
    buffer = np.empty((3, n))
    x, y, total = XT[0], XT[p - 1], buffer[2]
    share = np.ones(n)
    scale, constant = np.ones(G), np.empty(G)
    common = COMMON_COVARIANCE[model]
    last = -inf
    for iteration in range(1, max_iter + 1):
        if not _moments(XT, z, share, N, means, W, weighted):
            return nan, iteration
        m_step(model, W, N, S, scale, D, iteration == 1, L, U, V, w, v)
        n_all = total_of(N)
        for k in range(G):
            weights[k] = N[k] / n_all
        if not _whiten_all(S, weights, floor, common, L, T, constant):
            return nan, iteration
        loglik = _e_step_plane(x, y, z, constant, means, T, total, share, real) if p == 2 else -inf
        if loglik == -inf:
            loglik = _e_step(XT, z, constant, means, T, buffer, share, real)
        if abs(loglik - last) < tol * (1 + abs(loglik)):
            return loglik, iteration
        last = loglik
    return last, max_iter


@compiled()
def _fit_all(XT, real, labels, label_of, sizes, models, tol, max_iter, floor, weights, means, S, loglik, n_iter):
    """Fit mixtures one after the other, their parameters one below the other."""
    first = 0
    for f in range(len(sizes)):
        own = slice(first, first + sizes[f])
        first += sizes[f]
        loglik[f], n_iter[f] = _fit(
            XT,
            real,
            labels[label_of[f]],
            sizes[f],
            models[f],
            tol,
            max_iter,
            floor,
            weights[own],
            means[own],
            S[own],
        )


def fit_mixtures(
    X: Array,
    problems: Sequence[tuple[str, int]],
    starts: dict[int, NDArray[np.intp]],
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
) -> list[Mixture | None]:
    """Fit several mixtures to the same data by EM: the compiled twin of `em.fit_mixtures`."""
    n, p = X.shape
    centre = X.mean(axis=0)
    XT = np.zeros((p, -(-n // _PADDED) * _PADDED))
    XT[:, :n] = (X - centre).T
    real = (np.arange(XT.shape[1]) < n).astype(np.float64)
    place = {size: row for row, size in enumerate(starts)}
    labels = np.array(list(starts.values()), dtype=np.int64)
    sizes = np.array([G for _, G in problems], dtype=np.int64)
    label_of = np.array([place[G] for _, G in problems], dtype=np.int64)
    models = np.array([CODES[model] for model, _ in problems], dtype=np.int64)
    total = int(sizes.sum())
    weights, means, covariances = np.empty(total), np.empty((total, p)), np.empty((total, p, p))
    loglik, n_iter = np.empty(len(problems)), np.empty(len(problems), dtype=np.int64)
    floor = variance_floor(X - centre)
    _fit_all(
        XT, real, labels, label_of, sizes, models, tol, max_iter, floor, weights, means, covariances, loglik, n_iter
    )
    means += centre
    results: list[Mixture | None] = []
    first = 0
    for G, value, n in zip(sizes.tolist(), loglik.tolist(), n_iter.tolist(), strict=True):
        own = slice(first, first + G)
        first += G
        fit = None
        if value == value:  # not NaN
            fit = Mixture(weights[own], means[own], covariances[own], value, n, n < max_iter)
        results.append(fit)
    return results
