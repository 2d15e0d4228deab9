"""Agglomeration; see `hierarchical`."""

from math import log

import numpy as np

from transvariation.density.compiled import compiled

_WORST = 1e300


@compiled()
def _contribution(A, n, alpha):
    """What a cluster of n objects contributes whose scatter is A, which is used up."""
    p = A.shape[1]
    trace, determinant = 0.0, 1.0
    for i in range(p):
        trace += A[i, i]
    if p == 2:
        determinant = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    else:
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
def _alone(W, n, alpha, A):
    """What a cluster of n objects contributes whose scatter is W."""
    for i in range(len(W)):
        for j in range(len(W)):
            A[i, j] = W[i, j]
    return _contribution(A, n, alpha)


@compiled(inline="always")
def _merged(mean, W, N, a, b, alpha, A):
    """What the clusters a and b contribute as one; the last row of A is for their distance."""
    n = N[a] + N[b]
    weight = N[a] * N[b] / n
    p = mean.shape[1]
    if p == 2:  # the same without a matrix
        x, y = mean[b, 0] - mean[a, 0], mean[b, 1] - mean[a, 1]
        wx, wy = weight * x, weight * y
        xx, xy = W[b, 0, 0] + W[a, 0, 0] + wx * x, W[b, 0, 1] + W[a, 0, 1] + wx * y
        yx, yy = W[b, 1, 0] + W[a, 1, 0] + wy * x, W[b, 1, 1] + W[a, 1, 1] + wy * y
        return n * log(max((xx * yy - xy * yx) / (n * n), 0.0) + (xx + yy + alpha) / n)
    for i in range(p):
        A[p, i] = mean[b, i] - mean[a, i]
    for i in range(p):
        x = weight * A[p, i]
        for j in range(p):
            A[i, j] = W[b, i, j] + W[a, i, j] + x * A[p, j]
    return _contribution(A, n, alpha)


@compiled(inline="always")
def _loss(mean, W, N, own, a, b, alpha, A):
    """What merging a and b costs: a number, even where squares are none."""
    value = _merged(mean, W, N, a, b, alpha, A) - own[a] - own[b]
    return value if value < _WORST else _WORST


@compiled(fastmath={"nnan"})
def _first_smallest(a):
    """The place of the smallest number, the first of several; two plain passes are quicker than one that compares."""
    least = a[0]
    for i in range(1, len(a)):
        least = min(least, a[i])
    for i in range(len(a)):
        if a[i] == least:
            return i
    return 0


@compiled()
def merge_clusters(mean, N, alpha):
    """Pair the clusters until one is left, as `hierarchical._merge` does. `mean` and `N` are used up."""
    K, p = mean.shape
    W, A = np.zeros((K, p, p)), np.empty((p + 1, p))
    own = np.empty(K)
    loss = np.full((K, K), np.inf)  # of a merger with a later cluster; infinite if one of the two is gone
    merges = np.empty((max(K - 1, 0), 2), np.int64)
    for i in range(K):
        own[i] = _alone(W[i], N[i], alpha, A)
    for i in range(K):
        for j in range(i + 1, K):
            loss[i, j] = _loss(mean, W, N, own, i, j, alpha, A)
    # The later cluster with which each merges at the smallest loss, and that.
    partner, least = np.zeros(K, np.int64), np.full(K, np.inf)
    for c in range(K - 1):
        partner[c] = c + 1 + _first_smallest(loss[c, c + 1 :])
        least[c] = loss[c, partner[c]]
    left = np.arange(K)
    for step in range(K - 1):
        m = K - step - 1  # how many are left afterwards
        a = _first_smallest(least)
        b = partner[a]
        merges[step, 0], merges[step, 1] = a, b
        s = m
        while left[s] != b:
            s -= 1
        for t in range(s, m):
            left[t] = left[t + 1]
        n = N[a] + N[b]
        for i in range(p):
            x = N[a] * N[b] / n * (mean[b, i] - mean[a, i])
            for j in range(p):
                W[a, i, j] += W[b, i, j] + x * (mean[b, j] - mean[a, j])
        for i in range(p):
            mean[a, i] += N[b] / n * (mean[b, i] - mean[a, i])
        N[a] = n
        own[a] = _alone(W[a], n, alpha, A)
        least[b] = np.inf
        for t in range(m):
            c = left[t]
            if c < a:
                loss[c, a] = _loss(mean, W, N, own, a, c, alpha, A)
            elif c > a:
                loss[a, c] = _loss(mean, W, N, own, a, c, alpha, A)
            if c < b:
                loss[c, b] = np.inf
        # Only who had a or b for partner, or now prefers the new a, has a new partner.
        for t in range(m):
            c = left[t]
            if c == a or partner[c] == a or partner[c] == b:
                if t < m - 1:
                    partner[c] = c + 1 + _first_smallest(loss[c, c + 1 :])
                    least[c] = loss[c, partner[c]]
                else:
                    least[c] = np.inf  # nobody is left behind it
            elif c < a and (loss[c, a] < least[c] or (loss[c, a] == least[c] and a < partner[c])):
                partner[c], least[c] = a, loss[c, a]
    return merges
