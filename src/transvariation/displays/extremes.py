"""Extreme samples and aliens: how many there are, and how many are expected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from transvariation.displays.axes import Display
from transvariation.metrics import count_extremes
from transvariation.report.figure_style import DARK, REGION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from transvariation.baselines.strangers import Strangers


class ExtremesDisplay(Display):
    """Draw the observed against the expected number of extreme samples or aliens, with the 95% tolerance.

    Of n target samples, i should have a p-value of at most i / n. Points outside the tolerance show that the limits of
    the classifier do not hold for these samples.

    Parameters
    ----------
    expected, observed : array-like of shape (n,)
        The numbers at each level.
    tolerance : tuple of three array-likes
        Expected numbers, and the lower and upper limit of the observed number at each of them.
    name : str, default="extremes"
        What is counted.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.metrics.count_extremes : The numbers that are drawn.
    AcceptanceDisplay : The p-values of groups of samples.

    Examples
    --------
    >>> from transvariation.displays import ExtremesDisplay
    >>> display = ExtremesDisplay.from_predictions([0.1, 0.5, 0.6, 1.0])
    >>> list(display.observed)
    [1, 2, 3, 4]
    """

    _height = 3.2

    def __init__(
        self,
        expected: ArrayLike,
        observed: ArrayLike,
        tolerance: tuple[ArrayLike, ArrayLike, ArrayLike],
        *,
        name: str = "extremes",
    ):
        self.expected, self.observed, self.tolerance, self.name = expected, observed, tolerance, name

    @classmethod
    def from_estimator(cls, estimator: BaseEstimator, X: ArrayLike, *, ax: Axes | None = None) -> Self:
        """Count the extreme ones among new target samples.

        Parameters
        ----------
        estimator : one-class classifier
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Target samples that the classifier was not fitted to.
        ax : matplotlib Axes, optional

        Returns
        -------
        ExtremesDisplay
        """
        return cls.from_predictions(estimator.p_values(X), ax=ax)

    @classmethod
    def from_predictions(cls, p_values: ArrayLike, *, ax: Axes | None = None) -> Self:
        """Count the extreme ones among target samples by their p-values.

        Parameters
        ----------
        p_values : array-like of shape (n_samples,)
            Of target samples.
        ax : matplotlib Axes, optional

        Returns
        -------
        ExtremesDisplay
        """
        table = count_extremes(p_values)
        tolerance = table["expected"], table["low"], table["high"]
        return cls(table["expected"], table["observed"], tolerance).plot(ax)

    @classmethod
    def from_strangers(cls, strangers: Strangers, *, ax: Axes | None = None) -> Self:
        """Count the aliens of a DD-SIMCA model by their full distances.

        Parameters
        ----------
        strangers : Strangers
            See :func:`transvariation.baselines.describe_strangers`.
        ax : matplotlib Axes, optional

        Returns
        -------
        ExtremesDisplay
        """
        full = np.sort(strangers.full_distances[strangers.alien])
        x = np.linspace(0, len(full), 100)
        spread = 2 * np.sqrt(x * (1 - x / len(full)))
        expected, observed = len(full) * strangers.share_within(full), np.arange(1, len(full) + 1)
        return cls(expected, observed, (x, x - spread, x + spread), name="aliens").plot(ax)

    def _draw(self, ax: Axes) -> None:
        n = np.size(self.expected)
        ax.fill_between(*self.tolerance, color=REGION, label="95% tolerance")
        ax.plot([0, n], [0, n], color="0.5", linestyle="--", linewidth=1)
        ax.plot(self.expected, self.observed, "o", color=DARK, markersize=4, label="observed")
        ax.set(xlabel=f"expected number of {self.name}", ylabel=f"observed number of {self.name}")
        ax.legend()
