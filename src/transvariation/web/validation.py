"""What the page shows of a validation: criteria, error rates by design, and the report."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from matplotlib import rc_context

from transvariation._typing import Fields
from transvariation.casework import Database, ValidationResult, validate
from transvariation.casework.progress import Progress
from transvariation.report.figure_style import SETTINGS
from transvariation.report.page import render
from transvariation.report.validation import (
    rate_table,
    rates_figure,
    validation_html,
    validation_summary,
    verdict_table,
)
from transvariation.web.preview import in_memory

OPTIONS = ("designs", "sensitivities", "comparisons", "logged", "linear", "rates_only")


def open_database(files: Mapping[str, Mapping[str, str]], options: Mapping[str, Any]) -> Database:
    """Open a database: its table with its description, or build one from a table alone."""
    table = base64.b64decode(files["table"]["content"])
    if "description" in files:
        return Database.from_bytes(table, base64.b64decode(files["description"]["content"]))
    file = in_memory(files["table"])
    return Database.build([file], name=file.name, logged=options.get("logged") is True)


def check_options(options: Mapping[str, Any]) -> Fields:
    """Read what was chosen for a validation into keywords of `validate`."""
    if unknown := [name for name in options if name not in OPTIONS]:
        raise ValueError(f"{unknown[0]}={options[unknown[0]]!r} is not understood; choose from {', '.join(OPTIONS)}.")
    texts = {name: str(options.get(name, default)) for name, default in (("designs", "1x1"), ("sensitivities", "0.9"))}
    try:
        sensitivities = [float(part) for part in texts["sensitivities"].split(",")]
        n = int(options.get("comparisons", 500))
    except (TypeError, ValueError, OverflowError):
        raise ValueError("Sensitivities and comparisons must be numbers, such as 0.9,0.95 and 500.") from None
    if not 10 <= n <= 20_000:
        raise ValueError(f"comparisons={n} must lie between 10 and 20000.")
    return {
        "designs": [part.strip() for part in texts["designs"].split(",")],
        "sensitivities": sensitivities,
        "n_comparisons": n,
        "linear": options.get("linear") is True,
        "rates_only": options.get("rates_only") is True,
    }


def validate_database(database: Database, options: Mapping[str, Any], progress: Progress) -> ValidationResult:
    """Validate the method on a database as chosen on the page."""
    return validate(database, progress=progress, **check_options(options))


def validation_view(result: ValidationResult) -> Fields:
    """Describe a validation for the page."""
    verdicts = verdict_table(result)
    return {
        "summary": validation_summary(result),
        "passed": result.passed,
        "verdicts": _table(verdicts),
        "designs": [
            {
                "title": f"Design {each.design}: {each.n_sources:,} sources, {each.n_same:,} comparisons of one "
                f"source, {each.n_different:,} of two",
                "figure": _svg(each),
                "rates": _table(rate_table(each)),
            }
            for each in result.designs
        ],
        "report": validation_html(result),
        "json": json.dumps(result.to_dict()),
    }


def _table(frame: Any) -> Fields:
    return {"columns": list(frame.columns), "rows": frame.astype(str).values.tolist()}


def _svg(each: Any) -> str:
    with rc_context(SETTINGS):
        return render(rates_figure(each), "svg").decode()
