"""Scatter correction: level, slope and smooth background of each spectrum."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Floats
from transvariation.preprocessing.base import SpectrumTransformer


class SNV(SpectrumTransformer):
    """Standard normal variate: center each spectrum and divide it by its standard deviation.

    A constant spectrum becomes 0 everywhere.

    See Also
    --------
    transvariation.preprocessing.MSC : Relative to a mean spectrum.

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


class MSC(SpectrumTransformer):
    """Multiplicative scatter correction: remove the offset and slope of each spectrum against the mean spectrum.

    Each spectrum x is regressed on the mean training spectrum m, x = a + b m, and becomes (x - a) / b. A spectrum that
    is uncorrelated with m (b = 0) becomes the mean of m everywhere.

    Attributes
    ----------
    reference_ : ndarray of shape (n_features,)
        The mean training spectrum.

    See Also
    --------
    transvariation.preprocessing.EMSC : With a polynomial.
    transvariation.preprocessing.SNV : Each spectrum by itself.

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

    learns = True

    def _learn(self, X: Floats) -> None:
        self.reference_ = X.mean(axis=0)

    def _transform(self, X: Floats) -> Floats:
        level = self.reference_.mean()
        reference = self.reference_ - level
        centered = X - X.mean(axis=1, keepdims=True)
        slope = (centered @ reference / max(float(reference @ reference), np.finfo(float).tiny))[:, None]
        return level + np.divide(centered, slope, out=np.zeros_like(X), where=slope != 0)


class EMSC(SpectrumTransformer):
    """Extended multiplicative scatter correction: remove a polynomial background as well.

    Each spectrum x is regressed on the mean training spectrum m and polynomials of the position,
    x = b m + c0 + c1 t + ... + e, and becomes m + e / b. A spectrum with b = 0 becomes m.

    Parameters
    ----------
    degree : int, default=2
        Degree of the polynomial; 0 is :class:`MSC`.
    axis : array-like of shape (n_features,), optional
        Positions of the features; by default the numbers in their names, or 0, 1, 2, ...

    Attributes
    ----------
    reference_ : ndarray of shape (n_features,)
        The mean training spectrum.

    See Also
    --------
    transvariation.preprocessing.MSC : Without a polynomial.
    transvariation.preprocessing.SNV : Each spectrum by itself.

    References
    ----------
    Martens, H. and Stark, E. (1991). Extended multiplicative signal correction and spectral interference subtraction.
    Journal of Pharmaceutical and Biomedical Analysis 9, 625-635.

    Afseth, N. K. and Kohler, A. (2012). Extended multiplicative signal correction in vibrational spectroscopy, a
    tutorial. Chemometrics and Intelligent Laboratory Systems 117, 92-99.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing import EMSC
    >>> t = np.linspace(-1, 1, 50)
    >>> peak = np.exp(-((t / 0.2) ** 2))
    >>> emsc = EMSC().fit([peak])
    >>> bool(np.allclose(emsc.transform([3 * peak + 1 + t + t**2]), peak))
    True
    """

    learns = True

    def __init__(self, degree: int = 2, axis: ArrayLike | None = None):
        self.degree = degree
        self.axis = axis

    def _learn(self, X: Floats) -> None:
        self._basis = polynomial_basis(self._positions(self.axis), self.degree)
        self.reference_ = X.mean(axis=0)

    def _transform(self, X: Floats) -> Floats:
        # Regression in two steps: both sides without their polynomials, then on the reference.
        reference = self.reference_ - self.reference_ @ self._basis.T @ self._basis
        rest = X - X @ self._basis.T @ self._basis
        slope = (rest @ reference / max(float(reference @ reference), np.finfo(float).tiny))[:, None]
        residual = rest - slope * reference
        return self.reference_ + np.divide(residual, slope, out=np.zeros_like(X), where=slope != 0)


def polynomial_basis(positions: Floats, degree: int) -> Floats:
    """Compute orthonormal polynomials on the positions, one per row.

    Parameters
    ----------
    positions : ndarray of shape (n_features,)
    degree : int

    Returns
    -------
    ndarray of shape (degree + 1, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.preprocessing.scatter import polynomial_basis
    >>> basis = polynomial_basis(np.arange(6.0), 2)
    >>> bool(np.allclose(basis @ basis.T, np.eye(3)))
    True
    """
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or not 0 <= degree < len(positions):
        raise ValueError(f"degree={degree!r} must be a whole number from 0 to {len(positions) - 1}, such as 2")
    low, high = positions.min(), positions.max()
    t = np.zeros_like(positions) if high == low else 2 * (positions - low) / (high - low) - 1
    return np.linalg.qr(np.polynomial.legendre.legvander(t, degree))[0].T
