"""A procedure fixes settings and background."""

import hashlib

import pytest
from click.testing import CliRunner

from transvariation import load_glass
from transvariation.casework import CaseError, CaseSettings, SettingsError, judge
from transvariation.casework.procedure import Procedure
from transvariation.cli import main


@pytest.fixture(scope="module")
def tables():
    glass = load_glass()
    return glass.control[["K", "Mg", "Al"]], glass.recovered[["K", "Mg", "Al"]].iloc[::12]


@pytest.fixture
def lab(tmp_path):
    path = tmp_path / "lab.toml"
    path.write_text('features = ["K", "Mg"]\nsensitivity = 0.95\n')
    return path


def test_settings_are_those_of_the_procedure_and_the_result_names_it(tables, lab):
    found = judge(*tables, procedure=lab, case={"examiner": "E."})
    assert (found.inputs.features, found.model.sensitivity) == (("K", "Mg"), 0.95)
    assert found.provenance["procedure"] == f"lab.toml, SHA-256 {hashlib.sha256(lab.read_bytes()).hexdigest()}"
    plain = judge(*tables, features=["K", "Mg"], sensitivity=0.95)
    assert [c.p_value for c in found.conclusions] == [c.p_value for c in plain.conclusions]


@pytest.mark.parametrize(
    "given",
    [
        {"sensitivity": 0.9},
        {"method": "tocc"},  # not named, so fixed to its default
        {"features": ["K"]},
        {"background": "nfi"},
        {"settings": CaseSettings(seed=1)},
    ],
)
def test_what_is_fixed_cannot_be_chosen_otherwise(tables, lab, given):
    with pytest.raises(CaseError, match=r"the procedure lab.toml fixes"):
        judge(*tables, procedure=lab, **given)
    judge(*tables, procedure=lab, sensitivity=0.95)  # the same value is no choice


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sensitivity = = 1", "is no procedure in TOML"),
        ("sensibility = 0.9", "'sensibility', which is no setting"),
        ('background = "none.csv"', "does not exist"),
        ('background = "lab.toml"\nbackground_sha256 = "00"', "is not what the procedure"),
    ],
)
def test_a_wrong_procedure_is_refused(tmp_path, text, words):
    (tmp_path / "lab.toml").write_text(text)
    with pytest.raises(CaseError, match=words):
        Procedure.read(tmp_path / "lab.toml")


def test_wrong_values_in_a_procedure_are_named(tmp_path):
    (tmp_path / "lab.toml").write_text("sensitivity = 90")
    with pytest.raises(SettingsError, match="sensitivity"):
        Procedure.read(tmp_path / "lab.toml")


def test_the_command_names_the_procedure_in_the_report_and_refuses_other_settings(tables, lab, tmp_path):
    files = [tmp_path / "control.csv", tmp_path / "recovered.csv"]
    for path, table in zip(files, tables, strict=True):
        table.to_csv(path)
    report = tmp_path / "case.html"
    arguments = ["judge", *map(str, files), "--procedure", str(lab), "--report", str(report)]
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert f"fixed by the procedure lab.toml, SHA-256 {Procedure.read(lab).sha256}" in report.read_text()
    refused = CliRunner().invoke(main, [*arguments, "--overwrite", "--sensitivity", "0.8"])
    assert refused.exit_code == 2
    assert "fixes sensitivity to 0.95" in " ".join(refused.output.split())
