"""CSV and its relatives: encoding, delimiter and decimal mark recognised, then rows in blocks."""

import codecs
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from transvariation.tables.cells import to_say
from transvariation.tables.encoding import Survey
from transvariation.tables.fast_path import quick_columns
from transvariation.tables.grid import Block, Column, Limits, Plan, split
from transvariation.tables.problems import Findings, printable, quoted
from transvariation.tables.ragged_rows import are_names, report_lengths

DELIMITERS = {";": "semicolon", "\t": "tab", "|": "bar", ",": "comma"}  # the comma last: it may be a decimal mark
SAMPLE_CHARACTERS = 1_000_000
SAMPLE_RECORDS = 500
PIECE_CHARACTERS = 4_000_000

_COMMA = re.compile(r"[<≤]?\s*[+-]?(\d*),(\d+)([eE][+-]?\d+)?", re.ASCII)
_POINT = re.compile(r"[<≤]?\s*[+-]?\d*\.\d+([eE][+-]?\d+)?", re.ASCII)
_EITHER = re.compile(r"[<≤]?\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)


class TextGrid:
    """A delimited text file."""

    def __init__(
        self,
        stream: BinaryIO,
        survey: Survey,
        findings: Findings,
        limits: Limits,
        *,
        delimiter: str | None = None,
        decimal: str | None = None,
    ):
        self.name, self.sha256 = findings.file, survey.sha256
        self._stream, self._survey, self._findings, self._limits = stream, survey, findings, limits
        self.plan: Plan | None = None
        sample, complete = self._sample()
        records = list(_whole_records(sample, complete, ","))
        self._skip = 0
        first = ",".join(records[0]) if records else ""
        if re.fullmatch(r"sep=.", first.strip("\ufeff")):  # the line by which Excel is told the delimiter
            delimiter, self._skip = delimiter or first[-1], 1
        self.delimiter = delimiter or find_delimiter(sample, complete)
        cells = [record for record in _whole_records(sample, complete, self.delimiter)][self._skip :]
        self.decimal = decimal or find_decimal([cell.strip() for record in cells[1:] for cell in record], findings)
        self.header: list[str] = []
        self.first_row = 1
        self._header()
        while self.header and not self.header[-1]:
            self.header.pop()  # blank columns at the right-hand edge
        if self.header and survey.nul and any("\x00" in name for name in self.header):
            findings.problem("the header contains a NUL byte: the file is damaged; export it again", self.first_row)

    def _mark(self) -> str:
        return f"the {DELIMITERS[self.delimiter]}" if self.delimiter in DELIMITERS else quoted(self.delimiter)

    def columns_from(self) -> str:
        """Say what the columns were told apart by."""
        if len(self.header) > 1:
            return f"the delimiter is {self._mark()}"
        return "no delimiter was found in the first row; columns must be separated by comma, semicolon, tab or bar"

    def _text(self) -> io.TextIOWrapper:
        self._stream.seek(0)
        return io.TextIOWrapper(_Unclosed(self._stream), self._survey.encoding, newline="")  # type: ignore[arg-type]

    def _sample(self) -> tuple[str, bool]:
        with self._text() as text:
            sample = text.read(SAMPLE_CHARACTERS)
        return sample, len(sample) < SAMPLE_CHARACTERS

    def _header(self) -> None:
        """Read up to the first record that is not blank."""
        with self._text() as text:
            pieces = _Pieces(text, self.delimiter, self._findings)
            while (line := text.readline()) and not pieces.broken:
                for row, record in pieces.records([line]):
                    if row > self._skip and any(map(str.strip, record)):
                        self.header, self.first_row = [cell.strip() for cell in record], row
                        return

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Read the rows below the header; a row of another length is reported and left out."""
        with self._text() as text:
            pieces = _Pieces(text, self.delimiter, self._findings)
            while piece := text.read(PIECE_CHARACTERS):
                piece += text.readline()  # to the end of the row
                plan = self.plan if pieces.row >= self.first_row and not self._survey.nul else None
                quick = plan and quick_columns(piece, len(self.header), plan, self.delimiter, self.decimal)
                if quick:
                    n = len(next(column for column in quick if len(column)))
                    block = Block(np.arange(pieces.row, pieces.row + n) + 1, quick)
                    pieces.row += n
                else:
                    block = self._careful(pieces, piece)
                yield from split(block, block_rows, min(self._stream.tell() / max(self._survey.size, 1), 1.0))
                if pieces.broken:
                    return

    def _careful(self, pieces: "_Pieces", piece: str) -> Block:
        width, find = len(self.header), self._findings
        rows: list[int] = []
        records: list[list[str]] = []
        misfits: list[tuple[int, Sequence[object]]] = []
        for row, record in pieces.records(list(io.StringIO(piece, newline=""))):
            if row <= self.first_row or not any(map(str.strip, record)):
                continue
            if not _fits(record, width):
                misfits.append((row, record))
                continue
            if self._survey.nul and any("\x00" in cell for cell in record):
                at = next(i for i, cell in enumerate(record) if "\x00" in cell)
                find.problem("the cell contains a NUL byte: the file is damaged", row, self.header[at])
                continue
            rows.append(row)
            records.append(record[:width])
        hint = f"; is a delimiter inside a cell not quoted, or a cell missing? (the delimiter is {self._mark()})"
        report_lengths(misfits, len(rows) + len(misfits), width, hint, find)
        columns: list[Column] = list(zip(*records, strict=True)) if records else [()] * width
        return Block(np.array(rows, dtype=np.int64), columns)


class _Pieces:
    """Splits text into records piece by piece; a record that a piece cuts in two is completed from the file."""

    def __init__(self, text: io.TextIOWrapper, delimiter: str, findings: Findings):
        self._text, self._delimiter, self._findings = text, delimiter, findings
        self.row = 0  # the last record's number, as a spreadsheet counts
        self.broken = False

    def records(self, lines: list[str]) -> Iterator[tuple[int, list[str]]]:
        """Read the records that begin among these lines."""
        waiting = deque(lines)

        def following() -> Iterator[str]:
            while line := waiting.popleft() if waiting else self._text.readline():
                yield line

        reader = csv.reader(following(), delimiter=self._delimiter, strict=True)
        try:
            while waiting:  # only a record that is still open asks for a line beyond these
                record = next(reader)
                self.row += 1
                yield self.row, record
        except csv.Error as error:
            self.broken = True
            self._findings.problem(_csv_message(str(error)), self.row + 1)


class _Unclosed(io.RawIOBase):
    """Lets a text layer be thrown away without closing the file under it."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _whole_records(sample: str, complete: bool, delimiter: str) -> Iterator[list[str]]:
    """Read the sample's records, without the last one where the sample may have cut it."""
    lines = io.StringIO(sample, newline="")
    records: list[list[str]] = []
    try:
        for record in csv.reader(lines, delimiter=delimiter):
            if any(map(str.strip, record)):
                records.append(record)
            if len(records) == SAMPLE_RECORDS:
                break
    except csv.Error:
        pass  # reported with its row when the file itself is read
    else:
        if not complete and len(records) < SAMPLE_RECORDS and len(records) > 1:
            records.pop()
    return iter(records)


def find_delimiter(sample: str, complete: bool = True) -> str:
    """Choose the delimiter that stands in the header and gives the rows the header's length.

    Where several do, it is the one that leaves most numbers whole, and the comma, which may be a decimal mark, only if
    no other leaves as many.

    Examples
    --------
    >>> find_delimiter("id;Na, wt%;Mg, wt%\\nA;1,5;2,5\\n")
    ';'
    """
    shares: dict[str, tuple[float, int]] = {}
    for delimiter in DELIMITERS:
        records = list(_whole_records(sample, complete, delimiter))
        if records and len(records[0]) > 1:
            shares[delimiter] = _share_of_fitting(records), len(records[0])
    fitting = [delimiter for delimiter, (share, _) in shares.items() if 2 * share > 1]
    if len(fitting) > 1:
        numbers = {delimiter: _numbers(sample, complete, delimiter) for delimiter in fitting}
        return max(fitting, key=lambda delimiter: (numbers[delimiter], delimiter != ",", shares[delimiter]))
    if fitting:
        return fitting[0]
    # one column: the rarest delimiter leaves its cells whole
    return _delimiter_below_titles(sample, complete) or max(shares, key=shares.__getitem__, default="\t")


def _share_of_fitting(records: list[list[str]]) -> float:
    """Tell how many rows have the header's length, or have it but for blank cells at the right-hand edge."""
    length, width = len(records[0]), max((i for i, cell in enumerate(records[0], 1) if cell.strip()), default=0)
    return sum(len(record) == length or _fits(record, width) for record in records) / len(records)


def _fits(record: list[str], width: int) -> bool:
    return len(record) >= width and not any(map(str.strip, record[width:]))


def _numbers(sample: str, complete: bool, delimiter: str) -> int:
    """Count the cells below the header that are numbers with either decimal mark."""
    records = list(_whole_records(sample, complete, delimiter))[1:]
    return sum(bool(_EITHER.fullmatch(cell.strip())) for record in records for cell in record)


def _delimiter_below_titles(sample: str, complete: bool) -> str | None:
    """Find what separates names and values where the first row is a title.

    A column of decimal commas has no such names above it, and stays one column.
    """
    best, most = None, 0
    for delimiter in DELIMITERS:
        records = list(_whole_records(sample, complete, delimiter))
        width, times = max(Counter(map(len, records)).items(), key=lambda item: item[1], default=(0, 0))
        first = next((record for record in records if len(record) == width), [])
        if 2 * times > len(records) and times > most and are_names(first):
            best, most = delimiter, times
    return best


def find_decimal(cells: list[str], findings: Findings | None = None) -> str:
    """Choose the decimal mark from the cells that look like numbers; ask where they do not tell.

    A comma before exactly three digits may separate thousands, so it alone settles nothing.

    Examples
    --------
    >>> find_decimal(["1,5180", "13,2"]), find_decimal(["1.5", "2"])
    (',', '.')
    """
    sure, unsure = 0, ""
    for cell in cells:
        match = _COMMA.fullmatch(cell)
        if match and (len(match[2]) != 3 or match[1] in ("", "0") or len(match[1]) > 3 or match[3]):
            sure += 1
        elif match:
            unsure = unsure or cell
    points = sum(bool(_POINT.fullmatch(cell)) for cell in cells)
    if unsure and not sure and not points and findings is not None:
        small, large = unsure.replace(",", "."), unsure.replace(",", "")
        findings.problem(
            f"{quoted(unsure)} may mean {small} or {large}, and no other cell tells which;"
            f" for {small} {to_say(',')}, for {large} write it without the comma",
            code="decimal-mark",
        )
    return "," if sure > points else "."


def _csv_message(error: str) -> str:
    if "unexpected end" in error:
        return "a quotation mark is opened and never closed; the rest of the file could not be read"
    if "field larger" in error:
        return "a cell has more than 131,072 characters: an unclosed quotation mark, or not a table"
    return f"the row cannot be split into cells ({printable(error)}); the rest of the file could not be read"


def known_encoding(name: str) -> bool:
    """Tell whether Python knows a text encoding of this name."""
    try:
        return codecs.lookup(name)._is_text_encoding  # base64 and the like are no text
    except (LookupError, ValueError):
        return False
