"""The p-values of groups of samples: accepted, extreme, outlying."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from transvariation._typing import Fields, Floats
from transvariation.conformal import is_accepted
from transvariation.displays.axes import Display, legend
from transvariation.report.figure_style import DARK, RED, REGION, THRESHOLD, WARM, label_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS: dict[str, Fields] = {  # distinguishable without color, too
    "regular": {"marker": "o", "color": DARK},
    "extreme": {"marker": "^", "color": WARM, "edgecolor": "black"},
    "outlier": {"marker": "X", "color": RED},
}


class AcceptanceDisplay(Display):
    """Draw the p-values of groups of samples above and below the threshold.

    Regular samples are accepted. Extreme samples are rejected, although at least one calibration sample scores as low.
    Outliers score below every calibration sample: their p-value is the smallest possible one.

    Parameters
    ----------
    p_values : mapping of str to array-like
        The p-values of each group of samples.
    n_calibration : int
        The number of calibration samples.
    sensitivity : float, default=0.9
        The share of new target samples to accept: samples with a p-value above ``1 - sensitivity`` are accepted.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    PValueDisplay : The p-values of one batch, with false discoveries.
    ContributionDisplay : The features behind a rejection.

    Examples
    --------
    >>> from transvariation import NeighborTOCC, load_glass
    >>> from transvariation.displays import AcceptanceDisplay
    >>> glass = load_glass()
    >>> model = NeighborTOCC().fit(glass.control[::2])
    >>> groups = {"new windows": glass.control[1::2], "other glass": glass.recovered}
    >>> display = AcceptanceDisplay.from_estimator(model, groups)
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['new windows', 'other glass']
    """

    def __init__(self, p_values: Mapping[str, ArrayLike], *, n_calibration: int, sensitivity: float = 0.9):
        self.p_values = {name: np.asarray(values, dtype=float) for name, values in p_values.items()}
        self.n_calibration, self.sensitivity = n_calibration, sensitivity

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, samples: Mapping[str, ArrayLike], *, ax: Axes | None = None
    ) -> Self:
        """Draw the p-values that a fitted classifier gives to groups of samples.

        Parameters
        ----------
        estimator : one-class classifier
            Fitted, with one sensitivity.
        samples : mapping of str to array-like of shape (n_samples, n_features)
            The groups, such as ``{"Ethiopia": X, "Brazil": Z}``.
        ax : matplotlib Axes, optional

        Returns
        -------
        AcceptanceDisplay
        """
        check_is_fitted(estimator)
        report = estimator.coverage_report()
        p_values = {name: estimator.p_values(X) for name, X in samples.items()}
        return cls(p_values, n_calibration=report.n, sensitivity=report.sensitivity).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        p_values: Mapping[str, ArrayLike],
        *,
        n_calibration: int,
        sensitivity: float = 0.9,
        ax: Axes | None = None,
    ) -> Self:
        """Draw p-values.

        Parameters
        ----------
        p_values : mapping of str to array-like of shape (n_samples,)
            The p-values of each group.
        n_calibration : int
            The number of calibration samples.
        sensitivity : float, default=0.9
            The share of new target samples to accept.
        ax : matplotlib Axes, optional

        Returns
        -------
        AcceptanceDisplay
        """
        return cls(p_values, n_calibration=n_calibration, sensitivity=sensitivity).plot(ax)

    def roles(self, p_values: Floats) -> NDArray[np.str_]:
        """Name the role of each sample.

        Parameters
        ----------
        p_values : ndarray of shape (n_samples,)
            The p-values of the samples.

        Returns
        -------
        ndarray of str
            ``"regular"``, ``"extreme"`` or ``"outlier"``.
        """
        accepted = is_accepted(p_values, self.sensitivity)
        outlying = ~is_accepted(p_values, self.n_calibration / (self.n_calibration + 1))
        return np.select([accepted, outlying], ["regular", "outlier"], "extreme")

    def _draw(self, ax: Axes) -> None:
        smallest, shift = 1 / (self.n_calibration + 1), np.random.default_rng(0)
        labeled: set[str] = set()
        for position, group in enumerate(self.p_values.values()):
            values = np.maximum(group, smallest)
            x, roles = position + shift.uniform(-0.25, 0.25, len(values)), self.roles(group)
            for role, marker in _MARKERS.items():
                if (its := roles == role).any():
                    label = None if role in labeled else role
                    ax.scatter(x[its], values[its], s=28, linewidth=0.5, zorder=3, label=label, **marker)
                    labeled.add(role)
        ax.axhline(1 - self.sensitivity, **THRESHOLD)
        ax.axhspan(1 - self.sensitivity, 1, color=REGION, zorder=0)
        ax.set(yscale="log", ylim=(smallest / 1.6, 1.15), ylabel="p-value", xlim=(-0.6, len(self.p_values) - 0.4))
        label_ticks(ax, range(len(self.p_values)), self.p_values)
        ax.set_title(f"accepted above the line (sensitivity {self.sensitivity:.0%})", fontsize=10)
        legend(ax, ncols=3)
