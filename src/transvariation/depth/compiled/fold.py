"""Put the rows of each orthant about the centre side by side."""

import numpy as np

from transvariation.acceleration import compiled


def fold(X, m):
    """Rows grouped by orthant and mirrored so that beyond means greater; which they are; where each orthant starts.

    The last group, after the 2^p orthants, are the rows that share a coordinate with m.
    """
    # At least 8 MB, of which only what is used is ever touched: from 4 MB on NumPy's memory comes in large pages.
    folded = np.empty(max(X.size, 1 << 20))[: X.size].reshape(X.shape)
    who, label = np.empty(len(X), np.int32), np.empty(len(X), np.int32)
    return folded, who, fill(np.ascontiguousarray(X), m, label, folded, who)


@compiled
def fill(X, m, label, folded, who):
    """Fill the arrays and return the starts."""
    n, p = X.shape
    start = np.zeros((1 << p) + 2, np.int64)
    for i in range(n):
        k, shared = 0, False
        for u in range(p):
            k |= np.int64(X[i, u] < m[u]) << u
            shared |= X[i, u] == m[u]
        label[i] = 1 << p if shared else k
        start[label[i] + 1] += 1
    start = np.cumsum(start)
    cursor = start.astype(np.uint32)
    sign = np.ones(((1 << p) + 1, p))
    for k in range(1 << p):
        for u in range(p):
            sign[k, u] = 1.0 - 2.0 * (k >> u & 1)
    for i in range(n):
        k = np.uint32(label[i])
        t = cursor[k]
        cursor[k] = t + np.uint32(1)
        who[t] = i
        for u in range(p):
            folded[t, u] = X[i, u] * sign[k, u]
    return start
