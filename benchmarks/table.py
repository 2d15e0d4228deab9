"""Print a table of results and write the same numbers to a file."""

import csv
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from transvariation import __version__

RESULTS = Path(__file__).parent / "results"
MEASURED = "measured.csv"  # when, and with which version, each table was measured


@dataclass(frozen=True)
class Table:
    """Rows of one measurement. A row may have a `target` and whether it was `met`."""

    name: str
    title: str
    rows: list[dict[str, Any]]
    note: str = ""

    def show(self, console: Console) -> None:
        table = RichTable(title=self.title, caption=self.note or None, title_justify="left", caption_justify="left")
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        for column in columns:
            numeric = all(isinstance(row.get(column), int | float | None) for row in self.rows)
            table.add_column(column, justify="right" if numeric else "left")
        for row in self.rows:
            table.add_row(*(_text(row.get(column)) for column in columns))
        console.print(table)

    def write(self, folder: Path = RESULTS) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.csv"
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows({k: _text(v) if isinstance(v, float) else v for k, v in row.items()} for row in self.rows)
        _record(folder / MEASURED, self.name)
        return path


def _record(path: Path, name: str) -> None:
    kept = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            kept = {row["table"]: row for row in csv.DictReader(file)}
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    kept[name] = {"table": name, "date": date, "version": __version__}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(kept[name]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[table] for table in sorted(kept))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return str(value)
