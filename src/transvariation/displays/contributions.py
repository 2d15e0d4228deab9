"""The features behind a rejection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from transvariation.displays.axes import Display
from transvariation.report.figure_style import DARK, GRAY, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_FEATURES = 15


class ContributionDisplay(Display):
    """Draw what each feature contributes to the distance of samples from the known ones.

    For one sample, bars: a feature that rejects the sample by itself is red. For several, one dot per sample and
    feature. Where a classifier computes no contributions, the bars are ``-log10`` of the p-value of each feature on its
    own.

    Parameters
    ----------
    table : DataFrame
        The table that ``classifier.explain(X)`` returns.
    n_features : int, default=15
        How many features are drawn at most, those with the largest contributions.

    Attributes
    ----------
    features : list of str
        The features that are drawn, the largest contribution first.
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    AcceptanceDisplay : The p-values of groups of samples.
    transvariation.explain_rejections : The smallest changes that would lead to acceptance.

    Examples
    --------
    >>> from transvariation import NeighborTOCC, load_glass
    >>> from transvariation.displays import ContributionDisplay
    >>> glass = load_glass()
    >>> model = NeighborTOCC().fit(glass.control)
    >>> display = ContributionDisplay.from_estimator(model, glass.recovered[:1])
    >>> display.features[0]
    'Ba'
    """

    def __init__(self, table: pd.DataFrame, *, n_features: int = _MOST_FEATURES):
        self.table, self.n_features = table, n_features
        if "contribution" in table:
            self.label, values = "share of the distance to the nearest known samples", table["contribution"]
        else:
            self.label, values = "-log10 p-value of the feature alone", -np.log10(table["p_value"])
        self.values = table.assign(drawn=values).pivot(index="feature", columns="sample", values="drawn")
        strongest = self.values.max(axis=1).sort_values(ascending=False, kind="stable")
        self.features = [str(name) for name in strongest.index[:n_features]]
        self._height = 1.2 + 0.28 * len(self.features)

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, X: ArrayLike, *, n_features: int = _MOST_FEATURES, ax: Axes | None = None
    ) -> Self:
        """Explain samples by a fitted classifier and draw the contributions.

        Parameters
        ----------
        estimator : one-class classifier
            Fitted, with a method `explain`.
        X : array-like of shape (n_samples, n_features)
            One sample or several.
        n_features : int, default=15
            How many features are drawn at most.
        ax : matplotlib Axes, optional

        Returns
        -------
        ContributionDisplay
        """
        return cls(estimator.explain(X), n_features=n_features).plot(ax)

    @classmethod
    def from_predictions(cls, table: pd.DataFrame, *, n_features: int = _MOST_FEATURES, ax: Axes | None = None) -> Self:
        """Draw the contributions of a table of explanations.

        Parameters
        ----------
        table : DataFrame
            The table that ``classifier.explain(X)`` returned.
        n_features : int, default=15
            How many features are drawn at most.
        ax : matplotlib Axes, optional

        Returns
        -------
        ContributionDisplay
        """
        return cls(table, n_features=n_features).plot(ax)

    def _draw(self, ax: Axes) -> None:
        alone = self.table.pivot(index="feature", columns="sample", values="univariate_rejection")
        values, places = self.values.loc[self.features], -np.arange(len(self.features))
        rejects = alone.loc[self.features].to_numpy(dtype=bool)
        if values.shape[1] == 1:
            for mask, color, label in ((rejects[:, 0], RED, "rejects by itself"), (~rejects[:, 0], DARK, "does not")):
                if mask.any():
                    ax.barh(places[mask], values.to_numpy()[mask, 0], color=color, height=0.7, label=label)
            ax.set_title(f"sample {values.columns[0]}", fontsize=10)
        else:
            shift = np.random.default_rng(0).uniform(-0.2, 0.2, values.shape)
            for mask, color, label in ((rejects, RED, "rejects by itself"), (~rejects, GRAY, "does not")):
                if mask.any():
                    y = (places[:, None] + shift)[mask]
                    ax.scatter(values.to_numpy()[mask], y, s=14, color=color, alpha=0.6, linewidth=0, label=label)
        ax.set_yticks(places, self.features)
        ax.tick_params(axis="y", length=0)
        ax.set(xlabel=self.label, xlim=(0, None))
        ax.legend(loc="lower right")
