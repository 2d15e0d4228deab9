"""The words of every front end: complete, in the front end's own terms, and for codes only."""

import re
import subprocess
import sys

import pytest

from transvariation.casework import errors
from transvariation.casework.settings import CaseSettings
from transvariation.report.wording import REMEDIES, error_text
from transvariation.tables import Problem, SettingsError, TableError, problems

PYTHON = problems.REMEDIES | errors.REMEDIES


def test_python_command_line_and_page_have_every_remedy():
    assert not set(problems.REMEDIES) & set(errors.REMEDIES)
    assert REMEDIES["cli"].keys() == REMEDIES["page"].keys() == PYTHON.keys()


@pytest.mark.parametrize("remedy", PYTHON)
def test_each_remedy_is_in_the_terms_of_its_front_end(remedy):
    assert "--" not in PYTHON[remedy]
    assert not re.search(r'\w="', REMEDIES["cli"][remedy])
    assert not re.search(r"--|\w=", REMEDIES["page"][remedy])


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
