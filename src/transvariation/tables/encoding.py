"""One pass over a file's bytes: fingerprint, encoding, and signs that it is no text at all."""

import codecs
import hashlib
import re
from dataclasses import dataclass
from typing import BinaryIO

from transvariation.tables.problems import Findings, quoted

PIECE = 1 << 20
LONGEST_LINE = 64 * PIECE

_MARKS = [  # the longer mark first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]


@dataclass(frozen=True)
class Survey:
    """What is known about a file before its text is looked at."""

    sha256: str
    size: int
    encoding: str
    nul: bool  # whether the text contains NUL characters


def fingerprint(stream: BinaryIO) -> str:
    """Compute the SHA-256 of a file's bytes."""
    stream.seek(0)
    digest = hashlib.sha256()
    while piece := stream.read(PIECE):
        digest.update(piece)
    stream.seek(0)
    return digest.hexdigest()


def survey(stream: BinaryIO, findings: Findings, encoding: str | None = None) -> Survey | None:
    """Find a text file's encoding; None, with the reason among the findings, where it has none.

    A byte-order mark decides; else UTF-16 shows by its zero bytes; else UTF-8 if every byte fits; else Windows-1252.
    """
    stream.seek(0)
    tries = [encoding] if encoding else _candidates(stream.read(4096))
    sha256, nul, chosen = fingerprint(stream), False, None
    for name in tries:
        misfit, nul = _first_misfit(stream, name)
        if misfit is None:
            chosen = name
            break
    size = stream.seek(0, 2)
    if chosen is None:
        _report(stream, findings, tries[-1], misfit or 0, given=encoding is not None)
        return None
    if _has_endless_line(stream):
        findings.problem("a line is longer than 64 MB: this is not a table of rows")
        return None
    if chosen == "cp1252" and not encoding:
        findings.note("the file is not UTF-8; it was read as Windows-1252")
    elif chosen.startswith("utf-16") and not encoding:
        findings.note("the file is UTF-16")
    return Survey(sha256, size, chosen, nul)


def _first_misfit(stream: BinaryIO, encoding: str) -> tuple[int | None, bool]:
    """Find the first byte that the encoding cannot explain, and whether there are NUL characters before it."""
    decoder, read, nul = codecs.getincrementaldecoder(encoding)(), 0, False
    stream.seek(0)
    while True:
        piece = stream.read(PIECE)
        kept = len(decoder.getstate()[0])  # bytes of a character that the last piece cut in two
        try:
            nul = "\x00" in decoder.decode(piece, final=not piece) or nul
        except UnicodeError as error:
            return max(read - kept + getattr(error, "start", 0), 0), nul
        if not piece:
            return None, nul
        read += len(piece)


def _has_endless_line(stream: BinaryIO) -> bool:
    stream.seek(0)
    length = 0
    while piece := stream.read(PIECE):
        length = 0 if b"\n" in piece or b"\r" in piece else length + len(piece)
        if length > LONGEST_LINE:
            return True
    return False


def _candidates(head: bytes) -> list[str]:
    for mark, name in _MARKS:
        if head.startswith(mark):
            return [name]
    if len(head) >= 4 and head.count(0) > 0.3 * len(head):
        even, odd = head[0::2].count(0), head[1::2].count(0)
        return ["utf-16-le" if odd > even else "utf-16-be"]
    return ["utf-8", "cp1252"]


def _report(stream: BinaryIO, findings: Findings, encoding: str, at: int, *, given: bool) -> None:
    stream.seek(0)
    before = stream.read(at)
    row = len(re.findall(rb"\r\n|\r|\n", before)) + 1
    byte = stream.read(1)
    what = f"byte 0x{byte.hex()}" if byte else "the end of the file"
    remedy = "name the right one" if given else "save the file as UTF-8, or name its encoding"
    findings.problem(f"{what} does not belong to a text in {quoted(encoding)}; {remedy}", row)
