"""How many target units lie beyond an object, seen from the centre.

For an object c and a centre m, a coordinate u is open when c_u differs from m_u. A unit x lies beyond c when, in every
open coordinate, x is strictly farther from m than c on c's side; it lies at c when it equals c in every open
coordinate. The denominator of tp asks the same with c moved to m: strictly on c's side of m, or at m. All four
counts compare the values as they stand: forming X - (m - c) in floating point would lose exact ties.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


class Transvariations(NamedTuple):
    """The four counts of the multivariate equation for every object, and whether any coordinate is open."""

    beyond: Counts  # s_X
    at: Counts  # s'_X
    side: Counts  # s_Y
    centre: Counts  # s'_Y
    n_open: Counts


def count_transvariations(X: Floats, m: Floats, Z: Floats) -> Transvariations:
    """Count the units of X beyond and at each row of Z, and on its side of m and at m."""
    rows = [_count_one(X, m, c) for c in Z]
    return Transvariations(*np.array(rows, dtype=np.int64).reshape(-1, 5).T)


def _count_one(X: Floats, m: Floats, c: Floats) -> tuple[int, int, int, int, int]:
    """The obvious version, against which every fast kernel is tested."""
    lower, opened = c < m, c != m
    beyond = np.where(lower, c > X, c < X)[:, opened].all(axis=1).sum()
    side = np.where(lower, m > X, m < X)[:, opened].all(axis=1).sum()
    return beyond, (c == X)[:, opened].all(axis=1).sum(), side, (m == X)[:, opened].all(axis=1).sum(), opened.sum()
