"""Preprocessing of spectra: scatter correction, smoothing and derivatives, as scikit-learn transformers.

Rows are spectra, and columns are equally spaced positions of one axis (wavelengths, wavenumbers, chemical shifts).
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.signal import savgol_filter
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from transvariation.validation import native_frame

__all__ = ["MSC", "SNV", "SavitzkyGolay", "make_preprocessing"]

Floats = NDArray[np.float64]


class _SpectrumTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Transformer that maps each spectrum to a spectrum on the same axis."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Check the spectra and learn what the transformation needs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The spectra, one per row.
        y : ignored
            Present for API consistency.
        """
        self._learn(validate_data(self, native_frame(X), dtype=np.float64, order="C"))
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
        return self._transform(validate_data(self, native_frame(X), dtype=np.float64, order="C", reset=False))

    def _learn(self, X: Floats) -> None:
        """Learn from validated spectra; by default nothing."""

    def _transform(self, X: Floats) -> Floats:
        raise NotImplementedError


class SNV(_SpectrumTransformer):
    """Standard normal variate: center each spectrum and divide it by its standard deviation.

    A constant spectrum becomes 0 everywhere.

    References
    ----------
    Barnes, R. J., Dhanoa, M. S. and Lister, S. J. (1989). Standard normal variate transformation and de-trending of
    near-infrared diffuse reflectance spectra. Applied Spectroscopy 43, 772-777.

    Examples
    --------
    >>> from transvariation.preprocessing import SNV
    >>> SNV().fit_transform([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    array([[-1.,  0.,  1.],
           [-1.,  0.,  1.]])
    """

    def _transform(self, X: Floats) -> Floats:
        centered = X - X.mean(axis=1, keepdims=True)
        spread = np.sqrt((centered**2).sum(axis=1, keepdims=True) / max(X.shape[1] - 1, 1))
        return np.divide(centered, spread, out=np.zeros_like(X), where=spread > 0)


class MSC(_SpectrumTransformer):
    """Multiplicative scatter correction: remove the offset and slope of each spectrum against the mean spectrum.

    Each spectrum x is regressed on the mean training spectrum m, x = a + b m, and becomes (x - a) / b. A spectrum that
    is uncorrelated with m (b = 0) becomes the mean of m everywhere.

    Attributes
    ----------
    reference_ : ndarray of shape (n_features,)
        The mean training spectrum.

    References
    ----------
    Geladi, P., MacDougall, D. and Martens, H. (1985). Linearization and scatter-correction for near-infrared
    reflectance spectra of meat. Applied Spectroscopy 39, 491-500.

    Examples
    --------
    >>> from transvariation.preprocessing import MSC
    >>> MSC().fit([[1.0, 2.0, 3.0]]).transform([[5.0, 7.0, 9.0]])
    array([[1., 2., 3.]])
    """

    def _learn(self, X: Floats) -> None:
        self.reference_ = X.mean(axis=0)

    def _transform(self, X: Floats) -> Floats:
        level = self.reference_.mean()
        reference = self.reference_ - level
        centered = X - X.mean(axis=1, keepdims=True)
        slope = (centered @ reference / max(float(reference @ reference), np.finfo(float).tiny))[:, None]
        return level + np.divide(centered, slope, out=np.zeros_like(X), where=slope != 0)


class SavitzkyGolay(_SpectrumTransformer):
    """Savitzky-Golay filter: smooth spectra, or their derivatives, by local polynomials.

    Parameters
    ----------
    window_length : int, default=11
        Number of neighboring points to which a polynomial is fitted; odd, and at most the number of features.
    polyorder : int, default=2
        Degree of the polynomial; less than `window_length`.
    deriv : int, default=0
        Order of the derivative; 0 smooths only.

    References
    ----------
    Savitzky, A. and Golay, M. J. E. (1964). Smoothing and differentiation of data by simplified least squares
    procedures. Analytical Chemistry 36, 1627-1639.

    Examples
    --------
    >>> from transvariation.preprocessing import SavitzkyGolay
    >>> SavitzkyGolay(3, 2, deriv=1).fit_transform([[0.0, 1.0, 4.0, 9.0]]).round(9)
    array([[0., 2., 4., 6.]])
    """

    def __init__(self, window_length: int = 11, polyorder: int = 2, deriv: int = 0):
        self.window_length = window_length
        self.polyorder = polyorder
        self.deriv = deriv

    def _learn(self, X: Floats) -> None:
        if self.window_length % 2 == 0 or not 0 <= self.polyorder < self.window_length:
            raise ValueError(
                f"window_length={self.window_length} must be odd and greater than polyorder={self.polyorder}, such as "
                "window_length=11, polyorder=2"
            )
        if not 0 <= self.deriv <= self.polyorder:
            raise ValueError(f"deriv={self.deriv} must lie between 0 and polyorder={self.polyorder}")
        if self.window_length > X.shape[1]:
            raise ValueError(
                f"window_length={self.window_length} exceeds the {X.shape[1]} features of X; use an odd number up to "
                "that, or leave the filter out"
            )

    def _transform(self, X: Floats) -> Floats:
        return savgol_filter(X, self.window_length, self.polyorder, deriv=self.deriv, axis=1)


def make_preprocessing(steps: str) -> Pipeline:
    """Build a preprocessing pipeline from a short description, as ``--preprocess`` of the command line takes it.

    Parameters
    ----------
    steps : str
        Steps separated by commas, applied from left to right: ``snv``, ``msc``, ``sg`` (smoothing), ``sg1`` and
        ``sg2`` (first and second derivative). The filters take a window length and a polynomial degree:
        ``sg1:15:2``; the default is ``:11:2``.

    Returns
    -------
    Pipeline
        Its steps are named like the parts of the description.

    Examples
    --------
    >>> from transvariation.preprocessing import make_preprocessing
    >>> make_preprocessing("snv,sg1:15")
    Pipeline(steps=[('snv', SNV()),
                    ('sg1:15', SavitzkyGolay(deriv=1, window_length=15))])
    """
    names = [name.strip().lower() for name in steps.split(",")]
    if len(set(names)) < len(names):
        raise ValueError(f"preprocessing {steps!r} names a step twice; give each step once")
    return Pipeline([(name, _step(name)) for name in names])


def _step(name: str) -> _SpectrumTransformer:
    kind, *numbers = name.split(":")
    if kind in ("snv", "msc") and not numbers:
        return SNV() if kind == "snv" else MSC()
    if kind in ("sg", "sg0", "sg1", "sg2") and len(numbers) <= 2 and all(number.isdecimal() for number in numbers):
        window, degree = [*map(int, numbers), *(11, 2)[len(numbers) :]]
        return SavitzkyGolay(window, degree, int(kind[2:] or 0))
    raise ValueError(
        f"unknown preprocessing step {name!r}; the steps are snv, msc, sg, sg1 and sg2, the last three with a "
        "window length and a polynomial degree if needed, such as sg1:15:2"
    )
