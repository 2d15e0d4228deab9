"""The session of a case: files are opened once, whatever is chosen afterwards."""

import base64
import io

import pytest

pytest.importorskip("openpyxl")

from tests.web.conftest import ROLES

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.report.wording.cautions import step_text
from transvariation.tables import excel, opening
from transvariation.web.session import Session

CHOSEN = {"features": ["Na", "Mg", "K"], "missing": "drop"}


@pytest.fixture
def files():
    glass = load_glass()
    tables = {"control": glass.control.reset_index(drop=True), "recovered": glass.recovered.reset_index(drop=True)}
    tables["control"].loc[3, "Ba"] = None
    found = {}
    for which, table in tables.items():
        content = io.BytesIO()
        table.to_excel(content, index=False)
        found[which] = {"name": f"{which}.xlsx", "content": base64.b64encode(content.getvalue()).decode()}
    return found


def test_a_choice_of_variables_opens_no_file_again(files, monkeypatch):
    opened = []
    monkeypatch.setattr(opening, "ExcelGrid", lambda *args: opened.append(args[1].table) or excel.ExcelGrid(*args))
    session = Session(lambda step, share: None)
    session.load(files)
    assert "problems" not in session.read({"missing": "drop"})
    session.judge(CHOSEN)
    assert opened == ["control.xlsx", "recovered.xlsx"]
    session.read({"missing": "drop", "header_row": 1})  # opened in another way
    assert len(opened) == 4


def test_held_cells_give_the_result_of_the_files(files):
    session = Session(lambda step, share: None)
    session.load(files)
    session.read({"missing": "drop"})
    session.judge(CHOSEN)
    sources = {}
    for which, file in files.items():
        sources[which] = io.BytesIO(base64.b64decode(file["content"]))
        sources[which].name = file["name"]
    expected = judge(sources["control"], sources["recovered"], **CHOSEN)
    differing = {"provenance"}  # it names the command
    found, wanted = session.result.to_dict(), expected.to_dict()
    assert {key for key in wanted if found[key] != wanted[key]} == differing


def test_session_reports_its_steps():
    found = []
    session = Session(lambda step, share: found.append((step, share)))
    content = base64.b64encode(b"a\n" + b"1.5\n2\n3\n" * 5).decode()
    session.load({which: {"name": f"{which}.csv", "content": content} for which in ROLES})
    session.judge({})
    steps, shares = zip(*found, strict=True)
    assert tuple(map(step_text, steps[:2])) == (
        "reading the tables",
        "comparing 15 recovered with 15 control fragments",
    )
    assert shares == (0, None, 0.9)


def test_tables_are_read_once(monkeypatch, tables):
    session = Session(lambda step, share: None)
    contents = {which: base64.b64encode(table).decode() for which, table in zip(ROLES, tables, strict=True)}
    session.load({which: {"name": f"{which}.csv", "content": content} for which, content in contents.items()})
    session.read({})
    monkeypatch.setattr("transvariation.web.session.read_case", None)  # nobody may read again
    session.judge({"method": "tocc", "case": {"case_number": "1"}})
    session.judge({"sensitivity": 0.8})
    assert session.show("view", 0.7)["sensitivity"] == 0.7
