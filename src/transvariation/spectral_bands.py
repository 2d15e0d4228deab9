"""Intervals of a spectrum in which a sample leaves the band of the control samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import uniform_filter1d

from transvariation._typing import Floats
from transvariation.certificate import check_sensitivity
from transvariation.conformal import conformal_threshold
from transvariation.validation import as_rows

__all__ = ["Interval", "SpectralBand", "spectral_band"]


_SCALE_FLOOR = 0.05  # of the median scale: a nearly constant position must not decide


@dataclass(frozen=True)
class Interval:
    """Neighboring positions at which a sample leaves the band.

    Attributes
    ----------
    first, last : int
        Indices of the first and the last position.
    peak : int
        Index of the position with the largest deviation.
    deviation : float
        Deviation there from the control mean, in control standard deviations; negative = below.
    """

    first: int
    last: int
    peak: int
    deviation: float


@dataclass(frozen=True)
class SpectralBand:
    """Simultaneous band of the control spectra, made by :func:`spectral_band`.

    Attributes
    ----------
    center, scale : ndarray of shape (n_features,)
        Mean and smoothed standard deviation of the control spectra at each position.
    largest : ndarray of shape (n_samples,)
        The largest deviation of each control spectrum from the others, in their standard deviations.
    sensitivity : float
        The share of target spectra that stay in the band at every position.
    """

    center: Floats
    scale: Floats
    largest: Floats
    sensitivity: float = 0.9

    @property
    def width(self) -> float:
        """Half width of the band, in standard deviations."""
        return -conformal_threshold(-self.largest, self.sensitivity, held_out=True)

    @property
    def lower(self) -> Floats:
        """Lower edge of the band."""
        return self.center - self.width * self.scale

    @property
    def upper(self) -> Floats:
        """Upper edge of the band."""
        return self.center + self.width * self.scale

    def deviation(self, spectrum: ArrayLike) -> Floats:
        """Compute the deviation of a spectrum from the control mean, in standard deviations.

        Parameters
        ----------
        spectrum : array-like of shape (n_positions,)
            One spectrum, preprocessed as the spectra of the band.
        """
        return (np.asarray(spectrum, dtype=float) - self.center) / self.scale

    def intervals(self, spectrum: ArrayLike, *, gap: int = 0) -> list[Interval]:
        """Find the intervals in which a spectrum leaves the band, the largest deviation first.

        Parameters
        ----------
        spectrum : array-like of shape (n_features,)
            One spectrum, preprocessed as the spectra of the band.
        gap : int, default=0
            Intervals separated by at most this many positions are joined.
        """
        deviation = self.deviation(spectrum)
        outside = np.flatnonzero(np.abs(deviation) > self.width)
        if not len(outside):
            return []
        runs = np.split(outside, np.flatnonzero(np.diff(outside) > gap + 1) + 1)
        peaks = [int(run[np.argmax(np.abs(deviation[run]))]) for run in runs]
        found = [
            Interval(int(run[0]), int(run[-1]), peak, float(deviation[peak]))
            for run, peak in zip(runs, peaks, strict=True)
        ]
        return sorted(found, key=lambda interval: -abs(interval.deviation))


def spectral_band(control: ArrayLike, *, sensitivity: float = 0.9, smooth: int = 9) -> SpectralBand:
    """Compute the band within which a share `sensitivity` of target spectra stays at every position.

    The half width is a conformal quantile of the largest deviation of each control spectrum from the others, in
    their standard deviations.

    Parameters
    ----------
    control : array-like of shape (n_samples, n_features)
        Control spectra, at least three. Spectra after scatter correction show more than their derivatives, whose noise
        widens the band.
    sensitivity : float in (0, 1), default=0.9
        Share of new spectra that the band should contain over their whole length.
    smooth : int, default=9
        Number of neighboring positions over which variances are averaged; 1 for none. Few control spectra
        give poor variances at single positions.

    Returns
    -------
    SpectralBand

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.spectral_bands import spectral_band
    >>> control = np.random.default_rng(0).normal(size=(30, 100))
    >>> foreign = np.zeros(100)
    >>> foreign[40:45] = 9.0
    >>> band = spectral_band(control)
    >>> [(interval.first, interval.last) for interval in band.intervals(foreign)]
    [(40, 44)]
    """
    X = as_rows(control, "control")
    n = len(X)
    if n < 3:
        raise ValueError(f"a band needs at least 3 control spectra; there are {n}")
    center, variance = X.mean(axis=0), X.var(axis=0, ddof=1)
    # Mean and variance without each spectrum, from those with it.
    offset = n / (n - 1) * (X - center)
    without = np.maximum(((n - 1) * variance - (n - 1) / n * offset**2) / (n - 2), 0)
    largest = np.abs(offset / _scale(without, smooth)).max(axis=1)
    return SpectralBand(center, _scale(variance, smooth), largest, check_sensitivity(sensitivity))


def _scale(variance: Floats, smooth: int) -> Floats:
    scale = np.sqrt(uniform_filter1d(variance, smooth, axis=-1, mode="nearest"))
    floor = _SCALE_FLOOR * np.median(scale, axis=-1, keepdims=True)
    return np.maximum(scale, np.maximum(floor, np.finfo(float).tiny))
