"""Many cases in one call, and outputs that exist."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.casework.conftest import make_glass

from transvariation.casework import CaseError, CaseResult, CaseSettings, judge
from transvariation.casework.batch import BatchCase, judge_batch, read_batch
from transvariation.cli import main
from transvariation.tables import TableError


@pytest.fixture(scope="module")
def table():
    return make_glass(16, 4, 2, np.random.default_rng(3))


@pytest.fixture
def folder(table, tmp_path):
    """Two cases with tables, and one whose recovered table is not a table."""
    for name, pane in (("a", "P0"), ("b", "P1")):
        (tmp_path / "cases" / name).mkdir(parents=True)
        own, last = table["pane"] == pane, table["fragment"] == "4"
        table[own & ~last].to_csv(tmp_path / "cases" / name / "control.csv", index=False)
        table[table["pane"].isin(["P0", "P1"]) & last].to_csv(tmp_path / "cases" / name / "recovered.csv", index=False)
    (tmp_path / "cases" / "c").mkdir()
    (tmp_path / "cases" / "c" / "control.csv").write_text("x\n1\n2\n")
    (tmp_path / "cases" / "c" / "recovered.csv").write_text("")
    table[~table["pane"].isin(["P0", "P1"])].to_csv(tmp_path / "background.csv", index=False)
    return tmp_path


def test_every_case_is_judged_as_if_it_were_alone(folder):
    cases = read_batch(folder / "cases")
    settings = CaseSettings(log=True)
    found = {case.name: r for case, r in judge_batch(cases, background=folder / "background.csv", settings=settings)}
    assert isinstance(found["c"], Exception)
    for case in cases[:2]:
        alone = judge(case.control, case.recovered, background=folder / "background.csv", log=True)
        assert found[case.name].conclusions == alone.conclusions
        assert found[case.name].settings.case["case_number"] == case.name


def test_the_command_writes_reports_and_a_summary_sheet(folder):
    out = folder / "out"
    arguments = ["judge", "--batch", str(folder / "cases"), "--out", str(out), "--log"]
    arguments += ["--background", str(folder / "background.csv")]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2, done.output  # one case could not be judged
    assert {path.name for path in out.iterdir()} == {
        *("a.html", "a.json", "b.html", "b.json", "summary.html", "summary.csv", "conclusions.csv")
    }
    summary = pd.read_csv(out / "summary.csv", dtype=str)
    assert summary["excluded"].tolist() == ["1", "1", "–"]
    assert summary["result"][2].startswith("Not judged: ")
    assert len(pd.read_csv(out / "conclusions.csv")) == 4
    CaseResult.from_dict(json.loads((out / "a.json").read_text()))
    again = CliRunner().invoke(main, arguments)
    assert again.exit_code == 2
    assert "exists; give another name, or --overwrite" in " ".join(again.output.split())


def test_a_table_lists_cases_with_their_details(folder):
    index = folder / "cases.csv"
    index.write_text("case;control;recovered;examiner\n1/26;cases/a/control.csv;cases/a/recovered.csv;E.\n")
    (case,) = read_batch(index)
    assert (case.name, case.details) == ("1/26", {"examiner": "E."})
    assert case.control.is_file()
    index.write_bytes("case;control;recovered;examiner\nä;x;y;Müller\n".encode("latin-1"))
    assert read_batch(index)[0].details == {"examiner": "Müller"}


def test_a_number_in_a_workbook_names_a_case(folder):
    pytest.importorskip("openpyxl")
    files = [f"cases/a/{table}.csv" for table in ("control", "recovered")]
    frame = pd.DataFrame([[26.0, *files]], columns=["case", "control", "recovered"])
    frame.to_excel(folder / "cases.xlsx", index=False)
    assert read_batch(folder / "cases.xlsx") == [BatchCase("26", *(folder / file for file in files))]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("case,control\na,b\n", "lacks the column recovered"),
        ("case,control,recovered\n", "lacks the column case, control, recovered|holds no cases"),
        ("case,control,recovered\na b,x,y\na_b,x,y\n", "files of the same name"),
        ("case,control,recovered\na,x,y\nb,,y\n", "row 3: control is empty"),
        ("case,control,recovered\na\n", "row 2: the row has 1 cell"),
    ],
)
def test_wrong_lists_of_cases_are_refused(tmp_path, text, words):
    (tmp_path / "cases.csv").write_text(text)
    with pytest.raises((CaseError, TableError), match=words):
        read_batch(tmp_path / "cases.csv")
    (tmp_path / "folder" / "a").mkdir(parents=True)
    with pytest.raises(CaseError, match="has 0 tables called control"):
        read_batch(tmp_path / "folder")
