"""Agglomeration; see `hierarchical`."""

from math import log

import numpy as np

from transvariation.mixture.compiled import compiled


@compiled()
def _term(W, n, weight, d, alpha, A):
    """What a cluster of n objects contributes whose scatter is W plus weight d d'."""
    p = len(d)
    trace = 0.0
    for i in range(p):
        for j in range(p):
            A[i, j] = W[i, j] + weight * d[i] * d[j]
        trace += A[i, i]
    if p == 2:
        determinant = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    else:
        determinant = 1.0
        for i in range(p):
            if not A[i, i] > 0:
                determinant = 0.0
                break
            determinant *= A[i, i]
            for j in range(i + 1, p):
                x = A[j, i] / A[i, i]
                for h in range(i + 1, p):
                    A[j, h] -= x * A[i, h]
    return n * log(max(determinant / n**p, 0.0) + (trace + alpha) / n)


@compiled()
def _nearest(loss, left, s, m):
    """The cluster behind the s-th of the m that are left with which it merges at the smallest loss."""
    row = loss[left[s]]
    best = left[s + 1]
    for t in range(s + 2, m):
        if row[left[t]] < row[best]:
            best = left[t]
    return best


@compiled()
def merge_clusters(mean, N, alpha):
    """Pair the clusters until one is left, as `hierarchical._merge` does. `mean` and `N` are used up."""
    K, p = mean.shape
    W = np.zeros((K, p, p))
    A, both, d = np.empty((p, p)), np.empty((p, p)), np.zeros(p)
    own = np.empty(K)
    loss = np.empty((K, K))
    left = np.arange(K)
    merges = np.empty((max(K - 1, 0), 2), np.int64)
    for i in range(K):
        own[i] = _term(W[i], N[i], 0.0, d, alpha, A)
    for i in range(K):
        for j in range(i + 1, K):
            for h in range(p):
                d[h] = mean[j, h] - mean[i, h]
            n = N[i] + N[j]
            loss[i, j] = _term(W[i], n, N[i] * N[j] / n, d, alpha, A) - own[i] - own[j]
    partner = np.zeros(K, np.int64)
    for s in range(K - 1):
        partner[s] = _nearest(loss, left, s, K)
    for step in range(K - 1):
        m = K - step - 1  # how many are left afterwards
        a = left[0]
        for s in range(1, m):
            if loss[left[s], partner[left[s]]] < loss[a, partner[a]]:
                a = left[s]
        b = partner[a]
        merges[step, 0], merges[step, 1] = a, b
        s = m
        while left[s] != b:
            s -= 1
        for t in range(s, m):
            left[t] = left[t + 1]
        n = N[a] + N[b]
        for h in range(p):
            d[h] = mean[b, h] - mean[a, h]
        for i in range(p):
            for j in range(p):
                W[a, i, j] += W[b, i, j] + N[a] * N[b] / n * d[i] * d[j]
        for h in range(p):
            mean[a, h] += N[b] / n * d[h]
        N[a] = n
        own[a] = _term(W[a], n, 0.0, d, alpha, A)
        for s in range(m):
            c = left[s]
            if c == a:
                continue
            for i in range(p):
                d[i] = mean[c, i] - mean[a, i]
                for j in range(p):
                    both[i, j] = W[c, i, j] + W[a, i, j]
            n = N[c] + N[a]
            loss[min(a, c), max(a, c)] = _term(both, n, N[a] * N[c] / n, d, alpha, A) - own[a] - own[c]
        # Only who had a or b for partner, or now prefers the new a, has a new partner.
        for s in range(m - 1):
            c = left[s]
            if c == a or partner[c] == a or partner[c] == b:
                partner[c] = _nearest(loss, left, s, m)
            elif c < a:
                new, old = loss[c, a], loss[c, partner[c]]
                if new < old or (new == old and a < partner[c]):
                    partner[c] = a
    return merges
