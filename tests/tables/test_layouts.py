"""Layouts that laboratories export, each read as it is meant or refused with the remedy."""

import numpy as np
import pandas as pd
import pytest

from transvariation.tables import TableError, TableSettings, align, read_chunks, read_pair, read_table

WIDE = "pane,fragment,Rep,Na (ppm),Mg (ppm)\nA,1,1,10.5,20.5\nA,1,2,11.5,21.5\nA,2,1,12.5,22.5\n"
LONG = "pane,fragment,Rep,element,ppm\n" + "".join(
    f"A,{fragment},{rep},{element},{value}\n"
    for fragment, rep, values in ((1, 1, (10.5, 20.5)), (1, 2, (11.5, 21.5)), (2, 1, (12.5, 22.5)))
    for element, value in zip(("Na", "Mg"), values, strict=True)
)


def problems(*sources, **options) -> list[str]:
    with pytest.raises(TableError) as caught:
        read_pair(*sources, **options) if len(sources) == 2 else read_table(*sources, **options)
    return [str(problem) for problem in caught.value.problems]


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

    def test_objects_called_as_elements_are_no_variables(self):
        table = read_table(b"fragment,Na,Mg\nF1,1.5,2.5\nF1,1.6,2.5\nF2,1.7,2.6\nF2,1.8,2.6\n")
        assert table.features == ("Na", "Mg")


def test_a_transposed_table_is_refused_with_the_remedy():
    text = "element,G1,G2,G3\n" + "".join(f"{e},1.5,2.5,3.5\n" for e in ("Na", "Mg", "K", "Ti", "Sr"))
    assert "the rows are variables ('Na', 'Mg', 'K', 'Ti') and the columns are objects" in problems(text.encode())[0]


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


def test_the_row_of_names_is_a_setting():
    text = b"Laboratory X\nRun 7; 12.5.2024\n\nid;Na;Mg\nA;1,5;2,5\nB;1,6;2,6\n"
    assert read_table(text, settings=TableSettings(header_row=4)).X.tolist() == [[1.5, 2.5], [1.6, 2.6]]
    assert "header row 2 was asked for" in problems(pd.DataFrame({"Na": [1.0]}), header_row=2)[0]


class TestNumberedNames:
    @pytest.mark.parametrize("form", ["{}-{}", "{} rep {}", "{}_0{}", "{}.{}"])
    @pytest.mark.parametrize("header", ["Sample", "id", "Name", ""])
    def test_they_are_asked_about(self, form, header):
        names = [form.format(stem, i) for stem in ("K1", "K2", "K3") for i in range(1, 6)]
        text = f"{header},Sr,Ba\n" + "".join(f"{name},1{i}.5,2.5\n" for i, name in enumerate(names))
        (found,) = problems(text.encode(), name="c.csv")
        assert "may number replicates of one fragment, or fragments" in found
        assert found.endswith('give numbered_names="replicates" or numbered_names="fragments"')
        table = read_table(text.encode(), numbered_names="replicates")
        assert (table.fragment[4:6], table.replicate[4:6]) == (
            ("K1", "K2"),
            (names[4][-1:], names[5][-1:]),
        ) or "0" in form
        assert len(set(table.fragment)) == 3
        assert read_table(text.encode(), numbered_names="fragments").groups in (None, tuple(names))
        if header:
            assert len(read_table(text.encode(), fragment_column=header)) == 15  # said by naming the column

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
        ],
    )
    def test_other_names_are_not(self, names):
        text = "id,Sr\n" + "".join(f"{name},1{i}.5\n" for i, name in enumerate(names))
        assert read_table(text.encode()).ids == tuple(names)

    def test_nor_are_fragments_numbered_within_their_source(self):
        text = b"pane,fragment,Sr\nAA,AA-1,1.5\nAA,AA-2,1.6\nBB,BB-1,1.7\nBB,BB-2,1.9\n"
        assert read_table(text).fragment == ("AA-1", "AA-2", "BB-1", "BB-2")


class TestSpectra:
    @staticmethod
    def spectra(n: int, **labels) -> pd.DataFrame:
        X = np.random.default_rng(0).normal(size=(n, 30)).cumsum(axis=1)
        frame = pd.DataFrame(X, columns=[f"{899.3 + 3.9 * i:.1f}" for i in range(30)])
        for at, (name, values) in enumerate(labels.items()):
            frame.insert(at, name, values)
        return frame

    @pytest.mark.parametrize("name", ["label", "class", "origin"])
    def test_a_class_is_not_the_fragment(self, name):
        table = read_table(self.spectra(60, **{name: ["olive"] * 40 + ["hazelnut"] * 20}))
        assert table.fragment is None
        assert table.source is None
        assert len(table.features) == 30

    def test_a_label_that_names_samples_is(self):
        table = read_table(self.spectra(60, label=[f"S{i // 3}" for i in range(60)]))
        assert len(set(table.fragment)) == 20

    def test_samples_numbered_by_each_supplier_are_asked_about(self):
        frame = self.spectra(12, supplier=["A"] * 6 + ["B"] * 6, sample=[1, 1, 2, 2, 3, 3] * 2)
        (found,) = problems(frame, name="c.csv")
        assert "column 'supplier': '1' in column 'sample' has several labels here ('A', 'B')" in found
        nested = read_table(frame, roles={"supplier": "source"})
        assert len(set(nested.fragment_keys)) == 6

    @staticmethod
    def smooth(positions) -> pd.DataFrame:
        """Spectra of a known function of the wavelength."""
        x = np.asarray(positions, dtype=float)
        return pd.DataFrame([np.sin(x / 50 + i) for i in range(5)], columns=[f"{p:g}" for p in x])

    def test_a_wavelength_is_a_number(self):
        known = self.smooth(np.arange(1100, 1200, 2))
        decimals = known.set_axis([f"{float(name):.1f}" for name in known], axis=1)
        floats = known.set_axis([float(name) for name in known], axis=1)
        for other in (decimals, floats):
            pair = read_pair(known, other)
            assert len(pair.features) == 50
            np.testing.assert_array_equal(pair.recovered.X, known)
            (block,) = read_chunks(other, list(known.columns))
            np.testing.assert_array_equal(block.X, known)

    @pytest.mark.parametrize("grid", [np.arange(1099, 1203, 2), np.arange(1096, 1208, 4), np.arange(1203, 1097, -2)])
    def test_another_grid_is_interpolated_and_said(self, grid):
        known, new = self.smooth(np.arange(1100, 1200, 2)), self.smooth(grid)
        pair = read_pair(known, new)
        assert pair.features == tuple(known.columns)
        np.testing.assert_allclose(pair.recovered.X, known, atol=2e-3)  # (step / 50)^2 / 8, and twice the step
        (note,) = [note for note in pair.notes if note.code == "resampled"]
        assert "interpolated to the 50 positions from 1100 to 1198" in note.message
        blocks = list(read_chunks(new.assign(id=[f"S{i}" for i in range(5)]), list(known.columns), rows=2))
        np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), pair.recovered.X)
        assert blocks[0].ids == ("S0", "S1")

    def test_a_range_outside_is_refused_in_one_line(self):
        known, new = self.smooth(np.arange(1100, 1200, 2)), self.smooth(np.arange(1131, 1301, 2))
        (found,) = problems(known, new, names=("c", "r"))
        assert found.startswith("r: the positions go from 1131 to 1299, those needed from 1100 to 1198")
        with pytest.raises(TableError, match="positions between 1138 and 1160 are missing, in a gap"):
            list(read_chunks(known.drop(columns=[str(x) for x in range(1140, 1160, 2)]), list(known.columns)))

    def test_a_band_that_one_table_lacks_is_not_compared(self):
        known = self.smooth(np.arange(1100, 1200, 2))
        lacking = known.drop(columns=[str(x) for x in range(1140, 1160, 2)])
        assert len(read_pair(known, lacking).features) == len(read_pair(lacking, known).features) == 40


def test_a_name_that_is_not_there_is_not_the_column_without_a_name():
    table = read_table(b",Na,Mg\nA,1.5,2.5\nB,1.6,2.6\n", roles={"Ba": "ignore"})
    assert table.ids == ("A", "B")
