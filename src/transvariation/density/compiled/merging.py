"""Hierarchical merging, compiled by numba; see `hierarchical.merge_clusters`."""

from math import inf, log

import numpy as np

from transvariation.acceleration import compiled
from transvariation.density.hierarchical import LOSS_DECIMALS

inlined = compiled(forceinline=True)

_UNIT = 10.0**LOSS_DECIMALS
_LARGEST_LOSS = 1e300  # replaces losses that are not finite


@inlined
def _contribution(p, A, trace, n, alpha):
    """Compute the contribution of a cluster of n samples with scatter A, which is overwritten."""
    determinant = 0.0
    if n > p:
        determinant = 1.0
        for i in range(p):
            if not A[i, i] > 0:
                determinant = 0.0
                break
            determinant *= A[i, i] / n
            for j in range(i + 1, p):
                x = A[j, i] / A[i, i]
                for h in range(i + 1, p):
                    A[j, h] -= x * A[i, h]
    return n * log(determinant + (trace + alpha) / n)


@inlined
def _merged(p, mean, W, trace, N, a, b, alpha, A):
    """Compute the contribution of the clusters a and b as one."""
    n = N[a] + N[b]
    weight = N[a] * N[b] / n
    square = 0.0
    for i in range(p):
        square += (mean[b, i] - mean[a, i]) ** 2
    if n > p:
        for i in range(p):
            x = weight * (mean[b, i] - mean[a, i])
            for j in range(p):
                A[i, j] = W[a, i, j] + W[b, i, j] + x * (mean[b, j] - mean[a, j])
    return _contribution(p, A, trace[a] + trace[b] + weight * square, n, alpha)


@inlined
def _loss(p, mean, W, trace, N, own, a, b, alpha, A):
    value = np.rint((_merged(p, mean, W, trace, N, a, b, alpha, A) - own[a] - own[b]) * _UNIT) / _UNIT
    return value if value < _LARGEST_LOSS else _LARGEST_LOSS


@compiled()
def _nearest(loss, c):
    """Return the later cluster with which c merges at the smallest loss, and that loss."""
    best = c + 1
    for i in range(c + 2, len(loss)):
        if loss[c, i] < loss[c, best]:
            best = i
    return best, loss[c, best]


@inlined
def _merge(p, mean, N, alpha):
    K = len(mean)
    W, A, trace = np.zeros((K, p, p)), np.zeros((p, p)), np.zeros(K)
    own = np.empty(K)
    loss = np.full((K, K), inf)  # of merging with a later cluster; infinite if one of the two is gone
    merges = np.empty((max(K - 1, 0), 2), np.int64)
    for i in range(K):
        A[:] = 0.0
        own[i] = _contribution(p, A, 0.0, N[i], alpha)
    for i in range(K):
        for j in range(i + 1, K):
            loss[i, j] = _loss(p, mean, W, trace, N, own, i, j, alpha, A)
    partner, least = np.zeros(K, np.int64), np.full(K, inf)
    for c in range(K - 1):
        partner[c], least[c] = _nearest(loss, c)
    alive = np.ones(K, np.bool_)
    for step in range(K - 1):
        a = np.argmin(least)
        b = partner[a]
        merges[step, 0], merges[step, 1] = a, b
        n = N[a] + N[b]
        for i in range(p):
            x = N[a] * N[b] / n * (mean[b, i] - mean[a, i])
            for j in range(p):
                W[a, i, j] += W[b, i, j] + x * (mean[b, j] - mean[a, j])
        trace[a] = 0.0
        for i in range(p):
            mean[a, i] += N[b] / n * (mean[b, i] - mean[a, i])
            trace[a] += W[a, i, i]
        N[a] = n
        A[:] = W[a]
        own[a] = _contribution(p, A, trace[a], n, alpha)
        alive[b], least[b] = False, inf
        for c in range(K):
            if c < b:
                loss[c, b] = inf
            if alive[c] and c != a:
                loss[min(a, c), max(a, c)] = _loss(p, mean, W, trace, N, own, a, c, alpha, A)
        # A cluster has a new partner only if its partner was a or b, or if it prefers the new a.
        for c in range(K - 1):
            if alive[c] and (c == a or partner[c] == a or partner[c] == b):
                partner[c], least[c] = _nearest(loss, c)
            elif alive[c] and c < a and (loss[c, a] < least[c] or (loss[c, a] == least[c] and a < partner[c])):
                partner[c], least[c] = a, loss[c, a]
    return merges


@compiled()
def _merge_in_plane(mean, N, alpha):
    """Merge clusters in two features: the constant lets the compiler unroll the loops over features."""
    return _merge(2, mean, N, alpha)


@compiled()
def _merge_in_space(mean, N, alpha):
    return _merge(mean.shape[1], mean, N, alpha)


def merge_clusters(mean, N, alpha):
    """Merge clusters, given by their means and sizes, until one is left; `mean` and `N` are overwritten."""
    return (_merge_in_plane if mean.shape[1] == 2 else _merge_in_space)(mean, N, alpha)
