"""The screen of a case."""

from io import StringIO

import pytest
from rich.console import Console

from transvariation.report.console import show_case
from transvariation.report.wording.statements import headline


def _screen(result, width):
    console = Console(file=StringIO(), width=width)
    show_case(result, console)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 120])
def test_the_screen_begins_with_the_conclusion(case, width):
    lines = _screen(case, width).splitlines()
    assert " ".join(map(str.strip, lines)).startswith(headline(case))
    assert max(map(len, lines)) <= width
