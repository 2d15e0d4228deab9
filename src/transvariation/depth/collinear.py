"""Objects on one line: where each stands on it, and the medians there."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def from_first(X: Floats, first: Floats) -> Floats:
    """How far each row is from the first one, by the sum of differences."""
    return np.abs(X - first).sum(axis=1)


def along_line(X: Floats, first: Floats, far: Floats) -> Floats:
    """Where each row stands on the line from the first row to a far one. Sums column by column: the same in parts."""
    position = np.zeros(len(X))
    for u in range(X.shape[1]):
        position += (X[:, u] - first[u]) * (far[u] - first[u])
    return position


def between(low: Floats, high: Floats) -> Floats:
    """The middle of the two central points."""
    return low if (low == high).all() else np.mean([low, high], axis=0)


def order_on_line(X: Floats) -> Indices:
    """The rows of a sample on one line, from one end to the other."""
    return np.argsort(along_line(X, X[0], X[np.argmax(from_first(X, X[0]))]), kind="stable")
