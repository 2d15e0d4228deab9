"""The table of optional extras, read from pyproject.toml."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"

ABILITY = {
    "fast": "compiled counting for large samples",
    "app": "`transvariation serve`, the local page",
    "pdf": "reports as PDF",
    "lr": "likelihood ratios beside the verdict",
    "dask": "data that no single machine holds",
    "excel": "Excel tables",
    "parquet": "Parquet tables",
    "all": "all of the above",
    "bench": "`make bench`",
    "docs": "`make docs`",
    "dev": "`make test`",
    "page": "`make test-page`",
}


def table() -> str:
    """Compose the table in Markdown: the extras that exist, those for users first."""
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    order = [name for name in ABILITY if name in extras]
    order += sorted(extras.keys() - set(order))
    lines = ["| extra | gives | brings |", "| --- | --- | --- |"]
    for name in order:
        packages = [re.split(r"[<>=!~;\[ ]", r)[0] for r in extras[name] if not r.startswith("transvariation")]
        brings = ", ".join(packages) or "every extra for users"
        lines.append(f"| `{name}` | {ABILITY.get(name, '')} | {brings} |")
    return "\n".join(lines) + "\n"


def write(path: Path) -> None:
    """Write the table, to be included by the installation page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table(), encoding="utf-8")
