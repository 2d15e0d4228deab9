"""Files that are wrong, broken or malicious: each has one defined outcome."""

import contextlib
import io
import pickle
import resource
import time
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest
from tests.tables.conftest import problems_of_file

from transvariation.tables import Limits, TableError, read_chunks, read_table


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "f.csv: the file is empty"),
        (b"\xef\xbb\xbf", "there is no header"),
        (b"\n\n  \n\t\n", "there is no header"),
        (b"id,Na\n", "there is a header but no row below it"),
        (b"id,Na\n\n,,\n", "there is a header but no row below it"),
        (b"1.5,2.5\n3,4\n", "the first row holds numbers, not names"),
        (b"id,Na,Na\nA,1,2\n", "row 1, column 'Na': columns 2 and 3 have the same name"),
        (b"id,Na,\nA,1,2\n", "row 2: the row has 3 cells but the header has 2"),
        (b"id,,Na\nA,1.5,2\n", "row 1: column 2 has values but no name"),
        (b",Na\n1.5,1\n2.5,2\n", "row 1: column 1 has values but no name"),
        (b"id,Na\nA,1\nB,2,3\n", "row 3: the row has 3 cells but the header has 2"),
        (b"id,Na,Mg\nA,1,2\nB,2\n", "row 3: the row has 2 cells but the header has 3"),
        (b"id,Na,Mg\nA,1,2\nB\n", "row 3: the row has 1 cell but the header has 3"),
        (b"id,Na\nA,1\nA,2\n", "row 3, column 'id': the id 'A' is already used in row 2"),
        (b"id,Na\nA,1\n,2\n", "row 3, column 'id': the id is empty"),
        (b"id,Na\nA,1\nB,1e400\n", "row 3, column 'Na': '1e400' is too large"),
        (b"id,Na\nA,1\nB,-1e400\n", "'-1e400' is too large"),
        (b"id,Na\nA,1\nB,1e-400\n", "'1e-400' is too small"),
        (b"id,Na\nA,1\nB,inf\n", "'inf' is not a value"),
        (b"id,Na\nA,1\nB,1_000\n", "'1_000' is not a number"),
        (b"id,Na\nA,1\nB,0x1F\n", "'0x1F' "),
        ("id,Na\nA,1\nB,١٢\n".encode(), "'١٢' is not a number"),
        (b"id,Na\nA,1\nB,2024-05-06\n", "'2024-05-06' is a date or time"),
        (b"id,Na\nA,1\nB,06/05/2024\n", "'06/05/2024' is a date or time"),
        (b"id;Na\nA;1.5\nB;1,234.5\n", "'1,234.5' has a thousands separator"),
        (b"id;Na\nA;1,5\nB;1.234,5\n", "'1.234,5' has a thousands separator"),
        (b"id;Na\nA;1.5\nB;1 234\n", "'1 234' has a thousands separator"),
        (b"id;Na\nA;1.5\nB;1,234\n", "'1,234' has a thousands separator or a decimal comma"),
        (b"id;Na\nA;1.5\nB;2,5\nC;3.5\n", "'2,5' has a decimal comma, but this file's decimal mark is the point"),
        (b"id;RI\nA;1,518\nB;1,517\n", "'1,518' may mean 1.518 or 1518"),
        (b"id,Na\nA,1\nB,12 ppm\n", "'12 ppm' carries a unit"),
        (b"id,Na\nA,1\nB,12%\n", "'12%' carries a unit"),
        (b"id,Na\nA,1\nB,>50\n", "'>50' lies above the instrument's range"),
        (b"id,Na\nA,1\nB,<0\n", "'<0' gives no detection limit"),
        (b"id,Na\nA,1\nB,<abc\n", "'<abc' gives no detection limit"),
        (b"id,Na\nA,1\nB,#DIV/0!\n", "'#DIV/0!' is a spreadsheet's error value"),
        (b"id,Na\nA,1\nB,=cmd|'/c calc'!A0\n", "is a formula, which is never evaluated"),
        (b"id,Na\nA,1\nB,@SUM(A1:A2)\n", "is a formula, which is never evaluated"),
        (b"id,Na\nA,1\nB,1\x002\n", "row 3, column 'Na': the cell contains a NUL byte"),
        (b"id,N\x00a\nA,1\nB,2\n", "row 1: the header contains a NUL byte"),
        (b'id,Na\nA,1\n"B,2\nC,3\n', "row 3: a quotation mark is opened and never closed"),
        (b'id,Na\nA,1\n"B"x,2\nC,3\n', "row 3: the row cannot be split into cells"),
        (b"id,Na\n" + b"A" * 200_000 + b",1\n", "row 2: a cell has more than 131,072 characters"),
        (b"id,Na\nA,1\nB\x81\xff,2\n", "row 3: byte 0x81 does not belong to a text"),
        (
            b"Na Mg\n1 2\n3 4\n",
            "no column holds numbers to measure by (no delimiter was found in the first row; columns must",
        ),
        (b"id,color\nA,red\nB,blue\n", "no column holds numbers to measure by (the delimiter is the comma)"),
        (b"PK\x03\x04garbage", "the Excel file is damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old or encrypted Excel file"),
        (b"\x1f\x8b\x08\x00", "compressed; unpack it first"),
        (b"%PDF-1.7", "not a table"),
    ],
)
def test_each_fault_has_its_message(content, message):
    found = problems_of_file(content)
    assert any(message in text for text in found), found
    assert all(text.startswith("f.csv") for text in found)


def test_all_problems_at_once_and_in_the_order_of_the_file():
    found = problems_of_file(b"id,Na,Mg\nA,1,x\nB,2\nB,y,3\nB,4,5\nC,,6\nD,7,8\nE,9,10\n")
    assert [text.split(":")[0] for text in found] == [
        "f.csv, row 2, column 'Mg'",
        "f.csv, row 3",
        "f.csv, row 4, column 'Na'",
        "f.csv, row 5, column 'id'",
        "f.csv, row 6, column 'Na'",
    ]


def test_a_long_list_is_shortened_only_when_printed():
    text = "id,Na\n" + "".join(f"F{i},{'x' if i % 2 else 1}\n" for i in range(100))
    with pytest.raises(TableError) as caught:
        read_table(text.encode())
    assert len(caught.value.problems) == 50
    assert str(caught.value).endswith("and 30 more")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    table = read_table(b"id,Na\nA,1\n")
    assert pickle.loads(pickle.dumps(table)).ids == table.ids  # a worker process can send it home


def test_reading_stops_when_there_are_too_many():
    text = "id,Na\n" + "".join(f"F{i},{'x' if i % 2 else 1}\n" for i in range(10_000))
    with pytest.raises(TableError, match="more than 1000 problems") as caught:
        read_table(text.encode())
    assert caught.value.stopped


@pytest.mark.parametrize("title", ["Glass", "Glass;;", "Glass, window", "Glass|A"])
def test_titles_above_the_names_are_asked_about_once(title):
    rows = "id;Na;Mg\n" + "".join(f"F{i};1,{i + 10};2,5\n" for i in range(30))
    (found,) = problems_of_file(f"{title}\nCase 12\n{rows}".encode(), features=["Na"])
    assert "row 3: the row has 3 cells but the header has 1" in found
    assert found.endswith("are there lines above the row of names? Remove them, or give header_row=3")
    assert read_table(f"{title}\nCase 12\n{rows}".encode(), header_row=3).features == ("Na", "Mg")


def test_a_single_column_is_not_split():
    assert read_table(b"Na\n1,5\n2,5\n3,5\n").X.ravel().tolist() == [1.5, 2.5, 3.5]
    assert "'1,234.5' has a thousands separator" in problems_of_file(b"Na\n1,234.5\n2,345.5\n", features=["Na"])[0]


def test_unquoted_decimal_commas_are_no_title():
    found = problems_of_file(b"id,Na\nA,1,5\nB,2,5\n")
    assert ["is a delimiter inside a cell not quoted" in text for text in found] == [True, True]


def test_blank_lines_and_columns_at_the_edges_are_no_problem_but_count_as_rows():
    table = read_table(b"id,Na,,\nA,1,,\n\n ,,,\nB,2,,\n\n\n")
    assert (table.ids, table.features, table.rows.tolist()) == (("A", "B"), ("Na",), [2, 5])


def test_quoted_cells_may_hold_anything():
    table = read_table(b'id,Na\n"A\nsecond line, with ""quotes""",1\n"B;,\t",2\n')
    assert table.ids == ('A\nsecond line, with "quotes"', "B;,")
    assert table.rows.tolist() == [2, 3]  # as a spreadsheet counts: a line break inside a cell starts no row


def test_markup_and_formulas_in_ids_stay_text():
    ids = ["<script>alert(1)</script>", "=cmd|'/c calc'!A0", "@SUM(A1)", "../../etc/passwd", "\u202egpj.exe"]
    assert read_table(pd.DataFrame({"id": ids, "Na": 1.0})).ids == tuple(ids)


def test_messages_show_control_characters_harmlessly():
    (text,) = problems_of_file(b"id,Na\nA,1\nB,\x1b[2Jboo\n")
    assert "\x1b" not in text
    assert "\\x1b[2Jboo" in text


def test_one_row_and_one_column():
    assert read_table(b"Na\n1,5\n").X.tolist() == [[1.5]]
    assert read_table(b"id,Na\nA,1\n").ids == ("A",)


def test_infinity_is_called_the_same_in_a_column_of_any_type():
    for dtype in (float, object):
        (found,) = problems_of_file(pd.DataFrame({"Na": pd.Series([1.0, np.inf, 2.0], dtype=dtype)}))
        assert found.startswith("f.csv, row 3, column 'Na': 'infinite' is not a value; correct the cell")


def test_a_nul_byte_right_of_the_table_is_not_passed_over():
    (found,) = problems_of_file(b"id,Na\nA,1\nB,2,\x00\nC,3\n")
    assert found.startswith("f.csv, row 3: the cell contains a NUL byte")


def test_where_no_object_has_a_value_each_cell_is_reported_and_nothing_is_said_of_dropping():
    assert [text.split(";")[0] for text in problems_of_file(b"id,Na\nA,-\n", features=["Na"])] == [
        "f.csv, row 2, column 'Na': the value is missing"
    ]


def test_ten_thousand_columns():
    X = np.random.default_rng(0).normal(size=(20, 10_000)).round(4)
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(10_000)])
    text = frame.to_csv(index=False).encode()
    start = time.process_time()
    table = read_table(text)
    assert time.process_time() - start < 10
    np.testing.assert_array_equal(table.X, X)
    assert "20,001 columns" in problems_of_file(b",".join(b"v%d" % j for j in range(20_001)) + b"\n")[0]


def test_three_hundred_thousand_rows():
    n = 300_000
    values = np.random.default_rng(0).normal(size=2000).round(6)
    rows = "".join(f"{a!r},{b!r}\n" for a, b in values.reshape(-1, 2).tolist())
    text = ("Na,Mg\n" + rows * (n // 1000)).encode()
    start = time.process_time()
    table = read_table(text)
    assert time.process_time() - start < 6  # some 0.5 s on an idle machine
    np.testing.assert_array_equal(table.X[-1000:], values.reshape(-1, 2))
    assert table.rows[-1] == n + 1
    assert table.ids[-1] == f"row {n + 1}"
    assert "too large to read at once" in problems_of_file(text, limits=Limits(rows=1000))[0]


def test_a_fault_far_down_a_large_file_has_its_row(monkeypatch):
    monkeypatch.setattr("transvariation.tables.text.PIECE_CHARACTERS", 50_000)
    rows = ["id,Na,Mg"] + [f"F{i},{i}.5,2" for i in range(40_000)]
    rows[30_000] = "F,x,2"
    rows[30_001] = '"quoted, with a comma",1,2'
    rows[30_002] = ""
    rows[39_999] = "G,<0.5,2"
    table_problems = problems_of_file("\n".join(rows).encode())
    assert [text.split(":")[0] for text in table_problems] == [
        "f.csv, row 30001, column 'Na'",
        "f.csv, row 40000, column 'Na'",
    ]


def test_numbers_are_the_nearest_doubles_whatever_the_pieces(monkeypatch):
    rng = np.random.default_rng(3)
    cells = [repr(x) for x in (rng.normal(size=4000) * 10.0 ** rng.integers(-300, 300, 4000)).tolist()]
    rows = "".join(f'"F{i}",{cells[2 * i]},{cells[2 * i + 1]}\r\n' for i in range(2000))
    monkeypatch.setattr("transvariation.tables.text.PIECE_CHARACTERS", 1000)
    table = read_table(("id,a,b\r\n" + rows).encode())
    np.testing.assert_array_equal(table.X.ravel(), np.array(cells, dtype=float))
    assert table.ids == tuple(f"F{i}" for i in range(2000))


def test_cells_of_many_lines_are_read_whatever_the_pieces(monkeypatch):
    monkeypatch.setattr("transvariation.tables.text.PIECE_CHARACTERS", 1000)
    lines = "\n".join(["line"] * 50)
    text = "id,Na,remark\n" + "".join(f'F{i},{i},"{lines}"\n' for i in range(2000))
    start = time.process_time()
    table = read_table(text.encode())
    assert time.process_time() - start < 10  # each piece is split once, not again with every piece that follows
    assert (table.X.ravel().tolist(), table.rows[-1]) == (list(range(2000)), 2001)


def test_a_decimal_comma_far_down_is_refused_where_a_later_row_lacks_a_cell(monkeypatch):
    monkeypatch.setattr("transvariation.tables.text.PIECE_CHARACTERS", 1000)
    rows = ["id,K,Mg,remark"] + [f"F{i},0.5,3.5,ok" for i in range(500)]
    rows[400:402] = ["F,0,552,3.5,ok", "G,0.5,3.5"]
    assert [text.split(":")[0] for text in problems_of_file("\n".join(rows).encode())] == [
        "f.csv, row 401",
        "f.csv, row 402",
    ]


def test_names_made_to_waste_time():
    for name in ("_" * 100_000, "a" + "_ " * 50_000, "(" * 100_000, "(a" * 50_000, "a," * 3 + "x" * 100_000):
        start = time.process_time()
        with pytest.raises(TableError):
            read_table(f'"{name}";id\nx;A\n'.encode(), features=["y" * 100_000, name[:1000]])
        assert time.process_time() - start < 5


class TestBoundedCost:
    """A file of 64 MB is refused within 500 MB and ten seconds; smaller ones show the same."""

    @staticmethod
    def sheet(rows: str, names: tuple[str, ...] = ("id", "Na")) -> bytes:
        openpyxl = pytest.importorskip("openpyxl")
        book, plain, changed = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
        book.active.append(names)
        book.save(plain)
        with zipfile.ZipFile(plain) as source, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as target:
            for name in source.namelist():
                content = source.read(name)
                if name == "xl/worksheets/sheet1.xml":
                    content = content.replace(b"</sheetData>", rows.encode() + b"</sheetData>")
                target.writestr(name, content)
        return changed.getvalue()

    @staticmethod
    def refuse(source: bytes) -> str:
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        found = problems_of_file(source)
        assert time.process_time() - start < 10
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB
        return found[0]

    def test_millions_of_lines(self):
        assert "more than 1,000,000 rows" in self.refuse(b"id,element,ppm\n" + b"a,b,1\n" * 2_100_000)

    def test_an_empty_cell_in_the_last_column_of_each_row(self):
        rows = "".join(f'<row r="{i}"><c r="B{i}"><v>1</v></c><c r="XFD{i}"/></row>' for i in range(2, 200))
        assert "row 63: more than 1,000,000 cells up to this row that are empty" in self.refuse(self.sheet(rows))
        text = rows.replace('"/>', '" t="inlineStr"><is><t>x</t></is></c>')
        assert "row 63: more than 1,000,000 cells up to this row" in self.refuse(self.sheet(text))
        few = "".join(f'<row r="{i}"><c r="B{i}"><v>1</v></c><c r="XFD{i}"/></row>' for i in range(2, 40))
        assert len(read_table(self.sheet(few), features=["Na"])) == 38

    def test_rows_far_apart_or_almost_empty_below_a_wide_header(self):
        names = ("id", *(f"x{j}" for j in range(2000)))
        cells = '<row r="{0}"><c r="A{0}" t="inlineStr"><is><t>A{0}</t></is></c><c r="B{0}"><v>1</v></c></row>'
        far = self.sheet(cells.format(1_048_576), names)
        start = time.process_time()
        assert read_table(far, features=["x0"]).ids == ("A1048576",)
        assert time.process_time() - start < 10
        many = "".join(map(cells.format, range(2, 600)))
        assert "row 502: more than 1,000,000 cells up to this row" in self.refuse(self.sheet(many, names))

    def test_a_row_of_millions_of_cells(self):
        many = '<row r="2">' + "<c/>" * 3_000_000 + "</row>"
        assert "a part or a row that is too large" in self.refuse(self.sheet(many))
        hidden = '<row r="2">' + ("<c/>" * 900_000 + "<!--</row>-->") * 4 + "</row>"
        assert "a part or a row that is too large" in self.refuse(self.sheet(hidden))
        rich = '<row><c t="inlineStr"><is>' + "<r><t>x</t></r>" * 200_000 + "</is></c></row>"
        assert "a part or a row that is too large" in self.refuse(self.sheet(rich * 4))
        assert "at most 1,048,576 rows and 16,384 columns" in self.refuse(
            self.sheet('<row r="2">' + "<c/>" * 20_000 + "</row>")
        )

    def test_a_sheet_that_is_a_chart(self):
        openpyxl = pytest.importorskip("openpyxl")
        book, content = openpyxl.Workbook(), io.BytesIO()
        for row in (["id", "Na"], ["F1", 1.5], ["F2", 2.5]):
            book.active.append(row)
        chart = openpyxl.chart.BarChart()
        chart.add_data(openpyxl.chart.Reference(book.active, min_col=2, min_row=1, max_row=3), titles_from_data=True)
        book.create_chartsheet("Chart", 0).add_chart(chart)
        book.save(content)
        assert read_table(content.getvalue()).X.ravel().tolist() == [1.5, 2.5]

    @pytest.mark.parametrize("record", [b'"\n",' * 2_000_000, b"1," * 3_000_000, b'"' + b"\n" * 6_000_000])
    def test_a_record_without_end(self, record):
        assert "row 3: a " in self.refuse(b"id,Na\nA,1\n" + record + b"1\n")

    @pytest.mark.parametrize("row", [b"\n", b'""\n', b'" ",\n'])
    def test_millions_of_blank_rows(self, row, monkeypatch):
        monkeypatch.setattr("transvariation.tables.text.MOST_BLANK_ROWS", 10_000)  # 1,000,000 take a second
        assert "more than 10,000 blank rows" in self.refuse(b"id,Na\nA,1\n" + row * 11_000)
        assert len(read_table(b"id,Na\nA,1\n" + row * 9_000)) == 1

    def test_rows_of_a_million_cells(self):
        assert "the row has 1500001 cells but the header has 2" in self.refuse(b"id,Na\nA,1\n" + b"1," * 1_500_000)

    def test_a_large_table_is_in_memory_once(self):
        rows = (",".join(f"v{i}" for i in range(2000)) + "\n" + (",".join(["1.5"] * 2000) + "\n") * 3000).encode()
        tracemalloc.start()
        table = read_table(rows)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2.4 * table.X.nbytes  # with the file, the first block and some room to grow

    def test_lists_and_long_texts_in_parquet(self):
        pa = pytest.importorskip("pyarrow")
        from pyarrow.parquet import write_table

        def parquet(**columns) -> bytes:
            content = io.BytesIO()
            write_table(pa.table({"Na": np.arange(200.0), **columns}), content)
            return content.getvalue()

        lists = read_table(parquet(lists=pa.array([list(range(2000))] * 200)))
        assert lists.features == ("Na",)
        assert [note.params["value"] for note in lists.notes if note.code == "unused-text"] == ["list<element: int64>"]
        long = "x" * 1_000_000
        assert "column 'id': a cell has more than 131,072 characters" in self.refuse(parquet(id=[long] * 200))
        large = parquet(id=[f"{i}{long}" for i in range(200)])
        before = pa.total_allocated_bytes()
        assert "column 'id': the file holds 200 MB of text or more" in self.refuse(large)
        assert pa.total_allocated_bytes() - before < 10e6
        repeated = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2000, dtype=np.int32)), [long[:100_000]])
        assert "column 'id': the file holds 200 MB of text or more" in self.refuse(
            parquet(Na=np.zeros(2000), id=repeated)
        )
        many = parquet(id=[f"{i}{long[:1000]}" for i in range(200)])
        with pytest.raises(TableError, match="column 'id': the file holds 0 MB of text or more"):
            read_table(many, limits=Limits(cells=100_000))
        assert len(next(read_chunks(many, ["Na"]))) == 200

    def test_many_columns_and_parts_in_parquet(self, monkeypatch):
        pa = pytest.importorskip("pyarrow")
        from pyarrow.parquet import write_table

        wide, parts = io.BytesIO(), io.BytesIO()
        write_table(pa.table({f"v{j}": [1.0] for j in range(101)}), wide)
        write_table(pa.table({"Na": np.arange(200.0)}), parts, row_group_size=1)
        with pytest.raises(TableError, match="101 columns are more than the 100 allowed"):
            read_table(wide.getvalue(), limits=Limits(columns=100))
        monkeypatch.setattr("transvariation.tables.grid.LARGEST_FOOTER", 10_000)
        assert "the Parquet file describes its columns and parts in 0 MB" in self.refuse(parts.getvalue())

    def test_a_long_table_that_is_mostly_empty(self, monkeypatch):
        monkeypatch.setattr("transvariation.tables.long_table.MOST_PIVOTED", 10_000)
        rows = b"".join(b"s%d,e%d,1.5\n" % (i, i % 100) for i in range(300))
        assert "300 rows name 300 samples and 100 variables" in self.refuse(b"sample,element,value\n" + rows)

    def test_times_with_nanoseconds_in_parquet(self):
        pa = pytest.importorskip("pyarrow")
        from pyarrow.parquet import write_table

        content = io.BytesIO()
        times = pa.array([1, 3_600_000_000_001], pa.time64("ns"))
        write_table(pa.table({"time": times, "Na": [1.5, 2.5]}), content)
        assert read_table(content.getvalue()).order.tolist() == [0.0, 3600.0]

    def test_flipped_bits_in_parquet_are_told_in_words(self):
        pytest.importorskip("pyarrow")
        content = io.BytesIO()
        frame = pd.DataFrame({"id": [f"F{i}" for i in range(30)], "Na": np.arange(30.0), "Mg": np.arange(30) % 7})
        frame.to_parquet(content)
        rng = np.random.default_rng(0)
        for _ in range(200):
            damaged = bytearray(content.getvalue())
            damaged[rng.integers(4, len(damaged))] ^= 1 << rng.integers(8)
            with contextlib.suppress(TableError):
                read_table(bytes(damaged))
