"""Where EM begins: agglomeration of the objects by the likelihood of a Gaussian per cluster."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from transvariation.density.covariance_models import determinant

Array = NDArray[np.float64]
Merge = Callable[[Array, Array, float], NDArray[np.intp]]


def scaled_by_svd(X: Array) -> Array:
    """Standardise the variables, turn them to their principal axes and shrink these towards equal spread.

    With the singular value decomposition Z = U S V' of the standardised data this is Z V S^(-1/2), the coordinates that
    Scrucca & Raftery (2015) [1]_ found to be good ones to start from. Variables and axes without spread are left out.

    References
    ----------
    .. [1] L. Scrucca and A. E. Raftery (2015). Improved initialisation of model-based clustering using Gaussian
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


def agglomerate(X: Array, n_clusters: int, merge: Merge | None = None) -> dict[int, NDArray[np.intp]]:
    """Merge objects into clusters, two at a time, each time at the smallest loss of likelihood.

    Every cluster has a Gaussian of its own (Fraley, 1998 [1]_): with n_k objects and scatter matrix W_k about its mean
    it contributes n_k log(|W_k / n_k| + (tr W_k + tr W / (n p)) / n_k); the second term, W being the scatter of all
    objects, keeps clusters of few objects from contributing minus infinity. Equal rows are together from the outset.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    n_clusters : int
        The largest number of clusters that is wanted.
    merge : function, optional
        The compiled version of the same merging, if there is one at hand.

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
    merges = (merge or _merge)(X[first], N, alpha)
    K = len(first)
    many = max(K - n_clusters, 0)
    # b loses its own to a, which may later lose them to another: after the first merges follow the way to its end.
    name = np.arange(K)
    name[merges[:many, 1]] = merges[:many, 0]
    while not np.array_equal(name, name[name]):
        name = name[name]
    names, label = np.unique(name[member], return_inverse=True)
    partitions, places = {K - many: label}, names.tolist()
    for a, b in merges[many:].tolist():
        # Clusters are numbered in the order of their first objects; behind the one that goes the others move up.
        to, gone = places.index(a), places.index(b)
        label = np.where(label == gone, to, label - (label > gone))
        del places[gone]
        partitions[len(places)] = label
    return partitions


def _merge(mean: Array, N: Array, alpha: float) -> NDArray[np.intp]:
    """Pair the clusters until one is left: (K - 1, 2) numbers a < b, b losing its own to a."""
    K, p = mean.shape
    W = np.zeros((K, p, p))

    def term(N: Array, W: Array) -> Array:
        trace = np.einsum("...ii", W)
        return N * np.log(np.maximum(determinant(W) / N**p, 0.0) + (trace + alpha) / N)

    own = term(N, W)
    loss = np.full((K, K), np.inf)
    for i in range(K - 1):
        rest = slice(i + 1, None)
        d = mean[rest] - mean[i]
        n = N[i] + N[rest]
        merged = (N[i] * N[rest] / n)[:, None, None] * d[:, :, None] * d[:, None, :]
        loss[i, rest] = term(n, merged) - own[i] - own[rest]

    name = np.arange(K)
    dead = np.zeros(K, dtype=bool)
    merges = np.empty((K - 1, 2), dtype=np.intp)
    for step in range(K - 1):
        if 2 * (K - step) < len(name):
            name, mean, N, W, own = name[~dead], mean[~dead], N[~dead], W[~dead], own[~dead]
            loss = loss[np.ix_(~dead, ~dead)]
            dead = np.zeros(K - step, dtype=bool)
        # Clusters stand in the order of their first objects; of two that merge the later one leaves.
        a, b = divmod(int(np.argmin(loss)), len(loss))
        merges[step] = name[a], name[b]
        n = N[a] + N[b]
        d = mean[b] - mean[a]
        W[a] += W[b] + (N[a] * N[b] / n) * d[:, None] * d
        mean[a] += (N[b] / n) * d
        N[a] = n
        own[a] = term(N[a], W[a])
        dead[b] = True
        loss[b] = loss[:, b] = np.inf
        d = mean - mean[a]
        n = N + N[a]
        merged = W + W[a] + (N[a] * N / n)[:, None, None] * d[:, :, None] * d[:, None, :]
        change = np.where(dead, np.inf, term(n, merged) - own[a] - own)
        loss[:a, a] = change[:a]
        loss[a, a + 1 :] = change[a + 1 :]
    return merges


def _distinct_rows(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Number distinct rows as they appear: where each is first met, which one every row is, how often it occurs."""
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


def quantile_classes(x: Array, n_clusters: int) -> NDArray[np.intp]:
    """Cut a single variable into classes of about equal size, equal values staying together.

    Examples
    --------
    >>> quantile_classes(np.array([3.0, 1.0, 2.0, 4.0]), 2)
    array([1, 0, 0, 1])
    """
    inner = np.quantile(x, np.arange(1, n_clusters) / n_clusters)
    return np.searchsorted(np.unique(inner), x, side="left")
