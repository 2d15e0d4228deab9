"""What ordinary files look like, and that each is read as a person would read it."""

import io
import sys

import numpy as np
import pandas as pd
import pytest

from transvariation import load_glass
from transvariation.tables import Table, TableError, apply_policy, read_chunks, read_table

PLAIN = "id,Na,Mg\nF1,13.64,4.49\nF2,13.89,3.6\nF3,13.53,3.55\n"
VALUES = [[13.64, 4.49], [13.89, 3.6], [13.53, 3.55]]
GERMAN = PLAIN.replace(",", ";").replace(".", ",")


def problems(source, **options) -> list[str]:
    with pytest.raises(TableError) as caught:
        read_table(source, **options)
    return [str(problem) for problem in caught.value.problems]


def notes(table: Table) -> str:
    return "\n".join(map(str, table.notes))


TEXTS = [PLAIN, GERMAN, PLAIN.replace(",", "\t"), GERMAN.replace(";", "\t"), PLAIN.replace(",", "|")]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_delimiter_decimal_mark_line_end_and_encoding_are_recognised(text, newline, encoding):
    table = read_table(text.replace("\n", newline).encode(encoding))
    assert (table.ids, table.features) == (("F1", "F2", "F3"), ("Na", "Mg"))
    assert table.X.tolist() == VALUES
    assert table.rows.tolist() == [2, 3, 4]
    assert not table.X.flags.writeable


def test_excel_line_that_names_the_delimiter():
    table = read_table(b"sep=;\nid;Na\nA;1,5\nB;2,25\n")
    assert table.X.tolist() == [[1.5], [2.25]]
    assert table.rows.tolist() == [3, 4]
    assert read_table(b"sep=,\nid,Na\nA,1.5\nB,2.25\n").X.tolist() == [[1.5], [2.25]]
    assert read_table(b"sep=~\nid~Na\nA~1.5\nB~2.25\n").X.tolist() == [[1.5], [2.25]]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("id;Na, wt%;Mg, wt%\nA;1,5;2,5\nB;1,6;2,6\n", [[1.5, 2.5], [1.6, 2.6]]),
        ("id;Na, wt%;Mg, wt%\nA;1,5;2,5;\nB;1,6;2,6;\n", [[1.5, 2.5], [1.6, 2.6]]),  # a mark too many
        ("id;Na, wt%;\nA;1,5\nB;1,6\n", [[1.5], [1.6]]),
        ("Na, wt%;Mg, wt%\n1,5;2,5\n1,6;2,6\n", [[1.5, 2.5], [1.6, 2.6]]),  # commas would give three columns
        ("id\tcolour\tNa, wt%\nA\tred\t1,5\nB\tred\t1,6\n", [[1.5], [1.6]]),
        ("id|Na, wt%\nA|1,518\nB|1,61\n", [[1.518], [1.61]]),
        ('id,"seen; by",Na\nA,"K; L",1.5\nB,"K; L",1.6\n', [[1.5], [1.6]]),
        ("id,seen; by,Na,Mg\nA,K; L,1.5,2.5\nB,K; L,1.6,2.6\n", [[1.5, 2.5], [1.6, 2.6]]),
        ('id,"Na; wt%","Mg; wt%"\nA,"1,5","2,5"\nB,"1,6","2,6"\n', [[1.5, 2.5], [1.6, 2.6]]),
    ],
)
def test_of_several_delimiters_in_names_and_rows_the_one_that_leaves_numbers_whole(text, values):
    table = read_table(text.encode())
    assert table.X.tolist() == values
    assert not any(";" in name for name in table.ids)


def test_words_that_are_not_utf8_are_read_as_windows_1252_with_a_note():
    table = read_table("Prüfstück;Na\nGärtner;1,5\nÖl;2,5\n".encode("cp1252"))
    assert table.ids == ("Gärtner", "Öl")
    assert "Windows-1252" in notes(table)


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


def test_the_kind_of_file_is_known_by_content_not_by_name(tmp_path):
    (tmp_path / "really.xlsx").write_text(PLAIN)
    assert read_table(tmp_path / "really.xlsx").X.tolist() == VALUES


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


def test_fingerprint_is_that_of_the_bytes():
    import hashlib

    assert read_table(PLAIN.encode()).sha256 == hashlib.sha256(PLAIN.encode()).hexdigest()


class TestRoles:
    def test_first_column_of_distinct_words_is_the_id(self):
        assert read_table(b"Asservat,K\nX1,1\nX2,2\n").ids == ("X1", "X2")

    def test_row_names_without_a_header(self):
        assert read_table(b'"","K"\n"1",5\n"2",6\n').ids == ("1", "2")

    def test_given_columns_overrule_recognised_ones(self):
        table = read_table(b"id,other,K\n1,A,5\n2,B,6\n", id_column="other", features=["K"])
        assert table.ids == ("A", "B")
        table = read_table(b"id,k,K\nA,x,5\nA,y,6\n", source_column="id")
        assert table.source == ("A", "A")

    def test_class_labels_are_no_measurement_unless_named(self):
        file = b"Na,Type\n1,1\n2,1\n"
        assert read_table(file).features == ("Na",)
        assert read_table(file, features=["Type", "Na"]).features == ("Na", "Type")

    def test_text_columns_are_not_used_and_noted(self):
        table = read_table(b"id,Na,colour,seen\nA,1,green,2024-01-02\nB,2,blue,2024-01-03\n")
        assert table.features == ("Na",)
        assert "column 'colour': not used as a variable: 2 of its 2 values are not numbers" in notes(table)
        assert [note.params["fault"] for note in table.notes if note.column == "seen"] == ["date"]

    def test_a_text_column_asked_for_is_a_problem(self):
        assert len(problems(b"id,Na,colour\nA,1,green\nB,2,blue\n", features=["Na", "colour"])) == 2

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
        assert "row 3, column 'Na': object 'B' left out: missing" in notes(table)

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
        assert "row 4, column 'Na': object 'X' left out: nothing was measured" in notes(table)
        with pytest.raises(TableError, match="no object has a measured value"):
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


class TestPolars:
    def test_a_polars_frame_gives_the_same_table(self):
        polars = pytest.importorskip("polars")
        table = read_table(polars.read_csv(PLAIN.encode()))
        assert (table.ids, table.features, table.X.tolist()) == (("F1", "F2", "F3"), ("Na", "Mg"), VALUES)
        assert table.sha256 == read_table(polars.read_csv(PLAIN.encode())).sha256

    def test_nulls_words_and_long_ids(self):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"id": [2**60, 2**60 + 1], "Na": [1.5, None], "Mg": ["2,5", "<0,1"]})
        table = read_table(frame, missing="impute")
        assert table.ids == (str(2**60), str(2**60 + 1))
        assert table.X.tolist() == [[1.5, 2.5], [1.5, 0.05]]

    def test_text_with_gaps(self):
        polars = pytest.importorskip("polars")
        frame = polars.DataFrame({"id": ["A", "B"], "Na": [1.5, 2.5], "remark": ["x", None], "K": ["<0.1", None]})
        table = read_table(frame, features=["Na", "K"], missing="keep")
        np.testing.assert_array_equal(table.X, [[1.5, np.nan], [2.5, np.nan]])
        assert table.below[0, 1] == 0.1

    def test_without_pyarrow_the_command_is_named(self, monkeypatch):
        polars = pytest.importorskip("polars")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        (found,) = problems(polars.DataFrame({"Na": [1.0]}))
        assert "pip install 'transvariation[parquet]'" in found


def test_positions_of_a_spectrum_are_names_of_columns():
    header = ",".join(f"{x:.1f}" for x in np.linspace(4000, 3960, 21))
    row = ",".join(f"{x}" for x in np.sin(np.arange(21.0)))
    assert read_table(f"{header}\n{row}\n{row}\n".encode()).features[:2] == ("4000.0", "3998.0")
    with pytest.raises(TableError, match="the first row holds numbers, not names"):
        read_table(f"{row}\n{row}\n".encode())
