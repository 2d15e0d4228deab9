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
from transvariation.tables.grid import Block, Grid, are_names, fits, is_filled
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


def find_encoding(stream: BinaryIO, problems: Problems, given: str | None = None) -> str:
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


class TextGrid(Grid):
    """A delimited text file."""

    def __init__(
        self, stream: BinaryIO, problems: Problems, delimiter: str | None, decimal: str | None, encoding: str | None
    ):
        super().__init__(problems, decimal)
        self._stream, self._encoding = stream, find_encoding(stream, problems, encoding)
        with self._text() as text:
            sample = text.read(SAMPLE_CHARACTERS) + text.readline()
        first = ",".join(next(iter(_sample_records(sample, ",")), []))
        named = re.fullmatch(r"\ufeff?sep=(.)", first)  # Excel reads the delimiter from such a line
        skipped = 1 if named else 0
        self._separator = delimiter or (named[1] if named else find_delimiter(sample))
        self.delimiter = f"the {DELIMITERS.get(self._separator) or quoted(self._separator)}"
        if not decimal:
            below = _sample_records(sample, self._separator)[skipped + 1 :]
            self.decimal = find_decimal([cell.strip() for record in below for cell in record], problems)
        with self._text() as text:
            self.read_header((row, record) for row, record in self._records(text) if row > skipped)
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
        """Read the rows below the header, a piece of text at a time."""
        row = 0  # the last one read, as a spreadsheet counts
        size = max(self._stream.seek(0, 2), 1)
        with self._text() as text:
            while piece := text.read(PIECE_CHARACTERS):
                piece += text.readline()  # to the end of the row
                columns = None
                if self.measured and row >= self.first_row:
                    columns = parse_regular(piece, len(self.header), self.measured, self._separator, self.decimal)
                if columns is not None:
                    block = Block(np.arange(len(columns[0])) + row + 1, columns)
                    row += len(columns[0])
                else:
                    records = list(self._records(text, row, list(io.StringIO(piece, newline=""))))
                    row += len(records)
                    block = self.block(self._without_nul(records) if "\x00" in piece else records)
                    del records  # as large as the block
                progress = min(self._stream.tell() / size, 1.0)
                for start in range(0, len(block.rows), block_rows):
                    part = slice(start, start + block_rows)
                    yield Block(block.rows[part], [column[part] for column in block.columns], progress)

    def _records(
        self, text: io.TextIOWrapper, row: int = 0, lines: Sequence[str] | None = None
    ) -> Iterator[tuple[int, list[str]]]:
        """Number the records that begin in these lines, of which the last may end further down; None: in the file."""
        reader = csv.reader(chain(lines or (), iter(text.readline, "")), delimiter=self._separator, strict=True)
        try:
            for record in reader:
                row += 1
                yield row, record
                if lines is not None and reader.line_num >= len(lines):
                    return
        except csv.Error as error:
            known = {"unexpected end": "open-quote", "field larger": "long-cell"}  # the module has no codes
            code = next((code for words, code in known.items() if words in str(error)), "unreadable-row")
            self.problems.add(code, row + 1, reason=str(error))
            text.seek(0, io.SEEK_END)

    def _without_nul(self, records: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
        """Report and leave out the rows that contain a NUL byte."""
        for row, record in records:
            at = next((j for j, cell in enumerate(record) if "\x00" in cell), None)
            if at is not None and row > self.first_row:
                self.problems.add("nul", row, self.header[at] if at < len(self.header) else None)
        return [(row, record) for row, record in records if "\x00" not in "".join(record)]


def _sample_records(sample: str, delimiter: str) -> list[list[str]]:
    """Read the sample's records that are not blank."""
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            records += [record] if is_filled(record) else []
            if len(records) == SAMPLE_RECORDS:
                break
    except csv.Error:
        pass  # reported with its row when the file itself is read
    return records


def find_delimiter(sample: str) -> str:
    """Choose the delimiter that occurs in the header and gives the rows the header's length.

    Where several do, it is the one that leaves most numbers whole, and the comma, which may be a decimal mark, only if
    no other leaves as many. Where none does, the header may be a title: then it is the one that gives most rows one
    length and begins with names. In one column, it is the rarest.

    Examples
    --------
    >>> find_delimiter("id;Na, wt%;Mg, wt%\\nA;1,5;2,5\\n")
    ';'
    """
    fitting, widths, below_titles = {}, {}, {}
    for delimiter in DELIMITERS:
        records = _sample_records(sample, delimiter)
        if not records:
            continue
        length, width = len(records[0]), max(i for i, cell in enumerate(records[0], 1) if cell.strip())
        if length > 1:
            share = sum(len(record) == length or fits(record, width) for record in records) / len(records)
            widths[delimiter] = share, length
            if 2 * share > 1:
                cells = (cell.strip() for record in records[1:] for cell in record)
                fitting[delimiter] = sum(map(bool, map(_EITHER.fullmatch, cells))), delimiter != ",", share, length
        common, times = Counter(map(len, records)).most_common(1)[0]
        if 2 * times > len(records) and are_names(next(record for record in records if len(record) == common)):
            below_titles[delimiter] = times
    best: dict[str, Any] = fitting or below_titles or widths or {"\t": 0}
    return max(best, key=best.__getitem__)


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
