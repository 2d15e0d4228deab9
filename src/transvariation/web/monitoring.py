"""What the page shows of a process: charts, alarms and the report of two runs."""

import sys
from collections.abc import Mapping
from typing import Any

from matplotlib import rc_context

from transvariation._typing import Fields
from transvariation.report.figure_style import SETTINGS
from transvariation.report.monitoring import (
    alarm_table,
    contribution_figure,
    monitor_tables,
    monitoring_figure,
    monitoring_html,
    monitoring_summary,
)
from transvariation.report.page import render
from transvariation.tables import Limits
from transvariation.web.preview import in_memory

OPTIONS = {"false_alarm": float, "run": int, "lags": int}


def monitoring_view(files: Mapping[str, Mapping[str, str]], options: Mapping[str, Any], limits: Limits) -> Fields:
    """Monitor the new run by the normal one, and describe the result for the page."""
    if wrong := [name for name, value in options.items() if name not in OPTIONS or not _is_number(value)]:
        raise ValueError(f"{wrong[0]}={options[wrong[0]]!r} is not understood; give numbers for {', '.join(OPTIONS)}.")
    chosen = {name: OPTIONS[name](value) for name, value in options.items()}
    result = monitor_tables(in_memory(files["normal"]), in_memory(files["new"]), limits=limits, **chosen)
    alarms = alarm_table(result)
    return {
        "summary": monitoring_summary(result),
        "charts": _svg(monitoring_figure, result),
        "columns": list(alarms.columns),
        "alarms": alarms.values.tolist(),
        "contributions": _svg(contribution_figure, result.alarms[0]) if result.alarms else "",
        "report": monitoring_html(result),
    }


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < sys.float_info.max


def _svg(draw: Any, drawn: Any) -> str:
    with rc_context(SETTINGS):
        return render(draw(drawn), "svg").decode()
