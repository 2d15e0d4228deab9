"""Put the rows of each orthant about the centre side by side."""

import numpy as np

from transvariation.typicality.compiled import compiled


def fold(X, m):
    """Rows grouped by orthant and mirrored so that beyond means greater; which they are; where each orthant starts.

    The last group, after the 2^p orthants, are the rows that share a coordinate with m.
    """
    folded, who, label = np.empty(X.shape), np.empty(len(X), np.int32), np.empty(len(X), np.int32)
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
    cursor = start.copy()
    for i in range(n):
        k = np.uint32(label[i])
        t = np.uint64(cursor[k])
        cursor[k] += 1
        who[t] = i
        for u in range(p):
            folded[t, u] = -X[i, u] if (k >> np.uint32(u)) & np.uint32(1) else X[i, u]
    return start
