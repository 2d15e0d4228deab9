"""Few objects in many variables: what lies among them is found from as many coordinates as there are objects."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WIDE = 50  # variables; with fewer there is little to gain


def spanned(X: Floats) -> Floats:
    """Rows at the same distances from one another, equal rows equal, with no more variables than rows."""
    if X.shape[1] <= len(X):
        return X
    distinct, which = np.unique(X - np.median(X, axis=0), axis=0, return_inverse=True)
    upper = np.asarray(np.linalg.qr(distinct.T, mode="r"))
    return np.ascontiguousarray(upper.T[which.ravel()])


def weighted_mean(X: Floats, center: Floats, weights: Floats) -> Floats:
    """What a median is of the rows, if they weigh 1 / distance from it. Summed about a centre: constants stay."""
    return center + weights @ (X - center) / weights.sum(axis=-1, keepdims=True)
