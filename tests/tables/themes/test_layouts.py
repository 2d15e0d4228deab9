"""Layouts that laboratories export, each read as it is meant or refused with the remedy."""

import pandas as pd
import pytest
from tests.tables.conftest import problems

from transvariation.tables import TableError, TableSettings, align, read_table


def test_a_transposed_table_is_refused_with_the_remedy():
    for names in ("G1,G2,G3", "K1,K2,K3", "A,B,C"):  # K1 is no isotope of potassium
        text = f"element,{names}\n" + "".join(f"{e},1.5,2.5,3.5\n" for e in ("Na", "Mg", "K", "Ti", "Sr"))
        found = problems(text.encode())[0]
        assert "the rows are variables ('Na', 'Mg', 'K', 'Ti') and the columns are samples" in found


def test_a_transposed_table_with_replicates_is_refused_with_nothing_else():
    text = "pane,K,K,K,K\nfragment,K1,K1,K2,K2\nRep,1,2,1,2\n"
    text += "".join(f"{e},1.5,2.5,3.5,4.5\n" for e in ("K39", "Ti49", "Mn55", "Rb85", "Sr88", "Zr90"))
    (found,) = problems(text.encode())
    assert "transpose the table" in found


def test_uncertainty_columns_are_no_variables():
    header = "id,Al_ppm,Al_ppm_Int2SE,Sr,Sr_2SD,Ba 1s,Ba,Ba_LOD"
    table = read_table((header + "\nA,1.5,0.1,2.5,.2,.1,3.5,.01\nB,1.6,0.1,2.5,.2,.1,3.5,.01\n").encode())
    assert table.features == ("Al", "Sr", "Ba")
    assert sum(note.code == "unused-uncertainty" for note in table.notes) == 4
    named = read_table((header + "\nA,1.5,0.1,2.5,.2,.1,3.5,.01\n").encode(), features=["Sr", "Sr_2SD"])
    assert named.features == ("Sr", "Sr_2SD")


def test_units_of_one_meaning_and_elements_and_isotopes_are_matched():
    control = read_table(b"id,Al (ppm),Sr (ppm),Mg24,Mg25\nA,1,2,3,4.5\n", name="c")
    other = "id,Al27 (\u00b5g/g),Sr (mg/kg),Mg (ppm)\nB,5,6,7.5\n".encode()
    pair = align(control, read_table(other, name="r"))
    assert pair.features == ("Al", "Sr")  # which isotope of magnesium is not certain
    assert pair.recovered.X.tolist() == [[5.0, 6.0]]
    with pytest.raises(TableError, match="the unit is 'ppb' here but 'ppm' in c"):
        align(control, read_table(b"id,Al (ppb),Sr (ppm)\nB,5,6\n", name="r"))


def test_wdh_numbers_replicates():
    table = read_table(b"Probe;Wdh.;Na\nA;1;1,51\nA;2;1,52\nB;1;1,53\nB;2;1,54\n")
    assert (table.fragment, table.replicate) == (("A", "A", "B", "B"), ("1", "2", "1", "2"))


@pytest.mark.parametrize(
    "column",
    [
        ["low", "high", "low"],
        [True, False, True],
        pd.to_datetime(["2020-01-01"] * 3),
        [[1.0], [2.0], [3.0]],
        [None] * 3,
    ],
)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_variable_of_numbers_in_one_table_only_is_an_error(column, order):
    good = pd.DataFrame({"Na": [1.5, 2.5, 3.5], "Mg": [1.25, 2.25, 3.25]})
    bad = good.assign(Mg=pd.Series(list(column), dtype=object))
    tables = (good, bad)
    found = problems(*(tables[i] for i in order), names=tuple(("good", "bad")[i] for i in order))
    assert any(text.startswith("bad") and "column 'Mg'" in text for text in found)


def test_points_that_may_separate_thousands_are_asked_about():
    text = b"id;Ca;Pb\nA;58.302;538\nB;59.431;486\n"
    (found,) = problems(text)
    assert "'58.302' may mean 58.302 or 58302" in found
    assert "write it without the point, or if the point is the decimal mark" in found
    assert read_table(text, decimal=".").X[0].tolist() == [58.302, 538]
    for sure in (b"id;Ca;Pb\nA;58.30;538\nB;59.431;486\n", b"id;RI\nA;1.519\nB;1.520\n", text.replace(b";", b",")):
        assert len(read_table(sure)) == 2


def test_the_row_of_names_is_a_setting():
    text = b"Laboratory X\nRun 7; 12.5.2024\n\nid;Na;Mg\nA;1,5;2,5\nB;1,6;2,6\n"
    assert read_table(text, settings=TableSettings(header_row=4)).X.tolist() == [[1.5, 2.5], [1.6, 2.6]]
    assert "header row 2 was asked for" in problems(pd.DataFrame({"Na": [1.0]}), header_row=2)[0]


class TestNumberedNames:
    @pytest.mark.parametrize("form", ["{}-{}", "{} rep {}", "{}_0{}", "{}_00{}.d", "{} ({})"])
    @pytest.mark.parametrize("header", ["Sample", "id", "Name", ""])
    def test_they_are_asked_about(self, form, header):
        names = [form.format(stem, i) for stem in ("K1", "K2", "K3") for i in range(1, 6)]
        text = f"{header},Sr,Ba\n" + "".join(f"{name},1{i}.5,2.5\n" for i, name in enumerate(names))
        (found,) = problems(text.encode(), name="c.csv")
        assert "may number replicates of one fragment, or fragments" in found
        assert found.endswith('give numbered_names="replicates" or numbered_names="fragments"')
        table = read_table(text.encode(), numbered_names="replicates")
        assert table.fragment[4:6] == ("K1", "K2")
        assert tuple(map(int, table.replicate[4:6])) == (5, 1)
        assert len(set(table.fragment)) == 3
        assert read_table(text.encode(), numbered_names="fragments").groups in (None, tuple(names))
        if header:
            assert len(read_table(text.encode(), fragment_column=header)) == 15  # said by naming the column

    @pytest.mark.parametrize("form", ["{run:03d}_{}.d", "{run} {}", "Run {run} - {}", "{run:03d}_{}-{}.d", "{}-{}.d"])
    def test_those_of_an_instrument_are_too(self, form):
        both = [(stem, i) for stem in ("K1", "K2", "Q1") for i in range(1, 4)]
        names = [form.format(stem, i, run=20 + n) for n, (stem, i) in enumerate(both)]
        text = "Sample,Sr\n" + "".join(f"{name},1{i}.5\n" for i, name in enumerate(names))
        assert "may number replicates" in problems(text.encode())[0]
        table = read_table(text.encode(), numbered_names="replicates")
        assert table.fragment == tuple(stem for stem, _ in both)
        assert table.replicate == tuple(str(i) for _, i in both)

    @pytest.mark.parametrize(
        "form",
        [
            "20260311_{run:03d}_{}",
            "2026-03-11 {} {run:03d}",
            "{}_{run:04d}_20260311",
            "{} 0{i}.03.2026",
            "20260311_{}-{i}",
        ],
    )
    def test_a_date_in_a_name_does_not_count(self, form):
        both = [(stem, i) for stem in ("K1", "K2", "Q1") for i in range(1, 4)]
        names = [form.format(stem, i=i, run=20 + n) for n, (stem, i) in enumerate(both)]
        text = "Sample,Sr\n" + "".join(f"{name},1{i}.5\n" for i, name in enumerate(names))
        assert "may number replicates" in problems(text.encode())[0]
        table = read_table(text.encode(), numbered_names="replicates")
        assert table.fragment == tuple(stem for stem, _ in both)
        assert table.replicate == tuple(str(i) for _, i in both)

    @pytest.mark.parametrize("form", ["2026-03-11_{:02d}", "20260311-{:03d}.d", "{:d} 11.03.2026", "11.03.2026 #{:d}"])
    def test_names_of_a_date_and_a_number_are_asked_about(self, form):
        text = "Sample,Sr\n" + "".join(f"{form.format(i)},1{i}.5\n" for i in range(4, 10))
        assert "may number replicates" in problems(text.encode())[0]
        assert len(set(read_table(text.encode(), numbered_names="replicates").fragment)) == 1

    def test_letters_and_a_single_beginning_with_a_number(self):
        for names in (["K1a", "K1b", "K2a", "K2b"], ["K1-1", "K1-2", "K1-3"]):
            text = "id,Sr\n" + "".join(f"{name},1{i}.5\n" for i, name in enumerate(names))
            assert "may number replicates" in problems(text.encode())[0]

    @pytest.mark.parametrize(
        "names",
        [
            ["F1", "F2", "F3"],
            ["Glass 1", "Glass 2", "Glass 3"],
            ["K1-1", "rest"],
            ["A-7", "B-9"],
            ["2024-35", "2024-41"],
            ["1 K", "2 Q", "3 B"],
            ["20260311 K", "20260311 Q", "20260312 B"],
        ],
    )
    def test_other_names_are_not(self, names):
        text = "id,Sr\n" + "".join(f"{name},1{i}.5\n" for i, name in enumerate(names))
        assert read_table(text.encode()).ids == tuple(names)

    def test_nor_are_fragments_numbered_within_their_source(self):
        text = b"pane,fragment,Sr\nAA,AA-1,1.5\nAA,AA-2,1.6\nBB,BB-1,1.7\nBB,BB-2,1.9\n"
        assert read_table(text).fragment == ("AA-1", "AA-2", "BB-1", "BB-2")


def test_a_name_that_is_not_there_is_not_the_column_without_a_name():
    table = read_table(b",Na,Mg\nA,1.5,2.5\nB,1.6,2.6\n", roles={"Ba": "ignore"})
    assert table.ids == ("A", "B")
