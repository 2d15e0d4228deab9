"""The p-values of a batch in order, with the samples that are declared foreign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from transvariation.conformal import check_p_values
from transvariation.conformal_calibration import ConformalCalibration
from transvariation.displays.axes import Display, legend
from transvariation.false_discoveries import benjamini_hochberg, false_discovery_bound
from transvariation.report.figure_style import FOREIGN, KNOWN, THRESHOLD

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PValueDisplay(Display):
    """Draw the p-values of a batch in increasing order, and the line of Benjamini and Hochberg.

    Samples up to the last p-value below the line are declared foreign. The legend states how many of them are targets
    at most, with a confidence: :func:`transvariation.false_discovery_bound`, from the joint distribution of p-values if
    the `calibration` has one threshold and no groups, otherwise by Simes' test, which gives a higher bound.

    Parameters
    ----------
    p_values : array of shape (q,)
        The p-values of the batch.
    level : float in (0, 1)
        The false discovery rate.
    confidence : float in (0, 1)
        The confidence of the bound.
    calibration : ConformalCalibration, optional
        The calibration behind the p-values; an estimator brings its own.

    Attributes
    ----------
    selected : ndarray of bool of shape (q,)
        Which samples are declared foreign.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.benjamini_hochberg : The line that is drawn.
    transvariation.displays.AcceptanceDisplay : P-values of groups.

    Examples
    --------
    >>> from transvariation.displays import PValueDisplay
    >>> display = PValueDisplay.from_predictions([0.001, 0.002, 0.3, 0.6, 0.9])
    >>> int(display.selected.sum())
    2
    """

    def __init__(
        self,
        p_values: ArrayLike,
        *,
        level: float = 0.1,
        confidence: float = 0.95,
        calibration: ConformalCalibration | None = None,
    ):
        self.p_values, self.level, self.confidence = check_p_values(p_values), level, confidence
        self.selected = benjamini_hochberg(self.p_values, level, calibration=calibration)
        self.at_most_false = false_discovery_bound(self.p_values, self.selected, confidence, calibration=calibration)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        *,
        level: float = 0.1,
        confidence: float = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the p-values that a fitted classifier gives to a batch.

        Parameters
        ----------
        estimator : one-class classifier
            Fitted.
        X : array-like of shape (n_samples, n_features)
            The batch.
        level : float in (0, 1), default=0.1
            The false discovery rate.
        confidence : float in (0, 1), default=0.95
            The confidence of the bound in the legend.
        ax : matplotlib Axes, optional

        Returns
        -------
        PValueDisplay
        """
        calibration = estimator.calibration_
        return cls(estimator.p_values(X), level=level, confidence=confidence, calibration=calibration).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        p_values: ArrayLike,
        *,
        level: float = 0.1,
        confidence: float = 0.95,
        calibration: ConformalCalibration | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw p-values.

        Parameters
        ----------
        p_values : array-like of shape (q,)
            The p-values of the batch.
        level : float in (0, 1), default=0.1
            The false discovery rate.
        confidence : float in (0, 1), default=0.95
            The confidence of the bound in the legend.
        calibration : ConformalCalibration, optional
            The calibration behind the p-values, for a lower bound.
        ax : matplotlib Axes, optional

        Returns
        -------
        PValueDisplay
        """
        return cls(p_values, level=level, confidence=confidence, calibration=calibration).plot(ax)

    def _draw(self, ax: Axes) -> None:
        order, q = np.argsort(self.p_values, kind="stable"), len(self.p_values)
        ranks, declared, n = np.arange(1, q + 1), self.selected[order], int(self.selected.sum())
        label = f"declared foreign: {n}, of which at most {self.at_most_false} false ({100 * self.confidence:g}%)"
        ax.scatter(ranks[declared], self.p_values[order][declared], label=label, **FOREIGN)
        ax.scatter(ranks[~declared], self.p_values[order][~declared], label=f"not declared: {q - n}", **KNOWN)
        ax.plot(ranks, self.level * ranks / q, label=f"false discovery rate {self.level:g}", **THRESHOLD)
        ax.set(yscale="log", xlabel="samples of the batch, in order", ylabel="p-value")
        legend(ax)
