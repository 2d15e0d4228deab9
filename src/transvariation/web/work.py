"""What the workers do. It calls `casework` and the reader, nothing else, and gives JSON values."""

import base64
import json
from typing import Any

from transvariation.casework import CaseResult, judge
from transvariation.datasets import load_glass
from transvariation.report.case import case_html, case_pdf, verdict_frame
from transvariation.table import Limits, read_pair

SHOWN = 8  # rows of each table that are shown back
LIMITS = Limits()


def example() -> list[tuple[str, bytes]]:
    """Give the packaged glass fragments as two files."""
    glass = load_glass()
    tables = (("windows.csv", glass.control), ("other-glass.csv", glass.recovered))
    return [(name, table.to_csv().encode()) for name, table in tables]


def understand(files: list[tuple[str, bytes]], missing: str) -> dict[str, Any]:
    """Read both tables and say what was understood."""
    names = tuple(name for name, _ in files)
    pair = read_pair(*[content for _, content in files], missing=missing, names=names, limits=LIMITS)
    return {
        "features": list(pair.features),
        "tables": [
            table.summary() | {"ids": list(table.ids[:SHOWN]), "values": table.X[:SHOWN].tolist()}
            for table in (pair.control, pair.recovered)
        ],
    }


def decide(files: list[tuple[str, bytes]], options: dict[str, Any]) -> dict[str, Any]:
    """Judge the case."""
    names = tuple(name for name, _ in files)
    control, recovered = [content for _, content in files]
    return judge(control, recovered, names=names, limits=LIMITS, command="transvariation serve", **options).to_dict()


def render(result: dict[str, Any], kind: str, sensitivity: float) -> str:
    """Render a result at a sensitivity as a file: base64 of its bytes."""
    case = CaseResult.from_dict(result).at(sensitivity)
    makers = {
        "html": lambda: case_html(case).encode(),
        "pdf": lambda: case_pdf(case),
        "json": lambda: (json.dumps(case.to_dict(), indent=1) + "\n").encode(),
        "csv": lambda: verdict_frame(case).to_csv(index=False).encode(),
    }
    return base64.b64encode(makers[kind]()).decode()
