"""EM in any number of variables; see `em` of the package above."""

from math import inf, log, log2, nan

import numpy as np

from transvariation.density.compiled import compiled, compiled_sums
from transvariation.density.compiled.algebra import LOG_2, WHITE, exp2_in_place, total_of, whiten
from transvariation.density.compiled.m_steps import COMMON_COVARIANCE, m_step
from transvariation.density.em import SMALLEST_SIZE

_LOG2_2PI = float(np.log2(2 * np.pi))


@compiled_sums
def _moments(XT, z, share, N, means, W, weighted):
    """Move the means and take the scatter about them; False if a component has no objects left.

    An object's membership in component k is ``z[k] * share``.
    """
    p, n = XT.shape
    for k in range(len(z)):
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
def _e_step(XT, z, constant, means, T, buffer, share, n_real):
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
            row[i] = constant[k] - row[i]
            top[i] = max(top[i], row[i])
    for k in range(G):
        row = z[k]
        for i in range(n):
            row[i] -= top[i]
    exp2_in_place(z.reshape(-1))
    for k in range(G):
        row = z[k]
        for i in range(n):
            total[i] += row[i]
    loglik = 0.0
    # Each total lies between 1 and G: the logarithm of a product of some is as good as the sum of their logarithms.
    product = 1.0
    for i in range(n_real):
        share[i] = 1 / total[i]
        loglik += top[i] * LOG_2
        product *= total[i]
        if product > 1e100:
            loglik += log(product)
            product = 1.0
    return loglik + log(product)


@compiled()
def _whiten_all(S, weights, floor, common, L, T, constant):
    """Invert the Cholesky factors: a density is ``2^(constant - |T d|^2)``. False if a component has collapsed."""
    p = S.shape[1]
    for k in range(len(S)):
        if k > 0 and common:
            for i in range(p):
                for j in range(i + 1):
                    T[k, i, j] = T[0, i, j]
            constant[k] = constant[0] + log2(weights[k] / weights[0])
        else:
            half = whiten(S[k], floor, L, T[k])
            if np.isnan(half):
                return False
            for i in range(p):
                for j in range(i + 1):
                    T[k, i, j] *= WHITE
            constant[k] = log2(weights[k]) - half / LOG_2 - 0.5 * p * _LOG2_2PI
    return True


@compiled()
def fit(XT, labels, G, model, tol, max_iter, floor, weights, means, S):
    """Fit one mixture; return its log likelihood, NaN if a component collapses, and the number of iterations.

    Columns of `XT` beyond the labels are no objects.
    """
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
    share = np.zeros(n)
    for i in range(len(labels)):
        share[i] = 1.0
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
        loglik = _e_step(XT, z, constant, means, T, buffer, share, len(labels))
        if abs(loglik - last) < tol * (1 + abs(loglik)):
            return loglik, iteration
        last = loglik
    return last, max_iter
