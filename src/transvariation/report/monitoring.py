"""Charts of a process and their report."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure, FigureBase
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from transvariation.monitoring import Alarm, MonitoringResult, monitor
from transvariation.report.acceptance_figures import axes_of
from transvariation.report.figure_style import DARK, GREY, RED, SETTINGS, THRESHOLD
from transvariation.report.names import PLAIN, wrapped
from transvariation.report.page import Document, Section
from transvariation.tables import Limits, Table, read_table
from transvariation.tables.opening import TableSource

__all__ = ["contribution_figure", "monitor_tables", "monitoring_figure", "write_monitoring_report"]

_TITLE = "Process monitoring"
_WORDS = {"score": "score\n(unusual = high)", "T2": "Hotelling's T²", "Q": "Q (squared\nprediction error)"}
_MOST_ALARMS = 20  # that the report lists
_SECONDS_OF_A_DATE = 1e8
_FEWEST_NORMAL = 100  # rows that are drawn, if there are so many; otherwise as many as new ones
_MOST_BARS = 8  # variables of a contribution plot


def monitoring_figure(result: MonitoringResult, *, figure: FigureBase | None = None) -> Figure:
    """Draw score, T2 and Q over time, with their limits and alarms.

    Parameters
    ----------
    result : MonitoringResult
        See :func:`transvariation.monitoring.monitor`.
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
        Three charts: the end of the normal run in grey (held out), then the new run; flagged rows are red crosses,
        alarms shaded.
    """
    drawing, axes = axes_of(figure, 6.4, len(result.charts))
    m = len(result.labels)
    n = min(len(result.normal_labels), max(m, _FEWEST_NORMAL))
    for ax, chart in zip(axes, result.charts, strict=True):
        normal, new = np.array(chart.normal), np.array(chart.new)
        beyond = new > chart.limit
        for alarm in result.alarms:
            ax.axvspan(alarm.first - 0.5, alarm.last + 0.5, color=RED, alpha=0.12, linewidth=0)
        ax.plot(np.arange(-n, 0), normal[-n:], color=GREY, linewidth=0.6, label="normal run")
        ax.plot(np.arange(m), new, color=DARK, linewidth=0.7, label="new run")
        ax.scatter(np.flatnonzero(beyond), new[beyond], marker="x", s=14, linewidth=0.9, color=RED, label="flagged")
        ax.axhline(chart.limit, label="calibrated limit", **THRESHOLD)
        if chart.textbook_limit:
            ax.axhline(chart.textbook_limit, color="black", linestyle=":", linewidth=1, label="textbook limit")
        ax.axvline(-0.5, color="0.6", linewidth=0.8)
        if min(normal.min(), new.min()) > 0:
            ax.set_yscale("log")
            ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_ylabel(_WORDS[chart.name])
    axes[-1].xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes[-1].xaxis.set_major_formatter(FuncFormatter(lambda x, _: _label(result, round(x))))
    axes[-1].set_xlabel("time: normal run, then new run")
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    drawing.legend(handles.values(), handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return drawing


def _label(result: MonitoringResult, row: int) -> str:
    """Return the label of a row; normal rows count back from -1."""
    labels = result.labels if row >= 0 else result.normal_labels
    place = row if row >= 0 else len(labels) + row
    return wrapped(labels[place], 12) if 0 <= place < len(labels) else ""


def contribution_figure(alarm: Alarm, *, figure: FigureBase | None = None) -> Figure:
    """Draw the contributions of the variables to an alarm, the largest first.

    Parameters
    ----------
    alarm : Alarm
        One of the alarms of a :class:`~transvariation.monitoring.MonitoringResult`.
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.
    """
    shown = dict(list(alarm.contributions.items())[:_MOST_BARS])
    drawing, ax = axes_of(figure, 0.7 + 0.28 * len(shown))
    ax.barh(range(len(shown)), list(shown.values()), color=DARK)
    ax.set_yticks(range(len(shown)), [wrapped(name, 28) for name in shown], **PLAIN)
    ax.invert_yaxis()
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0%}"))
    ax.set_xlabel("share of the deviation")
    return drawing


def monitor_tables(
    normal: TableSource,
    new: TableSource,
    *,
    sheets: tuple[str | int | None, str | int | None] = (None, None),
    limits: Limits = Limits(),  # noqa: B008  # frozen
    **how: Any,
) -> MonitoringResult:
    """Read two tables in time order and monitor the second by the first.

    Parameters
    ----------
    normal, new : path, bytes or DataFrame
        Tables with one row per time. A column of dates or times sorts the rows and names them; missing values are kept.
    sheets : tuple of two, optional
        The sheets, if the tables are Excel workbooks.
    limits : Limits, optional
        How large the tables may be.
    **how
        Parameters of :func:`transvariation.monitoring.monitor`.
    """
    known = read_table(normal, missing="keep", sheet=sheets[0], limits=limits)
    rows = read_table(new, missing="keep", sheet=sheets[1], limits=limits, features=known.features, units=known.units)
    return monitor(_frame(known), _frame(rows), **how)


def _frame(table: Table) -> pd.DataFrame:
    """Return the rows in the order of time, named by their time where there is one."""
    frame = pd.DataFrame(table.X, columns=list(table.features), index=list(table.ids))
    if table.order is None:
        return frame
    # Dates are seconds since 1970; smaller numbers are hours, minutes or a count.
    times = [
        f"{pd.Timestamp(t, unit='s'):%Y-%m-%d %H:%M}".removesuffix(" 00:00") if t > _SECONDS_OF_A_DATE else f"{t:g}"
        for t in table.order
    ]
    return frame.set_axis(times).iloc[np.argsort(table.order, kind="stable")]


def write_monitoring_report(result: MonitoringResult, path: str | Path) -> None:
    """Write the charts, alarms and contributions as an HTML page or a PDF file.

    Parameters
    ----------
    result : MonitoringResult
    path : str or Path
        The file to write, .html or .pdf.
    """
    monitoring_document(result).write(Path(path))


def monitoring_document(result: MonitoringResult) -> Document:
    """Build the report: charts, alarms and contributions."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        charts = Section("Charts").figure(
            monitoring_figure(result),
            "Score, Hotelling's T² and Q over time. Normal rows were measured by models fitted without their block of "
            "the run. Red crosses exceed the calibrated limit (dashed); alarms are shaded. Dotted: the limit that "
            "textbooks give for independent rows from a normal distribution.",
        )
        alarms = Section("Alarms")
        if result.alarms:
            all_shown = len(result.alarms) <= _MOST_ALARMS
            alarms.table(alarm_table(result), "All alarms." if all_shown else f"The first {_MOST_ALARMS} alarms.")
            first = result.alarms[0]
            alarms.figure(
                contribution_figure(first), f"Contributions to the alarm raised at {result.labels[first.raised]}."
            )
        else:
            alarms.text("None.")
    method = Section("How it was done").items(
        [
            f"{len(result.normal_labels)} normal rows of {len(result.features)} variables, each scaled by its standard "
            f"deviation; {result.n_components} principal components explain {result.explained:.0%} of the variance.",
            f"Limits: one or more charts flag {result.false_alarm:.1%} of normal rows that the model has not seen "
            "(contiguous blocks); successive rows that resemble each other count as one. "
            f"{result.run} successive flagged rows raise an alarm; in the normal run this happened "
            f"{result.normal_alarms} times.",
            *_too_short(result),
            *([f"Each row was judged together with the {result.lags} rows before it."] if result.lags else []),
            "The limits hold for new runs as far as the normal run shows all that is normal.",
        ]
    )
    return Document(_TITLE, [charts, alarms, method], monitoring_summary(result))


def _too_short(result: MonitoringResult) -> list[str]:
    """Say that the normal run is too short for the rate of false alarms, if it is."""
    if result.supported_false_alarm <= result.false_alarm:
        return []
    need = math.ceil(len(result.normal_labels) * (1 / result.false_alarm - 1) / result.n_independent / 100) * 100
    return [
        f"The normal run is worth {result.n_independent:.0f} independent rows, too few for {result.false_alarm:.1%}: "
        f"its largest values are the limits. Expect up to {result.supported_false_alarm:.1%} of normal rows flagged, "
        f"or give about {need:,} normal rows."
    ]


def alarm_table(result: MonitoringResult) -> pd.DataFrame:
    """List the first alarms: when, which charts and which variables."""
    return pd.DataFrame(
        [
            {
                "raised at": result.labels[alarm.raised],
                "from": result.labels[alarm.first],
                "to": result.labels[alarm.last],
                "rows": str(alarm.last - alarm.first + 1),
                "charts": ", ".join(alarm.charts),
                "variables": ", ".join(
                    f"{name} ({share:.0%})" for name, share in list(alarm.contributions.items())[:3]
                ),
            }
            for alarm in result.alarms[:_MOST_ALARMS]
        ]
    )


def monitoring_summary(result: MonitoringResult) -> str:
    """Say how many rows are flagged, how many alarms there are, which is the first, and whether the limits hold."""
    flagged = int(result.flagged.sum())
    words = f"{len(result.labels)} new rows: {flagged} flagged ({flagged / max(len(result.labels), 1):.1%}), "
    if result.alarms:
        first = result.alarms[0]
        number = "one alarm" if len(result.alarms) == 1 else f"{len(result.alarms)} alarms, the first"
        words += f"{number} raised at {result.labels[first.raised]}: {next(iter(first.contributions))}."
    else:
        words += "no alarm."
    return " ".join([words, *_too_short(result)])
