"""What can be chosen on the page: every setting of a case, as the settings themselves describe it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader

from transvariation.casework.settings import CASE_FIELDS, ROLES, CaseSettings, TableSettings
from transvariation.report.vocabulary import page_vocabulary
from transvariation.report.wording.statements import DECIMAL_MARKS, ROLE_NAMES, TABLE_NAMES
from transvariation.tables.options import Option, label_of, options_of

if TYPE_CHECKING:
    from transvariation._typing import Fields

_DEFAULTS = CaseSettings()
_FIELDS = ("choice", "delimiter", "encoding", "flag", "mark", "number", "whole")  # kinds that one field can take


def page_html(name: str, **values: object) -> str:
    """Write the HTML of a page."""
    pages = Environment(loader=PackageLoader("transvariation.web"), autoescape=True)
    return pages.get_template(f"{name}.html").render(values)


def _offered(name: str, given: Option) -> "Fields":
    """Describe the field of a setting."""
    choices = DECIMAL_MARKS if given.kind == "mark" else given.choices if isinstance(given.choices, Mapping) else None
    return {
        "name": name,
        "kind": given.kind,
        "label": label_of(name, given),
        "title": given.sentence,
        "choices": choices,
        "default": getattr(_DEFAULTS, name),
        "absent": f"by default {given.absent}" if given.group != "tables" and given.absent else given.absent,
        "least": given.least,
    }


def _settings(kind: type, *groups: str) -> list["Fields"]:
    return [
        _offered(name, given)
        for name, given in options_of(kind).items()
        if given.kind in _FIELDS and given.group in groups
    ]


def page_choices() -> "Fields":
    """Return what can be chosen, and the texts of the page that differ for a laboratory."""
    reading = _settings(TableSettings, "tables")  # of each table
    comparing = _settings(CaseSettings, "comparison", "report")
    missing = _offered("missing", options_of(CaseSettings)["missing"])
    roles = {role: ROLE_NAMES.get(role, role) for role in ROLES}
    texts = [text for each in (*reading, *comparing) for text in (each["label"], each["title"], each["absent"])]
    texts += [words for each in (*reading, *comparing, missing) for words in (each["choices"] or {}).values()]
    return {
        "roles": roles,
        "tables": TABLE_NAMES,
        "missing": missing["choices"],
        "reading": reading,
        "comparing": comparing,
        "fields": CASE_FIELDS,
        "defaults": _DEFAULTS.to_dict(),
        "vocabulary": page_vocabulary(page_html("index"), [*roles.values(), *texts]),
    }
