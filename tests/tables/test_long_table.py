"""Tables with one value per row."""

import numpy as np
import pytest
from tests.tables.conftest import problems

from transvariation.tables import read_table

WIDE = "pane,fragment,Rep,Na (ppm),Mg (ppm)\nA,1,1,10.5,20.5\nA,1,2,11.5,21.5\nA,2,1,12.5,22.5\n"


LONG = "pane,fragment,Rep,element,ppm\n" + "".join(
    f"A,{fragment},{rep},{element},{value}\n"
    for fragment, rep, values in ((1, 1, (10.5, 20.5)), (1, 2, (11.5, 21.5)), (2, 1, (12.5, 22.5)))
    for element, value in zip(("Na", "Mg"), values, strict=True)
)


class TestLong:
    @pytest.mark.parametrize("head", ["element,ppm", "analyte,value", "Stoff,ppm"])
    def test_one_value_per_row_is_pivoted_and_said(self, head):
        long, wide = read_table(LONG.replace("element,ppm", head).encode()), read_table(WIDE.encode())
        assert long.features == wide.features == ("Na", "Mg")
        np.testing.assert_array_equal(long.X, wide.X)
        assert (long.source, long.fragment, long.replicate) == (wide.source, wide.fragment, wide.replicate)
        assert long.rows.tolist() == [2, 4, 6]
        (note,) = [note for note in long.notes if note.code == "long-table"]
        assert "became one column for each" in note.message
        assert dict(long.units) == ({} if "value" in head else {"Na": "ppm", "Mg": "ppm"})

    def test_values_are_missing_where_no_row_gives_them(self):
        lines = LONG.splitlines()
        table = read_table("\n".join(lines[:-1]).encode(), missing="keep")
        assert np.isnan(table.X).sum() == 1

    def test_decimal_commas_and_uncertainties(self):
        text = "pane;fragment;element;ppm;2SE\n" + "".join(
            f"A;{i};{element};1{i},5;0,{i}2\n" for i in range(1, 4) for element in ("Na", "K", "Ti")
        )
        table = read_table(text.encode())
        assert table.features == ("Na", "K", "Ti")
        assert table.X[:, 0].tolist() == [11.5, 12.5, 13.5]

    def test_two_values_for_one_place_are_reported(self):
        (found,) = problems((LONG + "A,2,1,Na,13\n").encode(), name="c.csv")
        assert "c.csv, row 8, column 'ppm': 'Na' of 'A / 2 / 1' has a value already, in row 6" in found

    @pytest.mark.parametrize("names", [("F1", "F2"), ("P0F0", "P0F1"), ("K1S2N1", "K1S2N2")])
    def test_objects_called_as_elements_are_no_variables(self, names):
        one, other = names
        table = read_table(f"fragment,Na,Mg\n{one},1.5,2.5\n{one},1.6,2.5\n{other},1.7,2.6\n{other},1.8,2.6\n".encode())
        assert table.features == ("Na", "Mg")

    def test_oxides_of_one_letter_are_variables(self):
        table = read_table(b"id,oxide of,x\nA,P2O5,1.5\nA,K2O,1.6\nB,P2O5,1.7\nB,K2O,1.8\n")
        assert table.features == ("P2O5", "K2O")
