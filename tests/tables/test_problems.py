"""Problems: codes for programs, sentences for each front end, and nothing from a file that a terminal obeys."""

import json

import pytest

from transvariation.tables import Problem, TableError, printable, read_table
from transvariation.tables.problems import Problems


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x9b31m", "\u202egpj.exe", "\u2066a\u2069", "a\nb", "a\r", "\x00", "\u200b", "\x7f"]
)
def test_characters_that_move_the_cursor_or_hide_text_are_escaped(text):
    assert printable(text).isprintable()
    assert printable(text) != text
    assert str(Problem("not-a-number", text, 2, text, {"value": text})).isprintable()


def test_printable_text_stays_as_it_is():
    assert printable("Prüfstück 1 (µg/g) → 玻璃") == "Prüfstück 1 (µg/g) → 玻璃"


def test_a_problem_survives_json():
    (problem,) = _problems(b"id,Na\nA,1\nB,\n")
    again = Problem.from_dict(json.loads(json.dumps(problem.to_dict())))
    assert again == problem
    assert str(again).endswith('choose missing="drop" or missing="impute"')


def test_values_are_quoted_numbers_are_not():
    problems = Problems("t")
    problems.add("row-length", 3, cells="1234 cells", width=2, delimiter="the comma")
    problems.add("no-such-column", name="x\n", columns=["a", "b"])
    assert "the row has 1234 cells" in str(problems.problems[0])
    assert str(problems.problems[1]) == "t: there is no column 'x\\n'; there are 'a', 'b'"


def test_several_absent_columns_are_one_problem():
    with pytest.raises(TableError) as caught:
        read_table(b"id,Na,Mg\nA,1,2\n", features=["K", "Ca", "Fe"])
    assert [str(problem) for problem in caught.value.problems] == [
        "table: there are no columns 'K', 'Ca', 'Fe'; there are 'id', 'Na', 'Mg'"
    ]


def _problems(content):
    with pytest.raises(TableError) as caught:
        read_table(content)
    return caught.value.problems
