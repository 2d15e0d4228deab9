"""The spread of a sample, or why it has none: the door of everything that divides by a covariance matrix."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _several(columns: list[int]) -> str:
    return ("column " if len(columns) == 1 else "columns ") + ", ".join(map(str, columns))


def differing(X: Floats, value: Floats) -> NDArray[np.bool_]:
    """Say where the entries of each column differ from its value by more than rounding leaves of a constant."""
    return np.abs(X - value) > 8 * np.finfo(float).eps * np.maximum(np.abs(X), np.abs(value))


def varying(X: Floats) -> NDArray[np.bool_]:
    """Say which columns are not constant.

    Examples
    --------
    >>> varying(np.array([[0.1, 1.0], [0.1, 2.0]]))
    array([False,  True])
    """
    return np.asarray(differing(X, X[0]).any(axis=0))


def tied(X: Floats, tolerance: float = 0.0) -> list[int]:
    """List the columns, none of them constant, that determine each other but for rounding or a share `tolerance`.

    Examples
    --------
    >>> tied(np.array([[1.0, 2.0, 7.0], [2.0, 4.0, 1.0], [3.0, 6.0, 4.0], [5.0, 10.0, 8.0]]))
    [0, 1]
    """
    centred = X - X.mean(axis=0)
    directions, sizes, _ = np.linalg.svd((centred / np.linalg.norm(centred, axis=0)).T, full_matrices=False)
    if sizes[-1] > max(tolerance, 4 * max(X.shape) * np.finfo(float).eps):
        return []
    return np.flatnonzero(np.abs(directions[:, -1]) > 1e-6).tolist()


def check_full_spread(X: Floats) -> None:
    """Raise unless the sample covariance can be inverted; say which columns stand in the way.

    Examples
    --------
    >>> check_full_spread(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [5.0, 10.0]]))
    Traceback (most recent call last):
    ...
    ValueError: the covariance matrix is singular: columns 0, 1 determine each other; drop one of them, or reduce ...
    """
    n, p = X.shape
    flat = np.flatnonzero(~varying(X)).tolist()
    if flat:
        raise ValueError(f"the covariance matrix is singular: {_several(flat)} constant; drop what does not vary")
    if n <= p:
        raise ValueError(
            f"the covariance matrix is singular: n_samples={n} objects cannot span p={p} variables; reduce the "
            f"variables below {n} first, for instance with MinorComponents"
        )
    if columns := tied(X):
        raise ValueError(
            f"the covariance matrix is singular: {_several(columns)} determine each other; drop one of them, or reduce "
            "the variables first, for instance with MinorComponents"
        )


def covariance_root(X: Floats) -> tuple[Floats, Floats]:
    """Find the symmetric root of the sample covariance (divisor n - 1) and its inverse.

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
