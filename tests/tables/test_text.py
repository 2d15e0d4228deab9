"""The fast parser takes a piece of text only where the row-by-row reader would read the very same."""

import pytest

from transvariation.tables import Table, read_table
from transvariation.tables.text import parse_regular


@pytest.mark.parametrize(
    ("piece", "taken"),
    [
        ("X,1.5,2,n\nY,1.5,2,n\n", True),
        ('"X",1.5,"2",n\r\nY,1.5,2,""\r\n', True),
        ("X,9,1.5,2,n\nY,1.5,2\n", False),  # one too many, then one too few
        ("Y,1.5,2\nX,9,1.5,2,n\n", False),
        ("X,1.5,2,n,\nY,1.5,2\n", False),  # a trailing delimiter, then one too few
        ('X,1.5,2,"a,b"\nY,1.5,2\n', False),  # a quoted delimiter, then one too few
        ('W,1.5,2,n\n"X,Z",1.5,2\n', False),  # both in one row
        ('X,1.5,2,"a\nb"\nY,1.5,2,n\n', False),
        ('X,1.5,2,"a\nb",1.5,2,n\n', False),  # a quoted line end, and a row without its own
        ('X,1.5,2,"\nY",1.5,2,n\n', False),
        ('X,1.5,2,",\nY,1.5,2",n\n', False),
        ('X,1.5,2,"\nY,1.5,2,a"b\n', False),
        ('X,1.5,2,a"b"\n', False),
        ('X,1.5,2,"a""b"\n', False),
        ("X,1.5,2,n\n\nY,1.5,2,n,Z,1.5,2,n\n", False),  # a blank line, and two rows in one
        ("X,1.5,2,n\rY,1.5,2,n\n", False),
        ("X,1.5,2,n\r\r\nY,1.5,2,n\n", False),
        ("\ufeffX,1.5,2,n\n", False),
        ("\ud800,1.5,2,n\n", False),
        ("X,true,2,n\n", False),  # a column of nothing but true is no column of ones
        ("X,true,2,n\nY,false,2,n\n", False),
    ],
)
def test_faults_do_not_cancel_out(piece, taken):
    found = parse_regular(piece, 4, [1, 2], ",", ".")
    assert (found is not None) == taken
    if found is not None:
        assert [found[1].tolist(), found[2].tolist(), found[0].tolist()] == [[1.5, 1.5], [2, 2], ["X", "Y"]]


PLAIN = "id,Na,Mg\nF1,13.64,4.49\nF2,13.89,3.6\nF3,13.53,3.55\n"


VALUES = [[13.64, 4.49], [13.89, 3.6], [13.53, 3.55]]


GERMAN = PLAIN.replace(",", ";").replace(".", ",")


def notes(table: Table) -> str:
    return "\n".join(map(str, table.notes))


TEXTS = [PLAIN, GERMAN, PLAIN.replace(",", "\t"), GERMAN.replace(";", "\t"), PLAIN.replace(",", "|")]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_delimiter_decimal_mark_line_end_and_encoding_are_recognized(text, newline, encoding):
    table = read_table(text.replace("\n", newline).encode(encoding))
    assert (table.ids, table.features) == (("F1", "F2", "F3"), ("Na", "Mg"))
    assert table.X.tolist() == VALUES
    assert table.rows.tolist() == [2, 3, 4]
    assert not table.X.flags.writeable


def test_excel_line_that_names_the_delimiter():
    table = read_table(b"sep=;\nid;Na\nA;1,5\nB;2,25\n")
    assert table.X.tolist() == [[1.5], [2.25]]
    assert table.rows.tolist() == [3, 4]
    assert read_table(b"sep=,\nid,Na\nA,1.5\nB,2.25\n").X.tolist() == [[1.5], [2.25]]
    assert read_table(b"sep=~\nid~Na\nA~1.5\nB~2.25\n").X.tolist() == [[1.5], [2.25]]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("id;Na, wt%;Mg, wt%\nA;1,5;2,5\nB;1,6;2,6\n", [[1.5, 2.5], [1.6, 2.6]]),
        ("id;Na, wt%;Mg, wt%\nA;1,5;2,5;\nB;1,6;2,6;\n", [[1.5, 2.5], [1.6, 2.6]]),  # a mark too many
        ("id;Na, wt%;\nA;1,5\nB;1,6\n", [[1.5], [1.6]]),
        ("Na, wt%;Mg, wt%\n1,5;2,5\n1,6;2,6\n", [[1.5, 2.5], [1.6, 2.6]]),  # commas would give three columns
        ("id\tcolor\tNa, wt%\nA\tred\t1,5\nB\tred\t1,6\n", [[1.5], [1.6]]),
        ("id|Na, wt%\nA|1,518\nB|1,61\n", [[1.518], [1.61]]),
        ('id,"seen; by",Na\nA,"K; L",1.5\nB,"K; L",1.6\n', [[1.5], [1.6]]),
        ("id,seen; by,Na,Mg\nA,K; L,1.5,2.5\nB,K; L,1.6,2.6\n", [[1.5, 2.5], [1.6, 2.6]]),
        ('id,"Na; wt%","Mg; wt%"\nA,"1,5","2,5"\nB,"1,6","2,6"\n', [[1.5, 2.5], [1.6, 2.6]]),
    ],
)
def test_of_several_delimiters_in_names_and_rows_the_one_that_leaves_numbers_whole(text, values):
    table = read_table(text.encode())
    assert table.X.tolist() == values
    assert not any(";" in name for name in table.ids)


def test_words_that_are_not_utf8_are_read_as_windows_1252_with_a_note():
    table = read_table("Prüfstück;Na\nGärtner;1,5\nÖl;2,5\n".encode("cp1252"))
    assert table.ids == ("Gärtner", "Öl")
    assert "Windows-1252" in notes(table)
