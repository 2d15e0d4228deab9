"""Charts of a process and their report."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from transvariation.displays import MonitoringDisplay
from transvariation.displays.axes import axes_of
from transvariation.monitoring import Alarm, MonitoringResult, monitor
from transvariation.report.figure_style import DARK, PLAIN, SETTINGS, wrapped
from transvariation.report.page import Document, Section
from transvariation.tables import Limits, Table, read_table
from transvariation.tables.opening import TableSource

_TITLE = "Process monitoring"
_MOST_ALARMS = 20  # that the report lists
_SECONDS_OF_A_DATE = 1e8
_MOST_BARS = 8  # variables of a contribution plot


def monitoring_figure(result: MonitoringResult) -> Figure:
    """Draw score, T2 and Q over time, with their limits and alarms, one below the other."""
    figure, axes = axes_of(6.4, len(result.charts))
    for ax, chart in zip(axes, result.charts, strict=True):
        MonitoringDisplay(result, chart=chart.name).plot(ax)
        ax.label_outer()
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def contribution_figure(alarm: Alarm) -> Figure:
    """Draw the contributions of the variables to an alarm, the largest first."""
    shown = dict(list(alarm.contributions.items())[:_MOST_BARS])
    figure, (ax,) = axes_of(0.7 + 0.28 * len(shown))
    ax.barh(range(len(shown)), list(shown.values()), color=DARK)
    ax.set_yticks(range(len(shown)), [wrapped(name, 28) for name in shown], **PLAIN)
    ax.invert_yaxis()
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0%}"))
    ax.set_xlabel("share of the deviation")
    return figure


def monitor_tables(
    normal: TableSource,
    new: TableSource,
    *,
    sheets: tuple[str | int | None, str | int | None] = (None, None),
    limits: Limits = Limits(),  # noqa: B008  # frozen
    **how: Any,
) -> MonitoringResult:
    """Read two tables in time order and monitor the second by the first.

    The tables have one row per time. A column of dates or times sorts the rows and names them; missing values are
    kept. Further keywords are parameters of :func:`transvariation.monitoring.monitor`.
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
    """Write the charts, alarms and contributions as an HTML page or a PDF file, by the ending of its name."""
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
