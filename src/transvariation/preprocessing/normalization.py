"""Normalization of spectra: by their area, a peak or their length, and the scales of their regions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Bools, Floats
from transvariation.preprocessing.base import SpectrumTransformer, segments

PositionRange = tuple[float, float]

_SIZES = {
    "area": lambda X: np.abs(X).sum(axis=1, keepdims=True),
    "peak": lambda X: np.abs(X).max(axis=1, keepdims=True),
    "length": lambda X: np.sqrt((X**2).sum(axis=1, keepdims=True)),
}


class Normalization(SpectrumTransformer):
    """Divide each spectrum by its area, its peak or its length.

    A spectrum that is 0 in the region stays as it is.

    Parameters
    ----------
    norm : {"area", "peak", "length"}, default="area"
        The sum of absolute values, the largest absolute value, or the square root of the sum of squares.
    region : tuple of two floats, optional
        The region of the axis in which the norm is computed, such as that of an internal standard; by default all.
    axis : array-like of shape (n_features,), optional
        Positions of the features; by default the numbers in their names, or 0, 1, 2, ...

    See Also
    --------
    transvariation.preprocessing.SNV : Mean and standard deviation of each spectrum.

    Examples
    --------
    >>> from transvariation.preprocessing import Normalization
    >>> Normalization("area").fit_transform([[1.0, 2.0, 1.0]])
    array([[0.25, 0.5 , 0.25]])
    >>> Normalization("peak", region=(0, 1)).fit_transform([[1.0, 2.0, 4.0]])
    array([[0.5, 1. , 2. ]])
    """

    def __init__(self, norm: str = "area", *, region: PositionRange | None = None, axis: ArrayLike | None = None):
        self.norm = norm
        self.region = region
        self.axis = axis

    def _learn(self, X: Floats) -> None:
        if self.norm not in _SIZES:
            raise ValueError(f"norm={self.norm!r} is unknown; choose one of {', '.join(_SIZES)}")
        positions = self._positions(self.axis)
        self._inside = slice(None) if self.region is None else region_mask(positions, self.region)

    def _transform(self, X: Floats) -> Floats:
        size = _SIZES[self.norm](X[:, self._inside])
        return np.divide(X, size, out=X.copy(), where=size > 0)


class RegionScaling(SpectrumTransformer):
    """Give regions of a spectrum, or blocks of features, the same total variance.

    Each region is divided by the square root of its total variance over the training spectra, so that a region with
    large values or many positions does not dominate distances. A constant region stays as it is.

    Parameters
    ----------
    regions : sequence of (low, high), optional
        Regions of the axis; by default the segments between its gaps. Features in no region are one more.
    axis : array-like of shape (n_features,), optional
        Positions of the features; by default the numbers in their names, or 0, 1, 2, ...

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,)
        The divisor of each feature.

    See Also
    --------
    transvariation.preprocessing.Normalization : One factor for the whole spectrum.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing import RegionScaling
    >>> X = np.random.default_rng(0).normal(size=(50, 6)) * [1, 1, 1, 100, 100, 100]
    >>> scaled = RegionScaling([(0, 2), (3, 5)]).fit_transform(X)
    >>> scaled.var(axis=0, ddof=1).reshape(2, 3).sum(axis=1).round(9)
    array([1., 1.])
    """

    learns = True

    def __init__(self, regions: Sequence[PositionRange] | None = None, *, axis: ArrayLike | None = None):
        self.regions = regions
        self.axis = axis

    def _learn(self, X: Floats) -> None:
        positions, n = self._positions(self.axis), X.shape[1]
        label = np.zeros(n, dtype=int)
        if self.regions is None:
            for number, part in enumerate(segments(positions)):
                label[part] = number
        else:
            for number, region in enumerate(self.regions, start=1):
                inside = region_mask(positions, region)
                if label[inside].any():
                    raise ValueError(f"regions={self.regions!r} overlap; give regions without common positions")
                label[inside] = number
        total = np.sqrt(np.bincount(label, X.var(axis=0, ddof=1) if len(X) > 1 else np.zeros(n)))
        self.scale_ = np.where(total > 0, total, 1.0)[label]

    def _transform(self, X: Floats) -> Floats:
        return X / self.scale_


def region_mask(positions: Floats, region: PositionRange) -> Bools:
    """Return a mask of the positions in a region, ends included.

    Parameters
    ----------
    positions : ndarray of shape (n_features,)
    region : (low, high)

    Returns
    -------
    ndarray of bool of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing.normalization import region_mask
    >>> region_mask(np.array([800.0, 900.0, 1000.0]), (850, 1000))
    array([False,  True,  True])
    """
    low, high = sorted(map(float, region))
    inside = (positions >= low) & (positions <= high)
    if not inside.any():
        raise ValueError(
            f"region {low:g} to {high:g} holds no position; the axis goes from {positions.min():g} to "
            f"{positions.max():g}"
        )
    return inside
