"""Excel workbooks (.xlsx), read cell by cell without trusting them."""

import warnings
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from transvariation.tables.grid import Block, Limits, Plan
from transvariation.tables.problems import Findings, TableError, quoted
from transvariation.tables.ragged_rows import report_lengths

EXCEL_ROWS = 1_048_576
NAME_ONE = (  # the page says it in its own words
    "name one of them (sheet; --sheet, --control-sheet, --recovered-sheet, --background-sheet), or move it to the front"
)


class WorkbookGrid:
    """One sheet of a workbook. Formulas count by the value stored with them and are never computed."""

    plan: Plan | None = None

    def __init__(
        self,
        stream: BinaryIO,
        sha256: str,
        findings: Findings,
        limits: Limits,
        *,
        sheet: str | int | None = None,
        decimal: str | None = None,
    ):
        self.name, self.sha256, self.decimal = findings.file, sha256, decimal or ""
        self._findings, self._limits = findings, limits
        self.header, self.first_row = [], 1
        check_archive(stream, findings, limits)
        findings.check()
        self._stream = stream
        self._sheet = sheet
        self._book = _open(stream, findings, data_only=True)
        self._title = self._choose(sheet)
        for row, cells in self._rows(self._book):
            if _is_filled(cells):
                self.header, self.first_row = ["" if cell is None else str(cell).strip() for cell in cells], row
                break
        while self.header and not self.header[-1]:
            self.header.pop()
        if not self.header:
            self._report_empty()

    def _report_empty(self) -> None:
        self._findings.check()  # a sheet that cannot be read is not called empty
        others = [quoted(s.title) for s in self._book.worksheets if s.title != self._title]
        remedy = f"; others: {', '.join(others)}; {NAME_ONE}"
        self._findings.problem(f"the sheet {quoted(self._title)} is empty{remedy if others else ''}")
        self._findings.check()

    def _choose(self, sheet: str | int | None) -> str:
        visible = _visible(self._book)
        if sheet is not None:
            titles = [s.title for s in self._book.worksheets]
            if isinstance(sheet, int) and 1 <= sheet <= len(titles):
                sheet = titles[sheet - 1]
            if sheet in titles:
                self._findings.note(f"the sheet {quoted(sheet)} was read, as was asked")
                return str(sheet)
            self._findings.problem(f"sheet {quoted(sheet)} is not among {', '.join(map(quoted, titles))}")
        if not visible:
            self._findings.problem("the workbook has no visible sheet with cells")
        self._findings.check()
        if len(visible) > 1:
            others = ", ".join(quoted(title) for title in visible[1:])
            self._findings.note(f"the sheet {quoted(visible[0])} was read; not read: {others}")
        return visible[0]

    def _rows(self, book: Any, *, values_only: bool = True) -> Iterator[tuple[int, tuple[Any, ...]]]:
        worksheet = book[self._title]
        worksheet.reset_dimensions()  # the stated size may be wrong, or a trap
        try:
            for row, cells in enumerate(worksheet.iter_rows(values_only=values_only), start=1):
                if row > EXCEL_ROWS:
                    self._findings.problem(f"a row number above {EXCEL_ROWS:,} cannot be: the file is damaged")
                    return
                yield row, cells
        except TableError:
            raise
        except Exception as error:  # whatever openpyxl meets in a damaged sheet
            self._findings.problem(f"the sheet {quoted(self._title)} cannot be read: {quoted(error, 200)}")

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Read the rows below the header."""
        width = len(self.header)
        rows: list[int] = []
        records: list[tuple[Any, ...]] = []
        misfits: list[tuple[int, Sequence[object]]] = []
        hollow = False
        for row, cells in self._rows(self._book):
            if row <= self.first_row:
                continue
            if not _is_filled(cells):
                hollow = True  # blank, or all formulas
                continue
            if any(cell is not None and str(cell).strip() for cell in cells[width:]):
                misfits.append((row, cells))
                continue
            record = cells[:width] + (None,) * (width - len(cells))
            hollow = hollow or None in record
            rows.append(row)
            records.append(record)
            if len(rows) == block_rows:
                report_lengths(misfits, len(rows) + len(misfits), width, "", self._findings)
                yield Block(np.array(rows), list(zip(*records, strict=True)), min(row / EXCEL_ROWS, 1.0))
                rows, records, misfits = [], [], []
        report_lengths(misfits, len(rows) + len(misfits), width, "", self._findings)
        if hollow:
            self._report_uncomputed()
        if rows:
            yield Block(np.array(rows), list(zip(*records, strict=True)))

    def _report_uncomputed(self) -> None:
        """Tell empty cells from formulas whose value the program that wrote the file did not store."""
        formulas = self._rows(_open(self._stream, self._findings, data_only=False))
        for (row, written), (_, stored) in zip(formulas, self._rows(self._book, values_only=False), strict=False):
            for name, cell, kept in zip(self.header, written, stored, strict=False):
                formula = _formula(cell)
                # a stored text of no characters has no value either: the formula found nothing to show
                if row > self.first_row and formula and kept.value is None and kept.data_type != "str":
                    self._findings.problem(
                        f"{quoted(formula)} is a formula without a stored value; open the file in a spreadsheet program"
                        " and save it, or save the values",
                        row,
                        name,
                    )


def _is_filled(cells: Sequence[Any]) -> bool:
    return any(cell is not None and (not isinstance(cell, str) or cell.strip()) for cell in cells)


def _formula(cell: Any) -> str:
    """Give the formula in a cell, "" where there is none; one that fills several cells is an object of openpyxl's."""
    from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula

    if isinstance(cell, DataTableFormula):
        return "{=TABLE}"
    text = (cell.text or "=") if isinstance(cell, ArrayFormula) else cell
    return text if isinstance(text, str) and text.startswith("=") else ""


def sheet_titles(stream: BinaryIO, limits: Limits) -> list[str]:
    """List the sheets of a workbook that a person sees; none where it cannot be opened, which reading it explains."""
    findings = Findings("")
    try:
        check_archive(stream, findings, limits)
        findings.check()
        return _visible(_open(stream, findings, data_only=True))
    except TableError:
        return []


def _visible(book: Any) -> list[str]:
    return [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]


def _open(stream: BinaryIO, findings: Findings, *, data_only: bool) -> Any:
    try:
        import openpyxl
    except ImportError:
        findings.problem("reading Excel files needs openpyxl: pip install 'transvariation[excel]'")
        findings.check()
    stream.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which hold no data
            return openpyxl.load_workbook(stream, read_only=True, data_only=data_only, keep_links=False)
    except Exception as error:  # openpyxl raises what it meets: KeyError, BadZipFile, ParseError, ...
        findings.problem(f"the Excel file cannot be opened: {quoted(error, 200)}; save it again as .xlsx or as CSV")
        findings.check()


def check_archive(stream: BinaryIO, findings: Findings, limits: Limits) -> None:
    """Refuse archives that unpack to far more than they weigh, and XML that defines entities.

    Python unpacks no more of a member than the size stated for it, so the stated sizes are an upper bound.
    """
    stream.seek(0)
    try:
        with zipfile.ZipFile(stream) as archive:
            total = sum(member.file_size for member in archive.infolist())
            if total > limits.unpacked:
                findings.problem(
                    f"the Excel file unpacks to {total / 1e6:,.0f} MB, more than the {limits.unpacked / 1e6:,.0f} MB"
                    " allowed; save the table as CSV or Parquet"
                )
                return
            names = archive.namelist()
            if "xl/workbook.xml" not in names:
                kept = "transvariation.json" in names
                findings.problem(
                    "this is no table but a rule kept by `fit`; apply it with `score`, the rule first, then the table"
                    if kept
                    else "the file is a ZIP archive but not an Excel workbook; unpack it, or save it as .xlsx"
                )
                return
            for member in archive.infolist():
                if member.filename.endswith((".xml", ".rels")):
                    with archive.open(member) as file:
                        if b"<!DOCTYPE" in file.read(4096):
                            findings.problem(
                                f"the Excel file defines XML entities in {quoted(member.filename)}: refused"
                            )
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError) as error:
        findings.problem(f"the Excel file is damaged, truncated or encrypted: {quoted(error, 200)}")
    except Exception as error:  # zlib.error and its like, which zipfile lets through
        findings.problem(f"the Excel file is damaged: {quoted(error, 200)}")
