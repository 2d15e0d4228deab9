"""The fast parser takes a piece of text only where the row-by-row reader would read the very same."""

import pytest

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
