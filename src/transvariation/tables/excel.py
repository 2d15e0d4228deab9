"""Read Excel workbooks (.xlsx) cell by cell, without trusting them.

openpyxl is slower than calamine, but calamine gives blanks for formulas without a stored value and for error values
such as #DIV/0!: such cells would be dropped or imputed as if nothing had been measured.
"""

import posixpath
import re
import warnings
import zipfile
from collections.abc import Iterator
from itertools import islice
from typing import IO, TYPE_CHECKING, BinaryIO

from transvariation._typing import Fields
from transvariation.tables.grid import BLOCK_CELLS, LARGEST_TEXT, Block, Grid, Limits, is_filled
from transvariation.tables.problems import Problems, TableError, some_of
from transvariation.tables.settings import TableSettings

if TYPE_CHECKING:
    from openpyxl import Workbook

EXCEL_ROWS, EXCEL_COLUMNS = 1_048_576, 16_384
MOST_EMPTY = 1_000_000  # cells that are empty or lie beyond the header, unless there are a twentieth as many others
LONGEST_ROW = 4_000_000  # bytes of XML between the ends of two rows, or of two shared strings
MOST_RUNS = 20_000  # of formatted text in about as many bytes
MOST_STRINGS = 2_000_000  # distinct texts of a workbook
LARGEST_STRINGS = 100_000_000  # bytes of distinct texts; a character may take four in memory
LARGEST_STYLES = 2_000_000  # bytes, of which openpyxl makes a hundred times as many
LARGEST_PART = 10_000_000  # bytes of a part that openpyxl holds as a whole, such as the styles
_XML = (b"<", b"\x00", b"\xef\xbb", b"\xfe\xff", b"\xff\xfe")  # what a part in any encoding begins with
_END_OF_ROW, _END_OF_STRING = (re.compile(rb"</(?:[\w.-]+:)?%s\s*>" % tag) for tag in (b"row", b"si"))
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class ExcelGrid(Grid):
    """One sheet of a workbook. Formulas count by the value stored with them and are never computed."""

    def __init__(self, stream: BinaryIO, problems: Problems, limits: Limits, how: TableSettings):
        super().__init__(problems, how)
        self._limits, self._stream, self._book = limits, stream, _open(stream, problems, limits)
        titles = [each.title for each in self._book.worksheets]
        self._title = self._choose(how.sheet, titles)
        self.read_header((row, cells) for row, cells in self._rows() if row >= (how.header_row or 1))
        if not self.header:
            problems.check()  # a sheet that cannot be read is not called empty
            others = [title for title in titles if title != self._title]
            if others:
                raise problems.stop("empty-first-sheet", remedy="name-sheet", sheet=self._title, sheets=others)
            raise problems.stop("empty-sheet", sheet=self._title)

    def _choose(self, sheet: str | int | None, titles: list[str]) -> str:
        """Return the title of the sheet asked for, else of the first visible one."""
        if isinstance(sheet, int) and 1 <= sheet <= len(titles):
            sheet = titles[sheet - 1]
        if sheet in titles:
            self.problems.note("sheet", sheet=sheet)
            return str(sheet)
        if sheet is not None:
            raise self.problems.stop("no-such-sheet", sheet=str(sheet), sheets=titles)
        visible = _visible(self._book)
        if not visible:
            raise self.problems.stop("no-visible-sheet")
        if len(visible) > 1:
            self.problems.note("sheets-not-read", sheet=visible[0], sheets=visible[1:])
        return visible[0]

    def _rows(self) -> Iterator[tuple[int, tuple[object, ...]]]:
        """Read the rows, without the many empty cells that may follow the last one with a value."""
        n_empty = n_used = 0
        try:
            for row, cells in enumerate(self._book[self._title].iter_rows(values_only=True), start=1):
                used = cells[: len(self.header) or None]
                n_filled = len(used) - used.count(None)
                n_used += n_filled
                n_empty += max(len(cells), len(self.header) if n_filled else 0) - n_filled
                if row > EXCEL_ROWS or len(cells) > EXCEL_COLUMNS:
                    self.problems.add("row-number", row, rows=EXCEL_ROWS, columns=EXCEL_COLUMNS)
                    return
                if n_empty > max(limit := min(MOST_EMPTY, self._limits.cells), 20 * n_used):
                    raise self.problems.stop("empty-cells", row, limit=limit)
                width = len(cells)
                while width > 50 and cells[width - 50 : width].count(None) == 50:
                    width -= 50
                yield row, cells[:width]
        except TableError:
            raise
        except Exception as error:  # whatever openpyxl meets in a damaged sheet
            self.problems.add("unreadable-sheet", sheet=self._title, reason=_reason(error))

    def blocks(self) -> Iterator[Block]:
        """Read the rows below the header."""
        width, explained, rows = len(self.header), False, self._rows()
        while records := _take(rows, self.block_rows):
            below = [cells for row, cells in records if row >= self.first_row]
            if not explained and any(len(cells) < width or None in cells[:width] for cells in below):
                explained = True
                self._explain_blanks()
            padded = [(row, (*cells, *[None] * (width - len(cells)))) for row, cells in records if is_filled(cells)]
            yield from self.block(padded, records[-1][0] / EXCEL_ROWS)

    def _explain_blanks(self) -> None:
        """Report blank cells that are not empty: merged with others, or formulas whose value was not stored."""
        from defusedxml.ElementTree import iterparse
        from openpyxl.utils.cell import coordinate_to_tuple

        merged, row, width = [], 0, len(self.header)
        try:
            with zipfile.ZipFile(self._stream) as archive, archive.open(_member(archive, self._title)) as file:
                for _, element in iterparse(file):
                    tag = element.tag.rpartition("}")[2]
                    if tag == "row":
                        row = int(element.get("r") or row + 1)
                        for position, cell in enumerate(element, 1):
                            formula, stored, place = cell.find("{*}f"), cell.find("{*}v"), cell.get("r")
                            # a stored text of no characters has no value either: the formula found nothing to show
                            if formula is None or (stored is not None and stored.text) or cell.get("t") == "str":
                                continue
                            at = coordinate_to_tuple(place)[1] if place else position
                            if row > self.first_row and at <= width:
                                value = f"={formula.text or ''}"
                                self.problems.add("formula-without-value", row, self.header[at - 1], value=value)
                        element.clear()
                    elif tag == "mergeCell":
                        cells = element.get("ref") or ""
                        merged.append((coordinate_to_tuple(cells.partition(":")[0]), cells))
        except TableError:
            raise
        except Exception as error:  # a damaged sheet that openpyxl could read in part
            self.problems.add("unreadable-sheet", sheet=self._title, reason=_reason(error))
            return
        merged = sorted((at, cells) for at, cells in merged if at[0] >= self.first_row and at[1] <= width)
        if merged:
            (row, column), _ = merged[0]
            ranges = some_of([cells for _, cells in merged])
            raise self.problems.stop("merged-cells", row, self.header[column - 1] or None, ranges=ranges)


def _take(rows: Iterator[tuple[int, tuple[object, ...]]], n: int) -> list[tuple[int, tuple[object, ...]]]:
    """Take up to n rows, fewer if they are long: a row may have many more cells than the header, or much text."""
    taken, n_cells, n_characters = [], 0, 0
    for row, cells in islice(rows, n):
        taken.append((row, cells))
        n_cells += len(cells)
        n_characters += sum(len(cell) for cell in cells if isinstance(cell, str))
        if n_cells > 2 * BLOCK_CELLS or n_characters > LARGEST_TEXT:
            break
    return taken


def _member(archive: zipfile.ZipFile, title: str) -> str:
    """Find the sheet of this title in the archive."""
    from defusedxml.ElementTree import fromstring

    sheets = fromstring(archive.read("xl/workbook.xml")).iter()
    relation = next(sheet.get(_RELATION) for sheet in sheets if sheet.get("name") == title and sheet.get(_RELATION))
    targets = fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    target = next(str(each.get("Target")) for each in targets if each.get("Id") == relation)
    return posixpath.normpath(posixpath.join("/xl", target))[1:]


def sheet_titles(stream: BinaryIO, limits: Limits) -> list[str]:
    """List the visible sheets of a workbook; none where it cannot be opened, which reading it explains."""
    try:
        return _visible(_open(stream, Problems(""), limits))
    except TableError:
        return []


def _visible(book: "Workbook") -> list[str]:
    return [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]


def _open(stream: BinaryIO, problems: Problems, limits: Limits) -> "Workbook":
    _check_archive(stream, problems, limits)
    problems.check()
    try:
        from openpyxl.reader.excel import ExcelReader, ReadOnlyWorksheet
    except ImportError:
        needs: Fields = {"library": "openpyxl", "packages": "openpyxl defusedxml"}
        raise problems.stop("library", remedy="install", kind="Excel", **needs) from None

    class Worksheet(ReadOnlyWorksheet):
        def _get_size(self) -> None:
            """Do not look for the stated size, for which openpyxl reads the whole sheet where none is stated."""

    class Reader(ExcelReader):
        def read_worksheets(self) -> None:
            """List the sheets without those that are charts, which openpyxl cannot open read-only."""
            for sheet, relation in self.parser.find_sheets():
                if relation.target in self.valid_files and "chartsheet" not in relation.Type:
                    worksheet = Worksheet(self.wb, sheet.name, relation.target, self.shared_strings)
                    worksheet.sheet_state = sheet.state
                    self.wb._sheets.append(worksheet)

    stream.seek(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions, which hold no data
            reader = Reader(stream, read_only=True, data_only=True, keep_links=False)
            reader.read()
            return reader.wb
    except Exception as error:  # openpyxl raises what it meets: KeyError, BadZipFile, ParseError, ...
        raise problems.stop("damaged", kind="Excel", reason=_reason(error)) from None


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _check_archive(stream: BinaryIO, problems: Problems, limits: Limits) -> None:
    """Refuse archives that unpack to far more than they weigh, and XML that would take far more memory than its size.

    Python unpacks no more of a member than the size stated for it, so the stated sizes are an upper bound. A row and a
    shared string are held in memory as a tree, and so are all parts but the sheets and the shared strings.
    """
    stream.seek(0)
    try:
        with zipfile.ZipFile(stream) as archive:
            names, size = archive.namelist(), sum(member.file_size for member in archive.infolist())
            if size > limits.unpacked:
                problems.add("unpacked-size", size=round(size / 1e6), limit=round(limits.unpacked / 1e6))
            elif "xl/workbook.xml" not in names:
                problems.add("model-file" if "transvariation.json" in names else "no-workbook")
            else:
                for name in names:
                    with archive.open(name) as file:
                        _check_part(file, name, archive.getinfo(name).file_size, problems)
    except Exception as error:  # BadZipFile, zlib.error, NotImplementedError, EOFError, ...
        problems.add("damaged", kind="Excel", reason=_reason(error))


def _check_part(file: IO[bytes], name: str, size: int, problems: Problems) -> None:
    """Refuse XML entities, and parts or rows that are too large to be held in memory."""
    head = file.read(4096)
    if not head.lstrip().startswith(_XML):
        return  # a picture
    if b"<!DOCTYPE" in head:
        problems.add("xml-entities", member=name)
    elif size > (LARGEST_STYLES if name == "xl/styles.xml" else LARGEST_PART):
        sheet = name.startswith("xl/worksheets/")
        in_items = sheet or (name.startswith("xl/sharedStrings") and size <= LARGEST_STRINGS)
        rest, n = head, 0
        tag, end, most = (b"row", _END_OF_ROW, EXCEL_ROWS) if sheet else (b"si", _END_OF_STRING, MOST_STRINGS)
        while in_items and (piece := file.read(LONGEST_ROW)):
            text = rest + piece
            rest = text[max((match.end() for match in end.finditer(text)), default=0) :]
            n += piece.count(b"<" + tag) + piece.count(b":" + tag) // 2  # either with a prefix or without
            # a comment may hold what looks like an end; runs of formatted text take openpyxl long
            in_items = len(rest) <= LONGEST_ROW and n <= most and b"<!" not in text
            in_items = in_items and sum(map(piece.count, (b"/r>", b":r>", b"/r ", b":r "))) < MOST_RUNS
        if not in_items:
            problems.add("large-part", member=name)
