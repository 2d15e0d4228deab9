"""Fit selectors of features to target samples only."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation._typing import Bools, Floats, Indices
from transvariation.validation import check_magnitude


class TargetSelector(SelectorMixin, BaseEstimator, metaclass=ABCMeta):
    """Select features of the target samples; a subclass implements `_select`, which sets `selected_`."""

    selected_: Indices

    @abstractmethod
    def _select(self, X: Floats) -> None:
        """Select features of validated samples."""

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Select features of the target samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The target samples.
        y : None
            Ignored; present by convention.

        Returns
        -------
        self
            The fitted selector.
        """
        rows: Floats = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        check_magnitude(rows)
        self._select(rows)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Keep the selected features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_selected) or DataFrame
            The samples in the selected features.
        """
        return super().transform(X)

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask
