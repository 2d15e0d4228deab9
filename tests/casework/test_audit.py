"""A saved case can be recomputed, and every difference is named."""

import json

import pytest
from click.testing import CliRunner

from transvariation import TOCC, load, save
from transvariation.casework import CaseError, CaseSettings, judge, verify
from transvariation.casework.model_file import fit_model
from transvariation.cli import main
from transvariation.persistence import read_about
from transvariation.report.demo import write_tables
from transvariation.report.wording.cautions import difference_text

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
    (difference,) = found.differences
    assert (difference.place, difference.saved) == (".conclusions[3].p_value", "0.123456")
    assert 0 <= float(difference.recomputed) <= 1
    assert difference_text(difference) == f"conclusions[3].p_value: 0.123456 saved, {difference.recomputed} recomputed"


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


def test_a_model_is_fitted_again_and_changed_numbers_are_named(folder, tmp_path):
    model, forged = tmp_path / "windows.model", tmp_path / "forged.model"
    sha256 = fit_model(folder / "windows.csv", model, CaseSettings(features=["K", "Mg"], method="tocc")).sha256
    ran = CliRunner().invoke(main, ["verify", str(model)])
    assert (ran.exit_code, f"Model: SHA-256 {sha256}" in ran.output) == (0, True), ran.output
    classifier = load(model)
    classifier._calibration.scores[:3] += 0.01
    save(classifier, forged, about=read_about(model)["about"])
    ran = CliRunner().invoke(main, ["verify", str(forged)])
    assert (ran.exit_code, sha256 in ran.output) == (1, False)
    assert "3 of 73 values differ; the first: " in ran.output
    assert not verify(model, folder=tmp_path).recomputed


def test_a_model_saved_by_other_means_is_refused_in_words(tmp_path):
    save(TOCC(), tmp_path / "other.model")
    with pytest.raises(CaseError, match="only models that `fit` wrote can be verified"):
        verify(tmp_path / "other.model")
