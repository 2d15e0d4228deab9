"""Excel workbooks: cells of every type, formulas, damage, merged cells."""

import io
import sys
import zipfile

import pandas as pd
import pytest
from tests.tables.conftest import problems_of_file

from transvariation.tables import Limits, TableError, read_chunks, read_table
from transvariation.tables.opening import opened


class TestExcel:
    @staticmethod
    def book(rows) -> bytes:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        file = io.BytesIO()
        book.save(file)
        return file.getvalue()

    @staticmethod
    def repacked(content: bytes, **members: bytes) -> bytes:
        """Replace members of an archive; a double underscore stands for a slash, a single one for a dot."""
        names = {name.replace("__", "/").replace("_", "."): data for name, data in members.items()}
        file = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                new.writestr(name, names.pop(name, None) or old.read(name))
            for name, data in names.items():
                new.writestr(name, data)
        return file.getvalue()

    def test_cells_of_every_type(self):
        import datetime

        rows = [
            ["id", "Na", "Mg"],
            ["A", 1, "2,5"],
            ["B", datetime.datetime(2024, 1, 2), 3],
            ["C", True, "<0.1"],
            ["D", 1, 2],
        ]
        found = problems_of_file(self.book(rows), features=["Na", "Mg"])
        assert [text.split(":")[0].removeprefix("f.csv, ") for text in found] == [
            "row 2, column 'Mg'",
            "row 3, column 'Na'",
            "row 4, column 'Na'",
            "row 4, column 'Mg'",
        ]

    def test_formulas_without_a_stored_value(self):
        found = problems_of_file(self.book([["id", "Na"], ["A", 1], ["B", "=1+1"]]))
        assert any("row 3, column 'Na': '=1+1' is a formula without a stored value" in text for text in found)

    def test_rows_of_nothing_but_formulas_are_no_blank_rows(self):
        rows = [["id", "Na"], ["A", 1], ["=raw!A2", "=raw!B2"], ["C", 2], ["=raw!A4", "=raw!B4"]]
        found = problems_of_file(self.book(rows))
        assert [text.split(":")[0] for text in found] == [
            f"f.csv, row {row}, column {name!r}" for row in (3, 5) for name in ("id", "Na")
        ]

    def test_formulas_that_fill_several_cells(self):
        formula = pytest.importorskip("openpyxl.worksheet.formula")
        found = problems_of_file(self.book([["id", "Na"], ["A", 1], ["B", formula.ArrayFormula("B3:B3", "=B2*2")]]))
        assert any("row 3, column 'Na': '=B2*2' is a formula without a stored value" in text for text in found)
        found = problems_of_file(self.book([["id", "Na"], ["A", 1], ["B", formula.DataTableFormula("B3:B3", r1="B2")]]))
        assert any("is a formula without a stored value" in text for text in found)

    def test_a_formula_that_shows_nothing_leaves_a_blank_cell(self):
        content = self.book([["id", "Na"], ["A", 1], ['=IF(A9="","",A9)', '=IF(B9="","",B9)']])
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            sheet = book.read("xl/worksheets/sheet1.xml")
        for cell in (b'r="A3"', b'r="B3"'):  # as Excel stores a text of no characters
            sheet = sheet.replace(cell, cell + b' t="str"')
        assert read_table(self.repacked(content, xl__worksheets__sheet1_xml=sheet)).ids == ("A",)

    def test_rows_that_are_too_long_and_rows_that_are_empty(self):
        assert "row 3: the row has 3 cells" in problems_of_file(self.book([["id", "Na"], ["A", 1], ["B", 2, 3]]))[0]
        table = read_table(self.book([["id", "Na"], ["A", 1], [], ["B", 2], [None, " "]]))
        assert table.rows.tolist() == [2, 4]

    def test_a_block_of_nothing_but_blank_rows_is_not_yielded(self, monkeypatch):
        monkeypatch.setattr("transvariation.tables.grid.BLOCK_CELLS", 1)  # 16 rows
        content = self.book([["id", "Na"], ["A", 1], *[[]] * 40, ["B", 2]])
        blocks = list(read_chunks(content, ["Na"], rows=5))
        assert [(block.ids, block.rows.tolist()) for block in blocks] == [(("A",), [2]), (("B",), [43])]
        with opened(content, None, Limits()) as grid:
            assert all(len(block.rows) for block in grid.blocks())

    def test_empty_workbook(self):
        assert problems_of_file(self.book([])) == ["f.csv: the sheet 'Sheet' is empty"]

    def test_of_an_empty_first_sheet_the_others_are_named(self):
        file = io.BytesIO()
        with pd.ExcelWriter(file) as book:
            pd.DataFrame().to_excel(book, sheet_name="Tabelle1", index=False)
            pd.DataFrame({"id": ["A"], "Na": [1.0]}).to_excel(book, sheet_name="control", index=False)
        (found,) = problems_of_file(file.getvalue())
        assert "the sheet 'Tabelle1' is empty; others: 'control'" in found
        assert "(sheet=)" in found
        assert read_table(file.getvalue(), sheet="control").ids == ("A",)

    def test_a_title_above_the_names_is_asked_about_once(self):
        rows = [["Glass"], ["Case 12", "Hall"], [], ["id", "Na", "Mg"], ["A", 1, 2], ["B", 1, 3], ["C", 2, 3]]
        (found,) = problems_of_file(self.book(rows))
        assert "row 4: the row has 3 cells but the header has 1" in found
        assert found.endswith("are there lines above the row of names? Remove them, or give header_row=4")
        assert read_table(self.book(rows), header_row=4, features=["Na", "Mg"]).rows.tolist() == [5, 6, 7]

    def test_a_bomb_is_refused_before_it_is_unpacked(self):
        bomb = self.repacked(self.book([["Na"], [1]]), xl__sharedStrings_xml=b" " * 20_000_000)
        assert len(bomb) < 100_000
        found = problems_of_file(bomb, limits=Limits(unpacked=10_000_000))
        assert "unpacks to 20 MB, more than the 10 MB allowed" in found[0]
        assert Limits().unpacked <= 500_000_000

    def test_entities_are_refused(self):
        with zipfile.ZipFile(io.BytesIO(self.book([["Na"], [1]]))) as archive:
            sheet = archive.read("xl/worksheets/sheet1.xml")
        evil = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]>' + sheet[sheet.find(b"<worksheet") :]
        content = self.repacked(self.book([["Na"], [1]]), xl__worksheets__sheet1_xml=evil)
        assert "defines XML entities" in problems_of_file(content)[0]
        late = evil.replace(b"<!DOCTYPE", b"<!--" + b" " * 5000 + b"--><!DOCTYPE").replace(b">aaaa<", b">&a;<")
        assert problems_of_file(self.repacked(self.book([["Na"], [1]]), xl__worksheets__sheet1_xml=late))

    def test_an_impossible_row_number(self, monkeypatch):
        monkeypatch.setattr("transvariation.tables.excel.EXCEL_ROWS", 1000)  # openpyxl counts up to it
        sheet = (
            b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
            b'<row r="1"><c r="A1" t="inlineStr"><is><t>Na</t></is></c></row>'
            b'<row r="999999999999"><c r="A999999999999"><v>1</v></c></row></sheetData></worksheet>'
        )
        found = problems_of_file(self.repacked(self.book([["Na"], [1]]), xl__worksheets__sheet1_xml=sheet))
        assert any("at most 1,000 rows" in text for text in found)

    @pytest.mark.parametrize("keep", [10, 200, 1000, 3000])
    def test_truncated(self, keep):
        assert "Excel file is damaged" in problems_of_file(self.book([["Na"], [1]])[:keep])[0]

    def test_an_archive_that_is_no_workbook(self):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a.csv", "Na\n1\n")
        assert "not an Excel workbook" in problems_of_file(file.getvalue())[0]

    def test_without_openpyxl_the_command_is_named(self, monkeypatch):
        book = self.book([["Na"], [1]])
        monkeypatch.setitem(sys.modules, "openpyxl.reader.excel", None)
        assert "pip install openpyxl defusedxml" in problems_of_file(book)[0]


def caught_problems(source, **options):
    with pytest.raises(TableError) as caught:
        read_table(source, **options)
    return caught.value.problems


class TestMergedCells:
    @staticmethod
    def book(*merged: str, rows: int = 60) -> bytes:
        openpyxl = pytest.importorskip("openpyxl")
        book, file = openpyxl.Workbook(), io.BytesIO()
        book.active.append(["pane", "fragment", "K", "Na"])
        for i in range(rows):
            book.active.append(["A" if i == 0 else None, f"F{i // 5}" if i % 5 == 0 else None, 1.5 + i, 2.5])
        for cells in merged:
            book.active.merge_cells(cells)
        book.save(file)
        return file.getvalue()

    def test_merged_labels_are_one_message(self):
        merged = ["A2:A61", *(f"B{2 + 5 * i}:B{6 + 5 * i}" for i in range(12))]
        (found,) = caught_problems(self.book(*merged))
        assert (found.code, found.row, found.column) == ("merged-cells", 2, "pane")
        assert "(A2:A61, B2:B6, B7:B11, B12:B16, B17:B21 and 8 more)" in found.message

    def test_blank_labels_without_merging_are_one_message_per_column(self):
        assert [(p.code, p.column) for p in caught_problems(self.book())] == [
            ("empty-label", "pane"),
            ("empty-label", "fragment"),
        ]

    def test_merged_cells_above_the_header_or_beside_the_table_do_not_matter(self):
        openpyxl = pytest.importorskip("openpyxl")
        book, file = openpyxl.Workbook(), io.BytesIO()
        for row in (["id", "K", "", "", "", "note"], ["A", 1.5], ["B", 2.5]):
            book.active.append(row[:2])
        book.active.merge_cells("H2:H3")
        book.save(file)
        assert read_table(file.getvalue()).ids == ("A", "B")
