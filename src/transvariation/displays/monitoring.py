"""A chart of a monitored process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from transvariation.displays.axes import Display, legend
from transvariation.report.figure_style import DARK, GRAY, RED, THRESHOLD, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from transvariation.monitoring import MonitoringResult

_WORDS = {"score": "score\n(unusual = high)", "T2": "Hotelling's T²", "Q": "Q (squared\nprediction error)"}
_FEWEST_NORMAL = 100  # rows that are drawn, if there are so many; otherwise as many as new ones


class MonitoringDisplay(Display):
    """Draw one chart of a monitored process over time, with its limits and alarms.

    The end of the normal run is gray, measured by models that have not seen it; then follows the new run. Rows beyond
    the calibrated limit are red crosses; alarms, of any chart, are shaded.

    Parameters
    ----------
    result : MonitoringResult
        See :func:`transvariation.monitoring.monitor`.
    chart : {"score", "T2", "Q"}, default="score"
        The chart to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    See Also
    --------
    transvariation.monitoring.monitor : Compute the charts.
    DriftDisplay : The evidence of a lasting change.

    Examples
    --------
    >>> from transvariation.datasets import make_plant
    >>> from transvariation.displays import MonitoringDisplay
    >>> from transvariation.monitoring import monitor
    >>> normal = make_plant(250, random_state=0)
    >>> new = make_plant(120, fault=8, onset=60, random_state=1)
    >>> result = monitor(normal, new)
    >>> display = MonitoringDisplay.from_result(result, chart="T2")
    >>> display.ax_.get_ylabel()
    "Hotelling's T²"
    """

    def __init__(self, result: MonitoringResult, *, chart: str = "score"):
        self.result, self.chart = result, result.chart(chart)

    @classmethod
    def from_result(cls, result: MonitoringResult, *, chart: str = "score", ax: Axes | None = None) -> Self:
        """Draw a chart of a monitored process.

        Parameters
        ----------
        result : MonitoringResult
            See :func:`transvariation.monitoring.monitor`.
        chart : {"score", "T2", "Q"}, default="score"
            The chart to draw.
        ax : matplotlib Axes, optional

        Returns
        -------
        MonitoringDisplay
        """
        return cls(result, chart=chart).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

        normal, new = np.array(self.chart.normal), np.array(self.chart.new)
        n, beyond = min(len(normal), max(len(new), _FEWEST_NORMAL)), new > self.chart.limit
        for alarm in self.result.alarms:
            ax.axvspan(alarm.first - 0.5, alarm.last + 0.5, color=RED, alpha=0.12, linewidth=0)
        ax.plot(np.arange(-n, 0), normal[-n:], color=GRAY, linewidth=0.6, label="normal run")
        ax.plot(np.arange(len(new)), new, color=DARK, linewidth=0.7, label="new run")
        ax.scatter(np.flatnonzero(beyond), new[beyond], marker="x", s=14, linewidth=0.9, color=RED, label="flagged")
        ax.axhline(self.chart.limit, label="calibrated limit", **THRESHOLD)
        if self.chart.textbook_limit:
            ax.axhline(self.chart.textbook_limit, color="black", linestyle=":", linewidth=1, label="textbook limit")
        ax.axvline(-0.5, color="0.6", linewidth=0.8)
        if min(normal.min(), new.min()) > 0:
            ax.set_yscale("log")
            ax.yaxis.set_minor_formatter(NullFormatter())
        ticks = np.asarray(MaxNLocator(4, integer=True).tick_values(-n, len(new) - 1))
        shown = (ticks >= -n) & (ticks < len(new) + np.diff(ticks)[0] / 10)
        ax.set_xticks(np.minimum(ticks[shown], len(new) - 1))  # one just after the last row is moved to it
        ax.tick_params(axis="x", labelsize=9)  # dates fit beside each other
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: self._label(round(x))))
        ax.set(xlabel="time: normal run, then new run", ylabel=_WORDS[self.chart.name])
        if ax.figure.axes == [ax]:
            legend(ax, ncols=3, fontsize=9)

    def _label(self, row: int) -> str:
        """Return the label of a row; normal rows count back from -1."""
        labels = self.result.labels if row >= 0 else self.result.normal_labels
        place = row if row >= 0 else len(labels) + row
        return wrapped(labels[place], 12) if 0 <= place < len(labels) else ""
