"""The benchmark tables, from the numbers that `make bench` last kept in benchmarks/results."""

import csv
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def tables(results: Path = RESULTS) -> str:
    """Compose one section per kept table, in Markdown."""
    lines: list[str] = []
    for path in sorted(results.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        words = path.stem.replace("_", " ")
        lines += [f"## {words[:1].upper()}{words[1:]}", "", _line(header), _line(["---"] * len(header))]
        lines += [_line(row) for row in rows] + [""]
    return "\n".join(lines) or "No results are kept in this copy: `make bench` measures and keeps them.\n"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write(path: Path) -> None:
    """Write the tables, to be included by the page on speed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tables(), encoding="utf-8")
