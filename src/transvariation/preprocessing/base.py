"""What the transformers of spectra share: validation, and the positions of the features on their axis."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import median_filter
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation._typing import Floats

_GAP_STEPS = 1.5  # times the median of the steps around it: a longer step is a gap
_STEPS_AROUND = 9  # steps
_NUMBER = re.compile(r"(?:^-)?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)


def axis_positions(axis: ArrayLike | None, names: ArrayLike | None, n_features: int) -> Floats:
    """Return the position of each feature: as given, by the numbers in the names, or 0, 1, 2, ...

    Parameters
    ----------
    axis : array-like of shape (n_features,), optional
        Wavelengths, wavenumbers or shifts.
    names : array-like of shape (n_features,), optional
        Names of the features. They give the positions if each holds one number and these rise or fall.
    n_features : int
        Number of features.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> from transvariation.preprocessing.base import axis_positions
    >>> axis_positions(None, ["1100 nm", "1102 nm"], 2)
    array([1100., 1102.])
    >>> axis_positions(None, ["Ca", "Mg"], 2)
    array([0., 1.])
    """
    if axis is not None:
        positions = np.asarray(axis, dtype=float)
        if positions.shape != (n_features,) or not _monotonic(positions):
            raise ValueError(
                f"axis has shape {positions.shape}; give one number per feature ({n_features}), rising or falling"
            )
        return positions
    found = [] if names is None else [_NUMBER.findall(str(name)) for name in np.asarray(names, dtype=object)]
    if found and all(len(numbers) == 1 for numbers in found):
        positions = np.array([float(numbers[0]) for numbers in found])
        if _monotonic(positions):
            return positions
    return np.arange(float(n_features))


def _monotonic(positions: Floats) -> bool:
    steps = np.diff(positions)
    return bool(np.isfinite(positions).all() and ((steps > 0).all() or (steps < 0).all()))


def segments(positions: Floats) -> list[slice]:
    """Divide an axis at its gaps: steps longer than 1.5 times the median of the steps around them.

    Parameters
    ----------
    positions : ndarray of shape (n_features,)

    Returns
    -------
    list of slice

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing.base import segments
    >>> segments(np.array([1.0, 2.0, 3.0, 7.0, 8.0]))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    steps = np.abs(np.diff(positions))
    # Of the steps around: those of an axis that was converted, as wavenumbers to wavelengths, grow along it.
    gaps = (
        np.flatnonzero(steps > _GAP_STEPS * median_filter(steps, _STEPS_AROUND, mode="nearest"))
        if len(steps)
        else steps
    )
    edges = [0, *(gaps.astype(int) + 1).tolist(), len(positions)]
    return [slice(first, last) for first, last in pairwise(edges)]


class SpectrumTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Transformer that maps each spectrum to a spectrum on the same axis."""

    learns = False  # from the training spectra; otherwise each spectrum is treated by itself

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Check the spectra and learn what the transformation needs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The spectra, one per row.
        y : ignored
            Present for API consistency.

        Returns
        -------
        self
            The fitted transformer.
        """
        self._learn(validate_data(self, X, dtype=np.float64, order="C"))
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Transform spectra.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The spectra, one per row.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        # In one layout the same spectra give the same sums, as a DataFrame and as an array.
        return self._transform(validate_data(self, X, dtype=np.float64, order="C", reset=False))

    def _learn(self, X: Floats) -> None:
        """Learn from validated spectra; by default nothing."""

    def _transform(self, X: Floats) -> Floats:
        raise NotImplementedError

    def _positions(self, axis: ArrayLike | None) -> Floats:
        return axis_positions(axis, getattr(self, "feature_names_in_", None), self.n_features_in_)
