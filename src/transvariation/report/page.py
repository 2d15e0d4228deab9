"""A self-contained page: headings, prose, tables and figures in one HTML file that also prints well."""

import base64
import io
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Tried for what the usual letters lack, where they are installed: no family that comes with matplotlib has Chinese.
FURTHER = (
    "Noto Sans CJK JP",
    "Droid Sans Fallback",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Arial Unicode MS",
)


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

    def table(self, table: pd.DataFrame, caption: str, *, kind: str = "table", **how: Any) -> "Section":
        """Add a table, laid out as `laid_out` is told to."""
        columns, rows = laid_out(table, **how)
        self.parts.append({"kind": kind, "columns": columns, "rows": rows, "caption": caption})
        return self

    def figure(self, figure: "Figure | bytes", caption: str) -> "Section":
        """Add a figure, or the SVG that was drawn of it."""
        drawn = figure if isinstance(figure, bytes) else render(figure, "svg")
        self.parts.append({"kind": "figure", "svg": drawn.decode(), "caption": caption})
        return self


def laid_out(
    table: pd.DataFrame, digits: int = 3, forms: dict[str, str] | None = None
) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Give columns and rows as words: numbers with `digits` decimals or by the column's own form, missing as a dash."""
    columns = [{"name": str(c), "text": not pd.api.types.is_numeric_dtype(table[c])} for c in table.columns]
    form = [(forms or {}).get(str(column["name"]), f".{digits}f") for column in columns]
    return columns, [list(map(_cell, row, form)) for row in table.itertuples(index=False)]


def _cell(value: Any, form: str) -> Any:
    if isinstance(value, dict):
        return value  # a picture: its svg and what it shows
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if pd.isna(value) else format(value, form)
    return str(value)


def render(figure: "Figure", kind: str) -> bytes:
    """Draw a figure as PNG or SVG; the same figure gives the same bytes."""
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager
    from matplotlib.text import Text

    further = [family for family in FURTHER if family in fontManager.get_font_names()]
    for text in figure.findobj(Text):
        if isinstance(text, Text) and not text.get_text().isascii():
            text.set_fontfamily(list(dict.fromkeys([*text.get_fontfamily(), *further])))
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "transvariation", "svg.fonttype": "path"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # it is drawn as a box, which tells enough
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
    environment.filters["source"] = lambda svg: "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
    return environment.get_template("page.html").render(title=title, lead=lead, sections=sections)
