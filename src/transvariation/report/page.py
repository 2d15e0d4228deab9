"""A self-contained page: headings, prose, tables and figures in one HTML file that also prints well."""

import base64
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class Section:
    """A heading and what stands under it, in order."""

    heading: str
    parts: list[dict[str, Any]] = field(default_factory=list)

    def text(self, text: str) -> "Section":
        """Add a paragraph."""
        self.parts.append({"kind": "text", "text": text})
        return self

    def code(self, text: str) -> "Section":
        """Add words of the machine: a command, a list of versions."""
        self.parts.append({"kind": "code", "text": text})
        return self

    def table(self, table: pd.DataFrame, caption: str, digits: int = 3) -> "Section":
        """Add a table; numbers are rounded to `digits` decimals, missing ones shown as a dash."""
        columns = [{"name": str(c), "text": not pd.api.types.is_numeric_dtype(table[c])} for c in table.columns]
        rows = [[_cell(value, digits) for value in row] for row in table.itertuples(index=False)]
        self.parts.append({"kind": "table", "columns": columns, "rows": rows, "caption": caption})
        return self

    def figure(self, figure: "Figure | bytes", caption: str) -> "Section":
        """Add a figure, or the SVG that was drawn of it."""
        drawn = figure if isinstance(figure, bytes) else render(figure, "svg")
        source = "data:image/svg+xml;base64," + base64.b64encode(drawn).decode()
        self.parts.append({"kind": "figure", "source": source, "caption": caption})
        return self


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if pd.isna(value) else f"{value:.{digits}f}"
    return str(value)


def render(figure: "Figure", kind: str) -> bytes:
    """Draw a figure as PNG or SVG; the same figure gives the same bytes."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "transvariation", "svg.fonttype": "path"}):
        # Without these keys the date and the version of the drawing program would be written into the file.
        figure.savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return buffer.getvalue()


def save_figure(figure: "Figure", directory: Path, name: str) -> bytes:
    """Save a figure as SVG and PNG; give the SVG."""
    directory.mkdir(parents=True, exist_ok=True)
    drawn = {kind: render(figure, kind) for kind in ("svg", "png")}
    for kind, content in drawn.items():
        (directory / f"{name}.{kind}").write_bytes(content)
    return drawn["svg"]


def page(title: str, sections: list[Section], lead: str = "") -> str:
    """Render sections as one HTML page with nothing outside of it. Everything is escaped."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("transvariation.report"), autoescape=True)
    return environment.get_template("page.html").render(title=title, lead=lead, sections=sections)
