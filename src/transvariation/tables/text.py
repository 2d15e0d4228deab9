"""Read CSV and its relatives: encoding, delimiter and decimal mark are recognised, then rows are read in blocks."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from transvariation.tables.cells import Column, find_decimal
from transvariation.tables.grid import Block, are_names, report_lengths
from transvariation.tables.problems import Problems, quoted

DELIMITERS = {";": "semicolon", "\t": "tab", "|": "bar", ",": "comma"}  # the comma last: it may be a decimal mark
SAMPLE_CHARACTERS = 1_000_000
SAMPLE_RECORDS = 500
PIECE_CHARACTERS = 4_000_000
PIECE_BYTES = 1 << 20
LONGEST_LINE = 64 * PIECE_BYTES

_EITHER = re.compile(r"[<≤]?\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_BYTE_ORDER_MARKS = [  # the longer mark first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]


def detect_encoding(stream: BinaryIO, problems: Problems, given: str | None = None) -> str:
    """Find a text file's encoding.

    A byte-order mark decides; else UTF-16 shows by its zero bytes; else UTF-8 if every byte fits; else Windows-1252.
    Guessing by frequencies (charset-normalizer) is no help for tables: a single "µ" is too little text to go by.
    """
    stream.seek(0)
    head = stream.read(4096)
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
    if given or marked:
        candidates = [given or marked or ""]
    elif len(head) >= 4 and head.count(0) > 0.3 * len(head):
        candidates = ["utf-16-le" if head[1::2].count(0) > head[0::2].count(0) else "utf-16-be"]
    else:
        candidates = ["utf-8", "cp1252"]
    for encoding in candidates:
        wrong = _first_wrong_byte(stream, encoding, problems)
        if wrong is None:
            if encoding == "cp1252" and not given:
                problems.note("encoding", encoding="Windows-1252")
            return encoding
    stream.seek(0)
    row = len(re.findall(rb"\r\n|\r|\n", stream.read(wrong or 0))) + 1
    byte = stream.read(1)
    what = f"byte 0x{byte.hex()}" if byte else "the end of the file"
    raise problems.stop("wrong-byte", row, remedy="name-encoding", byte=what, encoding=candidates[-1])


def _first_wrong_byte(stream: BinaryIO, encoding: str, problems: Problems) -> int | None:
    """Find the first byte that the encoding cannot explain; stop at a line without an end."""
    decoder, read, line = codecs.getincrementaldecoder(encoding)(), 0, 0
    stream.seek(0)
    while True:
        piece = stream.read(PIECE_BYTES)
        pending = len(decoder.getstate()[0])  # bytes of a character that the last piece ended in
        try:
            decoder.decode(piece, final=not piece)
        except UnicodeError as error:
            return max(read - pending + getattr(error, "start", 0), 0)
        if not piece:
            return None
        read += len(piece)
        line = 0 if b"\n" in piece or b"\r" in piece else line + len(piece)
        if line > LONGEST_LINE:
            raise problems.stop("endless-line")


class TextGrid:
    """A delimited text file."""

    n_rows = 0

    def __init__(
        self,
        stream: BinaryIO,
        sha256: str,
        problems: Problems,
        *,
        delimiter: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
    ):
        self.name, self.sha256 = problems.table, sha256
        self._encoding = detect_encoding(stream, problems, encoding)
        self._stream, self._problems = stream, problems
        self._size = stream.seek(0, 2)
        self.measured: Sequence[int] = ()
        with self._text() as text:
            sample = text.read(SAMPLE_CHARACTERS)
        complete = len(sample) < SAMPLE_CHARACTERS
        first = ",".join(next(iter(_records(sample, complete, ",")), []))
        named = re.fullmatch(r"\ufeff?sep=(.)", first)  # Excel reads the delimiter from such a line
        self._skipped = 1 if named else 0
        self._separator = delimiter or (named[1] if named else find_delimiter(sample, complete))
        self.delimiter = f"the {DELIMITERS.get(self._separator) or quoted(self._separator)}"
        cells = [
            cell.strip() for row in _records(sample, complete, self._separator)[self._skipped + 1 :] for cell in row
        ]
        self.decimal = decimal or find_decimal(cells, problems)
        self.header: list[str] = []
        self.first_row = 1
        with self._text() as text:
            reader = _Records(text, self._separator, problems)
            while (line := text.readline()) and not reader.broken and not self.header:
                for record in reader.read(line):
                    if reader.row > self._skipped and any(map(str.strip, record)):
                        self.header, self.first_row = [cell.strip() for cell in record], reader.row
        while self.header and not self.header[-1]:
            self.header.pop()  # blank columns at the right-hand edge
        if any("\x00" in name for name in self.header):
            problems.add("nul-in-header", self.first_row)

    @contextmanager
    def _text(self) -> Iterator[io.TextIOWrapper]:
        self._stream.seek(0)
        text = io.TextIOWrapper(self._stream, self._encoding, newline="")
        try:
            yield text
        finally:
            text.detach()  # the stream stays open

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Read the rows below the header; a row of another length is reported and left out."""
        with self._text() as text:
            reader = _Records(text, self._separator, self._problems)
            while (piece := text.read(PIECE_CHARACTERS)) and not reader.broken:
                piece += text.readline()  # to the end of the row
                columns = None
                if self.measured and reader.row >= self.first_row:
                    columns = parse_regular(piece, len(self.header), self.measured, self._separator, self.decimal)
                if columns is None:
                    block = self._checked(reader.row, reader.read(piece), "\x00" in piece)
                else:
                    block = Block(np.arange(len(columns[0])) + reader.row + 1, columns)
                    reader.row += len(columns[0])
                progress = min(self._stream.tell() / max(self._size, 1), 1.0)
                for start in range(0, len(block.rows), block_rows):
                    part = slice(start, start + block_rows)
                    yield Block(block.rows[part], [column[part] for column in block.columns], progress)

    def _checked(self, above: int, records: list[list[str]], nul: bool) -> Block:
        """Leave out blank rows, and report rows that do not fit the header."""
        width = len(self.header)
        rows: Sequence[int] = range(above + 1, above + 1 + len(records))
        if above < self.first_row or set(map(len, records)) != {width} or nul or not all(r[0].strip() for r in records):
            filled = [
                (i, r) for i, r in zip(rows, records, strict=True) if i > self.first_row and any(map(str.strip, r))
            ]
            misfits = [(i, record) for i, record in filled if not _fits(record, width)]
            report_lengths(misfits, len(filled), width, self._problems, self.delimiter)
            for i, record in filled if nul else ():
                for at in [at for at, cell in enumerate(record[:width]) if "\x00" in cell][:1]:
                    self._problems.add("nul", i, self.header[at])
            fitting = [(i, r[:width]) for i, r in filled if _fits(r, width) and not (nul and "\x00" in "".join(r))]
            rows, records = [i for i, _ in fitting], [record for _, record in fitting]
        columns: list[Column] = list(zip(*records, strict=True)) if records else [()] * width
        return Block(np.array(rows, dtype=np.int64), columns)


class _Records:
    """Splits text into records piece by piece; a record that a piece ends in is completed from the file."""

    def __init__(self, text: io.TextIOWrapper, delimiter: str, problems: Problems):
        self._text, self._delimiter, self._problems = text, delimiter, problems
        self.row = 0  # the last record's number, as a spreadsheet counts
        self.broken = False

    def read(self, piece: str) -> list[list[str]]:
        """Read the records that begin in a piece of whole lines."""
        lines = list(io.StringIO(piece, newline=""))
        rest = iter(self._text.readline, "")
        reader = csv.reader(chain(lines, rest), delimiter=self._delimiter, strict=True)
        records: list[list[str]] = []
        try:
            while reader.line_num < len(lines):
                records.append(next(reader))
        except csv.Error as error:
            self.broken = True
            known = {"unexpected end": "open-quote", "field larger": "long-cell"}  # the module has no codes
            code = next((code for words, code in known.items() if words in str(error)), "unreadable-row")
            self._problems.add(code, self.row + len(records) + 1, reason=str(error))
        self.row += len(records)
        return records


def _records(sample: str, complete: bool, delimiter: str) -> list[list[str]]:
    """Read the sample's records, without the last one where the sample may have ended in it."""
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            if any(map(str.strip, record)):
                records.append(record)
            if len(records) == SAMPLE_RECORDS:
                return records
    except csv.Error:
        return records  # reported with its row when the file itself is read
    return records if complete or len(records) < 2 else records[:-1]


def find_delimiter(sample: str, complete: bool = True) -> str:
    """Choose the delimiter that occurs in the header and gives the rows the header's length.

    Where several do, it is the one that leaves most numbers whole, and the comma, which may be a decimal mark, only if
    no other leaves as many. Where none does, the header may be a title: then it is the one that gives most rows one
    length and begins with names. In one column, it is the rarest.

    Examples
    --------
    >>> find_delimiter("id;Na, wt%;Mg, wt%\\nA;1,5;2,5\\n")
    ';'
    """
    split = {delimiter: _records(sample, complete, delimiter) for delimiter in DELIMITERS}
    fitting, widths, below_titles = [], {}, {}
    for delimiter, records in split.items():
        if not records:
            continue
        length, width = len(records[0]), max(i for i, cell in enumerate(records[0], 1) if cell.strip())
        if length > 1:
            share = sum(len(record) == length or _fits(record, width) for record in records) / len(records)
            widths[delimiter] = share, length
            fitting += [delimiter] if 2 * share > 1 else []
        common, times = Counter(map(len, records)).most_common(1)[0]
        names = next(record for record in records if len(record) == common)
        if 2 * times > len(records) and are_names(names):
            below_titles[delimiter] = times
    if fitting:
        return max(fitting, key=lambda d: (_count_numbers(split[d][1:]), d != ",", widths[d]))
    return max(below_titles, key=below_titles.__getitem__, default=max(widths, key=widths.__getitem__, default="\t"))


def _fits(record: list[str], width: int) -> bool:
    return len(record) >= width and not any(map(str.strip, record[width:]))


def _count_numbers(records: list[list[str]]) -> int:
    return sum(bool(_EITHER.fullmatch(cell.strip())) for record in records for cell in record)


def parse_regular(piece: str, width: int, numbers: Sequence[int], delimiter: str, decimal: str) -> list[Column] | None:
    """Parse a piece of text made of whole rows at the speed of C; None where any cell needs a closer look.

    Parameters
    ----------
    piece : str
        Whole lines.
    width : int
        How many cells every row must have.
    numbers : sequence of int
        The columns to read as numbers; the others are text.

    Examples
    --------
    >>> parse_regular("F1,1.5\\nF2,2.5\\n", 2, [1], ",", ".")
    [['F1', 'F2'], array([1.5, 2.5])]
    >>> parse_regular("F1,1.5\\nF2,<2\\n", 2, [1], ",", ".") is None
    True
    """
    import pandas as pd

    n = piece.count("\n") + (not piece.endswith("\n"))
    try:
        if not _is_regular(piece, n, width, delimiter):
            return None
        frame = pd.read_csv(
            io.StringIO(piece),
            sep=delimiter,
            decimal=decimal,
            header=None,
            names=range(width),
            index_col=False,
            dtype={j: np.float64 if j in numbers else object for j in range(width)},
            na_filter=False,  # an empty cell must not pass for a number
            skip_blank_lines=False,
            **_nearest_double(pd.__version__),
        )
    except (ValueError, OverflowError):  # ParserError and UnicodeEncodeError are ValueErrors
        return None
    X = frame[list(numbers)].to_numpy()
    if len(frame) != n or not np.isfinite(X).all():  # 1e400 and nan
        return None
    if ((X == 0).any() or (X == 1).all(axis=0).any()) and "e" in piece.lower():
        return None  # 1e-400 and false read as 0; a column of nothing but true as 1
    place = {j: k for k, j in enumerate(numbers)}
    return [X[:, place[j]] if j in place else frame[j].tolist() for j in range(width)]


def _nearest_double(version: str) -> dict[str, Any]:
    """Make pandas parse numbers as float() does; from 3.1 on this is its default, and the option is deprecated."""
    major, minor = map(int, version.split(".")[:2])
    return {} if (major, minor) >= (3, 1) else {"float_precision": "round_trip"}


def _is_regular(piece: str, n: int, width: int, delimiter: str) -> bool:
    """Return whether every line has the delimiters of one row, and every quotation mark encloses one cell of it.

    Line by line: in sums over the piece a cell too many here and one too few there would cancel out.
    """
    if not delimiter.isascii() or piece.startswith("\ufeff") or "\x00" in piece:
        return False
    if piece.count("\r") != piece.count("\r\n"):
        return False
    mark, end = delimiter.encode(), b"" if piece.endswith("\n") else b"\n"
    marks = piece.encode().translate(None, bytes(set(range(256)) - {*mark, *b'\n"'})) + end
    # Two quotation marks side by side here have neither delimiter nor line end between them.
    if marks.replace(b'""', b"") != ((width - 1) * mark + b"\n") * n:
        return False
    if b'"' not in marks:
        return True
    # Each cell has an even number of them; as many edges as marks leaves one at either end and none within.
    opening = piece.count(delimiter + '"') + piece.count('\n"') + piece.startswith('"')
    closing = sum(map(piece.count, ('"' + delimiter, '"\n', '"\r'))) + piece.endswith('"')
    return opening + closing == marks.count(b'"')
