"""The screen of a case."""

from io import StringIO

import pytest
from rich.console import Console

from transvariation.report import console
from transvariation.report.console import show_case
from transvariation.report.wording.statements import headline


def _screen(result, width):
    screen = Console(file=StringIO(), width=width)
    show_case(result, screen)
    return screen.file.getvalue()


@pytest.mark.parametrize("width", [60, 120])
def test_the_screen_begins_with_the_conclusion(case, width):
    lines = _screen(case, width).splitlines()
    assert " ".join(map(str.strip, lines)).startswith(headline(case))
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(("more", "words"), [(0, ""), (1, "1 more note: "), (3, "3 more notes: ")])
def test_notes_beyond_the_first_are_counted(case, monkeypatch, more, words):
    monkeypatch.setattr(console, "note_lines", lambda _: [f"note {i}" for i in range(console.NOTES_PRINTED + more)])
    last = _screen(case, 100).splitlines()[-1]
    assert last == (f"{words}a report (--report) has them all." if more else f"Note: note {console.NOTES_PRINTED - 1}")
