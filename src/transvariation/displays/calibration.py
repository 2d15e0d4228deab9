"""The true sensitivity of a classifier, bounded for all thresholds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from transvariation._typing import Floats
from transvariation.conformal import group_weights
from transvariation.conformal_calibration import ConformalCalibration
from transvariation.displays.axes import given_or_new, legend, styled
from transvariation.report.figure_style import DARK, GREY, REGION, THRESHOLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class CalibrationDisplay:
    """Draw what a calibration promises: bounds of the true sensitivity over the nominal one.

    The *sensitivity* is the share of new target samples that are accepted. The band holds for all thresholds at once
    with the stated confidence, so that the threshold may be chosen in the figure. It is exact for split calibration,
    and approximate for others, as :class:`transvariation.CoverageReport` says.

    Parameters
    ----------
    nominal, lower, upper : arrays of shape (k,)
        Nominal sensitivities, and the band of the true sensitivity.
    confidence : float
        The confidence of the band.
    sensitivity : float, optional
        The nominal sensitivity in force.
    n, unit : int, str
        How many samples or groups calibrate.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.displays.PValueDisplay : The p-values of a batch.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import NeighborTOCC
    >>> from transvariation.displays import CalibrationDisplay
    >>> classifier = NeighborTOCC().fit(np.random.default_rng(0).normal(size=(200, 3)))
    >>> display = CalibrationDisplay.from_estimator(classifier, confidence=0.95)
    >>> display.ax_.get_xlabel()
    'nominal sensitivity'
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        nominal: Floats,
        lower: Floats,
        upper: Floats,
        *,
        confidence: float,
        sensitivity: float | None = None,
        n: int = 0,
        unit: str = "samples",
    ):
        self.nominal, self.lower, self.upper = nominal, lower, upper
        self.confidence, self.sensitivity, self.n, self.unit = confidence, sensitivity, n, unit

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, *, confidence: float = 0.95, ax: Axes | None = None) -> Self:
        """Draw the band of a fitted classifier.

        Parameters
        ----------
        estimator : one-class classifier
            Fitted, with one threshold and a calibration other than ``"resubstitution"``.
        confidence : float in (0, 1), default=0.95
            The confidence of the band.
        ax : matplotlib Axes, optional

        Returns
        -------
        CalibrationDisplay
        """
        check_is_fitted(estimator)
        report = estimator.coverage_report(confidence)
        sensitivity = report.sensitivity if isinstance(report.sensitivity, float) else None
        return cls._from_calibration(estimator._calibration, confidence, sensitivity, ax)

    @classmethod
    def from_predictions(
        cls, scores: ArrayLike, *, groups: ArrayLike | None = None, confidence: float = 0.95, ax: Axes | None = None
    ) -> Self:
        """Draw the band from scores of calibration samples.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores of target samples that the classifier was not fitted to.
        groups : array-like of shape (n,), optional
            The item that each sample is a replicate of.
        confidence : float in (0, 1), default=0.95
            The confidence of the band.
        ax : matplotlib Axes, optional

        Returns
        -------
        CalibrationDisplay
        """
        weights = None if groups is None else group_weights(groups)
        return cls._from_calibration(ConformalCalibration(scores, weights=weights), confidence, None, ax)  # type: ignore[arg-type]

    @classmethod
    def _from_calibration(
        cls, calibration: ConformalCalibration, confidence: float, sensitivity: float | None, ax: Axes | None
    ) -> Self:
        _, nominal, lower, upper = calibration.sensitivity_band(confidence)
        n = round(float(calibration.sizes.sum()))
        display = cls(nominal, lower, upper, confidence=confidence, sensitivity=sensitivity, n=n, unit=calibration.unit)
        return display.plot(ax)

    @styled
    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the band.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        CalibrationDisplay
        """
        self.ax_ = ax = given_or_new(ax)
        self.figure_ = ax.figure
        label = f"{100 * self.confidence:g}% band of the true sensitivity ({self.n} {self.unit})"
        ax.fill_between(self.nominal, self.lower, self.upper, color=REGION, linewidth=0, label=label)
        ax.plot(self.nominal, self.lower, color=DARK, linewidth=1.2)
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":", label="nominal = true")
        if self.sensitivity is not None:
            ax.axvline(self.sensitivity, label=f"in force: {self.sensitivity:.3g}", **THRESHOLD)
        ax.set(xlim=(0.5, 1), ylim=(max(0.0, float(np.interp(0.5, self.nominal[::-1], self.lower[::-1]))), 1))
        ax.set(xlabel="nominal sensitivity", ylabel="true sensitivity")
        legend(ax)
        return self
