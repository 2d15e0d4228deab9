"""The roles of columns."""

import pytest
from tests.tables.conftest import problems

from transvariation.tables import Table, TableError, read_chunks, read_table


def notes(table: Table) -> str:
    return "\n".join(map(str, table.notes))


class TestRoles:
    def test_first_column_of_distinct_words_is_the_id(self):
        assert read_table(b"Asservat,K\nX1,1\nX2,2\n").ids == ("X1", "X2")

    def test_row_names_without_a_header(self):
        assert read_table(b'"","K"\n"1",5\n"2",6\n').ids == ("1", "2")

    def test_given_columns_overrule_recognized_ones(self):
        table = read_table(b"id,other,K\n1,A,5\n2,B,6\n", id_column="other", features=["K"])
        assert table.ids == ("A", "B")
        table = read_table(b"id,k,K\nA,x,5\nA,y,6\n", source_column="id")
        assert table.source == ("A", "A")

    def test_class_labels_are_no_measurement_unless_named(self):
        file = b"Na,Type\n1,1\n2,1\n"
        assert read_table(file).features == ("Na",)
        assert read_table(file, features=["Type", "Na"]).features == ("Na", "Type")

    def test_text_columns_are_not_used_and_noted(self):
        table = read_table(b"id,Na,color,seen\nA,1,green,2024-01-02\nB,2,blue,2024-01-03\n")
        assert table.features == ("Na",)
        assert "column 'color': not used as a variable: 2 of its 2 values are not numbers" in notes(table)
        assert [note.params["fault"] for note in table.notes if note.column == "seen"] == ["date"]

    def test_a_text_column_asked_for_is_a_problem(self):
        assert len(problems(b"id,Na,color\nA,1,green\nB,2,blue\n", features=["Na", "color"])) == 2

    def test_a_column_named_twice(self):
        file = b"id,K (ppm),Mg\nA,1,2\nB,3,4\n"
        assert problems(file, features=["K", "Mg", "K (ppm)"]) == [
            "table: the column 'K (ppm)' is named twice among the features"
        ]
        with pytest.raises(TableError, match="named twice"):
            list(read_chunks(file, ["K", "K"]))
        with pytest.raises(TableError, match="'Mg' is named among the features and as the id"):
            list(read_chunks(file, ["Mg", "K"], id_column="Mg"))

    def test_columns_that_are_not_there(self):
        found = problems(b"id,Na\nA,1\n", features=["na", "Zr"], id_column="name")
        assert "there is no column 'na'; did you mean 'Na'?" in found[0]
        assert len(found) == 3
