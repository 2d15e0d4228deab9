"""What the page shows of a validation: criteria, error rates by design, and the report."""

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict

from transvariation._typing import Fields
from transvariation.casework import Database, ValidationResult
from transvariation.casework.validation import ValidationSettings
from transvariation.report.validation import validation_document
from transvariation.web.preview import in_memory

MOST_COMPARISONS = 20_000  # comparisons of each kind; the command line takes more


def open_database(files: Mapping[str, Mapping[str, str]], logged: bool) -> Database:
    """Open a database: its table with its description, or build one from a table alone."""
    if "description" in files:
        table, description = (base64.b64decode(files[name]["content"]) for name in ("table", "description"))
        return Database.from_bytes(table, description)
    file = in_memory(files["table"])
    return Database.build([file], name=file.name, logged=logged)


def chosen_settings(options: Mapping[str, object]) -> ValidationSettings:
    """Return what was chosen for a validation."""
    settings = ValidationSettings.from_dict({name: value for name, value in options.items() if name != "logged"})
    if settings.n_comparisons > MOST_COMPARISONS:
        raise ValueError(f"n_comparisons={settings.n_comparisons} is too many here; at most {MOST_COMPARISONS}.")
    return settings


def validation_view(result: ValidationResult) -> Fields:
    """Describe a validation for the page: the conclusion and the designs, and the whole report."""
    document = validation_document(result)
    return {
        "sections": list(map(asdict, document.sections[1 : 2 + len(result.designs)])),
        "report": document.html(),
        "json": json.dumps(result.to_dict()),
    }
