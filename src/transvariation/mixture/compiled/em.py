"""EM, one fit after the other; see `em` of the package above."""

from collections.abc import Sequence
from math import inf, log, nan

import numpy as np
from numpy.typing import NDArray

from transvariation.mixture.compiled import compiled, compiled_sums
from transvariation.mixture.compiled.algebra import exp_in_place, total_of, whiten
from transvariation.mixture.compiled.m_steps import CODES, m_step
from transvariation.mixture.em import SMALLEST_SIZE, Mixture, variance_floor
from transvariation.mixture.models import Array


@compiled_sums
def _moments(XT, z, N, means, W, weighted):
    """Move the means and take the scatter about them; False if a component has no objects left."""
    p, n = XT.shape
    for k in range(len(z)):
        if p == 2:  # the usual case, in one pass
            x, y, u, v = XT[0], XT[1], means[k, 0], means[k, 1]
            weight = z[k]
            size, sx, sy, xx, xy, yy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for i in range(n):
                dx, dy = x[i] - u, y[i] - v
                wx, wy = weight[i] * dx, weight[i] * dy
                size += weight[i]
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
        N[k] = total_of(z[k])
        if not N[k] > SMALLEST_SIZE:
            return False
        for a in range(p):
            m = means[k, a]
            total = 0.0
            for i in range(n):
                x = z[k, i] * (XT[a, i] - m)
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
def _e_step(XT, z, weights, means, half, T, buffer, bits, power):
    """Fill in the memberships; return the log likelihood."""
    p, n = XT.shape
    G = len(z)
    part, top, total = buffer[0], buffer[1], buffer[2]
    for i in range(n):
        top[i] = -inf
        total[i] = 0.0
    for k in range(G):
        row = z[k]
        constant = log(weights[k]) - half[k] - 0.5 * p * log(2 * np.pi)
        if p == 2:  # the usual case, in one pass
            x, y, u, v = XT[0], XT[1], means[k, 0], means[k, 1]
            r, s, t = T[k, 0, 0], T[k, 1, 0], T[k, 1, 1]
            for i in range(n):
                dx = x[i] - u
                a, b = r * dx, s * dx + t * (y[i] - v)
                value = constant - 0.5 * (a * a + b * b)
                row[i] = value
                top[i] = max(top[i], value)
            continue
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
            row[i] = constant - 0.5 * row[i]
            top[i] = max(top[i], row[i])
    for k in range(G):
        row = z[k]
        for i in range(n):
            row[i] -= top[i]
    exp_in_place(z.reshape(-1), bits, power)
    for k in range(G):
        row = z[k]
        for i in range(n):
            total[i] += row[i]
    loglik = total_of(top)
    # Each total lies between 1 and G: the logarithm of a product of some is as good as the sum of their logarithms.
    product = 1.0
    for i in range(n):
        product *= total[i]
        if product > 1e100:
            loglik += log(product)
            product = 1.0
        total[i] = 1 / total[i]
    for k in range(G):
        row = z[k]
        for i in range(n):
            row[i] *= total[i]
    return loglik + log(product)


@compiled()
def _fit(XT, labels, G, model, tol, max_iter, floor, weights, means, S):
    """Fit one mixture; return its log likelihood, NaN if a component collapses, and the number of iterations."""
    p, n = XT.shape
    z = np.zeros((G, n))
    N = np.zeros(G)
    for k in range(G):
        for a in range(p):
            means[k, a] = 0.0
    for i in range(n):
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
    bits = np.empty(G * n, np.int64)
    power = bits.view(np.float64)
    scale, half = np.ones(G), np.empty(G)
    last = -inf
    for iteration in range(1, max_iter + 1):
        if not _moments(XT, z, N, means, W, weighted):
            return nan, iteration
        m_step(model, W, N, S, scale, D, iteration == 1, L, U, V, w, v)
        n_all = total_of(N)
        for k in range(G):
            weights[k] = N[k] / n_all
            half[k] = whiten(S[k], floor, L, T[k])
            if np.isnan(half[k]):
                return nan, iteration
        loglik = _e_step(XT, z, weights, means, half, T, buffer, bits, power)
        if abs(loglik - last) < tol * (1 + abs(loglik)):
            return loglik, iteration
        last = loglik
    return last, max_iter


def fit_mixtures(
    X: Array,
    problems: Sequence[tuple[str, int]],
    starts: dict[int, NDArray[np.intp]],
    *,
    tol: float = 1e-5,
    max_iter: int = 1000,
) -> list[Mixture | None]:
    """Fit several mixtures to the same data by EM: the compiled twin of `em.fit_mixtures`."""
    p = X.shape[1]
    centre = X.mean(axis=0)
    XT = np.ascontiguousarray((X - centre).T)
    floor = variance_floor(X - centre)
    labels = {size: np.ascontiguousarray(label, dtype=np.int64) for size, label in starts.items()}
    results: list[Mixture | None] = []
    for model, G in problems:
        weights, means, covariances = np.empty(G), np.empty((G, p)), np.empty((G, p, p))
        loglik, n_iter = _fit(XT, labels[G], G, CODES[model], tol, max_iter, floor, weights, means, covariances)
        fit = Mixture(weights, means + centre, covariances, loglik, n_iter, n_iter < max_iter)
        results.append(None if np.isnan(loglik) else fit)
    return results
