"""Type II errors by foreign class or degree of adulteration."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_numeric_dtype
from sklearn.base import BaseEstimator

from transvariation._typing import Fields
from transvariation.displays.axes import Display
from transvariation.metrics import type_ii_error
from transvariation.report.figure_style import CYCLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TypeIIErrorDisplay(Display):
    """Draw the share of foreign samples that are accepted, by foreign class or degree of adulteration.

    Bars are 95% confidence intervals. There is one line or mark for each sensitivity, the share of new target samples
    to accept.

    Parameters
    ----------
    table : DataFrame
        As :func:`transvariation.metrics.type_ii_error` returns it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.metrics.type_ii_error : The numbers that are drawn.

    Examples
    --------
    >>> from transvariation.displays import TypeIIErrorDisplay
    >>> p_values, levels = [0.5, 0.3, 0.02, 0.02], [5, 5, 10, 10]
    >>> display = TypeIIErrorDisplay.from_predictions(p_values, levels)
    >>> display.table["beta"].tolist()
    [1.0, 0.0]
    """

    _height = 3.2

    def __init__(self, table: pd.DataFrame):
        self.table = table

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, X: ArrayLike, levels: ArrayLike | None = None, *, ax: Axes | None = None
    ) -> Self:
        """Draw the type II errors of a fitted classifier.

        Parameters
        ----------
        estimator : one-class classifier
            Fitted.
        X : array-like of shape (n_samples, n_features)
            Foreign samples.
        levels : array-like of shape (n_samples,), optional
            The class of each sample, or its degree of adulteration.
        ax : matplotlib Axes, optional

        Returns
        -------
        TypeIIErrorDisplay
        """
        return cls.from_predictions(estimator.p_values(X), levels, sensitivity=estimator.sensitivity, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        p_values: ArrayLike,
        levels: ArrayLike | None = None,
        *,
        sensitivity: float | ArrayLike = 0.9,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the type II errors that follow from p-values.

        Parameters
        ----------
        p_values : array-like of shape (n_samples,)
            Of foreign samples.
        levels : array-like of shape (n_samples,), optional
            The class of each sample, or its degree of adulteration.
        sensitivity : float or array-like, default=0.9
            One or several sensitivities of the classifier.
        ax : matplotlib Axes, optional

        Returns
        -------
        TypeIIErrorDisplay
        """
        return cls(type_ii_error(p_values, levels, sensitivity=sensitivity)).plot(ax)

    def _draw(self, ax: Axes) -> None:
        numeric = is_numeric_dtype(self.table["level"])
        looks = cycle(zip("os^Dv", CYCLE, strict=False))
        for (mark, color), (sensitivity, rows) in zip(looks, self.table.groupby("sensitivity"), strict=False):
            x = rows["level"].to_numpy() if numeric else np.arange(len(rows))
            errors = np.maximum([rows["beta"] - rows["low"], rows["high"] - rows["beta"]], 0)
            style: Fields = {"marker": mark, "color": color, "capsize": 3, "linestyle": "-" if numeric else "none"}
            ax.errorbar(x, rows["beta"], errors, label=f"sensitivity {sensitivity:.2g}", **style)
            if not numeric:
                ax.set_xticks(x, rows["level"])
        words = "level of adulteration" if numeric else "foreign class"
        ax.set(xlabel=words, ylabel="type II error, beta", ylim=(-0.03, 1.03))
        ax.legend()
