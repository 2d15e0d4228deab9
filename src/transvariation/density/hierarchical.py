"""Starting partitions for EM: hierarchical clustering by the likelihood of one Gaussian per cluster."""

from collections.abc import Callable, Sequence

import numpy as np

from transvariation._typing import Floats, Indices
from transvariation.density.covariance_models import determinant

Merge = Callable[[Floats, Floats, float], Indices]

# Losses that agree to so many decimals count as equal, and the first pair is merged. In rounded data many pairs have
# the same distance, between which rounding errors must not decide.
LOSS_DECIMALS = 9


def scaled_by_svd(X: Floats) -> Floats:
    """Standardize the features, rotate them to their principal axes and scale these by the root of their spread.

    With the singular value decomposition Z = U S V' of the standardized data this is Z V S^(-1/2), the coordinates that
    Scrucca & Raftery (2015) [1]_ recommend. Features and axes without spread are left out.

    References
    ----------
    .. [1] L. Scrucca and A. E. Raftery (2015). Improved initialization of model-based clustering using Gaussian
       hierarchical partitions. Advances in Data Analysis and Classification 9, 447-460.
    """
    spread = X.std(axis=0, ddof=1)
    varies = spread > 0
    if not varies.any():
        return X
    Z = (X[:, varies] - X[:, varies].mean(axis=0)) / spread[varies]
    singular, axes = np.linalg.svd(Z, full_matrices=False)[1:]
    kept = singular > 1e-10 * singular[0]
    return Z @ axes[kept].T / np.sqrt(singular[kept])


def quantile_classes(x: Floats, n_clusters: int) -> Indices:
    """Divide a single feature into classes of about equal size, equal values in the same class.

    Examples
    --------
    >>> quantile_classes(np.array([3.0, 1.0, 2.0, 4.0]), 2)
    array([1, 0, 0, 1])
    """
    inner = np.quantile(x, np.arange(1, n_clusters) / n_clusters)
    return np.searchsorted(np.unique(inner), x, side="left")


def starting_partitions(
    X: Floats, sizes: Sequence[int], start: str, rows: Indices, merge: Merge | None = None
) -> dict[int, Indices]:
    """Compute a partition to start EM from for each number of components.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    sizes : sequence of int
        Numbers of components.
    start : {"variables", "svd"}
        Coordinates in which samples are clustered. A single feature is divided at its quantiles instead.
    rows : ndarray of int
        The samples to use; the others get no label.
    merge : function, optional
        The compiled replacement of `merge_clusters`.

    Returns
    -------
    dict
        A label per sample, -1 for none, for those sizes that the data can be divided into.
    """
    Z = X[rows]
    if X.shape[1] == 1:
        labels = {size: quantile_classes(Z[:, 0], size) for size in sizes}
    else:
        labels = agglomerate(scaled_by_svd(Z) if start == "svd" else Z, max(sizes), merge)
    starts = {}
    for size in sizes:
        if size in labels and np.bincount(labels[size], minlength=size).all():
            starts[size] = np.full(len(X), -1)
            starts[size][rows] = labels[size]
    return starts


def agglomerate(X: Floats, n_clusters: int, merge: Merge | None = None) -> dict[int, Indices]:
    """Merge samples into clusters, two at a time, each time at the smallest loss of likelihood.

    Every cluster has its own Gaussian (Fraley, 1998 [1]_): with n_k samples and scatter matrix W_k about its mean
    it contributes n_k log(|W_k / n_k| + (tr W_k + tr W / (n p)) / n_k); the second term, W being the scatter of all
    samples, keeps clusters of few samples from contributing minus infinity. Equal rows are together from the start.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    n_clusters : int
        The largest number of clusters that is wanted.
    merge : function, optional
        The compiled replacement of `merge_clusters`.

    Returns
    -------
    dict
        For each number of clusters, from `n_clusters` (or the number of distinct rows) down to 1, a label per row.

    References
    ----------
    .. [1] C. Fraley (1998). Algorithms for model-based Gaussian hierarchical clustering. SIAM Journal on Scientific
       Computing 20, 270-281.

    Examples
    --------
    >>> X = np.array([[0.0, 0.1], [0.1, 0.0], [5.0, 5.1], [5.2, 5.0], [5.1, 5.3]])
    >>> agglomerate(X, 2)[2]
    array([0, 0, 1, 1, 1])
    """
    first, member, N = _distinct_rows(X)
    alpha = max(float(((X - X.mean(axis=0)) ** 2).sum()) / X.size, np.finfo(float).tiny)
    merges = (merge or merge_clusters)(X[first], N, alpha)
    K = len(first)
    many = max(K - n_clusters, 0)
    # b passes its samples to a, which may pass them on later: follow the first merges to their end.
    name = np.arange(K)
    name[merges[:many, 1]] = merges[:many, 0]
    while not np.array_equal(name, name[name]):
        name = name[name]
    names, label = np.unique(name[member], return_inverse=True)
    partitions, places = {K - many: label}, names.tolist()
    for a, b in merges[many:].tolist():
        # Clusters are numbered in the order of their first samples.
        to, gone = places.index(a), places.index(b)
        label = np.where(label == gone, to, label - (label > gone))
        del places[gone]
        partitions[len(places)] = label
    return partitions


def merge_clusters(mean: Floats, N: Floats, alpha: float) -> Indices:
    """Merge clusters, given by their means and sizes, until one is left.

    Returns
    -------
    ndarray of shape (K - 1, 2)
        Pairs a < b in the order of merging; the result keeps the number a.
    """
    K, p = mean.shape
    W = np.zeros((K, p, p))

    def contribution(N: Floats, W: Floats, d: Floats, weight: Floats) -> Floats:
        """Compute the contribution of clusters of size N and scatter W + weight d d'."""
        inside = (np.einsum("kii->k", W) + weight * (d * d).sum(axis=1) + alpha) / N
        large = np.flatnonzero(p < N)  # the scatter of p samples or fewer is singular
        scatter = W[large] + weight[large, None, None] * d[large, :, None] * d[large, None, :]
        inside[large] += np.maximum(determinant(scatter) / N[large] ** p, 0.0)
        return N * np.log(inside)

    own = contribution(N, W, np.zeros((K, p)), np.zeros(K))
    loss = np.full((K, K), np.inf)
    for i in range(K - 1):
        n, d = N[i] + N[i + 1 :], mean[i + 1 :] - mean[i]
        change = contribution(n, W[i + 1 :], d, N[i] * N[i + 1 :] / n) - own[i] - own[i + 1 :]
        loss[i, i + 1 :] = np.round(change, LOSS_DECIMALS)

    name = np.arange(K)
    dead = np.zeros(K, dtype=bool)
    merges = np.empty((K - 1, 2), dtype=np.intp)
    for step in range(K - 1):
        if 2 * (K - step) < len(name):  # half of the clusters are gone: shrink the arrays
            name, mean, N, W, own = name[~dead], mean[~dead], N[~dead], W[~dead], own[~dead]
            loss = loss[np.ix_(~dead, ~dead)]
            dead = np.zeros(K - step, dtype=bool)
        a, b = divmod(int(np.argmin(loss)), len(loss))
        merges[step] = name[a], name[b]
        n, d = N[a] + N[b], mean[b] - mean[a]
        W[a] += W[b] + (N[a] * N[b] / n) * d[:, None] * d
        mean[a] += (N[b] / n) * d
        N[a] = n
        own[a] = contribution(N[[a]], W[[a]], np.zeros((1, p)), np.zeros(1))[0]
        dead[b] = True
        loss[b] = loss[:, b] = np.inf
        n = N + N[a]
        change = contribution(n, W + W[a], mean - mean[a], N[a] * N / n) - own[a] - own
        change = np.where(dead, np.inf, np.round(change, LOSS_DECIMALS))
        loss[:a, a] = change[:a]
        loss[a, a + 1 :] = change[a + 1 :]
    return merges


def _distinct_rows(X: Floats) -> tuple[Indices, Indices, Floats]:
    """Number the distinct rows as they appear: where each first occurs, the number of every row, and the counts."""
    order = np.lexsort(X.T)  # stable: of equal rows the first one comes first
    ordered = X[order]
    new = np.ones(len(X), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    if new.all():
        return np.arange(len(X)), np.arange(len(X)), np.ones(len(X))
    first_met = np.empty(len(X), dtype=np.intp)
    first_met[order] = order[new][np.cumsum(new) - 1]
    first, member, count = np.unique(first_met, return_inverse=True, return_counts=True)
    return first, member, count.astype(float)
