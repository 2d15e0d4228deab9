"""The page's answers, without a browser: the flow, hostile uploads, many at once."""

import asyncio
import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

pytest.importorskip("starlette")

from tests.web.conftest import (
    LIMITS,
    ORIGIN,
    PORT,
    ROLES,
    for_tables,
    judge_on_page,
    open_page,
    p_values_of,
    upload,
    wait_for,
)

from transvariation.casework import CaseResult, judge
from transvariation.cli import main
from transvariation.report.wording.cautions import warning_texts
from transvariation.web.app import HELP, STATIC, Page, PageLimits, make_app
from transvariation.web.guard import COOKIE


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
    own = for_tables(control={"roles": roles}, recovered={"roles": roles})
    answer = upload(client, control, recovered, third=("background", background), log=True, **own)
    assert answer.status_code == 200, answer.json()
    assert [each["fragments"] for each in answer.json()["tables"].values()] == [3, 1, 160]
    result = judge_on_page(
        client, answer.json()["case"], log=True, **own, case={"case_number": "2026-1", "examiner": "N. N."}
    )
    assert result["settings"]["log"] is True
    assert result["settings"]["case"] == {"case_number": "2026-1", "examiner": "N. N."}
    (conclusion,) = result["conclusions"]
    assert (conclusion["basis"], conclusion["n"]) == ("background", 40)


def test_background_file_must_be_there_if_chosen(client, tables):
    answer = upload(client, *tables, third=("background", None))
    assert answer.status_code == 422
    assert "Choose the background table" in answer.json()["problems"][0]["message"]


@pytest.mark.parametrize("roles", ["no json", [], 3, {"K": "magic"}, {"K": 3}])
def test_unknown_column_roles_are_refused(client, tables, roles):
    answer = upload(client, *tables, **for_tables(control={"roles": roles}))
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
    case = upload(client, tables[0], gap, missing="drop").json()["case"]
    result = judge_on_page(client, case, missing="drop")
    assert len(result["inputs"]["recovered"]["dropped"]) == 1
    assert len(result["conclusions"]) == len(lines) - 2


def test_a_decimal_mark_of_another_kind_is_refused_in_words(client, tables):
    answer = upload(client, *tables, **for_tables(recovered={"decimal": "x"}))
    assert answer.status_code == 400
    assert "decimal='x' must be" in answer.json()["problems"][0]["message"]


def test_one_table_given_twice_is_warned_of_before_and_after_judging(client, book):
    once = for_tables(control={"sheet": "control"}, recovered={"sheet": "control"})
    answer = upload(client, book, book, names=("book.xlsx", "book.xlsx"), **once).json()
    assert answer["warnings"]
    result = judge_on_page(client, answer["case"], **once)
    assert set(answer["warnings"]) <= set(warning_texts(CaseResult.from_dict(result)))


@pytest.mark.parametrize("name", ["../../etc/passwd", "C:\\windows\\x.csv", "/etc/passwd", "..", "a/b\\c.csv"])
def test_folders_in_a_file_s_name_lead_nowhere(client, tables, name):
    answer = upload(client, *tables, names=(name, "recovered.csv"))
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
    answer = upload(client, content, tables[1])
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"]


def test_an_excel_bomb_is_refused(client, tables):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("[Content_Types].xml", "<Types/>")
        bomb.writestr("xl/worksheets/sheet1.xml", b"0" * 110_000_000)
    assert len(buffer.getvalue()) < LIMITS["max_bytes"]
    answer = upload(client, buffer.getvalue(), tables[1], names=("bomb.xlsx", "recovered.csv"))
    assert answer.status_code == 422


def test_oversize_is_refused(client, tables):
    assert upload(client, b"x" * (LIMITS["max_bytes"] + 1), tables[1]).status_code == 413


@pytest.mark.parametrize("body", [b"", b"[]", b"not json", b'"text"', b'{"method": "magic"}', b'{"sensitivity": 7}'])
def test_nonsense_asked_of_a_case_is_answered_in_words(client, tables, body):
    case = upload(client, *tables).json()["case"]
    answer = client.post(f"/api/cases/{case}/judge", content=body)
    if answer.status_code == 202:
        final = wait_for(client, case)
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
    case = upload(client, *tables).json()["case"]
    client.post(f"/api/cases/{case}/judge", json={"method": "projections"})
    assert client.post(f"/api/cases/{case}/cancel").json()["state"] in ("cancelled", "done")
    assert client.get("/").status_code == 200


def test_cases_that_nobody_looks_at_are_forgotten(tables):
    with open_page(cases=2) as client:
        first, second = (upload(client, *tables).json()["case"] for _ in range(2))
        page = client.app.app.router.routes[0].endpoint.__self__
        worker = page.cases[second].worker
        assert client.get(f"/api/cases/{first}").status_code == 200
        upload(client, *tables)
        assert client.get(f"/api/cases/{second}").status_code == 404
        assert worker.closed
        assert client.get(f"/api/cases/{first}").status_code == 200


def test_many_requests_at_once_are_all_answered(client, tables):
    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(lambda _: client.get("/").status_code, range(40)))
        uploads = list(pool.map(lambda _: upload(client, *tables).status_code, range(4)))
    assert pages == [200] * 40
    assert uploads == [200] * 4


async def _unforeseen(self, case, chosen, settings):
    await case.ask("no such job")  # the worker ends with a traceback


def test_a_dead_worker_is_reported_and_does_no_harm(client, tables, monkeypatch):
    monkeypatch.setattr(Page, "_read", _unforeseen)
    answer = upload(client, *tables)
    assert answer.status_code == 422
    assert "unexpectedly" in json.dumps(answer.json())
    monkeypatch.undo()
    assert upload(client, *tables).status_code == 200


@pytest.fixture
def long_case(client):
    """A case that takes minutes to judge."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(6000, 8))).add_prefix("v").to_csv().encode()
    case = upload(client, table, table[: table.index(b"\n99,") + 1]).json()["case"]
    yield case
    client.post(f"/api/cases/{case}/cancel")


def _begin(client, case):
    assert client.post(f"/api/cases/{case}/judge", json={"method": "projections"}).status_code == 202


def test_a_worker_killed_amid_a_fit_is_reported_and_others_are_answered_meanwhile(client, tables, long_case):
    page = client.app.app.router.routes[0].endpoint.__self__
    _begin(client, long_case)
    assert upload(client, *tables).status_code == 200
    assert client.get(f"/api/cases/{long_case}").json()["state"] == "running"
    os.kill(page.cases[long_case].worker.pid, signal.SIGKILL)
    final = wait_for(client, long_case)
    assert final["state"] == "failed"
    assert "unexpectedly" in final["problems"][0]["message"]
    assert upload(client, *tables).status_code == 200


def test_who_waits_for_another_s_fit_may_change_their_mind(client, tables):
    case = upload(client, *tables).json()["case"]
    page = client.app.app.router.routes[0].endpoint.__self__
    for _ in range(PageLimits().at_once):
        client.portal.call(page.fits.acquire)  # as many fits run as may
    try:
        _begin(client, case)
        answer = client.get(f"/api/cases/{case}").json()
        assert (answer["state"], answer["step"], answer["done"]) == ("running", "waiting for another case", 0)
        assert upload(client, *tables).status_code == 200
        assert client.post(f"/api/cases/{case}/cancel").json()["state"] == "cancelled"
    finally:
        for _ in range(PageLimits().at_once):
            page.fits.release()


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [(50_001, 2, "rows"), (2, 10_001, "10,001 columns are more than the 10,000 allowed"), (600, 1_000, "rows")],
)
def test_too_many_rows_or_columns_are_refused_in_words(client, tables, rows, columns, words):
    large = ",".join(f"v{j}" for j in range(columns)) + "\n" + (",".join(["1"] * columns) + "\n") * rows
    answer = upload(client, large.encode(), tables[1])
    assert answer.status_code == 422
    message = answer.json()["problems"][0]["message"]
    assert words in message
    assert "`" not in message


def test_a_fit_beyond_its_time_ends_in_words():
    with open_page(read_seconds=60, fit_seconds=0.2) as client:
        table = b"a\n" + b"1\n2\n4\n7\n" * 5000
        case = upload(client, table, table[:200]).json()["case"]
        client.post(f"/api/cases/{case}/judge", json={})
        assert "longer than is allowed" in wait_for(client, case)["problems"][0]["message"]


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


def test_the_server_itself_stays_light():
    """Only the workers load the scientific libraries, so that the page opens in about a second."""
    code = "import sys, transvariation.cli, transvariation.web.serve, transvariation.web.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "pandas", "sklearn", "matplotlib"} & set(loaded)


def test_a_reloaded_page_finds_its_case(client, tables):
    case = upload(client, *tables, drop_summary_rows=True).json()["case"]
    found = client.get(f"/api/cases/{case}/opened").json()
    assert found["state"] == "read"
    assert found["settings"] == {"drop_summary_rows": True}
    assert found["seen"]["tables"]["control"]["file"] == "control.csv"
    judge_on_page(client, case, features=["K"], case={"case_number": "7"})
    client.get(f"/api/cases/{case}/view?sensitivity=0.8")
    found = client.get(f"/api/cases/{case}/opened").json()
    assert (found["state"], found["sensitivity"]) == ("done", 0.8)
    assert found["settings"] == {"features": ["K"], "case": {"case_number": "7"}}


def test_tables_that_the_program_has_need_not_be_sent_again(client, tables):
    case = upload(client, *tables).json()["case"]
    other = {"recovered": ("other.csv", b"id,K,Mg\nA,0.5,3.5\n")}
    answer = client.post("/api/tables", files=other, data={"case": case}).json()
    assert answer["files"] == {"control": "control.csv", "recovered": "other.csv"}
    assert client.post("/api/tables", files=other, data={"case": "none"}).status_code == 422


def test_a_saved_case_can_be_opened(client, judged):
    _, result = judged
    file = {"saved": ("case.json", json.dumps(result).encode())}
    case = client.post("/api/saved", files=file).json()["case"]
    view = client.get(f"/api/cases/{case}/view").json()
    assert p_values_of(view) == p_values_of(result)
    assert client.get(f"/api/cases/{case}/file.json").json() == result
    moved = client.get(f"/api/cases/{case}/file.json?sensitivity=0.5").json()
    assert moved["model"]["sensitivity"] == 0.5


@pytest.mark.parametrize("content", [b"", b"{}", b'"x"', b'{"schema": 1}', b"\xff", b"id,K\nA,1\n", b"[" * 9999])
def test_what_is_no_saved_case_is_refused_in_words(client, content):
    answer = client.post("/api/saved", files={"saved": ("x.json", content)})
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"].startswith("x.json is not a case")


def test_a_cancelled_case_keeps_its_tables(client, long_case):
    _begin(client, long_case)
    assert client.post(f"/api/cases/{long_case}/cancel").json() == {"state": "cancelled"}
    assert client.get(f"/api/cases/{long_case}/view").status_code == 404
    assert client.post(f"/api/cases/{long_case}/judge", json={"features": ["v0"]}).status_code == 202
    assert wait_for(client, long_case)["state"] == "done"
