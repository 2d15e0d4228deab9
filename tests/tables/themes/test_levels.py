"""Sources, fragments and replicates: recognized, given, nested; and what only looks like a measurement."""

import numpy as np
import pandas as pd
import pytest

from transvariation.tables import TableError, TableSettings, read_pair, read_table

LABORATORY = (
    b"pane,fragment,Rep,Na23,Mg25\n"
    b"A,1,1,13.1,2.1\nA,1,2,13.2,2.2\nA,2,1,13.3,2.3\nA,2,2,13.4,2.4\n"
    b"B,1,1,12.1,3.1\nB,1,2,12.2,3.2\nB,2,1,12.3,3.3\nB,2,2,12.4,3.4\n"
)


def problems(source, **options):
    with pytest.raises(TableError) as caught:
        read_table(source, **options)
    return caught.value.problems


def test_a_three_level_laboratory_file_is_read_as_it_is():
    table = read_table(LABORATORY)
    assert table.source == tuple("AAAABBBB")
    assert table.fragment == tuple("11221122")
    assert table.replicate == tuple("12121212")
    assert table.features == ("Na23", "Mg25")
    assert table.ids[:3] == ("A / 1 / 1", "A / 1 / 2", "A / 2 / 1")
    assert (table.summary()["sources"], table.summary()["fragments"]) == (2, 4)


def test_fragment_1_of_pane_a_is_not_fragment_1_of_pane_b():
    table = read_table(LABORATORY)
    assert table.fragment_keys[0] == ("A", "1")
    assert table.fragment_keys[4] == ("B", "1")
    assert table.groups == table.fragment_names == tuple(f"{p} / {f}" for p, f in table.fragment_keys)
    one_pane = table.keep(np.array(table.source) == "A")
    assert one_pane.fragment_names == tuple("1122")
    assert one_pane.replicate == tuple("1212")


def test_all_three_tables_of_a_case_may_have_levels():
    pair = read_pair(LABORATORY, b"Fragment,Meas,Mg25,Na23\nQ1,1,2.1,13.0\nQ1,2,2.2,13.1\nQ2,1,5.0,11.0\n")
    assert pair.recovered.fragment_names == ("Q1", "Q1", "Q2")
    assert pair.recovered.ids == ("Q1 / 1", "Q1 / 2", "Q2 / 1")
    background = read_table(LABORATORY, features=pair.features)
    assert background.source == tuple("AAAABBBB")


@pytest.mark.parametrize(
    ("header", "levels"),
    [
        ("Item,Piece,K39", "sf"),
        ("Item,Messung,K39", "sr"),
        ("Scheibe,Bruchstück,Messung,K39", "sfr"),
        ("Quelle;Probe Nr.;Wiederholung;K39", "sfr"),
        ("vitre,échantillon,répétition,K39", "sfr"),
        ("Botella,Muestra,Réplica,K39", "sfr"),
        ("lastra,frammento,misura,K39", "sfr"),
        ("Batch,Sample ID,Run #,K39", "sfr"),
        ("Frag,Meas,K39", "fr"),
        ("Frag No,Rep,K39", "fr"),
    ],
)
def test_levels_are_recognized_by_names_in_several_languages(header, levels):
    mark = ";" if ";" in header else ","
    cells = {"s": "AABB", "f": "1212", "r": "1122"}
    columns = [*(cells[level] for level in levels), ["1.5", "1.6", "1.7", "1.8"]]
    text = header + "\n" + "".join(mark.join(row) + "\n" for row in zip(*columns, strict=True))
    table = read_table(text.encode())
    assert table.features == ("K39",)
    assert (table.source is not None, table.fragment is not None) == ("s" in levels, "f" in levels)


def test_zadoras_columns_are_source_and_fragment():
    table = read_table(b"item,fragment,logNaO\ns1,f1,-0.66\ns1,f1,-0.67\ns2,f1,-0.7\n")
    assert table.fragment_keys == (("s1", "f1"), ("s1", "f1"), ("s2", "f1"))
    assert table.ids == ("s1 / f1 (row 2)", "s1 / f1 (row 3)", "s2 / f1 (row 4)")


def test_a_fragment_measured_once_gives_the_row_its_name():
    table = read_table(b"Fragment,K\nA,1\nB,2\n")
    assert (table.fragment, table.ids) == (("A", "B"), ("A", "B"))
    assert read_table(b"Item,K\nA,1\nB,2\n").fragment == ("A", "B")


def test_of_two_fragment_names_the_outer_is_the_source():
    table = read_table(b"sample,piece,K\nS,a,1\nS,b,2\nT,c,3\nT,d,4\n")
    assert (table.source, table.fragment) == (tuple("SSTT"), tuple("abcd"))


def test_of_two_source_names_the_inner_is_the_source():
    table = read_table(b"batch,pane,K\nX,a,1\nX,b,2\nY,c,3\nY,d,4\n")
    assert table.source == tuple("abcd")
    file = b"batch,pane,K\nX,1,1\nX,2,2\nY,1,3\nY,2,4\n"  # pane 1 of batch X is not pane 1 of batch Y
    (found,) = problems(file)
    assert (found.code, found.params["columns"]) == ("several-labels", ["batch", "pane"])
    assert read_table(file, source_column="batch").source == tuple("XXYY")


def test_roles_that_are_given_overrule_names_and_contents():
    table = read_table(LABORATORY, source_column="Rep", fragment_column="pane", roles={"fragment": "ignore"})
    assert (table.source, table.fragment) == (tuple("12121212"), tuple("AAAABBBB"))
    table = read_table(LABORATORY, roles={"Rep": "measurement", "Mg25": "ignore", "fragment": "order"})
    assert table.features == ("Rep", "Na23")
    assert table.order.tolist() == [1, 1, 2, 2, 1, 1, 2, 2]
    assert table.roles["Mg25"] == "ignore"
    with pytest.raises(ValueError, match="a role is one of id, source"):
        read_table(LABORATORY, roles={"Rep": "feature"})
    (found,) = problems(LABORATORY, roles={"Rep": "source", "pane": "source"})
    assert found.code == "role-twice"
    assert "there is no column 'Pane2'" in str(problems(LABORATORY, source_column="Pane2")[0])


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (["3", "1", "2"], [3, 1, 2]),
        (["2024-05-06 10:00", "2024-05-06 10:01", "2024-05-07"], [0, 60, 50400]),
        (["06.05.2024 10:00", "06.05.2024 10:01", "07.05.2024"], [0, 60, 50400]),
        (["10:00", "10:01", "11:00"], [0, 60, 3600]),
    ],
)
def test_the_order_of_measurement_is_read_as_numbers(cells, seconds):
    text = "time;K\n" + "".join(f"{cell};1.5\n" for cell in cells)
    order = read_table(text.encode()).order
    assert (order - order[0]).tolist() == [value - seconds[0] for value in seconds]


def test_an_order_that_cannot_be_sorted_is_ignored_unless_asked_for():
    file = b"date,K\nMonday,1.5\nTuesday,1.6\nMonday,1.7\n"
    assert read_table(file).order is None
    assert [p.code for p in problems(file, roles={"date": "order"})] == ["order"]


@pytest.mark.parametrize("name", ["Frag", "Meas", "Rep", "Messung", "No", "Nr", "Lab", "Fragment-Nr."])
def test_numeric_columns_named_like_labels_are_never_measured_by(name):
    table = read_table(f"{name},K,Na\n1,1.5,2.5\n1,1.6,2.6\n2,1.7,2.7\n2,1.8,2.8\n".encode())
    assert table.features == ("K", "Na")
    assert any(note.column == name for note in table.notes)


@pytest.mark.parametrize("cells", ["112233", "123123", "777999", "123456", "111111"])
def test_whole_numbers_that_may_be_labels_are_asked_about(cells):
    file = ("Kennung,K,Na\n" + "".join(f"{cell},{i}.5,2\n" for i, cell in enumerate(cells))).encode()
    (found,) = problems(file)
    assert (found.code, found.column) == ("label-or-measurement", "Kennung")
    assert read_table(file, roles={"Kennung": "measurement"}).features == ("Kennung", "K", "Na")
    assert read_table(file, roles={"Kennung": "fragment"}).fragment == tuple(cells)
    assert read_table(file, features=["K"]).features == ("K",)


@pytest.mark.parametrize("name", ["Rb", "Rb (ppm)", "Sr88", "SiO2", "count [cps]"])
def test_whole_numbers_of_elements_and_in_units_are_measurements(name):
    file = f"{name},K\n1,1.5\n1,1.6\n2,1.7\n2,1.8\n".encode()
    assert len(read_table(file).features) == 2


def test_whole_numbers_may_be_of_any_size():
    cells = ["0", "0", "1.7976931348623155e+308", "-2.9937604643020797e+292"]
    text = "Kennung,K\n" + "".join(f"{cell},1.5\n" for cell in cells)
    assert read_table(text.encode()).X[:, 0].tolist() == list(map(float, cells))


def test_tables_of_whole_numbers_are_not_asked_about():
    assert read_table(b"a,b\n1,0\n1,1\n2,0\n2,1\n").features == ("a", "b")


@pytest.mark.parametrize("words", [("Mean", "SD"), ("Average", "RSD %"), ("Mittelwert", "Std"), ("Mean F1", "F1 %RSD")])
@pytest.mark.parametrize("column", ["id", "Rep", "remark"])
def test_summary_rows_are_named_and_can_be_dropped(words, column):
    first = "ok" if column == "remark" else "1"
    rows = [f"{first},2.5", f"{first}2,2.6", f"{words[0]},2.55", f"{words[1]},0.05"]
    file = f"{column},K\n".encode() + "\n".join(rows).encode()
    (found,) = problems(file)
    assert (found.code, found.row) == ("summary-rows", 4)
    assert "rows 4, 5" in found.message
    assert words[0] in found.message
    table = read_table(file, drop_summary_rows=True)
    assert table.X.ravel().tolist() == [2.5, 2.6]
    assert any(note.code == "summary-rows-dropped" for note in table.notes)


def test_words_that_only_resemble_summaries_are_not_summaries():
    table = read_table(b"id,K,remark\nMeaning,1,mean looking\nSD-12,2,average quality\nMaxine,3,stdio\n")
    assert len(table) == 3


def test_summary_rows_far_down_a_large_file_are_found(monkeypatch):
    monkeypatch.setattr("transvariation.tables.text.PIECE_CHARACTERS", 1000)
    rows = [f"x,{i}.5" for i in range(2000)] + ["Mean,1000.5"]
    (found,) = problems(("remark,K\n" + "\n".join(rows)).encode())
    assert (found.code, found.row) == ("summary-rows", 2002)


def test_labels_in_the_first_row_of_a_block_only_are_one_message():
    rows = "".join(f"{'A' if i == 0 else ''},{i},1.{i}\n" for i in range(60))
    (found,) = problems(f"pane,fragment,K\n{rows}".encode())
    assert (found.code, found.row, found.column) == ("empty-label", 3, "pane")
    assert "rows 3, 4, 5, 6, 7 and 54 more" in found.message


def test_an_empty_column_is_one_message():
    file = b"id,K,Na\n" + b"".join(b"F%d,%d.5,\n" % (i, i) for i in range(40))
    assert read_table(file).features == ("K",)
    (found,) = problems(file, features=["K", "Na"])
    assert (found.code, found.column) == ("empty-column", "Na")
    with pytest.raises(TableError) as caught:
        read_pair(b"K,Na\n1,2\n3,4\n", file)
    assert [p.code for p in caught.value.problems] == ["empty-column"]


def test_an_index_that_repeats_labels_is_not_used_unless_it_has_a_name():
    frame = pd.DataFrame({"K": [1.5, 2.5, 3.5]}, index=[0, 1, 0])
    table = read_table(frame)
    assert table.ids == ("row 2", "row 3", "row 4")
    assert [note.code for note in table.notes] == ["unused-index"]
    assert read_table(frame.rename_axis("fragment")).fragment == ("0", "1", "0")


def test_a_label_column_that_only_one_table_has_is_no_problem():
    recovered = b"fragment,Na23,Mg25\nQ,13,2\n"
    pair = read_pair(LABORATORY, recovered, TableSettings(source_column="pane"))
    assert (pair.control.source is not None, pair.recovered.source) == (True, None)
    with pytest.raises(TableError) as caught:
        read_pair(LABORATORY, recovered, TableSettings(source_column="window"))
    assert [(p.table, p.params["name"]) for p in caught.value.problems] == [("table", "window")] * 2


def test_each_table_of_a_pair_may_have_its_own_roles():
    roles = {"a": "fragment"}, {"b": "id"}
    pair = read_pair(
        b"a,K,Na\n1,1.5,2\n1,1.6,2\n2,1.7,2\n2,1.8,2\n",
        b"b,K,Na\n7,1.5,2\n",
        tuple(TableSettings(roles=own) for own in roles),
    )
    assert (pair.control.fragment, pair.recovered.ids) == (("1", "1", "2", "2"), ("7",))
    assert pair.features == ("K", "Na")
