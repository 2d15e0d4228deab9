"""Check that a sample covariance can be inverted; compute its square root, and solve with it row by row.

`solve_rows` and `squared_norms` round independently of the number of rows. A threshold is one of the training scores,
so the last bit of a score can decide. Matrix products and blocked solvers round differently for one row and for many;
plain operations on whole columns, in a fixed order, do not.
"""

import numpy as np

from transvariation._typing import Bools, Floats
from transvariation.exceptions import SingularCovariance
from transvariation.validation import check_magnitude


def varying(X: Floats) -> Bools:
    """Return a mask of the columns that are not constant but for rounding.

    Examples
    --------
    >>> varying(np.array([[0.1, 1.0], [0.1, 2.0]]))
    array([False,  True])
    """
    rounding = 8 * np.finfo(float).eps * np.maximum(np.abs(X), np.abs(X[0]))
    return np.asarray((np.abs(X - X[0]) > rounding).any(axis=0))


def tied(X: Floats) -> list[int]:
    """List the columns, none of them constant, that determine each other but for rounding.

    Examples
    --------
    >>> tied(np.array([[1.0, 2.0, 7.0], [2.0, 4.0, 1.0], [3.0, 6.0, 4.0], [5.0, 10.0, 8.0]]))
    [0, 1]
    """
    centered = X - X.mean(axis=0)
    directions, sizes, _ = np.linalg.svd((centered / np.linalg.norm(centered, axis=0)).T, full_matrices=False)
    if sizes[-1] > 4 * max(X.shape) * np.finfo(float).eps:
        return []
    return np.flatnonzero(np.abs(directions[:, -1]) > 1e-6).tolist()


def check_varying(X: Floats) -> None:
    """Raise if a column is constant, or if variances of a column cannot be computed."""
    check_magnitude(X)
    flat = np.flatnonzero(~varying(X)).tolist()
    if flat:
        raise SingularCovariance("{columns} constant; drop constant columns", flat)


def check_full_spread(X: Floats) -> None:
    """Raise unless the sample covariance can be inverted; the message names the columns at fault.

    Examples
    --------
    >>> check_full_spread(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [5.0, 10.0]]))
    Traceback (most recent call last):
    ...
    transvariation.exceptions.SingularCovariance: the covariance matrix is singular: columns 0, 1 determine ...
    """
    n, p = X.shape
    check_varying(X)
    if n <= p:
        raise ValueError(
            f"the covariance matrix is singular: n_samples={n} samples cannot span p={p} variables; reduce the "
            f"variables below {n} first, for instance with MinorComponents"
        )
    if columns := tied(X):
        raise SingularCovariance(
            "{columns} determine each other; drop one of them, or reduce the variables first, for instance with "
            "MinorComponents",
            columns,
        )


def covariance_root(X: Floats) -> tuple[Floats, Floats]:
    """Compute the symmetric root of the sample covariance (divisor n - 1) and its inverse.

    Returns
    -------
    root, inverse : ndarray of shape (p, p)

    Examples
    --------
    >>> root, inverse = covariance_root(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [2.0, 4.0]]))
    >>> root.round(3)
    array([[1.155, 0.   ],
           [0.   , 2.309]])
    """
    check_full_spread(X)
    # From the data themselves: in uneven units the eigenvalues of their covariance have no digits left.
    _, sizes, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    sizes /= np.sqrt(len(X) - 1)
    return (axes.T * sizes) @ axes, (axes.T / sizes) @ axes


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
