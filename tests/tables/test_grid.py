"""Parquet files and data frames."""

import io
import sys

import numpy as np
import pandas as pd
import pytest
from tests.tables.conftest import problems, problems_of_file

from transvariation.tables import Limits, read_chunks, read_table


def test_damaged_parquet():
    pytest.importorskip("pyarrow")
    assert "the Parquet file is damaged, truncated or encrypted" in problems_of_file(b"PAR1garbagePAR1")[0]


def test_frames_with_odd_types():
    frame = pd.DataFrame(
        {
            "id": ["A", "B"],
            "whole": pd.array([1, None], dtype="Int64"),
            "flag": [True, False],
            "when": pd.to_datetime(["2024-01-01", "2024-01-02"]),
            "huge": pd.Series([10**400, 1], dtype=object),
            "complex": [1 + 2j, 3j],
        }
    )
    table = read_table(frame, missing="drop", features=["whole"])
    assert table.X.tolist() == [[1]]
    found = problems_of_file(frame, features=["flag", "when", "huge", "complex"])
    assert len(found) == 7
    assert any("true or false" in text for text in found)
    two = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert "several levels" in problems_of_file(two)[0]


class TestParquet:
    @staticmethod
    def file(**columns) -> bytes:
        file = io.BytesIO()
        pd.DataFrame(columns).to_parquet(file)
        return file.getvalue()

    def test_nulls_text_and_numbers(self):
        content = self.file(id=["A", "B"], Na=[1.5, None], Mg=["2.5", "<0.1"])
        found = problems_of_file(content)
        assert [text.split(":")[0] for text in found] == ["f.csv, row 3, column 'Na'", "f.csv, row 3, column 'Mg'"]
        assert read_table(content, missing="impute").X.tolist() == [[1.5, 2.5], [1.5, 0.05]]

    def test_infinite(self):
        assert "'infinite' is not a value" in problems_of_file(self.file(Na=[1.0, np.inf]))[0]

    def test_truncated_or_damaged(self):
        content = self.file(Na=np.arange(1000.0))
        assert "Parquet" in problems_of_file(content[: len(content) // 2])[0]
        assert "Parquet" in problems_of_file(content[:-100] + bytes(60) + content[-40:])[0]

    def test_a_bomb_is_refused_by_its_size(self):
        content = self.file(**{f"v{j}": np.zeros(200_000) for j in range(3)})
        assert "more than 166,666 rows" in problems_of_file(content, limits=Limits(cells=500_000))[0]
        assert sum(map(len, read_chunks(content, ["v1"]))) == 200_000

    def test_without_pyarrow_the_command_is_named(self, monkeypatch):
        content = self.file(Na=[1.0])
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        assert "pip install pyarrow" in problems_of_file(content)[0]


PLAIN = "id,Na,Mg\nF1,13.64,4.49\nF2,13.89,3.6\nF3,13.53,3.55\n"


VALUES = [[13.64, 4.49], [13.89, 3.6], [13.53, 3.55]]


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
        assert "pip install pyarrow" in found
