"""The units that headers, and the row below them, state."""

import pytest
from tests.tables.conftest import problems

from transvariation.tables import Table, TableError, read_chunks, read_table


def notes(table: Table) -> str:
    return "\n".join(map(str, table.notes))


class TestUnits:
    def test_in_the_header(self):
        table = read_table("id,Na (wt%),Sr [µg/g],Zr_ppm,RI (D line)\nA,1,2,3,4\nB,1,2,3,4\n".encode())
        assert table.features == ("Na", "Sr", "Zr", "RI (D line)")
        assert dict(table.units) == {"Na": "wt%", "Sr": "µg/g", "Zr": "ppm"}
        assert "column 'Na (wt%)': unit 'wt%'" in notes(table)
        assert table.headers["Na"] == "Na (wt%)"

    def test_below_the_header(self):
        table = read_table(b"id,Na,Sr\n,wt%,ppm\nA,1,2\nB,3,4\n")
        assert dict(table.units) == {"Na": "wt%", "Sr": "ppm"}
        assert table.rows.tolist() == [3, 4]

    def test_below_the_header_only_where_the_name_has_none(self):
        table = read_table(b"id,Na (wt%),Sr,RI\n-,wt.%,ppm,-\nA,1,2,3\nB,3,4,5\n")
        assert (table.features, table.headers["RI"]) == (("Na", "Sr", "RI"), "RI")
        assert dict(table.units) == {"Na": "wt%", "Sr": "ppm"}
        (found,) = problems(b"id,Na (wt%),Sr\n,ppm,ppm\nA,1,2\nB,3,4\n", name="c.csv")
        assert "row 2, column 'Na (wt%)': the unit is 'ppm' here but 'wt%' in the header" in found

    def test_one_variable_in_two_units_keeps_both_names(self):
        assert read_table(b"Na (ppm),Na (wt%)\n1,2\n").features == ("Na (ppm)", "Na (wt%)")

    def test_one_variable_in_two_units_is_found_by_the_unit_wanted(self):
        for file in (b"Na (wt%),Na (ppm),K\n1,2,3\n", b"Na,Na [ppm],K\n1,2,3\n"):
            assert read_table(file, features=["Na"], units={"Na": "ppm"}).X.tolist() == [[2]]
            (block,) = read_chunks(file, ["K", "Na"], units={"Na": "ppm"})
            assert (block.features, block.X.tolist()) == (("K", "Na"), [[3, 2]])
        with pytest.raises(TableError, match="there is no column 'Na'"):
            list(read_chunks(b"Na (ppm),Na (wt%)\n1,2\n", ["Na"]))
