"""What the workers do. It calls `casework` and the reader, nothing else, and gives JSON values."""

import base64
import json
from typing import Any

from transvariation.casework import METHODS, REDUCTIONS, CaseResult, judge
from transvariation.casework.duplicates import duplicate_warnings
from transvariation.casework.methods import DEFAULT
from transvariation.casework.model_file import spreadsheet_safe
from transvariation.datasets import load_glass
from transvariation.report.case import case_html, case_pdf
from transvariation.report.case_text import conclusion_frame
from transvariation.tables import Limits, TableError, read_pair
from transvariation.web.preview import sheets, told, troubled, understood

# A browser shows all of this at once, and anybody may drop anything: far less than the command line takes.
LIMITS = Limits(rows=50_000, columns=2_000, cells=500_000, unpacked=100_000_000)
SHOWN = 200  # problems

Files = list[tuple[str, bytes]] | None  # two named tables; None is the packaged example


def example() -> list[tuple[str, bytes]]:
    """Give the packaged glass fragments as two files."""
    glass = load_glass()
    tables = (("windows.csv", glass.control), ("other-glass.csv", glass.recovered))
    return [(name, table.to_csv().encode()) for name, table in tables]


def _taken(files: Files) -> tuple[tuple[bytes, bytes], tuple[str, str]]:
    (one, control), (other, recovered) = files or example()
    names = (one, other) if one != other else (f"{one} (control)", f"{other} (recovered)")
    return (control, recovered), names


def understand(files: Files, reading: dict[str, Any]) -> dict[str, Any]:
    """Read both tables and say what was understood, or what is wrong and where."""
    contents, names = _taken(files)
    seen = {"files": names, "sheets": [sheets(content, LIMITS) for content in contents]}
    try:
        pair = read_pair(*contents, names=names, limits=LIMITS, **reading)
    except TableError as error:
        each = zip(contents, names, reading["sheets"], reading["decimals"], strict=True)
        return seen | {
            "problems": [told(problem) for problem in error.problems[:SHOWN]],
            "tables": [
                troubled(content, name, error.problems, LIMITS, sheet=sheet, decimal=decimal)
                for content, name, sheet, decimal in each
            ],
        }
    return seen | {
        "features": list(pair.features),
        "tables": [understood(pair.control), understood(pair.recovered)],
        "warnings": duplicate_warnings(pair),
        "methods": {name: method.description for name, method in METHODS.items()},
        "reductions": {name: words for name, (_, words) in REDUCTIONS.items()},
        "recommended": DEFAULT,
    }


def decide(files: Files, reading: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Judge the case, as it was read."""
    contents, names = _taken(files)
    options = options | reading | {"command": "transvariation serve"}
    return judge(*contents, names=names, limits=LIMITS, **options).to_dict()


def render(result: dict[str, Any], kind: str, sensitivity: float) -> str:
    """Render a result at a sensitivity as a file: base64 of its bytes."""
    case = CaseResult.from_dict(result).at(sensitivity)
    makers = {
        "html": lambda: case_html(case).encode(),
        "pdf": lambda: case_pdf(case),
        "json": lambda: (json.dumps(case.to_dict(), indent=1) + "\n").encode(),
        "csv": lambda: _csv(case).encode(),
    }
    return base64.b64encode(makers[kind]()).decode()


def _csv(case: CaseResult) -> str:
    """Lay out the verdicts so that a spreadsheet takes no id or variable for a formula."""
    table = conclusion_frame(case)
    words = table.select_dtypes(exclude="number")
    return table.assign(**words.map(spreadsheet_safe)).to_csv(index=False)
