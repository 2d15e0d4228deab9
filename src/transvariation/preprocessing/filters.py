"""Filters along the axis of a spectrum: Savitzky-Golay, trends and baselines. Gaps of the axis are not bridged."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solveh_banded
from scipy.signal import savgol_filter

from transvariation._typing import Floats
from transvariation.preprocessing.base import SpectrumTransformer, segments
from transvariation.preprocessing.scatter import polynomial_basis


class SavitzkyGolay(SpectrumTransformer):
    """Savitzky-Golay filter: smooth spectra, or their derivatives, by local polynomials.

    Parameters
    ----------
    window_length : int, default=11
        Number of neighboring points to which a polynomial is fitted; odd, and at most the number of features.
    polyorder : int, default=2
        Degree of the polynomial; less than `window_length`.
    deriv : int, default=0
        Order of the derivative; 0 smooths only.
    axis : array-like of shape (n_features,), optional
        Positions of the features; by default the numbers in their names, or 0, 1, 2, ... Where positions are missing
        (a step of more than 1.5 times those around it), each segment is filtered by itself.

    See Also
    --------
    transvariation.preprocessing.make_preprocessing : Several steps by name.

    References
    ----------
    Savitzky, A. and Golay, M. J. E. (1964). Smoothing and differentiation of data by simplified least squares
    procedures. Analytical Chemistry 36, 1627-1639.

    Examples
    --------
    >>> from transvariation.preprocessing import SavitzkyGolay
    >>> SavitzkyGolay(3, 2, deriv=1).fit_transform([[1.0, 4.0, 9.0, 16.0]]).round(9)
    array([[2., 4., 6., 8.]])
    """

    def __init__(self, window_length: int = 11, polyorder: int = 2, deriv: int = 0, axis: ArrayLike | None = None):
        self.window_length = window_length
        self.polyorder = polyorder
        self.deriv = deriv
        self.axis = axis

    def _learn(self, X: Floats) -> None:
        if self.window_length % 2 == 0 or not 0 <= self.polyorder < self.window_length:
            raise ValueError(
                f"window_length={self.window_length} must be odd and greater than polyorder={self.polyorder}, such as "
                "window_length=11, polyorder=2"
            )
        if not 0 <= self.deriv <= self.polyorder:
            raise ValueError(f"deriv={self.deriv} must lie between 0 and polyorder={self.polyorder}")
        self._segments = segments(self._positions(self.axis))
        for part in self._segments:
            if part.stop - part.start < self.window_length:
                raise ValueError(
                    f"window_length={self.window_length} exceeds {_size(part, self._segments)}; use an odd number "
                    "up to that, leave these features out, or leave the filter out"
                )

    def _transform(self, X: Floats) -> Floats:
        parts = [
            savgol_filter(X[:, part], self.window_length, self.polyorder, deriv=self.deriv, axis=1)
            for part in self._segments
        ]
        return np.concatenate(parts, axis=1)


def _size(part: slice, parts: list[slice]) -> str:
    n = part.stop - part.start
    if len(parts) == 1:
        return f"the {n} features of X"
    return f"the {n} features {part.start} to {part.stop - 1}, a segment between gaps of the axis"


class Detrend(SpectrumTransformer):
    """Subtract from each spectrum the polynomial of the position that fits it best.

    Parameters
    ----------
    degree : int, default=2
        Degree of the polynomial.
    axis : array-like of shape (n_features,), optional
        Positions of the features; by default the numbers in their names, or 0, 1, 2, ...

    See Also
    --------
    transvariation.preprocessing.AsymmetricLeastSquares : A flexible baseline.

    References
    ----------
    Barnes, R. J., Dhanoa, M. S. and Lister, S. J. (1989). Standard normal variate transformation and de-trending of
    near-infrared diffuse reflectance spectra. Applied Spectroscopy 43, 772-777.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing import Detrend
    >>> bool(np.allclose(Detrend(degree=1).fit_transform([[1.0, 3.0, 5.0, 7.0]]), 0))
    True
    """

    def __init__(self, degree: int = 2, axis: ArrayLike | None = None):
        self.degree = degree
        self.axis = axis

    def _learn(self, X: Floats) -> None:
        self._basis = polynomial_basis(self._positions(self.axis), self.degree)

    def _transform(self, X: Floats) -> Floats:
        return X - X @ self._basis.T @ self._basis


class AsymmetricLeastSquares(SpectrumTransformer):
    """Subtract a smooth baseline that runs below the peaks.

    The baseline z minimizes the weighted sum of squares of x - z plus `smoothness` times the sum of the squared second
    differences of z. Positions above the baseline weigh `asymmetry`, those below weigh 1 - `asymmetry`; the weights are
    updated until they no longer change.

    Parameters
    ----------
    smoothness : float, default=1e5
        Large values give a stiff baseline; 1e2 to 1e9 are usual.
    asymmetry : float in (0, 1), default=0.01
        Weight of the positions above the baseline; 0.001 to 0.1 are usual.
    max_updates : int, default=50
        Largest number of updates of the weights.
    axis : array-like of shape (n_features,), optional
        Positions of the features; by default the numbers in their names, or 0, 1, 2, ... Segments between gaps have
        separate baselines.

    See Also
    --------
    transvariation.preprocessing.Detrend : A polynomial baseline.

    References
    ----------
    Eilers, P. H. C. and Boelens, H. F. M. (2005). Baseline correction with asymmetric least squares smoothing. Leiden
    University Medical Center.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing import AsymmetricLeastSquares
    >>> t = np.linspace(0, 1, 200)
    >>> peak = np.exp(-(((t - 0.5) / 0.02) ** 2))
    >>> corrected = AsymmetricLeastSquares().fit_transform([peak + 3 + t])
    >>> float(np.abs(corrected - peak).max().round(3))
    0.003
    """

    def __init__(
        self, smoothness: float = 1e5, asymmetry: float = 0.01, max_updates: int = 50, axis: ArrayLike | None = None
    ):
        self.smoothness = smoothness
        self.asymmetry = asymmetry
        self.max_updates = max_updates
        self.axis = axis

    def _learn(self, X: Floats) -> None:
        if not self.smoothness > 0:
            raise ValueError(f"smoothness={self.smoothness} must be greater than 0, such as 1e5")
        if not 0 < self.asymmetry < 1:
            raise ValueError(f"asymmetry={self.asymmetry} must lie in (0, 1), such as 0.01")
        self._segments = segments(self._positions(self.axis))
        self._penalties = [self.smoothness * _second_differences(part.stop - part.start) for part in self._segments]

    def _transform(self, X: Floats) -> Floats:
        corrected = np.empty_like(X)
        for part, penalty in zip(self._segments, self._penalties, strict=True):
            for row, spectrum in zip(corrected, X, strict=True):
                row[part] = spectrum[part] - self._baseline(spectrum[part], penalty)
        return corrected

    def _baseline(self, x: Floats, penalty: Floats) -> Floats:
        weights = np.ones(len(x))
        for _ in range(self.max_updates):
            system = penalty.copy()
            system[-1] += weights
            baseline = solveh_banded(system, weights * x, check_finite=False)
            updated = np.where(x > baseline, self.asymmetry, 1 - self.asymmetry)
            if np.array_equal(updated, weights):
                break
            weights = updated
        return baseline


def _second_differences(n: int) -> Floats:
    """Compute D'D of the second differences D of n values, as the upper bands that `solveh_banded` takes."""
    bands = np.zeros((min(3, n), n))
    if n > 2:
        for start in range(3):  # (1, -2, 1) at positions start, start + 1, ...
            bands[-1, start : n - 2 + start] += (1.0, 4.0, 1.0)[start]
        bands[-2, 1 : n - 1] -= 2
        bands[-2, 2:n] -= 2
        bands[-3, 2:] = 1
    return bands
