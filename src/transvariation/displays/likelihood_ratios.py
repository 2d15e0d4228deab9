"""Likelihood ratios on the verbal scale."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy as np

from transvariation.displays.axes import Display, legend
from transvariation.report.figure_style import CYCLE, GRAY, REGION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from transvariation.casework import CaseResult

# Upper ends of the verbal scale of the ENFSI guideline for evaluative reporting (2015), as powers of ten.
_SCALE = {"weak": 1.0, "moderate": 2.0, "mod. strong": 3.0, "strong": 4.0, "very strong": 6.0}
_MARKERS = ("o", "D", "s", "^")
_LOG10_OF_2 = float(np.log10(2))


class LikelihoodRatioDisplay(Display):
    """Draw likelihood ratios of fragments on the verbal scale of the ENFSI guideline.

    Ratios to the right support a common source, ratios to the left different sources. Those in the gray band support
    neither.

    Parameters
    ----------
    log10_lr : mapping of str to mapping of str to float
        For each fragment, the logarithm (base 10) of its ratio by each system.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.casework.judge : Compute them from tables.

    Examples
    --------
    >>> from transvariation.displays import LikelihoodRatioDisplay
    >>> ratios = {"Q1": {"three_level": 1.2}, "Q2": {"three_level": -2.4}}
    >>> display = LikelihoodRatioDisplay.from_predictions(ratios)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['Q1', 'Q2']
    """

    def __init__(self, log10_lr: Mapping[str, Mapping[str, float]]):
        self.log10_lr = {name: dict(values) for name, values in log10_lr.items() if values}
        if not self.log10_lr:
            raise ValueError("there are no likelihood ratios to draw; they need a background (judge with background=)")
        self._height = 1.8 + 0.3 * len(self.log10_lr)

    @classmethod
    def from_case(cls, result: "CaseResult", *, ax: "Axes | None" = None) -> Self:
        """Draw the likelihood ratios of a judged case.

        Parameters
        ----------
        result : CaseResult
            Judged with a background.
        ax : matplotlib Axes, optional

        Returns
        -------
        LikelihoodRatioDisplay
        """
        return cls({str(each.fragment): each.log10_lr for each in result.conclusions}).plot(ax)

    @classmethod
    def from_predictions(cls, log10_lr: Mapping[str, Mapping[str, float]], *, ax: "Axes | None" = None) -> Self:
        """Draw likelihood ratios.

        Parameters
        ----------
        log10_lr : mapping of str to mapping of str to float
            For each fragment, the logarithm (base 10) of its ratio by each system.
        ax : matplotlib Axes, optional

        Returns
        -------
        LikelihoodRatioDisplay
        """
        return cls(log10_lr).plot(ax)

    def _draw(self, ax: "Axes") -> None:
        systems = list(dict.fromkeys(name for values in self.log10_lr.values() for name in values))
        values = {name: [each.get(name, np.nan) for each in self.log10_lr.values()] for name in systems}
        finite = np.abs([v for each in values.values() for v in each if np.isfinite(v)])
        reach = next((end for end in _SCALE.values() if end >= finite.max(initial=1) + 0.2), 8.0)
        ax.axvspan(-_LOG10_OF_2, _LOG10_OF_2, color=REGION, zorder=0)
        ax.axvline(0, color=GRAY, linewidth=1)
        starts = [_LOG10_OF_2, *_SCALE.values()]
        for word, start, end in zip(_SCALE, starts, _SCALE.values(), strict=False):
            for side in (1, -1):
                if start < reach:
                    ax.axvline(side * end, color=GRAY, linewidth=0.5, linestyle=":")
                    middle = side * (start + min(end, reach)) / 2
                    ax.text(
                        middle,
                        1.01,
                        word,
                        ha="center",
                        va="bottom",
                        rotation=90,
                        transform=ax.get_xaxis_transform(),
                        fontsize=9,
                    )
        places = -np.arange(len(self.log10_lr))
        for number, name in enumerate(systems):
            marker, color = _MARKERS[number % len(_MARKERS)], CYCLE[number % len(CYCLE)]
            label = name.replace("_", " ")
            ax.scatter(values[name], places, s=40, zorder=3, label=label, marker=marker, color=color)
        ax.set_yticks(places, list(self.log10_lr))
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_formatter(lambda power, _: f"{10**power:,.0f}" if power >= 0 else f"1/{10**-power:,.0f}")
        ax.set(xlim=(-reach, reach), ylim=(places[-1] - 0.6, 0.6))
        ax.set_xticks(np.arange(-reach, reach + 1, 1 if reach <= 3 else reach / 2))  # more labels would overlap
        ax.set_xlabel("likelihood ratio\n← different sources     common source →")
        if len(systems) > 1:
            legend(ax, ncols=len(systems))
