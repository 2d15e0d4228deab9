"""Lagged variables: measurements of a process together with those before them."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation._typing import Floats


class LaggedVariables(TransformerMixin, BaseEstimator):
    """Append to each row the rows before it, as dynamic PCA does.

    A fault that breaks the relation between successive measurements, not their values, shows in the lagged variables
    only. Rows must be in time order and without gaps; transform each run by itself, before the classifier and not
    within a cross-validated pipeline, whose folds are not runs.

    Parameters
    ----------
    lags : int, default=1
        Number of earlier rows to append.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.

    See Also
    --------
    transvariation.monitoring.monitor : Watch a process.

    Notes
    -----
    The number of rows stays: the first `lags` rows repeat the first one where there is no earlier row.

    References
    ----------
    Ku, W., Storer, R. H. and Georgakis, C. (1995). Disturbance detection and isolation by dynamic principal component
    analysis. Chemometrics and Intelligent Laboratory Systems 30, 179-196.

    Examples
    --------
    >>> from transvariation.preprocessing import LaggedVariables
    >>> LaggedVariables(1).fit_transform([[1.0], [2.0], [3.0]])
    array([[1., 1.],
           [2., 1.],
           [3., 2.]])
    """

    def __init__(self, lags: int = 1):
        self.lags = lags

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Check the rows; nothing is learned.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in time order.
        y : ignored
            Present for API consistency.

        Returns
        -------
        self
        """
        if isinstance(self.lags, bool) or not isinstance(self.lags, int | np.integer) or self.lags < 0:
            raise ValueError(f"lags={self.lags!r} must be a whole number of at least 0, such as 2")
        validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Append the earlier rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows of one run, in time order.

        Returns
        -------
        ndarray of shape (n_samples, (lags + 1) * n_features)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        now = np.arange(len(rows))
        return np.hstack([rows[np.maximum(now - lag, 0)] for lag in range(self.lags + 1)])

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Name the features: those of the row as they are, the earlier ones as ``name (t-1)``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input features; by default those seen in `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str
        """
        from sklearn.utils.validation import _check_feature_names_in

        names = _check_feature_names_in(self, input_features)
        return np.array([f"{n} (t-{k})" if k else n for k in range(self.lags + 1) for n in names], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
