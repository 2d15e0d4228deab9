"""What the page does besides judging a case: monitor a process, and validate the method on a database."""

import base64
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict

from transvariation._typing import Fields
from transvariation.casework import Database, validate
from transvariation.casework.progress import Progress
from transvariation.casework.settings import ValidationSettings
from transvariation.report.monitoring import monitor_tables, monitoring_document
from transvariation.report.page import Document, Section
from transvariation.report.validation import validation_document
from transvariation.report.wording.remedies import refusal
from transvariation.tables import Limits
from transvariation.web.preview import in_memory

MOST_COMPARISONS = 20_000  # comparisons of each kind; the command line takes more
MONITORING_OPTIONS = {"false_alarm": float, "run": int, "lags": int}

Files = Mapping[str, Mapping[str, str]]
Analysis = Callable[[Progress], Fields]


def monitoring(files: Files, options: Mapping[str, object], limits: Limits) -> tuple[str, Analysis]:
    """Prepare the monitoring of a new run of a process by a normal one: nothing to say, and how it is done."""
    for name, value in options.items():
        if name not in MONITORING_OPTIONS or not isinstance(value, int | float) or abs(value) >= sys.float_info.max:
            raise ValueError(refusal("option", name=name, value=value, there=", ".join(MONITORING_OPTIONS)))
    chosen = {name: MONITORING_OPTIONS[name](value) for name, value in options.items()}
    normal, new = (in_memory(files[which]) for which in ("normal", "new"))

    def run(progress: Progress) -> Fields:
        result = monitor_tables(normal, new, limits=limits, **chosen)
        document = monitoring_document(result)
        return _shown(document, document.sections, result.to_dict())

    return "", run


def validation(files: Files, options: Mapping[str, object], limits: Limits) -> tuple[str, Analysis]:
    """Prepare the validation of the method on a database: what it is, and how it is done.

    A table without a description is made a database.
    """
    settings = ValidationSettings.from_dict({name: value for name, value in options.items() if name != "logged"})
    if settings.n_comparisons > MOST_COMPARISONS:
        raise ValueError(refusal("comparisons", n=settings.n_comparisons, most=MOST_COMPARISONS))
    if "description" in files:
        table, description = (base64.b64decode(files[which]["content"]) for which in ("table", "description"))
        database = Database.from_bytes(table, description)
    else:
        file = in_memory(files["table"])
        database = Database.build([file], name=file.name, logged=options.get("logged") is True)
    found = database.describe()
    counts = ", ".join(f"{found[key]:,} {key}" for key in ("sources", "fragments", "measurements"))

    def run(progress: Progress) -> Fields:
        result = validate(database, settings=settings, progress=progress)
        document = validation_document(result)
        return _shown(document, document.sections[1 : 2 + len(result.designs)], result.to_dict())

    return f"{found['name']}: {counts}, {len(found['variables'])} variables.", run


def _shown(document: Document, sections: list[Section], content: Fields) -> Fields:
    """Return what the page shows of an analysis, and its files."""
    shown = {"summary": document.lead, "sections": list(map(asdict, sections))}
    return shown | {"report": document.html(), "json": json.dumps(content)}


ANALYSES = {"monitor": monitoring, "validate": validation}
