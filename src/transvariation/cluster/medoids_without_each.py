"""tp of every object in its cluster, where the others alone were partitioned around medoids."""

import numpy as np
from numpy.typing import NDArray

from transvariation.cluster.pam import closest, find_medoids_without_each
from transvariation.depth.batched import stacked_tp
from transvariation.depth.counting import count_transvariations, without_itself
from transvariation.depth.probability import ratio

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_FEW = 20_000  # objects times units; up to here they are compared in one go with others, not by a call of their own


def pam_leave_one_out_probability(
    X: Floats, n_clusters: int, *, ties: str = "proper", found: list[tuple[Indices, Indices]] | None = None
) -> Floats:
    """Compute tp of each row of `X` in its cluster, where the others alone were partitioned around medoids.

    The result equals n partitions, each of the other rows, from scratch. `found` are the medoids without each row, if
    known already from :func:`find_medoids_without_each`.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [20.0], [21.0], [22.0]])
    >>> pam_leave_one_out_probability(X, 2).round(2)
    array([0.  , 0.67, 0.8 , 0.4 , 0.  , 0.  , 0.67, 0.  ])
    """
    tp = np.empty(len(X))
    few: list[tuple[Indices, NDArray[np.bool_], Floats]] = []
    for rows, left_out in found or find_medoids_without_each(X, n_clusters)[1]:
        labels = closest(X, X[rows])[0]
        for k in np.unique(labels[left_out]):
            objects, units = left_out[labels[left_out] == k], labels == k
            if len(objects) * len(X) <= _FEW:
                few.append((objects, units, X[rows[k]]))
            else:
                tp[objects] = _in_cluster(X, np.flatnonzero(units), X[rows[k]], objects, ties)
    if few:
        sizes = [len(objects) for objects, _, _ in few]
        objects = np.concatenate([objects for objects, _, _ in few])
        units, centers = (np.repeat([group[part] for group in few], sizes, axis=0) for part in (1, 2))
        units[np.arange(len(objects)), objects] = False
        samples = np.broadcast_to(X, (len(objects), *X.shape))
        tp[objects] = stacked_tp(samples, X[objects, None], centers[:, None], same=units[:, None], ties=ties)[:, 0]
    return tp


def _in_cluster(X: Floats, units: Indices, medoid: Floats, objects: Indices, ties: str) -> Floats:
    """tp of some units of a cluster about its medoid, each with respect to the others."""
    own = X[units]
    # One sort serves all units, but two are needed for units and some of them.
    most = 2 * len(objects) > len(units)
    counts = count_transvariations(own, medoid, own if most else X[objects])
    counts = without_itself(counts, np.searchsorted(units, objects) if most else slice(None))
    return ratio(counts, len(units), X.shape[1], "count", ties)
