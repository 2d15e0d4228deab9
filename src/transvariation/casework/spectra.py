"""Control spectra of a case, their band, and the regions in which a recovered fragment leaves it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from transvariation.spectral_bands import SpectralBand, spectral_band

MIN_SPECTRA = 3  # control fragments that a band needs


@dataclass(frozen=True, kw_only=True)
class Region:
    """An interval of a spectrum in which a recovered fragment leaves the band of the control.

    Attributes
    ----------
    low, high : float
        The ends of the interval.
    peak : float
        Where the deviation is largest.
    deviation : float
        Deviation there from the control mean, in control standard deviations; negative = below.
    """

    low: float
    high: float
    peak: float
    deviation: float

    def __str__(self) -> str:
        return f"{self.low:g}" if self.low == self.high else f"{self.low:g}–{self.high:g}"


@dataclass(frozen=True)
class Spectra:
    """The control spectra, as they are shown and explained.

    Attributes
    ----------
    axis : tuple of float
        Wavelengths, wavenumbers or shifts, from the names of the variables.
    preprocess : str or None
        The preprocessing of what is shown: that of the model without derivatives.
    known : tuple of tuple of float
        The mean spectrum of each control fragment.
    whole : bool
        Whether the classifier uses all positions. If a reduction selects some, regions of the others are no evidence.
    """

    axis: tuple[float, ...]
    preprocess: str | None
    known: tuple[tuple[float, ...], ...]
    whole: bool = True

    @cached_property
    def _band(self) -> SpectralBand:
        return spectral_band(np.array(self.known))

    def band(self, sensitivity: float) -> SpectralBand:
        """Return the band that holds a share `sensitivity` of spectra, or as large a share as the control supports."""
        n = len(self.known)
        return replace(self._band, sensitivity=min(sensitivity, n / (n + 1)))

    def regions(self, spectrum: Sequence[float], sensitivity: float) -> tuple[Region, ...] | None:
        """Find the regions in which a spectrum leaves the band, the largest deviation first."""
        if not self.whole or len(self.known) < MIN_SPECTRA:
            return None
        found = self.band(sensitivity).intervals(spectrum, gap=len(self.axis) // 100)
        return tuple(
            Region(
                low=min(self.axis[i.first], self.axis[i.last]),
                high=max(self.axis[i.first], self.axis[i.last]),
                peak=self.axis[i.peak],
                deviation=round(i.deviation, 3),
            )
            for i in found
        )
