"""Categorical features: find them in a table and replace their values by codes."""

from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from transvariation._typing import Bools, Floats, Rows
from transvariation.validation import column_names


class CategoryEncoder:
    """Replace categories by the numbers 0, 1, ... and pass numbers on; missing values become NaN.

    Parameters
    ----------
    categorical_features : {"from_dtype"}, array-like of bool, int or str, or None
        The categorical features, as in scikit-learn's HistGradientBoostingClassifier: a mask, indices, names, or the
        columns of a pandas or polars table that have a categorical type.

    Attributes
    ----------
    mask_ : ndarray of bool of shape (p,)
        The categorical features.
    categories_ : dict
        For each categorical feature its categories in ascending order of their text, and then those of each call of
        `extend`; a code is a position.

    Examples
    --------
    >>> import pandas as pd
    >>> from transvariation.categories import CategoryEncoder
    >>> X = pd.DataFrame({"color": ["red", "blue", None], "size": [1.5, 2.0, 0.5]})
    >>> encoder = CategoryEncoder(["color"]).fit(X)
    >>> encoder.transform(X)
    array([[1. , 1.5],
           [0. , 2. ],
           [nan, 0.5]])
    """

    def __init__(self, categorical_features: object):
        self.categorical_features = categorical_features

    def fit(self, X: object) -> Self:
        """Find the categorical features and their categories."""
        self.categories_: dict[int, list[object]] = {}
        self.mask_ = np.zeros(0, dtype=bool)
        typed = isinstance(self.categorical_features, str) and self.categorical_features == "from_dtype"
        if self.categorical_features is None or (typed and column_names(X) is None):
            return self
        self.mask_ = _mask(self.categorical_features, X)
        return self.extend(X)

    def extend(self, X: object) -> Self:
        """Add the categories of further samples; known ones keep their codes."""
        for j in np.flatnonzero(self.mask_).tolist():
            known = self.categories_.setdefault(j, [])
            new = {value for value in _values(X, j) if not _is_missing(value)}.difference(known)
            known += sorted(new, key=lambda value: (str(value), str(type(value))))
        return self

    def transform(self, X: object) -> Floats:
        """Replace categories by their codes; all unknown ones get the same code, which no known sample has."""
        columns = []
        for j in range(len(self.mask_)):
            if self.mask_[j]:
                codes = {category: code for code, category in enumerate(self.categories_[j])}
                values = [np.nan if _is_missing(v) else codes.get(v, len(codes)) for v in _values(X, j)]
                columns.append(np.array(values, dtype=np.float64))
            else:
                columns.append(_numbers(X, j))
        return np.column_stack(columns)


def _mask(features: object, X: object) -> Bools:
    names = column_names(X)
    p = len(np.asarray(X, dtype=object).T) if names is None else len(names)
    if isinstance(features, str):
        if features != "from_dtype":
            raise ValueError(
                f"categorical_features={features!r} is not known; give 'from_dtype', a mask, indices or names in a list"
            )
        return np.array([_has_category_type(X, j) for j in range(p)])
    given = np.asarray(features)
    if given.dtype.kind == "b":
        if given.shape != (p,):
            raise ValueError(f"categorical_features has {given.size} values for {p} features; give one for each")
        return given
    if given.size and given.dtype.kind in "OUS":
        unknown = [name for name in given if names is None or name not in names]
        if unknown:
            where = "X has no column names" if names is None else f"the columns are {', '.join(map(str, names))}"
            raise ValueError(f"categorical_features names {str(unknown[0])!r}, but {where}")
        given = np.array([names.index(name) for name in given])  # type: ignore[union-attr]
    if given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= p):
        raise ValueError(f"categorical_features={features!r} must be indices from 0 to {p - 1}, a mask or names")
    mask = np.zeros(p, dtype=bool)
    mask[given.astype(np.intp)] = True
    return mask


def _has_category_type(X: object, j: int) -> bool:
    return str(_column(X, j).dtype).lower().startswith(("category", "categorical", "enum"))


def _column(X: Rows, j: int) -> pd.Series | NDArray:
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    if hasattr(type(X), "column_names"):  # Arrow
        return X.column(j).to_pandas()
    return np.asarray(X, dtype=object)[:, j] if isinstance(X, list) else X[:, j]


def _values(X: object, j: int) -> list[object]:
    column = _column(X, j)
    return column.to_list() if hasattr(column, "to_list") else column.tolist()


def _numbers(X: object, j: int) -> Floats:
    values = [np.nan if value is None else value for value in _values(X, j)]
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        names = column_names(X)
        name = j if names is None else names[j]
        raise ValueError(
            f"feature {name!r} has values that are no numbers ({error}); name it in categorical_features, or give it a "
            "categorical type"
        ) from error


def _is_missing(value: object) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")
