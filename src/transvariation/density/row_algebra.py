"""Row-wise linear algebra whose rounding does not depend on the number of rows.

A threshold is one of the training scores, so the last bit of a score can decide. Matrix products and blocked solvers
round differently for one row and for many; plain operations on whole columns, in a fixed order, do not.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def solve_rows(root: Floats, A: Floats) -> Floats:
    """Solve ``y @ root = a`` for each row a of `A`, with upper triangular `root`.

    Examples
    --------
    >>> solve_rows(np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([[2.0, 9.0]]))
    array([[1., 2.]])
    """
    columns: list[Floats] = []
    for j, a in enumerate(A.T):
        rest = a.copy()
        for column, factor in zip(columns, root[:j, j], strict=True):
            rest -= factor * column
        columns.append(rest / root[j, j])
    return np.column_stack(columns)


def squared_norms(A: Floats) -> Floats:
    """Sum the squares of each row.

    Examples
    --------
    >>> squared_norms(np.array([[3.0, 4.0], [1.0, 0.0]]))
    array([25.,  1.])
    """
    total = np.zeros(len(A))
    for a in A.T:
        total += a * a
    return total
