"""The page's answers, without a browser: the flow, hostile uploads, many at once."""

import asyncio
import base64
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

pytest.importorskip("starlette")
from starlette.testclient import TestClient
from tests.casework.conftest import make_glass

from transvariation import load_glass
from transvariation.casework import CASE_FIELDS, METHODS, REDUCTIONS, CaseResult, CaseSettings, judge
from transvariation.casework.settings import ROLES as ROLES_OF_COLUMNS
from transvariation.cli import main
from transvariation.datasets import make_plant
from transvariation.monitoring import monitor
from transvariation.preprocessing import SNV
from transvariation.report.case_text import conclusion_frame
from transvariation.report.demo import demo_tables
from transvariation.report.monitoring import monitoring_summary
from transvariation.report.wording.cautions import warning_texts
from transvariation.report.wording.notices import step_text
from transvariation.report.wording.numbers import format_p
from transvariation.report.wording.statements import ALONE, headline, statement
from transvariation.web import worker, workers
from transvariation.web.app import HELP, STATIC, Page, PageLimits, make_app
from transvariation.web.guard import COOKIE
from transvariation.web.session import Session
from transvariation.web.views import save

PORT = 8377
ORIGIN = f"http://127.0.0.1:{PORT}"
ROLES = ("control", "recovered")
LIMITS = PageLimits(max_bytes=4 * 2**20, read_seconds=60, fit_seconds=60, cases=500)


def _opened(limits):
    app = make_app("secret", PORT, limits)
    client = TestClient(app, base_url=ORIGIN)
    client.cookies.set(f"{COOKIE}-{PORT}", "secret")
    client.headers.update({"origin": ORIGIN, "x-csrf-token": app.csrf})
    return client


@pytest.fixture(scope="module")
def client():
    workers.warm_up()  # as `serve` does: every worker then starts in milliseconds
    with _opened(LIMITS) as client:
        yield client


@pytest.fixture(scope="module")
def tables():
    glass = load_glass()
    return [glass.control[["K", "Mg"]].to_csv().encode(), glass.recovered[["K", "Mg"]].iloc[::10].to_csv().encode()]


def _upload(client, control, recovered, names=("control.csv", "recovered.csv"), third=("", None), **settings):
    files = {"control": (names[0], control), "recovered": (names[1], recovered)}
    if third[1] is not None:
        files[third[0]] = (f"{third[0]}.csv", third[1])
    return client.post("/api/tables", files=files, data={"third": third[0], "settings": json.dumps(settings)})


def _own(**settings):
    """Settings of single tables, by table."""
    return {"tables": settings}


def _wait(client, case):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        answer = client.get(f"/api/cases/{case}").json()
        if answer["state"] != "running":
            return answer
        time.sleep(0.05)
    raise AssertionError("the fit did not end")


def _judge(client, name, /, **options):
    """Judge a case and return the complete result, as the page saves it."""
    assert client.post(f"/api/cases/{name}/judge", json=options).status_code == 202
    final = _wait(client, name)
    assert final["state"] == "done", final
    return client.get(f"/api/cases/{name}/file.json").json()


def _p_values(result):
    return [conclusion["p_value"] for conclusion in result["conclusions"]]


@pytest.fixture(scope="module")
def judged(client, tables):
    case = _upload(client, *tables).json()["case"]
    return case, _judge(client, case)


@pytest.fixture
def case_of_glass(judged):
    return judged[0]


@pytest.fixture(scope="module")
def clusters(client):
    """A case by a method with several thresholds."""
    glass = load_glass()
    tables = [table[["Na", "Al"]].to_csv().encode() for table in (glass.control, glass.recovered)]
    case = _upload(client, *tables).json()["case"]
    _judge(client, case, method="pam")
    return case, tables


def test_the_page_itself_has_no_inline_script_and_nothing_from_outside(client):
    page = client.get("/").text
    assert "<script src=" in page
    assert "onclick" not in page
    assert re.findall(r"\S*http\S*", page) == [f'href="{HELP}"']  # a link that only the user follows
    assert "style=" not in page
    for name in STATIC:
        assert client.get(f"/static/{name}").status_code == 200


def test_page_and_library_give_the_same_result(judged, tables, tmp_path, monkeypatch):
    result = dict(judged[1])
    monkeypatch.chdir(tmp_path)
    paths = [Path(f"{role}.csv") for role in ROLES]
    for path, content in zip(paths, tables, strict=True):
        path.write_bytes(content)
    expected = json.loads(json.dumps(judge(*paths).to_dict()))
    assert result.pop("provenance") == expected.pop("provenance") | {"command": "transvariation serve"}
    assert result == expected


def test_page_and_command_line_give_the_same_result(judged, tables, tmp_path):
    _, result = judged
    paths = [tmp_path / "control.csv", tmp_path / "recovered.csv"]
    for path, content in zip(paths, tables, strict=True):
        path.write_bytes(content)
    answer = CliRunner().invoke(main, ["judge", *map(str, paths), "--json", str(tmp_path / "case.json")])
    assert answer.exit_code == 0, answer.output
    theirs = json.loads((tmp_path / "case.json").read_text())
    for key in ("settings", "model", "conclusions", "groups", "warnings"):
        assert result[key] == theirs[key]
    assert [result["inputs"][role]["sha256"] for role in ROLES] == [theirs["inputs"][role]["sha256"] for role in ROLES]


@pytest.mark.parametrize("share", [0.6, 0.9, 0.97])
def test_view_holds_the_conclusions_of_the_library_at_the_sensitivity(client, clusters, share):
    case, tables = clusters
    expected = judge(*tables, method="pam", sensitivity=share)
    view = client.get(f"/api/cases/{case}/view?sensitivity={share}").json()
    assert view["headline"] == headline(expected)
    assert view["warnings"] == warning_texts(expected)
    assert _p_values(view) == [c.p_value for c in expected.conclusions]
    assert [c["accepted"] for c in view["conclusions"]] == [not c.differs for c in expected.conclusions]
    assert [c["excluded"] for c in view["conclusions"]] == [c.accepted is False for c in expected.conclusions]
    alone = conclusion_frame(expected, 4).get(ALONE, [""] * len(expected.conclusions))
    assert [c["alone"] for c in view["conclusions"]] == list(alone)


@pytest.mark.parametrize("share", [0.6, 0.97])
def test_evidence_on_a_fragment_is_that_of_the_library_at_the_sensitivity(client, clusters, share):
    case, tables = clusters
    result = judge(*tables, method="pam", sensitivity=share)
    expected = result.conclusions[3]
    where = f"/api/cases/{case}/evidence"
    found = client.get(where, params={"key": 3, "sensitivity": share}).json()
    assert found["statements"][0] == statement(expected, result)
    (table,) = found["parts"]
    rows = pd.DataFrame(table["rows"], columns=[column["name"] for column in table["columns"]])
    assert list(rows["variable"]) == [reason.variable for reason in expected.reasons]
    assert list(rows["p-value"]) == [format_p(reason.p_values["control"]) for reason in expected.reasons]
    assert [mark == "against" for mark in table["marks"]] == [reason.evidence for reason in expected.reasons]
    assert [text.endswith("differs by itself") for text in rows["reading"]] == [r.evidence for r in expected.reasons]
    for key in ("x", "-1", "1000", "1.5", ""):
        unknown = client.get(where, params={"key": key})
        assert unknown.status_code == 422
        assert unknown.json()["problems"][0]["message"].startswith(f"There is no conclusion {key!r}")


def test_points_of_the_figure_are_the_means_of_the_fragments(client, judged, tables):
    case, _ = judged
    found = client.get(f"/api/cases/{case}/points", params={"x": "Mg", "y": "K"}).json()
    for table, role in zip(tables, ROLES, strict=True):
        frame = pd.read_csv(io.BytesIO(table), dtype={0: str})
        assert [tuple(point[:3]) for point in found[role]] == list(
            zip(frame.iloc[:, 0], frame["Mg"], frame["K"], strict=True)
        )
    assert client.get(f"/api/cases/{case}/points", params={"x": "Mg", "y": "Pb"}).status_code == 422
    assert client.get(f"/api/cases/{case}/nothing").status_code == 404


@pytest.mark.parametrize("kind", ["html", "json", "csv", "pdf"])
def test_result_is_saved_as_a_file(client, judged, kind):
    case, result = judged
    answer = client.get(f"/api/cases/{case}/file.{kind}?sensitivity=0.5")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    if kind == "json":
        excluded = sum(not c["accepted"] for c in answer.json()["conclusions"])
        assert excluded >= sum(not c["accepted"] for c in result["conclusions"])


def test_background_roles_logarithms_and_case_details_reach_the_result(client):
    rng = np.random.default_rng(0)

    def table(sources, fragments, shift=0.0):
        rows = [(s, f, r) for s in sources for f in range(1, fragments + 1) for r in (1, 2)]
        center = {s: 10 + rng.normal(size=2) for s in sources}
        values = [center[s] + shift + 0.1 * rng.normal(size=2) for s, _, _ in rows]
        frame = pd.DataFrame(rows, columns=["Where", "Piece", "Rep"]).join(pd.DataFrame(values, columns=["Ca", "Mg"]))
        return frame.to_csv(index=False).encode()

    roles = {"Where": "source", "Piece": "fragment", "Rep": "replicate"}
    control, recovered, background = table(["A"], 3), table(["Q"], 1), table([f"S{i}" for i in range(40)], 4)
    background = background.replace(b"Where,Piece", b"pane,fragment")
    own = _own(control={"roles": roles}, recovered={"roles": roles})
    answer = _upload(client, control, recovered, third=("background", background), log=True, **own)
    assert answer.status_code == 200, answer.json()
    assert [each["fragments"] for each in answer.json()["tables"].values()] == [3, 1, 160]
    result = _judge(client, answer.json()["case"], log=True, **own, case={"case_number": "2026-1", "examiner": "N. N."})
    assert result["settings"]["log"] is True
    assert result["settings"]["case"] == {"case_number": "2026-1", "examiner": "N. N."}
    (conclusion,) = result["conclusions"]
    assert (conclusion["basis"], conclusion["n"]) == ("background", 40)


def test_background_file_must_be_there_if_chosen(client, tables):
    answer = _upload(client, *tables, third=("background", None))
    assert answer.status_code == 422
    assert "Choose the background table" in answer.json()["problems"][0]["message"]


@pytest.mark.parametrize("roles", ["no json", [], 3, {"K": "magic"}, {"K": 3}])
def test_unknown_column_roles_are_refused(client, tables, roles):
    answer = _upload(client, *tables, **_own(control={"roles": roles}))
    assert answer.status_code == 400
    assert "roles" in answer.json()["problems"][0]["message"]


@pytest.mark.parametrize(
    "settings", ["no json", "[]", "3", '{"tables": 3}', '{"tables": {"other": {}}}', '{"magic": 1}']
)
def test_settings_that_are_none_are_refused(client, tables, settings):
    files = dict(zip(ROLES, tables, strict=True))
    answer = client.post("/api/tables", files=files, data={"settings": settings})
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["message"]


def test_missing_values_are_judged_as_they_were_read(client, tables):
    lines = tables[1].decode().splitlines()
    gap = "\n".join([*lines[:-1], lines[-1].rsplit(",", 1)[0] + ","]).encode()
    case = _upload(client, tables[0], gap, missing="drop").json()["case"]
    result = _judge(client, case, missing="drop")
    assert len(result["inputs"]["recovered"]["dropped"]) == 1
    assert len(result["conclusions"]) == len(lines) - 2


def test_summary_rows_are_left_out_if_chosen(client, tables):
    with_mean = tables[1] + b"mean,1,2\n"
    refused = _upload(client, tables[0], with_mean)
    assert refused.status_code == 422
    assert "choose “Leave out summary rows”" in refused.json()["problems"][0]["message"]
    read = _upload(client, tables[0], with_mean, drop_summary_rows=True)
    assert _p_values(_judge(client, read.json()["case"], drop_summary_rows=True)) == [
        c.p_value for c in judge(*tables).conclusions
    ]


def test_advice_can_be_followed_on_the_page(client, tables):
    twice = b"id,K,Mg\nA,0.5,3.5\nA,0.6,3.4\n"
    answer = _upload(client, tables[0], twice).json()
    assert answer["problems"][0]["message"].endswith("choose “fragment” as the role of this column")
    assert "source_column" not in str(answer)
    followed = _upload(client, tables[0], twice.replace(b"id", b"source")).json()
    assert followed["tables"]["recovered"]["sources"] == 1
    odd = _upload(client, tables[0], b"id,K,Mg\nA\x81,0.5,3.5\n").json()
    assert odd["problems"][0]["message"].endswith("; save the file as UTF-8")


def test_the_example_is_understood(client):
    answer = client.post("/api/example").json()
    assert answer["features"] == ["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]
    tables = demo_tables()
    names = {"control": "windows.csv", "recovered": "recovered.csv"}
    assert answer["files"] == names
    assert {which: table["objects"] for which, table in answer["tables"].items()} == {
        which: len(tables[name]) for which, name in names.items()
    }


def test_problems_name_file_row_and_column(client, tables):
    answer = _upload(client, tables[0], b"id,K,Mg\nA,1,x\n")
    assert answer.status_code == 422
    problem = answer.json()["problems"][0]
    assert (problem["table"], problem["row"], problem["column"]) == ("recovered.csv", 2, "Mg")


def test_a_decimal_mark_that_was_asked_for_can_be_chosen(client):
    lines = [f"F{i};1,{515 + i % 9};13,{600 + 7 * i}\n" for i in range(30)]
    control, recovered = ("id;RI;Na\n" + "".join(part) for part in (lines[1:], lines[:1]))
    refused = _upload(client, control, recovered)
    assert refused.status_code == 422
    for problem in refused.json()["problems"]:
        assert "choose the comma under “Decimal mark”" in problem["message"]
        assert "decimal=" not in problem["message"]
    answer = _upload(client, control, recovered, decimal=",").json()
    assert answer["tables"]["control"]["rows"][0]["cells"] == ["F1", "1.516", "13.607"]
    assert "the comma as decimal mark" in str(answer["tables"]["control"]["notes"])
    result = _judge(client, answer["case"], decimal=",")
    expected = judge(control.encode(), recovered.encode(), decimal=",")
    assert _p_values(result) == [c.p_value for c in expected.conclusions]


def test_a_decimal_mark_of_another_kind_is_refused_in_words(client, tables):
    answer = _upload(client, *tables, **_own(recovered={"decimal": "x"}))
    assert answer.status_code == 400
    assert "decimal='x' must be" in answer.json()["problems"][0]["message"]


def test_each_table_may_have_its_own_decimal_mark(client):
    control = "id;RI;Na\n" + "".join(f"F{i};1,{515 + i % 9};13,{600 + 7 * i}\n" for i in range(30))
    recovered = "id,RI,Na\nA,1.523,13.771\n"
    asked = _upload(client, control, recovered).json()["problems"]
    assert {problem["table"] for problem in asked} == {"control.csv"}
    assert "choose the comma under “Decimal mark”" in asked[0]["message"]
    own = _own(control={"decimal": ","})
    case = _upload(client, control, recovered, **own).json()["case"]
    result = _judge(client, case, **own)
    assert result["inputs"]["known"][0]["measurements"]["RI"] == [1.515]
    assert result["conclusions"][0]["measurements"]["RI"] == [1.523]


@pytest.fixture(scope="module")
def book(tables):
    sheets, buffer = [pd.read_csv(io.BytesIO(table)) for table in tables], io.BytesIO()
    with pd.ExcelWriter(buffer) as writer:
        pd.DataFrame().to_excel(writer, sheet_name="cover")
        for title, sheet in zip(ROLES, sheets, strict=True):
            sheet.to_excel(writer, sheet_name=title, index=False)
    return buffer.getvalue()


def test_sheets_of_one_workbook_can_be_chosen(client, tables, book):
    refused = _upload(client, book, tables[1], names=("book.xlsx", "recovered.csv"))
    assert refused.status_code == 422
    assert refused.json()["sheets"] == {"control": ["cover", *ROLES], "recovered": []}
    chosen = _own(control={"sheet": "control"}, recovered={"sheet": "recovered"})
    answer = _upload(client, book, book, names=("book.xlsx", "book.xlsx"), **chosen).json()
    assert answer["warnings"] == []
    assert _p_values(_judge(client, answer["case"], **chosen)) == [c.p_value for c in judge(*tables).conclusions]


def test_one_table_given_twice_is_warned_of_before_and_after_judging(client, book):
    once = _own(control={"sheet": "control"}, recovered={"sheet": "control"})
    answer = _upload(client, book, book, names=("book.xlsx", "book.xlsx"), **once).json()
    assert answer["warnings"]
    result = _judge(client, answer["case"], **once)
    assert set(answer["warnings"]) <= set(warning_texts(CaseResult.from_dict(result)))


def test_the_place_of_a_problem_is_shown_from_the_sheet_that_was_chosen(client, tables):
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer) as writer:
        pd.DataFrame({"id": ["A"], "K": [1], "Mg": [1]}).to_excel(writer, sheet_name="one", index=False)
        pd.DataFrame({"id": ["B"], "K": [1], "Mg": ["x"]}).to_excel(writer, sheet_name="two", index=False)
    names = ("control.csv", "book.xlsx")
    answer = _upload(client, tables[0], buffer.getvalue(), names=names, **_own(recovered={"sheet": "two"})).json()
    assert answer["tables"]["recovered"]["rows"][0]["cells"] == ["B", "1", "x"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "C:\\windows\\x.csv", "/etc/passwd", "..", "a/b\\c.csv"])
def test_folders_in_a_file_s_name_lead_nowhere(client, tables, name):
    answer = _upload(client, *tables, names=(name, "recovered.csv"))
    shown = answer.json()["tables"]["control"]["file"] if answer.status_code == 200 else "x"
    assert "/" not in shown
    assert "\\" not in shown


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e%2fapp.py", "/static/app.py", "/etc/passwd"])
def test_no_other_file_is_served(client, path):
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01\x02", b"no table at all", b"a,b\n", b"\xff\xfe\x00", b"PK\x03\x04broken"]
)
def test_what_is_no_table_is_refused_in_words(client, tables, content):
    answer = _upload(client, content, tables[1])
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"]


def test_an_excel_bomb_is_refused(client, tables):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("[Content_Types].xml", "<Types/>")
        bomb.writestr("xl/worksheets/sheet1.xml", b"0" * 110_000_000)
    assert len(buffer.getvalue()) < LIMITS.max_bytes
    answer = _upload(client, buffer.getvalue(), tables[1], names=("bomb.xlsx", "recovered.csv"))
    assert answer.status_code == 422


def test_markup_in_cells_and_headers_comes_back_as_text(client, tables):
    evil = b"id,K,Mg,<img src=x onerror=alert(1)>\n<script>alert(1)</script>,1,2,3\n"
    answer = _upload(client, tables[0], evil)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["tables"]["recovered"]["rows"][0]["cells"][0] == "<script>alert(1)</script>"


def test_oversize_is_refused(client, tables):
    assert _upload(client, b"x" * (LIMITS.max_bytes + 1), tables[1]).status_code == 413


@pytest.mark.parametrize("body", [b"", b"[]", b"not json", b'"text"', b'{"method": "magic"}', b'{"sensitivity": 7}'])
def test_nonsense_asked_of_a_case_is_answered_in_words(client, tables, body):
    case = _upload(client, *tables).json()["case"]
    answer = client.post(f"/api/cases/{case}/judge", content=body)
    if answer.status_code == 202:
        final = _wait(client, case)
        assert final["state"] == "failed"
        assert final["problems"][0]["message"]
    else:
        assert answer.status_code == 400


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("method", "reduce", "preprocess") for value in (3, True, ["a"], {"a": 1})),
        *(("features", value) for value in (3, "K")),
        *(("ranges", value) for value in (3, "1-2", [1, 2], [[1]], [["a", 2]], [[1, 2, 3]], [None])),
        *(("sensitivity", value) for value in ("0.9", True, [0.9], 7, None)),
        *(("reduce_to", value) for value in ("2", 2.5, True, [2])),
        *(("case", value) for value in (3, "x", ["x"], {"examiner": 3})),
        *(("tables", value) for value in (3, ["control"], {"control": 3}, {"control": {"roles": 3}})),
    ],
)
def test_values_of_the_wrong_kind_are_refused_before_any_work(client, case_of_glass, name, value):
    for where in ("judge", "preview"):
        answer = client.post(f"/api/cases/{case_of_glass}/{where}", json={name: value})
        assert answer.status_code == 400
        message = answer.json()["problems"][0]["message"].replace(" ", "_")
        assert name in message or "control" in message


def test_unknown_cases_are_said_to_be_gone(client):
    assert client.get("/api/cases/none").status_code == 404
    assert client.post("/api/cases/none/judge", json={}).status_code == 404
    assert client.get("/api/cases/none/file.html").status_code == 404
    assert client.get("/api/cases/none/opened").json() == {"state": "gone"}  # asked after every reload


def test_a_fit_can_be_cancelled_and_the_page_goes_on(client, tables):
    case = _upload(client, *tables).json()["case"]
    client.post(f"/api/cases/{case}/judge", json={"method": "projections"})
    assert client.post(f"/api/cases/{case}/cancel").json()["state"] in ("cancelled", "done")
    assert client.get("/").status_code == 200


def test_cases_that_nobody_looks_at_are_forgotten(tables):
    with _opened(PageLimits(cases=2)) as client:
        first, second = (_upload(client, *tables).json()["case"] for _ in range(2))
        page = client.app.app.router.routes[0].endpoint.__self__
        worker = page.cases[second].worker
        assert client.get(f"/api/cases/{first}").status_code == 200
        _upload(client, *tables)
        assert client.get(f"/api/cases/{second}").status_code == 404
        assert worker.closed
        assert client.get(f"/api/cases/{first}").status_code == 200


def test_many_requests_at_once_are_all_answered(client, tables):
    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(lambda _: client.get("/").status_code, range(40)))
        uploads = list(pool.map(lambda _: _upload(client, *tables).status_code, range(4)))
    assert pages == [200] * 40
    assert uploads == [200] * 4


async def _unforeseen(self, case, chosen, settings):
    await case.ask("no such job")  # the worker ends with a traceback


def test_a_dead_worker_is_reported_and_does_no_harm(client, tables, monkeypatch):
    monkeypatch.setattr(Page, "_read", _unforeseen)
    answer = _upload(client, *tables)
    assert answer.status_code == 422
    assert "unexpectedly" in json.dumps(answer.json())
    monkeypatch.undo()
    assert _upload(client, *tables).status_code == 200


@pytest.fixture
def long_case(client):
    """A case that takes minutes to judge."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(6000, 8))).add_prefix("v").to_csv().encode()
    case = _upload(client, table, table[: table.index(b"\n99,") + 1]).json()["case"]
    yield case
    client.post(f"/api/cases/{case}/cancel")


def _begin(client, case):
    assert client.post(f"/api/cases/{case}/judge", json={"method": "projections"}).status_code == 202


def test_a_worker_killed_amid_a_fit_is_reported_and_others_are_answered_meanwhile(client, tables, long_case):
    page = client.app.app.router.routes[0].endpoint.__self__
    _begin(client, long_case)
    assert _upload(client, *tables).status_code == 200
    assert client.get(f"/api/cases/{long_case}").json()["state"] == "running"
    os.kill(page.cases[long_case].worker.pid, signal.SIGKILL)
    final = _wait(client, long_case)
    assert final["state"] == "failed"
    assert "unexpectedly" in final["problems"][0]["message"]
    assert _upload(client, *tables).status_code == 200


def test_who_waits_for_another_s_fit_may_change_their_mind(client, tables):
    case = _upload(client, *tables).json()["case"]
    page = client.app.app.router.routes[0].endpoint.__self__
    for _ in range(LIMITS.at_once):
        client.portal.call(page.fits.acquire)  # as many fits run as may
    try:
        _begin(client, case)
        answer = client.get(f"/api/cases/{case}").json()
        assert (answer["state"], answer["step"], answer["done"]) == ("running", "waiting for another case", 0)
        assert _upload(client, *tables).status_code == 200
        assert client.post(f"/api/cases/{case}/cancel").json()["state"] == "cancelled"
    finally:
        for _ in range(LIMITS.at_once):
            page.fits.release()


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [(50_001, 2, "rows"), (2, 10_001, "10,001 columns are more than the 10,000 allowed"), (600, 1_000, "rows")],
)
def test_too_many_rows_or_columns_are_refused_in_words(client, tables, rows, columns, words):
    large = ",".join(f"v{j}" for j in range(columns)) + "\n" + (",".join(["1"] * columns) + "\n") * rows
    answer = _upload(client, large.encode(), tables[1])
    assert answer.status_code == 422
    message = answer.json()["problems"][0]["message"]
    assert words in message
    assert "`" not in message


def test_a_fit_beyond_its_time_ends_in_words():
    with _opened(PageLimits(read_seconds=60, fit_seconds=0.2)) as client:
        table = b"a\n" + b"1\n2\n4\n7\n" * 5000
        case = _upload(client, table, table[:200]).json()["case"]
        client.post(f"/api/cases/{case}/judge", json={})
        assert "longer than is allowed" in _wait(client, case)["problems"][0]["message"]


def test_an_upload_that_never_ends_is_broken_off():
    """Nor may it trickle in for ever, however little it sends."""
    app = make_app("secret", PORT, PageLimits(read_seconds=0.3))
    headers = {
        "host": f"127.0.0.1:{PORT}",
        "origin": ORIGIN,
        "cookie": f"{COOKIE}-{PORT}=secret",
        "x-csrf-token": app.csrf,
        "content-type": "multipart/form-data; boundary=b",
    }
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/tables",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    sent = []

    async def trickle():
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b"", "more_body": True}

    async def send(message):
        sent.append(message)

    asyncio.run(asyncio.wait_for(app(scope, trickle, send), 20))
    assert sent[0]["status"] == 408


@pytest.mark.parametrize("body", [b"", b"--b", b"--b\r\nnonsense\r\n\r\n--b--", b"\x00" * 100])
@pytest.mark.parametrize("kind", ["multipart/form-data; boundary=b", "multipart/form-data", "text/plain", None])
def test_an_upload_that_is_none_is_refused_in_words(client, body, kind):
    answer = client.post("/api/tables", content=body, headers={"content-type": kind} if kind else {})
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"]


def test_two_tables_of_one_name_are_told_apart(client, tables):
    answer = _upload(client, tables[0], b"id,K,Mg\nA,1,x\n", names=("glass.csv", "glass.csv"))
    assert answer.json()["problems"][0]["table"] == answer.json()["files"]["recovered"]


def test_the_place_of_a_problem_is_shown(client, tables):
    answer = _upload(client, tables[0], b"id,K,Mg\nA,1,2\nB,1,x\n").json()
    assert answer["tables"]["recovered"]["header"] == ["id", "K", "Mg"]
    (row,) = answer["tables"]["recovered"]["rows"]
    assert (row["row"], row["cells"], list(row["marked"])) == (3, ["B", "1", "x"], ["2"])


def test_the_server_itself_stays_light():
    """Only the workers load the scientific libraries, so that the page opens in about a second."""
    code = "import sys, transvariation.cli, transvariation.web.serve, transvariation.web.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "pandas", "sklearn", "matplotlib"} & set(loaded)


def test_no_id_becomes_a_formula_in_the_saved_conclusions():
    glass = load_glass()
    other = glass.recovered[["K", "Mg"]].iloc[:2].rename(index={glass.recovered.index[0]: "=cmd|' /C calc'!A0"})
    result = judge(glass.control[["K", "Mg"]], other)
    lines = base64.b64decode(save(result, "csv")["content"]).decode().splitlines()
    assert lines[1].startswith("'=cmd|' /C calc'!A0,excluded,")


@pytest.fixture(scope="module")
def spectra():
    """Spectra with two peaks, whose height varies; of the recovered ones the last has a third peak."""
    rng, axis = np.random.default_rng(0), np.linspace(800, 1200, 401)

    def drawn(n):
        heights = 1 + 0.05 * rng.normal(size=(n, 2, 1))
        peaks = np.exp(-((axis - np.array([[900.0], [1050.0]])) ** 2) / 200)
        return (heights * peaks).sum(axis=1) + 0.002 * rng.normal(size=(n, len(axis)))

    control, recovered = drawn(30), drawn(6)
    recovered[-1] += 0.3 * np.exp(-((axis - 1150) ** 2) / 50)
    names = [f"{x:g}" for x in axis]
    return [
        pd.DataFrame(X, columns=names, index=[f"S{i}" for i in range(len(X))]).to_csv(index_label="id").encode()
        for X in (control, recovered)
    ]


def test_wide_table_is_described_in_few_bytes(client, spectra):
    answer = _upload(client, *spectra)
    assert len(answer.content) < 8_000
    assert answer.json()["axis"] == [800, 1200]
    assert answer.json()["features"] == []
    assert [table["columns"] for table in answer.json()["tables"].values()] == [["id"], ["id"]]
    assert all("8 of 401 variables shown" in table["title"] for table in answer.json()["tables"].values())


def test_preview_shows_spectra_preprocessed_within_the_ranges(client, spectra):
    case = _upload(client, *spectra).json()["case"]
    asked = {"ranges": [[850, 950], [1000, 1100.5]], "preprocess": "snv"}
    found = client.post(f"/api/cases/{case}/preview", json=asked).json()
    assert found["words"] == "202 of 401 variables. Drawn: 12 of 30 known and 6 of 6 new spectra."
    assert found["kinds"] == ["control"] * 12 + ["recovered"] * 6
    frames = [pd.read_csv(io.BytesIO(table), index_col=0) for table in spectra]
    (before,) = found["before"]
    # Every line is thinned to the smallest and the largest value of each interval: the extremes stay.
    last = frames[1].iloc[-1].to_numpy()
    assert (min(before["lines"][-1]), max(before["lines"][-1])) == pytest.approx((last.min(), last.max()), rel=1e-3)
    kept = [name for name in frames[1] if 850 <= float(name) <= 950 or 1000 <= float(name) <= 1100.5]
    expected = SNV().fit_transform(frames[1][kept])[-1]
    parts = found["after"]
    assert [part["axis"][0] for part in parts] == [850, 1000]
    assert max(max(part["lines"][-1]) for part in parts) == pytest.approx(expected.max(), rel=1e-3)
    assert client.post(f"/api/cases/{case}/preview", json={}).json()["after"] is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"ranges": [[1, 2]]}, "no variable lies in 1 to 2"),
        ({"preprocess": "snv,magic"}, "unknown preprocessing step"),
        ({"preprocess": "sg1:999"}, "needs at least 999"),
    ],
)
def test_preview_refuses_in_words(client, spectra, asked, words):
    case = _upload(client, *spectra).json()["case"]
    answer = client.post(f"/api/cases/{case}/preview", json=asked)
    assert answer.status_code in (400, 422)
    assert words in answer.json()["problems"][0]["message"]
    assert client.post(f"/api/cases/{case}/preview", json=[1]).status_code == 400
    assert client.post(f"/api/cases/{case}/preview", content="[" * 9999).status_code == 400
    assert client.post("/api/cases/none/preview", json={}).status_code == 404


def test_spectra_are_judged_and_explained_as_by_the_library(client, spectra):
    case = _upload(client, *spectra).json()["case"]
    options = {"preprocess": "snv", "ranges": [[850, 1200]]}
    _judge(client, case, **options)
    expected = judge(*spectra, **options)
    view = client.get(f"/api/cases/{case}/view")
    assert len(view.content) < 20_000
    assert view.json()["spectral"]
    assert _p_values(view.json()) == [c.p_value for c in expected.conclusions]
    found = client.get(f"/api/cases/{case}/evidence", params={"key": 5}).json()
    last = expected.conclusions[-1]
    assert [row[0] for row in found["parts"][0]["rows"]] == [str(region) for region in last.regions]
    assert any(low < 1150 < high for low, high in found["shaded"])
    band = expected.spectra.band(0.9)
    (part,) = found["spectrum"]["parts"]
    assert min(part["band"][0]) == pytest.approx(band.lower.min(), rel=1e-3)
    seen = client.get(f"/api/cases/{case}/spectra").json()
    assert seen["drawn"] == "6 of 6 new spectra are drawn."
    outside = [(c.spectrum < band.lower) | (c.spectrum > band.upper) for c in expected.excluded]
    largest = max(max(part["lines"][0]) for part in seen["importance"]["parts"])
    assert largest == pytest.approx(100 * np.mean(outside, axis=0).max())
    wider = client.get(f"/api/cases/{case}/spectra?sensitivity=0.6").json()
    assert wider["range"] == seen["range"]  # the scale stays while the slider moves


def test_figures_are_drawn_and_saved(client, tables, spectra):
    case = _upload(client, *tables).json()["case"]
    _judge(client, case)
    kinds = client.get(f"/api/cases/{case}/view").json()["figures"]
    assert kinds == ["acceptance"]  # of six fragments, the number of extreme ones says nothing
    for kind in kinds:
        found = client.get(f"/api/cases/{case}/figure", params={"kind": kind}).json()
        assert found["svg"].rstrip().endswith("</svg>")
        assert found["words"].lower().startswith(kind)
    assert client.get(f"/api/cases/{case}/figure?kind=other").status_code == 422
    names = {"acceptance.svg"}
    wide = _upload(client, *spectra).json()["case"]
    _judge(client, wide)
    for each, more in ((case, {"fragments.svg"}), (wide, {"spectra.svg", "importance.svg"})):
        content = client.get(f"/api/cases/{each}/file.zip").content
        assert set(zipfile.ZipFile(io.BytesIO(content)).namelist()) == names | more


def test_known_foreign_samples_are_a_third_table(client, spectra):
    answer = _upload(client, *spectra, third=("foreign", None))
    assert answer.json()["problems"] == [{"message": "Choose the foreign table, or none."}]
    case = _upload(client, *spectra, third=("foreign", spectra[1])).json()["case"]
    _judge(client, case, preprocess="snv")
    assert {"foreign", "type_ii"} <= set(client.get(f"/api/cases/{case}/view").json()["figures"])
    found = client.get(f"/api/cases/{case}/figure?kind=foreign").json()
    assert found["words"].startswith("Sensitivity and specificity over the threshold")
    assert "<svg" in found["svg"]
    content = client.get(f"/api/cases/{case}/file.zip").content
    assert {"foreign.svg", "type_ii.svg"} <= set(zipfile.ZipFile(io.BytesIO(content)).namelist())


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


def test_the_third_table_is_previewed_with_its_roles_before_judging(client, tables):
    control = pd.read_csv(io.BytesIO(tables[0]))
    sources = pd.concat([control.assign(pane=f"P{i}") for i in range(3)]).rename(columns={"pane": "Xyz"})
    third = ("background", sources.drop(columns=control.columns[0]).to_csv(index=False).encode())
    answer = _upload(client, *tables, third=third).json()
    assert "has no column that names the source" in " ".join(answer["warnings"])
    assert "Xyz" in answer["tables"]["background"]["columns"]
    given = _own(background={"roles": {"Xyz": "source"}})
    seen = _upload(client, *tables, third=third, **given).json()
    assert seen["tables"]["background"]["sources"] == 3
    assert seen["tables"]["background"]["file"] == "background.csv"


def test_problems_of_the_third_table_are_found_before_judging(client, tables):
    answer = _upload(client, *tables, third=("foreign", b"id,K,Mg\nA,1.5,x\nB,1.5,2.5\n"))
    assert answer.status_code == 422
    (problem,) = answer.json()["problems"]
    assert (problem["table"], problem["row"], problem["column"]) == ("foreign.csv", 2, "Mg")
    assert answer.json()["tables"]["foreign"]["rows"][0]["cells"] == ["A", "1.5", "x"]


def test_a_third_table_with_fewer_variables_is_shown_so_that_others_can_be_left_out(client, tables):
    answer = _upload(client, *tables, third=("foreign", b"id,K\nA,1.5\nB,1.7\n"))
    assert answer.status_code == 200
    assert "Mg" in " ".join(answer.json()["warnings"])
    result = _judge(client, answer.json()["case"], features=["K"])
    assert result["inputs"]["foreign"]["file"] == "foreign.csv"


def test_a_reloaded_page_finds_its_case(client, tables):
    case = _upload(client, *tables, drop_summary_rows=True).json()["case"]
    found = client.get(f"/api/cases/{case}/opened").json()
    assert found["state"] == "read"
    assert found["settings"] == {"drop_summary_rows": True}
    assert found["seen"]["tables"]["control"]["file"] == "control.csv"
    _judge(client, case, features=["K"], case={"case_number": "7"})
    client.get(f"/api/cases/{case}/view?sensitivity=0.8")
    found = client.get(f"/api/cases/{case}/opened").json()
    assert (found["state"], found["sensitivity"]) == ("done", 0.8)
    assert found["settings"] == {"features": ["K"], "case": {"case_number": "7"}}


def test_tables_that_the_program_has_need_not_be_sent_again(client, tables):
    case = _upload(client, *tables).json()["case"]
    other = {"recovered": ("other.csv", b"id,K,Mg\nA,0.5,3.5\n")}
    answer = client.post("/api/tables", files=other, data={"case": case}).json()
    assert answer["files"] == {"control": "control.csv", "recovered": "other.csv"}
    assert client.post("/api/tables", files=other, data={"case": "none"}).status_code == 422


def test_tables_are_read_once(monkeypatch, tables):
    session = Session(lambda step, share: None)
    contents = {which: base64.b64encode(table).decode() for which, table in zip(ROLES, tables, strict=True)}
    session.load({which: {"name": f"{which}.csv", "content": content} for which, content in contents.items()})
    session.read({})
    monkeypatch.setattr("transvariation.web.session.read_case", None)  # nobody may read again
    session.judge({"method": "tocc", "case": {"case_number": "1"}})
    session.judge({"sensitivity": 0.8})
    assert session.show("view", 0.7)["sensitivity"] == 0.7


def test_a_saved_case_can_be_opened(client, judged):
    _, result = judged
    file = {"saved": ("case.json", json.dumps(result).encode())}
    case = client.post("/api/saved", files=file).json()["case"]
    view = client.get(f"/api/cases/{case}/view").json()
    assert _p_values(view) == _p_values(result)
    assert client.get(f"/api/cases/{case}/file.json").json() == result
    moved = client.get(f"/api/cases/{case}/file.json?sensitivity=0.5").json()
    assert moved["model"]["sensitivity"] == 0.5


@pytest.mark.parametrize("content", [b"", b"{}", b'"x"', b'{"schema": 1}', b"\xff", b"id,K\nA,1\n", b"[" * 9999])
def test_what_is_no_saved_case_is_refused_in_words(client, content):
    answer = client.post("/api/saved", files={"saved": ("x.json", content)})
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"].startswith("x.json is not a case")


def test_damaged_saved_cases_are_refused_in_words(judged):
    """What a worker does not foresee ends it; here it would be raised."""
    rng, answers = np.random.default_rng(0), []
    for value in [None, 3, [], {}, [1], "x", -1.5, True] * 10:
        damaged = place = json.loads(json.dumps(judged[1]))
        key = "model"
        while isinstance(place, dict | list) and len(place):
            keys = list(place) if isinstance(place, dict) else range(len(place))
            inside, key = place, keys[rng.integers(len(keys))]
            place = inside[key] if rng.random() < 0.8 else None
        inside[key] = value
        session, content = Session(lambda step, share: None), base64.b64encode(json.dumps(damaged).encode()).decode()
        answers.append(worker.answer(session, "open", [{"name": "x.json", "content": content}]))
        if "problems" not in answers[-1]:
            answers += [worker.answer(session, "show", [*how]) for how in (("view", None), ("evidence", 0.5, "0"))]
    refused = [answer["problems"][0]["message"] for answer in answers if "problems" in answer]
    assert sum(message.startswith("x.json is not a case") for message in refused) > 20


@pytest.mark.parametrize(
    ("number", "name"),
    [
        ("2026/17 <b>", "2026-17-b"),
        ("..", "transvariation-case"),
        ("", "transvariation-case"),
        ("Ä-5", "5"),
        ("a\r\nb", "a-b"),
    ],
)
def test_saved_files_are_named_after_the_case_number(client, case_of_glass, number, name):
    _judge(client, case_of_glass, case={"case_number": number})
    answer = client.get(f"/api/cases/{case_of_glass}/file.csv")
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.csv"'
    assert client.get(f"/api/cases/{case_of_glass}/view").json()["name"] == name


def test_a_cancelled_case_keeps_its_tables(client, long_case):
    _begin(client, long_case)
    assert client.post(f"/api/cases/{long_case}/cancel").json() == {"state": "cancelled"}
    assert client.get(f"/api/cases/{long_case}/view").status_code == 404
    assert client.post(f"/api/cases/{long_case}/judge", json={"features": ["v0"]}).status_code == 202
    assert _wait(client, long_case)["state"] == "done"


def test_what_can_be_chosen_is_that_of_the_settings(client):
    found = client.get("/api/choices").json()
    offered = {each["name"]: each for part in ("reading", "comparing") for each in found[part]}
    assert offered["method"]["choices"] == METHODS
    assert offered["reduce"]["choices"] == REDUCTIONS
    assert found["fields"] == CASE_FIELDS
    # Tables and variables have elements of their own on the page, the roles stand for columns, a range for the rest.
    columns = {"id_column", "fragment_column", "source_column", "roles"}
    own = {"sheet", "missing", "tables", "features", "ranges", "without", "log", "logged"}
    assert {each.name for each in fields(CaseSettings)} - set(offered) == columns | own | {
        "preprocess",
        "sensitivity",
        "case",
    }
    assert set(found["roles"]) == set(ROLES_OF_COLUMNS)


VALUES = [
    *(
        None,
        True,
        0,
        -1,
        3,
        2.5,
        1e308,
        "",
        "a",
        "K",
        "snv",
        "sg1:5",
        "1-2",
        "\0",
        [],
        {},
        [1],
        ["K"],
        [["K"]],
        [[1, 2]],
    ),
    *(10**400, [[1, 10**400]]),
    *([[1, None]], {"K": "ignore"}, {"K": 3}, {"control": {}}, {"control": 3}, {"case_number": 3}, [None], {"": ""}),
]


def test_random_settings_are_answered_in_words(tables):
    """What a worker does not foresee ends it; here it would be raised."""
    session, rng = Session(lambda step, share: None), np.random.default_rng(0)
    contents = {which: base64.b64encode(table).decode() for which, table in zip(ROLES, tables, strict=True)}
    session.load({which: {"name": f"{which}.csv", "content": content} for which, content in contents.items()})
    names = [each.name for each in fields(CaseSettings)] + ["other"]
    session.read({})
    for i in range(600):
        chosen = rng.choice(len(names), size=rng.integers(1, 4), replace=False)
        settings = {names[j]: VALUES[rng.integers(len(VALUES))] for j in chosen}
        for job in ("check", "preview", *(["read"] if i % 20 == 0 else [])):
            found = worker.answer(session, job, [settings])
            assert "result" in found or found["problems"][0]["message"], settings


def test_the_row_of_the_column_names_can_be_chosen_for_each_table(client, tables):
    lines = b"Laboratory 5\nmeasured, by hand\n"
    own = _own(recovered={"header_row": 3})
    seen = _upload(client, tables[0], lines + tables[1], **own).json()
    assert seen["tables"]["recovered"]["header"] == ["row name", "K", "Mg"]
    assert _p_values(_judge(client, seen["case"], **own)) == [c.p_value for c in judge(*tables).conclusions]
    faulty = _upload(client, tables[0], lines + b"id,K,Mg\nA,1.5,x\n", **own).json()
    assert faulty["tables"]["recovered"]["rows"][0]["cells"] == ["A", "1.5", "x"]


def test_a_process_is_monitored_as_by_the_library(client):
    normal, new = make_plant(250, random_state=0), make_plant(120, fault=8, onset=60, random_state=1)
    files = {
        which: (f"{which}.csv", run.to_csv(index_label="time")) for which, run in (("normal", normal), ("new", new))
    }
    answer = client.post("/api/monitor", files=files, data={"options": json.dumps({"run": 2})}).json()
    expected = monitor(normal, new, run=2)
    assert answer["summary"] == monitoring_summary(expected)
    charts, alarms, _ = (section["parts"] for section in answer["sections"])
    assert [len(part["images"]) for part in (*charts, alarms[1])] == [1, 1]
    assert alarms[0]["rows"][0][-1].startswith(next(iter(expected.alarms[0].contributions)))
    assert answer["summary"] in answer["report"]
    page = client.get("/monitor").text
    assert 'src="/static/monitor.js"' in page
    assert "{{" not in page
    lacking = client.post("/api/monitor", files={"new": files["new"]})
    assert lacking.json()["problems"][0]["message"] == "Choose the table of the normal run."
    for wrong in ({"lags": "many"}, {"classifier": 1}, {"run": 0}, {"lags": np.inf}):
        refused = client.post("/api/monitor", files=files, data={"options": json.dumps(wrong)})
        assert refused.status_code == 422
        assert next(iter(wrong)) in refused.json()["problems"][0]["message"]


def test_several_control_sources_are_a_matrix_and_one_of_them_is_shown(client):
    table = make_glass(24, 4, 2, np.random.default_rng(7))
    last = table["fragment"] == "4"
    tables = {
        "control": table[table["pane"].isin(["P0", "P1"]) & ~last],
        "recovered": table[table["pane"].isin(["P0", "P3"]) & last],
        "background": table[~table["pane"].isin(["P0", "P1", "P3"])],
    }
    files = {which: (f"{which}.csv", each.to_csv(index=False)) for which, each in tables.items()}
    name = client.post("/api/tables", files=files, data={"third": "background", "settings": '{"log": true}'}).json()[
        "case"
    ]
    client.post(f"/api/cases/{name}/judge", json={"log": True})
    while client.get(f"/api/cases/{name}").json()["state"] == "running":
        time.sleep(0.1)
    first = client.get(f"/api/cases/{name}/view").json()
    assert first["headline"] == "1 of 2 recovered fragments excluded from all 2 control sources."
    table = first["matrix"]["parts"][0]
    assert [column["name"] for column in table["columns"]] == ["fragment", "P0", "P1", "any of these"]
    assert [row[1].split(" (")[0] for row in table["rows"]] == ["not excluded", "excluded"]
    second = client.get(f"/api/cases/{name}/view?sensitivity=0.9&source=1").json()
    assert second["matrix"]["source"] == 1
    assert [row["excluded"] for row in first["conclusions"]] == [False, True]
    assert [row["excluded"] for row in second["conclusions"]] == [True, True]
    assert client.get(f"/api/cases/{name}/evidence?key=0").json()["parts"]
    assert client.get(f"/api/cases/{name}/view?source=2").status_code == 422
    assert client.get(f"/api/cases/{name}/file.csv").text.startswith("fragment,P0,P1,any of these")
    assert len(CaseResult.from_dict(client.get(f"/api/cases/{name}/file.json").json()).cases) == 2
