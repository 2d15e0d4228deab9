"""Whatever the bytes, the reader returns a valid table or raises TableError."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transvariation.tables import Table, TableError, read_chunks, read_pair, read_table, text


def attempt(read):
    """Return what was read, or the TableError raised; any other exception fails the test."""
    try:
        return read(), None
    except TableError as error:
        refusal = error
    assert refusal.problems
    return None, refusal


def outcome(source, **options) -> Table | None:
    """Read; check what any table must satisfy."""
    table, refusal = attempt(lambda: read_table(source, **options))
    if refusal is not None:
        assert all(problem.message for problem in refusal.problems)
        assert all(line.isprintable() for line in str(refusal).split("\n"))
        return None
    n, p = table.X.shape
    assert n == len(table.ids) == len(set(table.ids)) == len(table.rows)
    assert p == len(table.features) == len(set(table.features))
    assert n >= 1
    assert p >= 1
    assert np.isfinite(table.X).all()
    assert (np.diff(table.rows) > 0).all()
    return table


# Pieces of which files that nearly are tables are made.
SCRAPS = st.sampled_from(
    [b",", b";", b"\t", b"|", b"\n", b"\r\n", b"\r", b'"', b'""', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"sep=;\n"]
    + [b"id", b"Na (wt%)", b"Mg", b"Item", b"Type", b"1", b"2.5", b"3,5", b"1e400", b"1e-400", b"-", b"<0.01", b"nd"]
    + [b"=1+1", b"2024-01-02", b"\xe4", "ü".encode(), "−1".encode(), b"nan", b"1_0", b" ", b"PAR1", b"PK\x03\x04", b"<"]
)
POLICIES = st.sampled_from(["error", "drop", "impute"])


@given(st.binary(max_size=300))
def test_any_bytes(content):
    outcome(content)


@given(st.lists(SCRAPS, max_size=60).map(b"".join), POLICIES)
def test_nearly_tables(content, missing):
    outcome(content, missing=missing)


@given(st.lists(SCRAPS, max_size=40).map(b"".join), POLICIES)
def test_pairs_and_blocks_raise_nothing_but_table_errors(content, missing):
    for read in (
        lambda: read_pair(b"Na,Mg\n1,2\n3,4\n", content, missing=missing),
        lambda: read_pair(content, b"Na,Mg\n1,2\n", missing=missing),
        lambda: list(read_chunks(content, ["Na"], rows=2, missing="drop")),
    ):
        attempt(read)


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).map(
                "{}'".format
            ),  # not "SD"
            st.floats(allow_nan=False, allow_infinity=False),
            st.integers(-(10**6), 10**6),
        ),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[0].strip(),
    ).filter(lambda rows: all(row[0].strip() for row in rows)),
    st.sampled_from([(",", "."), (";", ","), (";", "."), ("\t", ","), ("|", ".")]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.booleans(),
)
def test_values_written_are_read_back(rows, marks, encoding, quote_all):
    sep, decimal = marks
    frame = pd.DataFrame(rows, columns=["id", "Na", "Mg"]).astype({"Na": float, "Mg": float})
    text = frame.to_csv(index=False, sep=sep, decimal=decimal, quoting=int(quote_all))
    table = read_table(text.encode(encoding), delimiter=sep, decimal=decimal)
    assert table.ids == tuple(row[0].strip() for row in rows)
    np.testing.assert_array_equal(table.X, frame[["Na", "Mg"]])


def _workbook() -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in (["id", "Na", "Mg"], ["A", 1, 2.5], ["B", "3", None], ["C", "<0.1", 4]):
        book.active.append(row)
    book.save(file)
    return file.getvalue()


WORKBOOK = _workbook()


@given(st.lists(st.tuples(st.integers(0, len(WORKBOOK) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_damaged_workbooks(changes):
    content = bytearray(WORKBOOK)
    for at, byte in changes:
        content[at] = byte
    outcome(bytes(content), missing="impute")


LINES = st.lists(
    st.sampled_from(["1", "2.5", "0", "true", "", "1e-400", "X", "é"] + [","] * 8 + ["\n"] * 3 + ['"'] * 2 + ["\r\n"]),
    max_size=40,
).map("".join)


@given(LINES, st.lists(st.sampled_from(["F,1.5,n\n", '"F",0.5,"n"\n', 'F,2,"a,b"\n', "F,3\n", "F,4,,n\n"]), max_size=6))
def test_the_fast_parser_changes_nothing(odd, rows):
    file = ("i,K,remark\n" + "G,1,n\n" * 20 + "".join(rows) + odd).encode()
    found = []
    for parser in (text.parse_regular, lambda *_: None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text, "PIECE_CHARACTERS", 40)  # only what follows the first piece is parsed fast
            patch.setattr(text, "parse_regular", parser)
            try:
                table = read_table(file, features=["K"], source_column="i", missing="keep")
                found.append((table.source, np.nan_to_num(table.X, nan=-1).tolist(), table.rows.tolist()))
            except TableError as error:
                found.append(str(error))
    assert found[0] == found[1]
