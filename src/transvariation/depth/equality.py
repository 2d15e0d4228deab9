"""How often each row occurs."""

import numpy as np
from numpy.typing import NDArray


def count_equal(X: NDArray[np.float64], Z: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count the rows of X equal to each row of Z; 0.0 and -0.0 are equal.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [1.0, -0.0], [2.0, 1.0]])
    >>> count_equal(X, X)
    array([2, 2, 1])
    """
    same = Z is X
    V = X if same else np.concatenate([X, Z])
    count = np.full(len(V), int(same), dtype=np.int64)
    rest = np.flatnonzero(_repeated(V[:, 0]))
    for u in range(1, V.shape[1]):  # a row that is alone with its value in some variable is alone
        rest = rest[_repeated(V[rest, u])]
    if len(rest):
        count[rest] = _equal_among(V[rest], rest < len(X))
    return count if same else count[len(X) :]


def _repeated(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    ordered = np.sort(values)
    if (ordered[1:] != ordered[:-1]).all():  # the usual answer, and several times cheaper than knowing the order
        return np.zeros(len(values), dtype=bool)
    order = np.argsort(values)
    same = values[order[1:]] == values[order[:-1]]
    repeated = np.zeros(len(values), dtype=bool)
    repeated[order[1:][same]] = True
    repeated[order[:-1][same]] = True
    return repeated


def _equal_among(V: NDArray[np.float64], unit: NDArray[np.bool_]) -> NDArray[np.int64]:
    order = np.lexsort(V.T)
    differs = (V[order[1:]] != V[order[:-1]]).any(axis=1)
    group = np.empty(len(V), dtype=np.int64)
    group[order] = np.concatenate([[0], np.cumsum(differs)])
    return np.bincount(group, weights=unit).astype(np.int64)[group]
