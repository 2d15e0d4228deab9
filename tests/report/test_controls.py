"""The matrix of conclusions by several control sources."""

import io

from rich.console import Console
from tests.casework.conftest import three_windows

from transvariation.casework import judge
from transvariation.report.case import write_report
from transvariation.report.console import show_case
from transvariation.report.controls import joint_lines, matrix_frame
from transvariation.report.wording.statements import headline


def test_screen_and_report_show_the_matrix(tmp_path):
    known, questioned, background = three_windows()
    result = judge(known, questioned, background=background, log=True)
    console = Console(file=io.StringIO(), width=120)
    show_case(result, console)
    narrow = Console(file=io.StringIO(), width=60)
    show_case(result, narrow)
    write_report(result, tmp_path / "case.html")
    report = (tmp_path / "case.html").read_text()
    assert headline(result) == "1 of 3 recovered fragments excluded from all 3 control sources."
    for text in (console.file.getvalue(), narrow.file.getvalue(), report):
        assert headline(result) in text.replace("\n  ", " ")
        assert "any of these" in text
    assert "P1: conclusions" in report
    assert matrix_frame(result).shape == (3, 5)
    assert joint_lines(result)[1].endswith("with a probability of at most 10%.")
