"""The quick way takes a piece of text only where the careful way would read the very same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transvariation.tables import TableError, read_table, text
from transvariation.tables.grid import Plan
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
    found = parse_regular(piece, 4, Plan((1, 2), (0,)), ",", ".")
    assert (found is not None) == taken
    if found is not None:
        assert [found[1].tolist(), found[2].tolist(), found[0]] == [[1.5, 1.5], [2, 2], ["X", "Y"]]


def test_a_decimal_comma_far_down_is_refused_where_a_later_row_lacks_a_cell(monkeypatch):
    monkeypatch.setattr(text, "PIECE_CHARACTERS", 1000)
    rows = ["id,K,Mg,remark"] + [f"F{i},0.5,3.5,ok" for i in range(500)]
    rows[400:402] = ["F,0,552,3.5,ok", "G,0.5,3.5"]
    with pytest.raises(TableError) as caught:
        read_table("\n".join(rows).encode())
    assert [problem.row for problem in caught.value.problems] == [401, 402]


LINES = st.lists(
    st.sampled_from(["1", "2.5", "0", "true", "", "1e-400", "X", "é"] + [","] * 8 + ["\n"] * 3 + ['"'] * 2 + ["\r\n"]),
    max_size=40,
).map("".join)


@given(LINES, st.lists(st.sampled_from(["F,1.5,n\n", '"F",0.5,"n"\n', 'F,2,"a,b"\n', "F,3\n", "F,4,,n\n"]), max_size=6))
def test_both_ways_read_the_same_or_refuse_the_same(odd, rows):
    # only what follows the first piece can go the quick way
    file = ("i,K,remark\n" + "G,1,n\n" * 20 + "".join(rows) + odd).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "PIECE_CHARACTERS", 40)
        quick = _outcome(file)
        patch.setattr(text, "parse_regular", lambda *_: None)
        assert _outcome(file) == quick


def _outcome(file):
    try:
        table = read_table(file, features=["K"], source_column="i", missing="keep")
    except TableError as error:
        return str(error)
    return table.source, np.nan_to_num(table.X, nan=-1).tolist(), table.rows.tolist()
