"""What the page shows of a process: charts, alarms and the report of two runs."""

import sys
from collections.abc import Mapping
from dataclasses import asdict

from transvariation._typing import Fields
from transvariation.report.monitoring import monitor_tables, monitoring_document
from transvariation.tables import Limits
from transvariation.web.preview import in_memory

OPTIONS = {"false_alarm": float, "run": int, "lags": int}


def monitoring_view(files: Mapping[str, Mapping[str, str]], options: Mapping[str, object], limits: Limits) -> Fields:
    """Monitor the new run by the normal one, and describe the result for the page."""
    if wrong := [name for name, value in options.items() if name not in OPTIONS or not _is_number(value)]:
        raise ValueError(f"{wrong[0]}={options[wrong[0]]!r} is not understood; give numbers for {', '.join(OPTIONS)}.")
    chosen = {name: OPTIONS[name](value) for name, value in options.items()}
    document = monitoring_document(
        monitor_tables(in_memory(files["normal"]), in_memory(files["new"]), limits=limits, **chosen)
    )
    return {"summary": document.lead, "sections": list(map(asdict, document.sections)), "report": document.html()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) < sys.float_info.max
