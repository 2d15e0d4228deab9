"""The acceptance plot of DD-SIMCA."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from transvariation._typing import Fields
from transvariation.displays.axes import Display, legend
from transvariation.report.figure_style import DARK, GRAY, GREEN, PLAIN, RED, SKY, WARM

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from transvariation.baselines import DDSIMCA


class DistanceDisplay(Display):
    """Draw the score and orthogonal distances of DD-SIMCA, with its limits: the classic acceptance plot.

    Samples of the target class are circles, samples of other classes crosses.

    Parameters
    ----------
    groups : sequence of (name, distances, member, labels)
        Groups of samples: their score and orthogonal distances, whether they are of the target class, and a label for
        each sample, empty for none.
    degrees_of_freedom : array-like of shape (2,)
        Of the score and the orthogonal distance.
    limits : pair of float
        The full distances of the acceptance limit and of the outlier limit.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.baselines.DDSIMCA : The model.
    ExtremesDisplay : Extreme samples and aliens, observed and expected.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation.baselines import DDSIMCA
    >>> from transvariation.displays import DistanceDisplay
    >>> rng = np.random.default_rng(0)
    >>> known, others = rng.normal(size=(60, 5)), rng.normal(4, 1, size=(20, 5))
    >>> model = DDSIMCA(2).fit(known)
    >>> groups = {"known": known}, {"others": others}
    >>> display = DistanceDisplay.from_estimator(model, *groups)
    >>> display.ax_.get_xlabel()
    'score distance, log(1 + h/h0)'
    """

    _height = 4.4

    def __init__(
        self,
        groups: Sequence[tuple[str, ArrayLike, bool, Sequence[str]]],
        *,
        degrees_of_freedom: ArrayLike,
        limits: tuple[float, float],
    ):
        self.groups, self.degrees_of_freedom, self.limits = groups, np.asarray(degrees_of_freedom), limits

    @classmethod
    def from_estimator(
        cls,
        model: DDSIMCA,
        members: Mapping[str, ArrayLike],
        strangers: Mapping[str, ArrayLike] | None = None,
        *,
        labels: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the distances of groups of samples to a fitted model.

        Parameters
        ----------
        model : DDSIMCA
            The fitted model.
        members : mapping of name to array-like
            Groups of samples of the target class, known and new.
        strangers : mapping of name to array-like, optional
            Groups of samples of other classes.
        labels : bool, default=True
            Whether members that are rejected and strangers that are accepted are labeled, by the index of a DataFrame
            or the row number.
        ax : matplotlib Axes, optional

        Returns
        -------
        DistanceDisplay
        """
        groups = []
        for given, member in ((members, True), (strangers or {}, False)):
            for name, X in given.items():
                distances, wrong = model.distances(X), (model.predict(X) == 1) != member
                names = X.index if isinstance(X, pd.DataFrame) else range(len(distances))
                texts = [str(text) if bad and labels else "" for text, bad in zip(names, wrong, strict=True)]
                groups.append((name, distances, member, texts))
        how = {"degrees_of_freedom": model.degrees_of_freedom_, "limits": model.critical_distances()}
        return cls(groups, **how).plot(ax)

    def _draw(self, ax: Axes) -> None:
        n_h, n_v = self.degrees_of_freedom
        for full, style, label in zip(self.limits, ("-", ":"), ("acceptance limit", "outlier limit"), strict=True):
            h = np.linspace(0, full / n_h, 200) if n_h else np.zeros(2)
            ax.plot(np.log1p(h), np.log1p((full - n_h * h) / n_v), style, color="black", linewidth=1, label=label)
        colors = {True: cycle((DARK, GREEN, SKY)), False: cycle((RED, WARM, GRAY))}
        for name, distances, member, texts in self.groups:
            h, v = np.log1p(np.asarray(distances)).T
            color = next(colors[member])
            look: Fields = {"marker": "o", "facecolor": "white", "edgecolor": color}
            if not member:
                look = {"marker": "x", "color": color}
            ax.scatter(h, v, s=26, linewidth=1, zorder=3, label=name, **look)
            for x, y, text in zip(h, v, texts, strict=True):
                if text:
                    ax.annotate(f" {text}", (x, y), fontsize=8, color=color, **PLAIN)
        ax.set(xlabel="score distance, log(1 + h/h0)", ylabel="orthogonal distance, log(1 + v/v0)")
        ax.set(xlim=(0, None), ylim=(0, None))
        legend(ax, ncols=2)
