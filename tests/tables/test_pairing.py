"""Control and recovered tables side by side."""

import pytest

from transvariation.report.wording.remedies import error_text
from transvariation.tables import TableError, TableSettings, align, read_pair, read_table

CONTROL = b"id,Na (wt%),Mg,Fe\nA,1,2,0.1\nB,3,4,\nC,5,7,0.3\n"


def test_columns_are_matched_by_name_whatever_their_order():
    pair = read_pair(CONTROL, b"Mg,Ti,Na,id\n10,1,20,X\n", names=("control.csv", "recovered.csv"))
    assert pair.features == ("Na", "Mg")
    assert pair.recovered.X.tolist() == [[20, 10]]
    text = "\n".join(map(str, pair.notes))
    # the gap in Fe does not matter: the recovered table has no Fe
    assert "control.csv, column 'Fe': not used: recovered.csv has no such column" in text
    assert "recovered.csv, column 'Ti': not used: control.csv has no such column" in text


def test_a_near_miss_is_pointed_out_not_matched():
    pair = read_pair(b"Na,Co\n1,2\n3,4\n", b"Na,CO\n1,2\n")
    assert pair.features == ("Na",)
    assert any("is it 'CO' there?" in str(note) for note in pair.notes)


def test_different_units_are_refused():
    with pytest.raises(TableError, match=r"the unit is 'ppm' here but 'wt%' in control.csv; convert one of them"):
        read_pair(CONTROL, b"Na (ppm),Mg\n1,2\n", names=("control.csv", "recovered.csv"))
    assert read_pair(CONTROL, b"Na [wt.%],Mg\n1,2\n").features == ("Na", "Mg")


PPM, BOTH = b"id,K,Na (ppm)\nA,1,10\nB,2,20\n", b"id,Na (wt%),Na (ppm),K\nX,0.1,30,3\n"


@pytest.mark.parametrize("features", [None, ["K", "Na (ppm)"]])
def test_a_variable_that_one_table_has_in_two_units_is_matched_by_the_unit(features):
    pair = read_pair(PPM, BOTH, features=features, names=("c.csv", "r.csv"))
    assert (pair.features, pair.recovered.X.tolist()) == (("K", "Na"), [[3, 30]])
    assert pair.recovered.headers["Na"] == "Na (ppm)"
    unused = [note.column for note in pair.notes if note.code.startswith("unused")]
    assert unused == (["Na (wt%)"] if features is None else [])
    other = read_pair(BOTH, PPM, features=features)
    assert other.recovered.select(["K", "Na (ppm)"]).X.tolist() == [[1, 10], [2, 20]]


def test_a_variable_in_two_units_may_be_asked_for_by_its_short_name():
    assert read_pair(PPM, BOTH, features=["Na"]).recovered.X.tolist() == [[30]]


def test_the_same_unit_goes_before_the_same_name():
    pair = read_pair(PPM, b"id,Na,Na [ppm],K\nX,0.1,30,3\n", names=("c.csv", "r.csv"))
    assert pair.recovered.X.tolist() == [[3, 30]]
    assert any(str(note).startswith("r.csv, column 'Na': not used") for note in pair.notes)


def test_a_word_below_a_variable_in_two_units_is_a_problem():
    with pytest.raises(TableError, match=r"row 2, column 'Na \(ppm\)': 'abc' is not a number"):
        read_pair(PPM, BOTH.replace(b"30", b"abc"))


def test_the_remedy_for_a_title_names_the_table():
    plain, titled = b"id,Na,Mg\nA,1,2\nB,1,3\nC,2,3\n", b"Glass\nid,Na,Mg\nA,1,2\nB,1,3\nC,2,3\n"
    for tables, remedy in (((titled, plain), "control-"), ((plain, titled), "recovered-"), ((titled, titled), "")):
        with pytest.raises(TableError) as caught:
            read_pair(*tables)
        assert f"give --{remedy}header-row 2" in error_text(caught.value, "cli")


def test_each_table_may_have_its_own_decimal_mark():
    control, recovered = b"id;RI\nA;1.51\nB;1.52\n", b"id;RI\nX;1,512\n"
    with pytest.raises(TableError) as caught:
        read_pair(control, recovered)
    assert str(caught.value).endswith('give decimal="," in the TableSettings of the recovered table')
    assert error_text(caught.value, "cli").endswith("if the comma is the decimal mark, give --recovered-decimal comma")
    comma = TableSettings(decimal=",")
    for settings in ((TableSettings(), comma), (TableSettings(decimal="."), comma)):
        assert read_pair(control, recovered, settings).recovered.X.tolist() == [[1.512]]
    with pytest.raises(TableError, match=r'decimal="\." in the TableSettings of the control'):
        read_pair(control, recovered, comma)
    with pytest.raises(TableError, match=r'give decimal=","') as caught:
        read_pair(recovered, recovered)
    assert "TableSettings" not in str(caught.value)


def test_a_feature_named_twice_is_refused():
    table = read_table(PPM)
    with pytest.raises(TableError, match=r"the column 'Na \(ppm\)' is named twice among the features"):
        align(table, table, features=["Na", "K", "Na (ppm)"])
    with pytest.raises(TableError, match=r"there is no variable 'Na \(wt%\)'"):
        align(table, table, features=["Na (wt%)"])


def test_nothing_in_common():
    with pytest.raises(TableError, match="no variable in common: 'Zr' here, 'Na', 'Mg', 'Fe' in"):
        read_pair(CONTROL, b"Zr\n1\n")


def test_features_asked_for():
    assert read_pair(CONTROL, b"Mg,Na\n1,2\n", features=["Mg"]).features == ("Mg",)
    assert read_pair(CONTROL, b"Mg,Na\n1,2\n", features=["Na (wt%)", "Mg"]).features == ("Na", "Mg")
    with pytest.raises(TableError) as caught:
        read_pair(CONTROL, b"Mg,Na\n1,2\n", features=["Mg", "Fe", "Zr"], names=("c", "r"))
    assert sorted((p.table, p.code, p.params["name"]) for p in caught.value.problems) == [
        ("c", "no-such-column", "Zr"),
        ("r", "no-such-column", "Fe"),
        ("r", "no-such-column", "Zr"),
    ]


def test_problems_of_both_files_come_together():
    with pytest.raises(TableError) as caught:
        read_pair(CONTROL + b"A,x,1,1\n", b"Mg,Na,Fe\n,?,oops\n", names=("c", "r"))
    assert [(p.table, p.row, p.column) for p in caught.value.problems] == [
        ("c", 3, "Fe"),
        ("c", 5, "Na (wt%)"),
        ("c", 5, "id"),
        ("r", 2, "Fe"),
        ("r", 2, "Na"),
        ("r", 2, "Mg"),
    ]


def test_a_word_in_a_recovered_table_of_one_row_is_a_problem_not_a_text_column():
    with pytest.raises(TableError, match=r"row 2, column 'Mg': 'abc' is not a number"):
        read_pair(b"Na,Mg\n1,2\n3,4\n", b"Na,Mg\n1,abc\n")


def test_gaps_are_filled_from_the_control():
    pair = read_pair(CONTROL, b"id,Na,Mg,Fe\nX,9,,<0.1\n", missing="impute")
    assert pair.control.X[1, 2] == 0.2
    assert pair.recovered.X.tolist() == [[9, 4, 0.05]]


def test_align_tables_read_before():
    control, recovered = read_table(b"Na,Mg\n1,2\n"), read_table(b"Mg,Na\n3,4\n")
    assert align(control, recovered).recovered.X.tolist() == [[4, 3]]
    with pytest.raises(TableError, match="there is no variable 'K'"):
        align(control, recovered, features=["K"])
    gaps = [read_table(b"Na,Mg\n1,\n2,3\n", name=name, missing="keep") for name in ("c", "r")]
    with pytest.raises(TableError) as caught:
        align(*gaps, missing="error")
    assert [(p.table, p.row, p.column) for p in caught.value.problems] == [("c", 2, "Mg"), ("r", 2, "Mg")]


def test_an_element_below_detection_in_the_control_only():
    control, recovered = b"Na,Fe\n1,<0.1\n2,0.3\n4,0.5\n", b"Na,Fe\n1,0.2\n"
    with pytest.raises(TableError) as caught:
        read_pair(control, recovered, names=("c", "r"))
    assert [(p.code, p.table, p.row) for p in caught.value.problems] == [("below-detection", "c", 2)]
    assert read_pair(control, recovered, missing="impute").control.X[0, 1] == 0.05
    assert len(read_pair(control, recovered, missing="drop").control) == 2


def test_fragments_may_have_different_numbers_of_replicates():
    pair = read_pair(b"frag,rep,K\nA,1,1.5\nA,2,1.6\nB,1,1.7\n", b"frag,K\nQ,1\n")
    assert pair.control.fragment_names == ("A", "A", "B")
    assert pair.control.ids == ("A / 1", "A / 2", "B / 1")
