"""The page's answers, without a browser: the flow, hostile uploads, many at once."""

import io
import json
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.web.app import Limits, make_app
from transvariation.web.guard import COOKIE

PORT = 8377
ORIGIN = f"http://127.0.0.1:{PORT}"
LIMITS = Limits(max_bytes=4 * 2**20, read_seconds=60, fit_seconds=60)


@pytest.fixture(scope="module")
def client():
    app = make_app("secret", PORT, LIMITS)
    with TestClient(app, base_url=ORIGIN) as client:
        client.cookies.set(COOKIE, "secret")
        client.headers.update({"origin": ORIGIN, "x-csrf-token": app.csrf})
        yield client


@pytest.fixture(scope="module")
def tables():
    glass = load_glass()
    return [glass.control[["K", "Mg"]].to_csv().encode(), glass.recovered[["K", "Mg"]].iloc[::10].to_csv().encode()]


def _upload(client, control, recovered, names=("control.csv", "recovered.csv"), **fields):
    files = {"control": (names[0], control), "recovered": (names[1], recovered)}
    return client.post("/api/tables", files=files, data=fields)


def _wait(client, case):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        answer = client.get(f"/api/cases/{case}").json()
        if answer["state"] != "running":
            return answer
        time.sleep(0.05)
    raise AssertionError("the fit did not end")


@pytest.fixture(scope="module")
def judged(client, tables):
    case = _upload(client, *tables).json()["case"]
    assert client.post(f"/api/cases/{case}/judge", json={}).status_code == 202
    return case, _wait(client, case)["result"]


def test_the_page_itself_has_no_inline_script_and_nothing_from_outside(client):
    page = client.get("/").text
    assert "<script src=" in page
    assert "onclick" not in page
    assert "http" not in page
    for name in ("app.js", "app.css"):
        assert client.get(f"/static/{name}").status_code == 200


def test_the_page_decides_as_the_library(judged, tables):
    _, result = judged
    expected = judge(*tables)
    assert [v["p_value"] for v in result["verdicts"]] == [v.p_value for v in expected.verdicts]
    assert [v["accepted"] for v in result["verdicts"]] == [v.accepted for v in expected.verdicts]


@pytest.mark.parametrize("kind", ["html", "json", "csv", "pdf"])
def test_files_to_take_along(client, judged, kind):
    case, result = judged
    answer = client.get(f"/api/cases/{case}/file.{kind}?sensitivity=0.5")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    if kind == "json":
        rejected = sum(not v["accepted"] for v in answer.json()["verdicts"])
        assert rejected >= sum(not v["accepted"] for v in result["verdicts"])


def test_the_example_is_understood(client):
    answer = client.post("/api/example").json()
    assert answer["features"] == ["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]
    assert [table["objects"] for table in answer["tables"]] == [87, 51]


def test_problems_name_file_row_and_column(client, tables):
    answer = _upload(client, tables[0], b"id,K,Mg\nA,1,x\n")
    assert answer.status_code == 422
    problem = answer.json()["problems"][0]
    assert (problem["file"], problem["row"], problem["column"]) == ("recovered.csv", 2, "Mg")


@pytest.mark.parametrize("name", ["../../etc/passwd", "C:\\windows\\x.csv", "/etc/passwd", "..", "a/b\\c.csv"])
def test_folders_in_a_file_s_name_lead_nowhere(client, tables, name):
    answer = _upload(client, *tables, names=(name, "recovered.csv"))
    shown = answer.json()["tables"][0]["file"] if answer.status_code == 200 else "x"
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
        bomb.writestr("xl/worksheets/sheet1.xml", b"0" * 700_000_000)
    assert len(buffer.getvalue()) < LIMITS.max_bytes
    answer = _upload(client, buffer.getvalue(), tables[1], names=("bomb.xlsx", "recovered.csv"))
    assert answer.status_code == 422


def test_markup_in_cells_and_headers_comes_back_as_text(client, tables):
    evil = b"id,K,Mg,<img src=x onerror=alert(1)>\n<script>alert(1)</script>,1,2,3\n"
    answer = _upload(client, tables[0], evil)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["tables"][1]["ids"] == ["<script>alert(1)</script>"]


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
        assert answer.status_code == 422


def test_unknown_cases_are_said_to_be_gone(client):
    assert client.get("/api/cases/none").status_code == 404
    assert client.post("/api/cases/none/judge", json={}).status_code == 404
    assert client.get("/api/cases/none/file.html").status_code == 404


def test_a_fit_can_be_cancelled_and_the_page_goes_on(client, tables):
    case = _upload(client, *tables).json()["case"]
    client.post(f"/api/cases/{case}/judge", json={"method": "projections"})
    assert client.post(f"/api/cases/{case}/cancel").json()["state"] in ("cancelled", "done")
    assert client.get("/").status_code == 200


def test_old_cases_are_forgotten(client, tables):
    first = _upload(client, *tables).json()["case"]
    for _ in range(LIMITS.cases):
        _upload(client, *tables)
    assert client.get(f"/api/cases/{first}").status_code == 404


def test_many_requests_at_once_are_all_answered(client, tables):
    with ThreadPoolExecutor(8) as pool:
        pages = list(pool.map(lambda _: client.get("/").status_code, range(40)))
        uploads = list(pool.map(lambda _: _upload(client, *tables).status_code, range(4)))
    assert pages == [200] * 40
    assert uploads == [200] * 4


def test_a_dead_worker_is_reported_and_does_no_harm(client, tables, monkeypatch):
    monkeypatch.setattr("transvariation.web.work.understand", _die)
    answer = _upload(client, *tables)
    assert answer.status_code == 422
    assert "unexpectedly" in json.dumps(answer.json())
    monkeypatch.undo()
    assert _upload(client, *tables).status_code == 200


def _die(*_):
    import os

    os._exit(1)
