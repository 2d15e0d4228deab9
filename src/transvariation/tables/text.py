"""Read CSV and its relatives: encoding and delimiter are recognized, then rows are read in blocks."""

import codecs
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import BinaryIO

import numpy as np

from transvariation._typing import Fields
from transvariation.tables.cells import Column
from transvariation.tables.grid import Block, Grid, are_names, fits, is_filled
from transvariation.tables.problems import Problems, quoted
from transvariation.tables.settings import TableSettings

DELIMITERS = {";": "semicolon", "\t": "tab", "|": "bar", ",": "comma"}  # the comma last: it may be a decimal mark
SAMPLE_RECORDS = 500
PIECE_CHARACTERS = 1_000_000
PIECE_BYTES = 1 << 20
MOST_BLANK_ROWS = 1_000_000  # a sheet has no more; reading tens of millions takes half a minute
LONGEST_ROW = 4_000_000  # 200 characters in each of 20,000 columns

_EITHER = re.compile(r"[<≤]?\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)
_BYTE_ORDER_MARKS = {  # the longer mark first: UTF-32's begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CSV_ERRORS = {"unexpected end": "open-quote", "field larger": "long-cell"}  # the module has no codes


def find_encoding(stream: BinaryIO, problems: Problems, given: str | None = None) -> str:
    """Find a text file's encoding.

    A byte-order mark decides; else UTF-16 shows by its zero bytes; else UTF-8 if every byte fits; else Windows-1252.
    Guessing by frequencies (charset-normalizer) is no help for tables: a single "µ" is too little text to go by.
    """
    stream.seek(0)
    head = stream.read(4096)
    marked = next((name for mark, name in _BYTE_ORDER_MARKS.items() if head.startswith(mark)), None)
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
    row, byte = wrong or (1, b"")
    code = "wrong-byte" if byte else "wrong-end"
    raise problems.stop(code, row, remedy="name-encoding", byte=byte.hex(), encoding=candidates[-1])


def count_lines(stream: BinaryIO) -> int:
    """Count the lines of a text file of one-byte line ends; 0 if a cell may contain several, in quotation marks."""
    stream.seek(0)
    count = 0
    while piece := stream.read(PIECE_BYTES):
        if b'"' in piece:
            return 0
        count += piece.count(b"\n")
    return count


def _first_wrong_byte(stream: BinaryIO, encoding: str, problems: Problems) -> tuple[int, bytes] | None:
    """Find the row and value of the first byte that the encoding cannot explain; stop at a line without an end."""
    decoder, row, line, piece = codecs.getincrementaldecoder(encoding)(), 1, 0, b"first"
    stream.seek(0)
    while piece:
        piece = stream.read(PIECE_BYTES)
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeError as error:
            content, at = getattr(error, "object", b""), getattr(error, "start", 0)
            return row + len(re.findall(rb"\r\n|\r|\n", content[:at])), content[at : at + 1]
        end = max(text.rfind("\n"), text.rfind("\r")) + 1
        row += max(text.count("\n"), text.count("\r"))
        line = len(text) - end if end else line + len(text)
        if line > LONGEST_ROW:
            raise problems.stop("endless-line", row)
    return None


class TextGrid(Grid):
    """A delimited text file."""

    def __init__(self, stream: BinaryIO, problems: Problems, how: TableSettings):
        super().__init__(problems, how)
        self._stream, self._encoding = stream, find_encoding(stream, problems, how.encoding)
        self.n_rows = max(count_lines(stream) - MOST_BLANK_ROWS, 0)
        sample = next(self._pieces(), "")
        named = re.match(r'\ufeff?"?sep=(.)"?[\r\n]', sample)  # Excel reads the delimiter from such a line
        header_row = how.header_row or 1
        below = sample if header_row == 1 else "".join(sample.splitlines(keepends=True)[header_row - 1 :])
        self._separator = how.delimiter or (named[1] if named else find_delimiter(below))
        self.delimiter = f"the {DELIMITERS.get(self._separator) or quoted(self._separator)}"
        records, error, _ = _split(sample, self._separator, SAMPLE_RECORDS)
        first = max(header_row, 1 + bool(named))
        self.read_header((row, record) for row, record in enumerate(records, 1) if row >= first)
        if not self.header and error:
            self._report(error, len(records) + 1)
            problems.check()
        if any("\x00" in name for name in self.header):
            problems.add("nul-in-header", self.first_row)

    def _pieces(self) -> Iterator[str]:
        """Read the text in pieces of whole lines; from the first of them, delimiter and columns are recognized."""
        self._stream.seek(0)
        text = io.TextIOWrapper(self._stream, self._encoding, newline="")
        try:
            while piece := text.read(PIECE_CHARACTERS):
                yield piece + text.readline()
        finally:
            if not self._stream.closed:
                text.detach()  # the stream stays open

    def _report(self, error: str, row: int) -> None:
        """Report a row that cannot be split into cells."""
        code = next((code for words, code in _CSV_ERRORS.items() if words in error), "unreadable-row")
        self.problems.add(code, row, reason=error)

    def blocks(self) -> Iterator[Block]:
        """Read the rows below the header, a piece of text at a time."""
        row, rest = 0, ""  # the last row read, as a spreadsheet counts; the start of a row that the piece cuts
        n_blank = 0
        size = max(self._stream.seek(0, 2), 1)
        for piece in chain(self._pieces(), [""]):
            text = rest + piece
            if self.measured and row >= self.first_row and text:
                columns = parse_regular(text, len(self.header), self.measured, self._separator, self.decimal)
                if columns is not None:
                    yield Block(np.arange(len(columns[0])) + row + 1, columns, self._stream.tell() / size)
                    row, rest = row + len(columns[0]), ""
                    continue
            records, error, rest = _split(text, self._separator)
            numbered = [(n, record) for n, record in enumerate(records, row + 1) if any(map(str.strip, record))]
            row += len(records)
            n_blank += len(records) - len(numbered)
            if n_blank > MOST_BLANK_ROWS:
                raise self.problems.stop("blank-rows", row, limit=MOST_BLANK_ROWS)
            is_cut = bool(piece) and "unexpected end" in error
            if is_cut and len(rest) > LONGEST_ROW:
                raise self.problems.stop("endless-line", row + 1)
            if error and not is_cut:
                self._report(error, row + 1)
            yield from self.block(
                self._without_nul(numbered) if "\x00" in text else numbered, self._stream.tell() / size
            )
            if error and not is_cut:
                return

    def _without_nul(self, records: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
        """Report and leave out the rows that contain a NUL byte."""
        for row, record in records:
            at = next((j for j, cell in enumerate(record) if "\x00" in cell), None)
            if at is not None and row > self.first_row:
                self.problems.add("nul", row, self.header[at] if at < len(self.header) else None)
        return [(row, record) for row, record in records if "\x00" not in "".join(record)]


def _split(
    text: str, delimiter: str, most: int | None = None, *, strict: bool = True
) -> tuple[list[list[str]], str, str]:
    """Split text into records; return them, the error that they end in, "" if none, and the text from there on."""
    lines, records = list(io.StringIO(text, newline="")), list[list[str]]()
    reader, again = (csv.reader(lines, delimiter=delimiter, strict=strict) for _ in range(2))
    try:
        records.extend(islice(reader, most))
    except csv.Error as error:
        deque(islice(again, len(records)), maxlen=0)  # to find the line in which the last whole record ends
        return records, str(error), "".join(lines[again.line_num :])
    return records, "", ""


def find_delimiter(sample: str) -> str:
    """Choose the delimiter that occurs in the header and gives the rows the header's length.

    Where several do, it is the one that leaves most numbers whole, and the comma, which may be a decimal mark, only if
    no other leaves as many. Where none does, the header may be a title: then it is the one that gives most rows one
    length and begins with names. In one column, it is the rarest.

    >>> find_delimiter("id;Na, wt%;Mg, wt%\\nA;1,5;2,5\\n")
    ';'
    """
    return max(DELIMITERS, key=lambda delimiter: _suitability(delimiter, sample))


def _suitability(delimiter: str, sample: str) -> tuple[float, ...]:
    """Rate a delimiter: the first number tells the kind of evidence for it."""
    records = list(filter(is_filled, _split(sample, delimiter, SAMPLE_RECORDS, strict=False)[0]))
    if not records:
        return (0, delimiter == "\t")
    length, width = len(records[0]), max(i for i, cell in enumerate(records[0], 1) if cell.strip())
    share = sum(len(record) == length or fits(record, width) for record in records) / len(records)
    if length > 1 and 2 * share > 1:
        cells = (cell.strip() for record in records[1:] for cell in record)
        return (3, sum(map(bool, map(_EITHER.fullmatch, cells))), delimiter != ",", share, length)
    common, times = Counter(map(len, records)).most_common(1)[0]
    if 2 * times > len(records) and are_names(next(record for record in records if len(record) == common)):
        return (2, times)
    return (1, share, length) if length > 1 else (0, delimiter == "\t")


def parse_regular(piece: str, width: int, numbers: Sequence[int], delimiter: str, decimal: str) -> list[Column] | None:
    """Parse whole rows of so many cells at the speed of C; None where any cell needs a closer look.

    The columns `numbers` are read as numbers, the others as text.

    >>> parse_regular("F1,1.5\\nF2,2.5\\n", 2, [1], ",", ".")
    [array(['F1', 'F2'], dtype=object), array([1.5, 2.5])]
    >>> parse_regular("F1,1.5\\nF2,<2\\n", 2, [1], ",", ".") is None
    True
    """
    n = piece.count("\n") + (not piece.endswith("\n"))
    text = sorted(set(range(width)).difference(numbers))
    how: Fields = {"delimiter": delimiter, "quotechar": '"', "comments": None, "ndmin": 2}
    try:
        if not _is_regular(piece, n, width, delimiter):
            return None
        plain = piece if decimal == "." else piece.translate({ord(","): ".", ord("."): "?"})
        X = np.loadtxt(io.StringIO(plain), usecols=numbers, **how)
        words = np.loadtxt(io.StringIO(piece), dtype=object, usecols=text, **how) if text else None
    except ValueError:
        return None
    if len(X) != n or not np.isfinite(X).all() or ((X == 0).any() and "e" in piece.lower()):
        return None  # a blank line; 1e400 and nan; 1e-400 reads as 0
    columns = dict(zip(numbers, X.T, strict=True)) | ({} if words is None else dict(zip(text, words.T, strict=True)))
    return [columns[j] for j in range(width)]


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
