"""A saved case can be recomputed, and every difference is named."""

import json

import pytest
from click.testing import CliRunner

from transvariation.casework import CaseError, judge, verify
from transvariation.cli import main
from transvariation.report.demo import write_tables

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("case")
    write_tables(folder)
    paths = [str(folder / name) for name in ("windows.csv", "recovered.csv")]
    (folder / "case.json").write_text(judge(*paths, features=["K", "Mg"]).to_json())
    return folder


def test_an_unchanged_case_is_confirmed(folder):
    found = verify(folder / "case.json")
    assert found.confirmed
    assert [table.state for table in found.tables] == ["same", "same"]
    assert found.differences == ()


def test_a_changed_number_is_named_with_both_values(folder):
    content = json.loads((folder / "case.json").read_text())
    content["conclusions"][3]["p_value"] = 0.123456
    (folder / "edited.json").write_text(json.dumps(content))
    found = verify(folder / "edited.json")
    assert not found.confirmed
    assert len(found.differences) == 1
    assert found.differences[0].startswith(".conclusions[3].p_value: 0.123456 saved, ")


def test_a_changed_or_missing_table_prevents_the_recomputation(folder, tmp_path):
    (tmp_path / "windows.csv").write_text((folder / "windows.csv").read_text() + "\n")
    found = verify(folder / "case.json", folder=tmp_path)
    assert {table.table: table.state for table in found.tables} == {"control": "changed", "recovered": "missing"}
    assert not found.recomputed


def test_a_file_that_is_no_case_is_refused(tmp_path):
    (tmp_path / "other.json").write_text('{"schema": "something"}')
    with pytest.raises(CaseError, match="is not a case that this version wrote"):
        verify(tmp_path / "other.json")


def test_command_line_verifies_and_reports_again(folder, tmp_path):
    ran = CliRunner().invoke(main, ["verify", str(folder / "case.json")])
    assert ran.exit_code == 0, ran.output
    assert "Confirmed" in ran.output
    ran = CliRunner().invoke(main, ["report", str(folder / "case.json"), "--report", str(tmp_path / "again.html")])
    assert ran.exit_code == 0, ran.output
    assert (tmp_path / "again.html").stat().st_size > 10_000
    assert CliRunner().invoke(main, ["verify", str(folder / "edited.json")]).exit_code == 1
