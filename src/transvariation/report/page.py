"""Render sections of text, tables and figures as one self-contained HTML page that also prints well."""

import base64
import io
import json
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pandas as pd

from transvariation._typing import Fields
from transvariation.atomic_write import replacing
from transvariation.report.vocabulary import said
from transvariation.tables.problems import printable_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Fonts for characters that the default font lacks, where they are installed.
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
BLANK = "______________________________"  # to be filled in by hand
CELLS = ("excluded", "not excluded", "control", "recovered")  # of tables that are words, not names


@dataclass
class Section:
    """A heading and the parts under it, in order."""

    heading: str
    parts: list[Fields] = field(default_factory=list)
    new_page: bool = False
    folded: str = ""  # what is shown instead on the screen until the reader opens it

    def __post_init__(self) -> None:
        self.heading, self.folded = said(self.heading), said(self.folded)

    def text(self, *texts: str) -> "Section":
        """Add paragraphs."""
        for text in texts:
            self._add("text", text=said(text))
        return self

    def strong(self, text: str) -> "Section":
        """Add a paragraph that stands out."""
        return self._add("strong", text=said(text))

    def notes(self, texts: Iterable[str]) -> "Section":
        """Add warnings."""
        for text in texts:
            self._add("note", text=said(text))
        return self

    def labeled(self, label: str, text: str) -> "Section":
        """Add a paragraph that begins with a label in bold."""
        return self._add("labeled", label=label, text=said(text))

    def items(self, texts: Sequence[str]) -> "Section":
        """Add a list."""
        return self._add("items", items=list(map(said, texts)))

    def code(self, text: str | Mapping[str, object]) -> "Section":
        """Add preformatted text: a command, a list of versions."""
        return self._add(
            "code", text=text if isinstance(text, str) else "\n".join(f"{k}: {v}" for k, v in text.items())
        )

    def signatures(self, people: Mapping[str, str | None]) -> "Section":
        """Add lines to sign on by role, with the names that are known."""
        rows = [
            {"": role, "name": name or BLANK, "signature": BLANK, "date": BLANK[:14]} for role, name in people.items()
        ]
        return self.table(pd.DataFrame(rows), "", kind="signatures")

    def table(
        self,
        table: pd.DataFrame,
        caption: str,
        *,
        kind: str = "table",
        outcomes: Sequence[bool | None] = (),
        digits: int = 3,
    ) -> "Section":
        """Add a table of numbers with so many decimals, its second column colored by outcomes."""
        kinds = table.dtypes.items()
        columns = [{"name": said(str(name)), "text": not pd.api.types.is_numeric_dtype(kind)} for name, kind in kinds]
        rows = [[_cell(value, digits) for value in row] for row in table.itertuples(index=False)]
        marks = [{True: "for", False: "against", None: "neither"}[each] for each in outcomes]
        return self._add(kind, columns=columns, rows=rows, caption=said(caption), marks=marks)

    def figure(self, figure: "Figure | bytes | dict[str, Figure]", caption: str) -> "Section":
        """Add a figure, its SVG, or two figures by their alternative texts, side by side where there is room."""
        figures = figure if isinstance(figure, dict) else {caption: figure}
        drawn = {alt: each if isinstance(each, bytes) else render(each, "svg") for alt, each in figures.items()}
        images = [{"alt": said(alt), "svg": svg.decode()} for alt, svg in drawn.items()]
        return self._add("figure", images=images, caption=said(caption))

    def _add(self, kind: str, **content: object) -> "Section":
        self.parts.append({"kind": kind, **content})
        return self


def _cell(value: object, digits: int) -> str | Fields:
    if isinstance(value, dict):
        return value  # an image: its SVG and alternative text
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if pd.isna(value) else format(value, f".{digits}f")
    text = str(value)
    return said(text) if text in CELLS else text


def render(figure: "Figure", kind: str) -> bytes:
    """Draw a figure as PNG or SVG; the same figure gives the same bytes."""
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager
    from matplotlib.text import Text

    further = [family for family in FURTHER if family in fontManager.get_font_names()]
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        labels = [label.get_text() for label in axis.get_majorticklabels()]
        if (replaced := list(map(said, labels))) != labels:  # drawing would restore the text of a tick
            axis.set_ticks(axis.get_majorticklocs(), replaced)
    for text in figure.findobj(Text):
        if isinstance(text, Text) and text.get_text():
            text.set_text(said(text.get_text()))
        if isinstance(text, Text) and not text.get_text().isascii():
            text.set_fontfamily(list(dict.fromkeys([*text.get_fontfamily(), *further])))
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "transvariation", "svg.fonttype": "path"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # drawn as a box
        # Dates and versions in the file would make equal figures differ.
        figure.savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return buffer.getvalue()


def save_figure(figure: "Figure", directory: Path, name: str) -> bytes:
    """Save a figure as SVG and PNG; return the SVG."""
    directory.mkdir(parents=True, exist_ok=True)
    drawn = {kind: render(figure, kind) for kind in ("svg", "png")}
    for kind, content in drawn.items():
        (directory / f"{name}.{kind}").write_bytes(content)
    return drawn["svg"]


@dataclass
class Document:
    """A title, sections and a lead; `foot` is on every printed page. Text is put in the present vocabulary at once."""

    title: str
    sections: list[Section]
    lead: str = ""
    foot: str = ""

    def __post_init__(self) -> None:
        self.title, self.lead, self.foot = said(self.title), said(self.lead), said(self.foot)

    def html(self) -> str:
        """Render it as one HTML page without external resources. Text is escaped."""
        from jinja2 import Environment, PackageLoader

        environment = Environment(
            loader=PackageLoader("transvariation.report"),
            autoescape=True,
            finalize=lambda value: printable_text(value) if type(value) is str else value,
        )
        environment.filters["base64"] = lambda svg: base64.b64encode(svg.encode()).decode()
        return environment.get_template("page.html").render(vars(self) | {"foot": _css_string(self.foot)})

    def pdf(self) -> bytes:
        """Render it as a PDF file."""
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            (here / "case.json").write_text(json.dumps(asdict(self)), encoding="utf-8")
            (here / "case.typ").write_bytes((files("transvariation.report") / "templates" / "case.typ").read_bytes())
            return _typst().compile(str(here / "case.typ"), root=folder)

    def write(self, path: Path) -> None:
        """Write it in the format of the file's ending: .html or .pdf."""
        content = self.pdf() if check_report_name(path) == ".pdf" else self.html().encode()
        with replacing(path) as unfinished:
            unfinished.write_bytes(content)


def _css_string(text: str) -> str:
    """Escape a text for a string in a style sheet: every character but plain letters and digits."""
    return "".join(each if each.isascii() and each.isalnum() else f"\\{ord(each):06x}" for each in text)


def _typst() -> ModuleType:
    try:
        import typst
    except ImportError as error:
        raise ValueError(
            "a PDF report needs Typst: pip install typst, or write a report whose name ends in .html"
        ) from error
    return typst


def check_report_name(path: Path) -> str:
    """Return the kind of report by the file's extension, .html or .pdf."""
    kind = path.suffix.lower()
    if kind not in (".html", ".pdf"):
        raise ValueError(f"the report {path.name!r} must end in .html or .pdf")
    if kind == ".pdf":
        _typst()
    return kind
