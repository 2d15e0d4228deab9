"""The true sensitivity of a classifier over the nominal one: bounded for all thresholds at once, or measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from transvariation._typing import Floats
from transvariation.conformal import group_weights, is_accepted
from transvariation.conformal_calibration import ConformalCalibration
from transvariation.displays.axes import Display, legend
from transvariation.report.figure_style import DARK, GRAY, REGION, THRESHOLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CalibrationDisplay(Display):
    """Draw the true sensitivity over the nominal one: what a calibration promises, or what new samples show.

    The *sensitivity* is the share of new target samples that are accepted. The band holds for all thresholds at once
    with the stated confidence, so that the threshold may be chosen in the figure. It is exact for split calibration,
    and approximate for others, as :class:`transvariation.CoverageReport` says. With new target samples, the share that
    is accepted at each level is drawn instead; several classifiers fit into one figure (``ax=``).

    Parameters
    ----------
    nominal, lower, upper : arrays of shape (k,)
        Nominal sensitivities, and the band of the true sensitivity; both ends are the share accepted, if measured.
    confidence : float, optional
        The confidence of the band; None if the share was measured.
    sensitivity : float, optional
        The nominal sensitivity in force.
    n, unit : int, str
        How many samples or groups calibrate.
    name : str, optional
        The name of the classifier whose share was measured.

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
    >>> rng = np.random.default_rng(0)
    >>> classifier = NeighborTOCC().fit(rng.normal(size=(200, 3)))
    >>> display = CalibrationDisplay.from_estimator(classifier)
    >>> display.ax_.get_xlabel()
    'nominal sensitivity'

    The same with 500 new samples of the class:

    >>> new = np.random.default_rng(1).normal(size=(500, 3))
    >>> display = CalibrationDisplay.from_estimator(classifier, new)
    >>> at = np.argmin(abs(display.nominal - 0.9))
    >>> print(f"{display.lower[at]:.2f} accepted at a nominal 0.9")
    0.89 accepted at a nominal 0.9
    """

    def __init__(
        self,
        nominal: Floats,
        lower: Floats,
        upper: Floats,
        *,
        confidence: float | None,
        sensitivity: float | None = None,
        n: int = 0,
        unit: str = "samples",
        name: str | None = None,
    ):
        self.nominal, self.lower, self.upper = nominal, lower, upper
        self.confidence, self.sensitivity, self.n, self.unit = confidence, sensitivity, n, unit
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike | None = None,
        *,
        name: str | None = None,
        confidence: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the band of a fitted classifier, or the share of new target samples that it accepts.

        Parameters
        ----------
        estimator : one-class classifier
            Fitted; for the band, with one threshold and a calibration other than ``"resubstitution"``.
        X : array-like of shape (n_samples, n_features), optional
            New target samples, whose accepted share is drawn instead of the band.
        name : str, optional
            How the legend calls the classifier; by default by its class.
        confidence : float in (0, 1), default=0.95
            The confidence of the band.
        ax : matplotlib Axes, optional

        Returns
        -------
        CalibrationDisplay
        """
        check_is_fitted(estimator)
        if X is not None:
            return cls.from_p_values(estimator.p_values(X), name=name or type(estimator).__name__, ax=ax)
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
    def from_p_values(cls, p_values: ArrayLike, *, name: str | None = None, ax: Axes | None = None) -> Self:
        """Draw the share of new target samples that is accepted at each nominal sensitivity.

        Parameters
        ----------
        p_values : array-like of shape (n_samples,)
            p-values of new target samples; of several classifiers of one kind, all of them together.
        name : str, optional
            How the legend calls the classifier.
        ax : matplotlib Axes, optional

        Returns
        -------
        CalibrationDisplay
        """
        p = np.ravel(np.asarray(p_values, dtype=float))
        nominal = np.linspace(0.5, 0.99, 50)
        accepted = np.array([np.mean(is_accepted(p, level)) for level in nominal])
        return cls(nominal, accepted, accepted, confidence=None, n=len(p), name=name).plot(ax)

    @classmethod
    def _from_calibration(
        cls, calibration: ConformalCalibration, confidence: float, sensitivity: float | None, ax: Axes | None
    ) -> Self:
        _, nominal, lower, upper = calibration.sensitivity_band(confidence)
        n = round(float(calibration.sizes.sum()))
        display = cls(nominal, lower, upper, confidence=confidence, sensitivity=sensitivity, n=n, unit=calibration.unit)
        return display.plot(ax)

    def _draw(self, ax: Axes) -> None:
        if not ax.lines:  # the first classifier in these axes
            ax.plot([0, 1], [0, 1], color=GRAY, linewidth=1, linestyle=":", label="nominal = true")
        ax.set(xlim=(0.5, 1), xlabel="nominal sensitivity")
        if self.confidence is None:
            ax.plot(self.nominal, self.lower, linewidth=1.6, label=self.name)
            lowest = min(np.min(line.get_ydata()) for line in ax.lines[1:])
            ax.set(ylim=(lowest, 1), ylabel="share of new samples accepted")
            ax.legend(loc="lower right")
            return
        label = f"{100 * self.confidence:g}% band of the true sensitivity ({self.n} {self.unit})"
        ax.fill_between(self.nominal, self.lower, self.upper, color=REGION, linewidth=0, label=label)
        ax.plot(self.nominal, self.lower, color=DARK, linewidth=1.2)
        if self.sensitivity is not None:
            ax.axvline(self.sensitivity, label=f"in force: {self.sensitivity:.3g}", **THRESHOLD)
        lowest = max(0.0, float(np.interp(0.5, self.nominal[::-1], self.lower[::-1])))
        ax.set(ylim=(lowest, 1), ylabel="true sensitivity")
        legend(ax)
