"""The words of every front end: complete, in the front end's own terms, and for codes only."""

import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from transvariation import web
from transvariation.casework import errors
from transvariation.casework.audit import Difference
from transvariation.casework.database import Finding
from transvariation.casework.progress import ProgressStep
from transvariation.casework.settings import CaseSettings
from transvariation.report.wording.cautions import _FINDINGS, _STEPS, difference_text, finding_text, step_text
from transvariation.report.wording.remedies import _REFUSALS, REMEDIES, error_text, refusal
from transvariation.report.wording.statements import table_title
from transvariation.tables import Problem, SettingsError, TableError, problems
from transvariation.web.choices import page_choices, page_html

PYTHON = problems.REMEDIES | errors.REMEDIES


def test_python_command_line_and_page_have_every_remedy():
    assert not set(problems.REMEDIES) & set(errors.REMEDIES)
    assert REMEDIES["cli"].keys() == REMEDIES["page"].keys() == PYTHON.keys()


@pytest.mark.parametrize("remedy", PYTHON)
def test_each_remedy_is_in_the_terms_of_its_front_end(remedy):
    assert "--" not in PYTHON[remedy]
    assert not re.search(r'\w="', REMEDIES["cli"][remedy])
    assert not re.search(r"--|\w=", REMEDIES["page"][remedy])


def test_the_page_has_every_field_that_a_remedy_names():
    texts = [page_html("index"), page_html("validate"), files(web).joinpath("static/tables.js").read_text("utf-8")]
    fields = " ".join([*texts, *(each["label"] for part in ("reading", "comparing") for each in page_choices()[part])])
    named = {name for text in REMEDIES["page"].values() for name in re.findall("“(.*?)”", text)}
    assert [name for name in named if name not in fields and not name.startswith("transvariation ")] == []


def test_the_page_refuses_by_codes_that_have_words():
    source = "\n".join(path.read_text("utf-8") for path in Path(web.__file__).parent.glob("*.py"))
    assert set(re.findall(r'\b(?:failure|refusal)\("([\w-]+)"', source)) <= _REFUSALS.keys()
    assert [code for code in _REFUSALS if f'"{code}"' not in source] == []
    assert refusal("no-variable", x="Na", y="Mg") == "There is no variable 'Na' or no variable 'Mg'."


def test_every_error_is_written_in_the_terms_of_a_front_end():
    table = TableError([Problem("missing", "control.csv", 4, "Na", remedy="drop")])
    case = errors.CaseError("no-source-column", remedy="source-column", table="b.csv")
    with pytest.raises(SettingsError) as caught:
        CaseSettings(reduce_to=0)
    for error, python, cli, page in (
        (table, 'missing="drop"', "--missing drop", "under “Missing values”"),
        (case, "(source_column=)", "(--source-column)", "set the role of the column"),
        (caught.value, "reduce_to=0", "--reduce-to=0", "reduce to=0"),
    ):
        assert python in str(error)
        assert cli in error_text(error, "cli")
        assert page in error_text(error, "page")


def test_a_wrong_option_is_refused_without_the_heavy_libraries():
    check = "import sys, transvariation.report.wording; print(sorted({'numpy', 'pandas', 'sklearn'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_table_that_was_read_is_described():
    summary = {"file": "a.csv", "objects": 6, "fragments": 3, "sources": 1}
    assert table_title("control", summary, 6, (2, 2)) == "Control: a.csv, 3 fragments, 6 rows, 1 source"
    shown = table_title("foreign", summary | {"fragments": None, "sources": None}, 5, (8, 400))
    assert shown == "Known foreign samples: a.csv, 6 rows, each a fragment (5 rows, 8 of 400 variables shown)"


def test_the_scripts_of_the_page_say_nothing_about_conclusions():
    """They take such words from the server, which takes them from `wording`."""
    scripts = (Path(web.__file__).parent / "static").glob("*.js")
    text = "\n".join(line for path in scripts for line in path.read_text().splitlines() if not line.startswith("//"))
    for words in (
        "not excluded",
        "no conclusion",
        "weaker evidence",
        "the control;",
        "band of the control",
        "by itself",
    ):
        assert words not in text


def test_every_step_has_words():
    assert set(get_args(get_type_hints(ProgressStep)["code"])) == set(_STEPS)
    assert step_text(ProgressStep("background", {"fragment": 2, "of": 3}, within=("first", "A"))) == (
        "first: A: comparing with the background, fragment 2 of 3"
    )


def test_every_finding_in_a_database_has_words():
    said = [
        finding_text(Finding("duplicates", {"n": 2}, ("P1", "P2"))),
        finding_text(Finding("replicates", {"n": 2}, tuple(f"P{i}" for i in range(7)))),
        finding_text(Finding("outlying replicate", {"far": 6.0, "by_variable": {"Mg": 3, "Al": 1}}, (), ("Mg", "Al"))),
        finding_text(Finding("outlying source", {"far": 6.0, "by_variable": {"Mg": 1}}, ("P3",), ("Mg",))),
        finding_text(Finding("units", {"factor": 30.0}, variables=("Mg", "Al"))),
        finding_text(Finding("drift", variables=("Al",))),
        finding_text(Finding("missing", {"by_variable": {"Mg": 0.125}}, variables=("Mg",))),
    ]
    assert len(said) == len(_FINDINGS)
    assert said == [
        "rows that repeat the measurements of another row exactly: 2 (P1, P2)",
        "rows that share source, fragment and replicate with another row: 2 (P0, P1, P2, P3, P4 and 2 more)",
        "measurements more than 6 robust standard deviations from the others: Mg 3, Al 1",
        "sources more than 6 robust standard deviations from the others: Mg 1 (P3)",
        "the medians of the tables differ by more than a factor of 30: Mg, Al; check the units",
        "values change with the order of measurement: Al",
        "values are missing or below detection: Mg (12.5%)",
    ]


def test_differences_name_the_place_and_both_values():
    assert difference_text(Difference(".model.n", "3", "4")) == "model.n: 3 saved, 4 recomputed"
    assert difference_text(Difference(".model.n", "", None)) == "model.n: only in what was saved"
    assert difference_text(Difference("a.npy", "1.0", "2.0", 3, 9)) == (
        "a.npy: 3 of 9 values differ; the first: 1.0 saved, 2.0 recomputed"
    )
