"""What ordinary files look like, and that each is read as a person would read it."""

import io

import numpy as np
import pandas as pd
import pytest
from tests.tables.conftest import problems

from transvariation import load_glass
from transvariation.tables import Table, TableError, read_chunks, read_table

PLAIN = "id,Na,Mg\nF1,13.64,4.49\nF2,13.89,3.6\nF3,13.53,3.55\n"
VALUES = [[13.64, 4.49], [13.89, 3.6], [13.53, 3.55]]


def notes(table: Table) -> str:
    return "\n".join(map(str, table.notes))


def test_excel_and_parquet_and_frames_give_the_same_table(tmp_path):
    frame = pd.read_csv(io.StringIO(PLAIN))
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.xlsx", str(tmp_path / "t.parquet"), frame, frame.set_index("id")):
        table = read_table(source)
        assert (table.ids, table.features, table.X.tolist()) == (("F1", "F2", "F3"), ("Na", "Mg"), VALUES)
        assert len(table.sha256) == 64
    with (tmp_path / "t.xlsx").open("rb") as file:
        assert read_table(file, name="upload").name == "upload"
        assert not file.closed


def test_an_index_that_pandas_kept_in_parquet_names_the_objects(tmp_path):
    frame = pd.DataFrame({"Na": [1.5, 2.5, 3.5], "Mg": [4.0, 5.0, 6.0]})
    for index in (pd.Index([7, 3, 5]), pd.Index(["u", "v", "w"]), pd.Index(["u", "v", "w"], name="Asservat")):
        own = frame.set_axis(index)
        own.to_parquet(tmp_path / "t.parquet")
        table = read_table(tmp_path / "t.parquet")
        assert (table.ids, table.features) == (tuple(map(str, index)), ("Na", "Mg"))
        assert table.X.tolist() == frame.to_numpy().tolist()
        assert (table.ids, table.features) == (read_table(own).ids, read_table(own).features)
    frame.set_axis([7, 7, 5]).to_parquet(tmp_path / "t.parquet")
    assert problems(tmp_path / "t.parquet", name="t") == ["t, row 1: column 1 has values but no name in the header"]


def test_excel_sheets(tmp_path):
    path = tmp_path / "two.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"Na": [1.0, 2.0]}).to_excel(book, sheet_name="first", index=False)
        pd.DataFrame({"Mg": [3.0, 4.0]}).to_excel(book, sheet_name="second", index=False)
    assert "not read: 'second'" in notes(read_table(path))
    assert read_table(path, sheet="second").features == read_table(path, sheet=2).features == ("Mg",)
    assert "the sheet 'second' was read, as was asked" in notes(read_table(path, sheet=2))
    assert "there is no sheet 'third'; there are 'first', 'second'" in problems(path, sheet="third")[0]
    assert "'third' was asked for, but this is no Excel workbook" in problems(PLAIN.encode(), sheet="third")[0]


def test_the_glass_fragments_as_a_frame():
    glass = load_glass()
    table = read_table(glass.control)
    assert table.ids == tuple(map(str, glass.control.index))
    np.testing.assert_array_equal(table.X, glass.control.to_numpy())
    assert read_table(glass.all).roles["Type"] == "ignore"
    pd.testing.assert_frame_equal(table.to_frame().reset_index(drop=True), glass.control.reset_index(drop=True))


class TestChunks:
    def test_same_numbers_as_at_once(self, tmp_path):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(1000, 4)), columns=list("ABCD"))
        frame.insert(0, "id", [f"F{i}" for i in range(1000)])
        frame.to_csv(tmp_path / "t.csv", index=False)
        frame.to_parquet(tmp_path / "t.parquet", row_group_size=300)
        frame.to_excel(tmp_path / "t.xlsx", index=False)
        for name in ("t.csv", "t.parquet", "t.xlsx"):
            seen = []
            blocks = list(read_chunks(tmp_path / name, ["C", "A"], rows=128, progress=seen.append))
            X = np.vstack([block.X for block in blocks])
            # openpyxl writes sixteen digits, one short of what tells every double apart
            np.testing.assert_allclose(X, frame[["C", "A"]], rtol=1e-15 if name == "t.xlsx" else 0)
            assert sum((block.ids for block in blocks), ()) == tuple(frame["id"])
            assert max(map(len, blocks)) <= 128
            assert seen == sorted(seen)
            assert seen[-1] == 1.0

    @pytest.mark.parametrize("rows", [0, -1, 1.5])
    def test_a_block_has_a_positive_number_of_rows(self, rows):
        with pytest.raises(ValueError, match=f"rows={rows} must be a positive whole number"):
            next(read_chunks(b"Na\n1\n", ["Na"], rows=rows))

    def test_impute_needs_the_whole_table(self):
        with pytest.raises(ValueError, match="needs the whole table"):
            next(read_chunks(b"Na\n1\n", ["Na"], missing="impute"))

    def test_a_block_may_drop_to_nothing_but_the_table_may_not(self):
        lost, file = [], b"id,a\nx,1\ny,\nz,\nw,3\nv,\n"
        blocks = list(read_chunks(file, ["a"], rows=1, missing="drop", left_out=lost.extend))
        assert [block.ids for block in blocks] == [("x",), ("w",)]
        assert lost == ["y", "z", "v"]
        with pytest.raises(TableError, match=r"leaves none$"):  # there is nothing to impute from
            list(read_chunks(b"id,a\ny,\nz,\n", ["a"], rows=1, missing="drop"))
        with pytest.raises(TableError, match=r'or choose missing="drop"$'):
            list(read_chunks(b"id,a\ny,\n", ["a"]))

    def test_a_problem_late_in_the_file_has_its_row(self):
        text = "id,Na\n" + "".join(f"F{i},{i}\n" for i in range(50)) + "F50,abc\n"
        blocks = read_chunks(text.encode(), ["Na"], rows=10, name="big.csv")
        with pytest.raises(TableError, match=r"big.csv, row 52, column 'Na': 'abc' is not a number"):
            list(blocks)


@pytest.mark.parametrize("kind", ["int64", "uint64", "Int64"])
def test_ids_of_more_digits_than_a_float_has_are_kept(kind, tmp_path):
    ids = [2024051612345678901, 2024051612345678902]
    frame = pd.DataFrame({"id": pd.Series(ids, dtype=kind), "Na": [1.5, 2.5]})
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, frame.set_index("id"), tmp_path / "t.parquet"):
        assert read_table(source).ids == tuple(map(str, ids))
    assert read_table(frame, features=["id"]).X[:, 0].tolist() == [float(i) for i in ids]
    gaps = pd.DataFrame({"Na": pd.Series([2**60, None], dtype="Int64"), "Mg": pd.Series([None, 1], dtype="Int64")})
    gaps.to_parquet(tmp_path / "gaps.parquet")
    for source in (gaps, tmp_path / "gaps.parquet"):
        X = read_table(source, missing="keep").X
        np.testing.assert_array_equal(X, [[2.0**60, np.nan], [np.nan, 1]])


def test_columns_of_numbers_with_separators_or_units_are_not_set_aside():
    found = problems(b"id;Na;Mg;Ca\nA;1 234,5;12%;1,5\nB;1 234,6;13%;1,6\n", name="c.csv")
    assert "row 2, column 'Na': '1 234,5' has a thousands separator; write the number without it" in found[0]
    assert "column 'Mg': '12%' carries a unit" in found[1]
    for cell in ("2.849,000", "2'849.1", "2\u202f849,1"):
        (text,) = problems(f"id;Na;Ca\nA;{cell};1,55\nB;{cell};1,56\n".encode(), name="c.csv")
        assert "has a thousands separator" in text


def test_a_column_of_numbers_in_the_other_decimal_mark_is_not_set_aside():
    file = b"Kennung;RI\n7.1;1,5180\n7.2;1,5182\n8.1;1,5190\n"
    (found,) = problems(file, name="c.csv")
    assert "c.csv, row 2, column 'RI': '1,5180' has a decimal comma, but this file's decimal mark is the point" in found
    assert "name the features to use" in found
    table = read_table(file, decimal=",")
    assert (table.ids, table.X.tolist()) == (("7.1", "7.2", "8.1"), [[1.518], [1.5182], [1.519]])
    assert read_table(file, decimal=".").features == read_table(file, features=["Kennung"]).features == ("Kennung",)
    version = b"id;Na;K;version\nA;1,5;2,5;3.2\nB;1,6;2,6;3.2\n"
    assert "'3.2' has a decimal point" in problems(version)[0]
    assert read_table(version, decimal=",").features == ("Na", "K")


def test_a_column_in_the_other_decimal_mark_may_begin_below_detection():
    (found,) = problems(b"id;Na;K\nA;1.5;<0,1\nB;2.5;0,25\nC;3.5;0,5\n", name="c.csv")
    assert "c.csv, row 2, column 'K': '<0,1' has a decimal comma, but this file's decimal mark is the point" in found
    assert found.endswith('if the comma is the decimal mark, give decimal=","')


def test_the_blocks_of_a_file_know_its_fingerprint():
    (block,) = read_chunks(PLAIN.encode(), ["Na"])
    assert block.sha256 == read_table(PLAIN.encode()).sha256


def test_numbers_kept_as_text_in_typed_files(tmp_path):
    frame = pd.DataFrame({"id": ["A", "B"], "Na": ["1,5", "2,25"], "Mg": [3.5, 4.5]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.xlsx", tmp_path / "t.parquet"):
        assert read_table(source).X.tolist() == [[1.5, 3.5], [2.25, 4.5]]
    unsure = pd.DataFrame({"id": ["A"], "RI": ["1,518"]})
    assert "may mean 1.518 or 1518" in problems(unsure)[0]
    assert read_table(unsure, decimal=",").X.tolist() == [[1.518]]


def test_fingerprints_of_frames_depend_on_their_contents():
    frame = pd.DataFrame({"id": ["A", "B"], "Na": [1.0, 2.0]})
    assert read_table(frame).sha256 == read_table(frame.copy()).sha256
    others = [frame.assign(Na=[1.0, 3.0]), frame.assign(id=["A", "C"]), frame.rename(columns={"Na": "Mg"})]
    assert len({read_table(other).sha256 for other in [frame, *others]}) == 4


def test_a_single_column_is_refused_in_words():
    with pytest.raises(TypeError, match="a DataFrame, not Series"):
        read_table(pd.Series([1.5, 2.5], name="Na"))


def test_positions_of_a_spectrum_are_names_of_columns():
    header = ",".join(f"{x:.1f}" for x in np.linspace(4000, 3960, 21))
    row = ",".join(f"{x}" for x in np.sin(np.arange(21.0)))
    assert read_table(f"{header}\n{row}\n{row}\n".encode()).features[:2] == ("4000.0", "3998.0")
    with pytest.raises(TableError, match="the first row holds numbers, not names"):
        read_table(f"{row}\n{row}\n".encode())
