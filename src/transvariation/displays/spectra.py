"""A spectrum over the band of the known spectra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from transvariation._typing import Floats
from transvariation.displays.axes import Display, legend
from transvariation.report.figure_style import DARK, PLAIN, RED
from transvariation.spectral_bands import spectral_band

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from transvariation.spectral_bands import SpectralBand

_MOST_POSITIONS = 600  # of a spectrum that are drawn


class SpectrumDisplay(Display):
    """Draw a spectrum over the band of the known spectra, and shade the intervals in which it leaves the band.

    Parameters
    ----------
    band : SpectralBand
        See :func:`transvariation.spectral_bands.spectral_band`.
    spectrum : array-like of shape (n_features,)
        Preprocessed as the spectra of the band.
    axis : array-like of shape (n_features,), optional
        Wavelengths or wavenumbers; by default the positions 0, 1, ...
    gap : int, default=0
        Intervals separated by at most this many positions are joined.
    name : str, default="sample"
        The name of the spectrum, for the title.

    Attributes
    ----------
    intervals : list of Interval
        The intervals that are shaded, that with the largest deviation first.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.spectral_bands.spectral_band : The band.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.displays import SpectrumDisplay
    >>> known = np.random.default_rng(0).normal(size=(30, 100))
    >>> foreign = np.zeros(100)
    >>> foreign[40:45] = 9.0
    >>> display = SpectrumDisplay.from_predictions(known, foreign)
    >>> display.ax_.get_title()
    'sample: 1 foreign interval'
    """

    _height = 2.4

    def __init__(
        self,
        band: SpectralBand,
        spectrum: ArrayLike,
        axis: ArrayLike | None = None,
        *,
        gap: int = 0,
        name: str = "sample",
    ):
        self.band, self.spectrum, self.axis, self.name = band, np.asarray(spectrum, dtype=float), axis, name
        self.intervals = band.intervals(self.spectrum, gap=gap)

    @classmethod
    def from_predictions(
        cls,
        known: ArrayLike,
        spectrum: ArrayLike,
        axis: ArrayLike | None = None,
        *,
        sensitivity: float = 0.9,
        gap: int = 0,
        name: str = "sample",
        ax: Axes | None = None,
    ) -> Self:
        """Compute the band of known spectra and draw a spectrum over it.

        Parameters
        ----------
        known : array-like of shape (n_samples, n_features)
            Known spectra, at least three.
        spectrum : array-like of shape (n_features,)
            The spectrum, preprocessed in the same way.
        axis : array-like of shape (n_features,), optional
            Wavelengths or wavenumbers.
        sensitivity : float in (0, 1), default=0.9
            The share of spectra of the class that stay in the band over their whole length.
        gap : int, default=0
            Intervals separated by at most this many positions are joined.
        name : str, default="sample"
            The name of the spectrum.
        ax : matplotlib Axes, optional

        Returns
        -------
        SpectrumDisplay
        """
        band = spectral_band(known, sensitivity=sensitivity)
        return cls(band, spectrum, axis, gap=gap, name=name).plot(ax)

    def _draw(self, ax: Axes) -> None:
        x, drawn = prepare_positions(ax, len(self.spectrum), self.axis)
        for interval in self.intervals:
            ax.axvspan(x[interval.first], x[interval.last], color=RED, alpha=0.25, linewidth=0.5)
        ax.fill_between(x[drawn], self.band.lower[drawn], self.band.upper[drawn], color="0.75", label="band")
        ax.plot(x[drawn], self.spectrum[drawn], color=DARK, linewidth=0.9, label="sample")
        n = len(self.intervals)
        ax.set_title(f"{self.name}: {n} foreign interval{'' if n == 1 else 's'}", fontsize=10, **PLAIN)
        if ax.figure.axes == [ax]:
            legend(ax, ncols=2)


def prepare_positions(ax: Axes, n: int, axis: ArrayLike | None) -> tuple[Floats, slice]:
    """Label the axis of positions; return them and those that are drawn, so that the file of a figure stays small."""
    x = np.arange(float(n)) if axis is None else np.asarray(axis, dtype=float)
    ax.set_xlabel("position" if axis is None else "wavelength or wavenumber")
    ax.set_xlim(x[0], x[-1])  # wavenumbers fall from left to right if the table's do
    return x, slice(None, None, max(1, n // _MOST_POSITIONS))
