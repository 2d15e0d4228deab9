"""Missing values of a table: kept, dropped, imputed."""

import numpy as np
import pytest
from tests.tables.conftest import problems

from transvariation.tables import Table, TableError, apply_policy, read_table


def notes(table: Table) -> str:
    return "\n".join(map(str, table.notes))


class TestMissing:
    FILE = b"id,Na,Fe\nA,1,<0.02\nB,,0.1\nC,3,n.d.\nD,5,0.3\n"

    def test_is_an_error_by_default_cell_by_cell(self):
        found = problems(self.FILE, name="c.csv")
        assert [text.split(";")[0] for text in found] == [
            "c.csv, row 2, column 'Fe': the value is below the detection limit",
            "c.csv, row 3, column 'Na': the value is missing",
            "c.csv, row 4, column 'Fe': the value is below the detection limit",
        ]

    def test_drop(self):
        table = read_table(self.FILE, missing="drop")
        assert (table.ids, table.dropped) == (("D",), ("A", "B", "C"))
        assert "row 3, column 'Na': 'B' left out: missing" in notes(table)

    def test_dropping_everything_is_a_problem(self):
        assert "leaves none" in problems(b"Na,Mg\n1,\n,2\n", missing="drop")[0]

    def test_impute_half_the_limit_and_the_median(self):
        table = read_table(self.FILE, missing="impute")
        # "n.d." has no limit of its own: the smallest one stated in the column, 0.02, is supposed
        assert table.X.tolist() == [[1, 0.01], [3, 0.1], [3, 0.01], [5, 0.3]]
        assert "1 missing, replaced by the control's median 3 (row 3)" in notes(table)

    def test_impute_from_the_control(self):
        control = read_table(b"Na,Fe\n10,0.4\n20,0.5\n30,0.6\n")
        table = apply_policy(read_table(self.FILE, missing="keep"), "impute", control)
        assert table.X.tolist() == [[1, 0.01], [20, 0.1], [3, 0.2], [5, 0.3]]

    def test_an_object_without_any_measured_value_is_not_imputed(self):
        file = b"id,Na,Fe\nA,1,0.2\nB,,<0.1\nX,,\nC,3,0.4\nexported by LabSoft 3.2,,\n"
        table = read_table(file, missing="impute")
        assert (table.ids, table.dropped) == (("A", "B", "C"), ("X", "exported by LabSoft 3.2"))
        assert table.X.tolist() == [[1, 0.2], [2, 0.05], [3, 0.4]]
        assert "row 4, column 'Na': 'X' left out: nothing was measured" in notes(table)
        with pytest.raises(TableError, match="no row has a measured value"):
            apply_policy(read_table(b"id,Na\nA,\n", missing="keep", expect=["Na"]), "impute", table)

    def test_nothing_to_impute_from(self):
        file = b"id,Na,Fe\nA,1,\nB,2,n.d.\n"
        assert len(problems(file, missing="impute", expect=["Fe"])) == 1

    def test_keep(self):
        table = read_table(self.FILE, missing="keep")
        assert np.isnan(table.X).sum() == 3
        assert table.below[2, 1] == 0
        assert table.below[0, 1] == 0.02

    def test_unknown_policy(self):
        with pytest.raises(ValueError, match="missing='guess' is unknown; choose one of error, drop, impute"):
            read_table(self.FILE, missing="guess")

    def test_bad_cells_and_missing_cells_are_reported_together(self):
        assert len(problems(b"Na,Mg\n1,x\n,2\n3,4\n5,y\n6,7\n")) == 3
