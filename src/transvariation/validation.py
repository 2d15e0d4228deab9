"""Validate input arrays and parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Floats, Rows

_MAX_EXPONENT = 300  # squares of numbers up to 2^300, and sums of them, neither overflow nor underflow


def column_names(X: object) -> list | None:
    """Return the column names of a pandas, polars or Arrow table, and None for other input."""
    is_arrow = hasattr(type(X), "column_names")  # its columns are the data
    names = getattr(X, "column_names" if is_arrow else "columns", None)
    return None if names is None else list(names)


def check_same_columns(X: ArrayLike, Z: ArrayLike, name: str, other: str) -> None:
    """Raise ValueError unless two tables, called `name` and `other`, have the same columns in the same order."""
    if (n := np.shape(X)[1]) != (m := np.shape(Z)[1]):
        raise ValueError(f"{name} has {n} features and {other} has {m}; give the same features")
    for pair in zip(column_names(X) or (), column_names(Z) or (), strict=False):
        if pair[0] != pair[1]:
            raise ValueError(
                f"{name} has {pair[0]!r} where {other} has {pair[1]!r}; give the same features in the same order"
            )


def as_rows(A: ArrayLike, name: str) -> Floats:
    """Return finite numbers as a two-dimensional array, one sample per row; a plain list is one variable."""
    A = np.asarray(A, dtype=np.float64)
    if A.ndim == 1:
        A = A[:, None]
    if A.ndim != 2 or not A.shape[1]:
        raise ValueError(f"{name} has shape {A.shape}; give one row per sample and one column per variable")
    if name == "X" and not len(A):
        raise ValueError("X has no rows; tp needs at least one target sample")
    # If the sum is finite, so are all terms; this is faster than looking at each.
    with np.errstate(over="ignore", invalid="ignore"):
        total = A.sum()
    if not np.isfinite(total) and not np.isfinite(A).all():
        row, column = np.argwhere(~np.isfinite(A))[0]
        raise ValueError(
            f"{name} has {A[row, column]} in row {row}, column {column}; drop or fill missing and infinite values first"
        )
    return A


def exponent_of(*arrays: Floats) -> int:
    """Return the power of two by which to divide so that squares neither overflow nor vanish; 0 if none is needed.

    Division by a power of two changes the exponents only: nothing is lost to rounding.

    Examples
    --------
    >>> exponent_of(np.array([1e200, 1.0])), exponent_of(np.array([7.0]))
    (665, 0)
    """
    return exponent_beyond(max(max(float(values.max()), -float(values.min())) for values in arrays))


def exponent_beyond(size: float) -> int:
    """Return the power of two by which to divide numbers of this largest size; see :func:`exponent_of`."""
    exponent = math.frexp(size)[1]
    return exponent if abs(exponent) > _MAX_EXPONENT else 0


def blocks(n: int, size: int) -> Iterator[slice]:
    """Divide n rows into blocks of `size` rows, at least one, to bound the memory that is needed at a time.

    Examples
    --------
    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    size = max(1, size)
    return (slice(start, start + size) for start in range(0, n, size))


def check_count(name: str, value: int, largest: int | None = None) -> int:
    """Return a positive integer of at most `largest`, the number of variables, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name}={value!r} must be a positive whole number")
    if largest is not None and value > largest:
        raise ValueError(f"{name}={value} exceeds the number of variables, n_features={largest}; use at most {largest}")
    return int(value)


def check_magnitude(X: Floats, largest: float = 1e100) -> None:
    """Raise if a column varies on a scale whose squares or products are too large or too small for floating point.

    Values may be up to `largest` in size, and not all smaller than its inverse.

    Examples
    --------
    >>> check_magnitude(np.array([[1.0, 2e300], [2.0, 5e300]]))
    Traceback (most recent call last):
    ...
    ValueError: column 1 ranges from 2e+300 to 5e+300, too large for computing variances; divide it by 1e+300 first
    """
    with np.errstate(over="ignore"):
        size = np.maximum(X.max(axis=0) - X.min(axis=0), np.abs(X).max(axis=0))
        spread = np.ptp(X, axis=0)
    large, small = size > largest, (spread > 0) & (size < 1 / largest)
    if not (large | small).any():
        return
    column = int(np.flatnonzero(large | small)[0])
    unit = 10.0 ** np.floor(np.log10(np.abs(X[:, column]).max()))
    raise ValueError(
        f"column {column} ranges from {X[:, column].min():.3g} to {X[:, column].max():.3g}, too "
        f"{'large' if large[column] else 'small'} for computing variances; divide it by {unit:.0e} first"
    )


def unusable_columns(X: Rows, name: str, allow_nan: bool) -> str | None:
    """Name the columns of a table that hold texts or missing values, and the remedy for the classifier `name`."""
    texts: list[int | str] = []
    gaps: Sequence[int | str] = []
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        texts = [c for c in X.select_dtypes(exclude=["number", "bool"]).columns if not _holds_numbers(X[c])]
        gaps = [column for column in X.columns if X[column].isna().any()]
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OSU":
        texts = [j for j in range(X.shape[1]) if not _holds_numbers(X[:, j])]
    elif isinstance(X, np.ndarray) and X.dtype.kind == "f" and X.ndim == 2:
        gaps = np.flatnonzero(np.isnan(X).any(axis=0)).tolist()
    if texts:
        named = ", ".join(map(repr, texts))
        native = f"give categorical_features=[{named}] if they are categories, " if name == "NeighborTOCC" else ""
        return (
            f"X has columns that are not numbers: {named}; {native}drop them, or encode them in a pipeline: "
            f"CalibratedOCC(make_pipeline(encoder, {name}()))"
        )
    if gaps and not allow_nan:
        columns = "column " if len(gaps) == 1 else "columns "
        return (
            f"Input X contains NaN in {columns}{', '.join(map(repr, gaps))}, which {name} does not accept; use "
            "NeighborTOCC, which accepts NaN, drop the rows or columns, or fill them in every fold: "
            f"CalibratedOCC(make_pipeline(SimpleImputer(), {name}()))"
        )
    return None


def _holds_numbers(column: Rows) -> bool:
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True
