"""The page's answers, without a browser: the flow, hostile uploads, many at once."""

import asyncio
import base64
import io
import json
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.cli import main
from transvariation.web import workers
from transvariation.web.app import STATIC, Limits, make_app
from transvariation.web.guard import COOKIE

PORT = 8377
ORIGIN = f"http://127.0.0.1:{PORT}"
ROLES = ("control", "recovered")
LIMITS = Limits(max_bytes=4 * 2**20, read_seconds=60, fit_seconds=60)


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


@pytest.fixture(scope="module")
def clusters(client):
    """A case by a method whose p-values depend on the sensitivity."""
    glass = load_glass()
    tables = [table[["Na", "Al"]].to_csv().encode() for table in (glass.control, glass.recovered)]
    case = _upload(client, *tables).json()["case"]
    client.post(f"/api/cases/{case}/judge", json={"method": "pam"})
    assert _wait(client, case)["state"] == "done"
    return case, tables


def test_the_page_itself_has_no_inline_script_and_nothing_from_outside(client):
    page = client.get("/").text
    assert "<script src=" in page
    assert "onclick" not in page
    assert "http" not in page
    assert "style=" not in page
    for name in STATIC:
        assert client.get(f"/static/{name}").status_code == 200


def test_the_page_decides_as_the_library(judged, tables):
    _, result = judged
    expected = judge(*tables)
    assert [v["p_value"] for v in result["verdicts"]] == [v.p_value for v in expected.verdicts]
    assert [v["accepted"] for v in result["verdicts"]] == [v.accepted for v in expected.verdicts]


def test_the_page_decides_as_the_command_line(judged, tables, tmp_path):
    _, result = judged
    paths = [tmp_path / "control.csv", tmp_path / "recovered.csv"]
    for path, content in zip(paths, tables, strict=True):
        path.write_bytes(content)
    answer = CliRunner().invoke(main, ["judge", *map(str, paths), "--json", str(tmp_path / "case.json")])
    assert answer.exit_code == 0, answer.output
    theirs = json.loads((tmp_path / "case.json").read_text())
    for key in ("verdicts", "features", "method", "coverage", "warnings", "values", "combined_p_value", "selected"):
        assert result[key] == theirs[key]
    assert [result[role]["sha256"] for role in ROLES] == [theirs[role]["sha256"] for role in ROLES]


@pytest.mark.parametrize("kind", ["html", "json", "csv", "pdf"])
def test_files_to_take_along(client, judged, kind):
    case, result = judged
    answer = client.get(f"/api/cases/{case}/file.{kind}?sensitivity=0.5")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    if kind == "json":
        rejected = sum(not v["accepted"] for v in answer.json()["verdicts"])
        assert rejected >= sum(not v["accepted"] for v in result["verdicts"])


@pytest.mark.parametrize("share", [0.6, 0.9, 0.97])
def test_what_is_taken_along_is_as_judged_at_that_sensitivity(client, clusters, share):
    case, tables = clusters
    taken = client.get(f"/api/cases/{case}/file.json?sensitivity={share}").json()
    names = ("control.csv", "recovered.csv")
    expected = judge(*tables, method="pam", sensitivity=share, names=names, command="transvariation serve")
    assert taken == json.loads(json.dumps(expected.to_dict()))
    rows = pd.read_csv(io.BytesIO(client.get(f"/api/cases/{case}/file.csv?sensitivity={share}").content))
    assert rows["p-value"].tolist() == pytest.approx([v.p_value for v in expected.verdicts])


def test_missing_values_are_judged_as_they_were_read(client, tables):
    lines = tables[1].decode().splitlines()
    gap = "\n".join([*lines[:-1], lines[-1].rsplit(",", 1)[0] + ","]).encode()
    case = _upload(client, tables[0], gap, missing="drop").json()["case"]
    client.post(f"/api/cases/{case}/judge", json={"missing": "impute"})
    result = _wait(client, case)["result"]
    assert len(result["recovered"]["dropped"]) == 1
    assert len(result["verdicts"]) == len(lines) - 2


def test_advice_can_be_followed_on_the_page(client, tables):
    twice = b"id,K,Mg\nA,0.5,3.5\nA,0.6,3.4\n"
    answer = _upload(client, tables[0], twice).json()
    assert answer["problems"][0]["message"].endswith("choose “fragment” as the role of this column")
    assert "source_column" not in str(answer)
    followed = _upload(client, tables[0], twice.replace(b"id", b"source")).json()
    assert followed["tables"][1]["sources"] == 1
    odd = _upload(client, tables[0], b"id,K,Mg\nA\x81,0.5,3.5\n").json()
    assert odd["problems"][0]["message"].endswith("; save the file as UTF-8")


def test_the_example_is_understood(client):
    answer = client.post("/api/example").json()
    assert answer["features"] == ["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]
    assert [table["objects"] for table in answer["tables"]] == [87, 51]


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
    marks = {"control-decimal": ",", "recovered-decimal": ","}
    answer = _upload(client, control, recovered, **marks).json()
    assert answer["tables"][0]["rows"][0]["cells"] == ["F1", "1.516", "13.607"]
    assert "the comma as decimal mark" in str(answer["tables"][0]["notes"])
    client.post(f"/api/cases/{answer['case']}/judge", json={})
    result = _wait(client, answer["case"])["result"]
    expected = judge(control.encode(), recovered.encode(), decimal=",")
    assert [v["p_value"] for v in result["verdicts"]] == [v.p_value for v in expected.verdicts]
    assert "the comma as decimal mark" in str(result["recovered"]["notes"])


def test_a_decimal_mark_of_another_kind_is_refused_in_words(client, tables):
    answer = _upload(client, *tables, **{"recovered-decimal": "x"})
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"] == "decimal='x' is unknown; choose the comma or the point."


def test_each_table_may_have_its_own_decimal_mark(client):
    control = "id;RI;Na\n" + "".join(f"F{i};1,{515 + i % 9};13,{600 + 7 * i}\n" for i in range(30))
    recovered = "id,RI,Na\nA,1.523,13.771\n"
    asked = _upload(client, control, recovered).json()["problems"]
    assert {problem["table"] for problem in asked} == {"control.csv"}
    assert "choose the comma under “Decimal mark”" in asked[0]["message"]
    case = _upload(client, control, recovered, **{"control-decimal": ","}).json()["case"]
    client.post(f"/api/cases/{case}/judge", json={})
    result = _wait(client, case)["result"]
    assert result["values"]["RI"][0] == 1.515
    assert result["recovered_values"]["RI"] == [1.523]


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
    assert refused.json()["sheets"] == [["cover", *ROLES], []]
    chosen = {"control-sheet": "control", "recovered-sheet": "recovered"}
    answer = _upload(client, book, book, names=("book.xlsx", "book.xlsx"), **chosen).json()
    assert answer["warnings"] == []
    client.post(f"/api/cases/{answer['case']}/judge", json={})
    result = _wait(client, answer["case"])["result"]
    assert [v["p_value"] for v in result["verdicts"]] == [v.p_value for v in judge(*tables).verdicts]


def test_one_table_given_twice_is_warned_of_before_and_after_in_the_page_s_words(client, book):
    once = {"control-sheet": "control", "recovered-sheet": "control"}
    answer = _upload(client, book, book, names=("book.xlsx", "book.xlsx"), **once).json()
    assert "are the same" in answer["warnings"][0]
    client.post(f"/api/cases/{answer['case']}/judge", json={})
    assert _wait(client, answer["case"])["result"]["warnings"] == answer["warnings"]
    assert "under “Sheet”" in answer["warnings"][0]
    assert "--" not in answer["warnings"][0]


def test_the_place_of_a_problem_is_shown_from_the_sheet_that_was_chosen(client, tables):
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer) as writer:
        pd.DataFrame({"id": ["A"], "K": [1], "Mg": [1]}).to_excel(writer, sheet_name="one", index=False)
        pd.DataFrame({"id": ["B"], "K": [1], "Mg": ["x"]}).to_excel(writer, sheet_name="two", index=False)
    names = ("control.csv", "book.xlsx")
    answer = _upload(client, tables[0], buffer.getvalue(), names=names, **{"recovered-sheet": "two"}).json()
    assert answer["tables"][1]["rows"][0]["cells"] == ["B", "1", "x"]


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
        bomb.writestr("xl/worksheets/sheet1.xml", b"0" * 110_000_000)
    assert len(buffer.getvalue()) < LIMITS.max_bytes
    answer = _upload(client, buffer.getvalue(), tables[1], names=("bomb.xlsx", "recovered.csv"))
    assert answer.status_code == 422


def test_markup_in_cells_and_headers_comes_back_as_text(client, tables):
    evil = b"id,K,Mg,<img src=x onerror=alert(1)>\n<script>alert(1)</script>,1,2,3\n"
    answer = _upload(client, tables[0], evil)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["tables"][1]["rows"][0]["cells"][0] == "<script>alert(1)</script>"


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
    monkeypatch.setattr("transvariation.web.app.UNDERSTAND", "os:abort")  # called with arguments: an unforeseen error
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


def test_a_worker_killed_amid_a_fit_is_reported_and_others_are_answered_meanwhile(
    client, tables, long_case, monkeypatch
):
    begun, make_process = [], workers.CONTEXT.Process

    def remembered(**options):
        begun.append(make_process(**options))
        return begun[-1]

    monkeypatch.setattr(workers.CONTEXT, "Process", remembered)
    _begin(client, long_case)
    deadline = time.monotonic() + 30
    while not (begun and begun[0].pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert _upload(client, *tables).status_code == 200
    assert client.get(f"/api/cases/{long_case}").json()["state"] == "running"
    begun[0].kill()
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
        assert (answer["state"], answer["waiting"]) == ("running", True)
        assert _upload(client, *tables).status_code == 200
        assert client.post(f"/api/cases/{case}/cancel").json()["state"] == "cancelled"
    finally:
        for _ in range(LIMITS.at_once):
            page.fits.release()


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [(50_001, 2, "rows"), (2, 2_001, "2,001 columns are more than the 2,000 allowed"), (600, 1_000, "rows")],
)
def test_too_many_rows_or_columns_are_refused_in_words(client, tables, rows, columns, words):
    large = ",".join(f"v{j}" for j in range(columns)) + "\n" + (",".join(["1"] * columns) + "\n") * rows
    answer = _upload(client, large.encode(), tables[1])
    assert answer.status_code == 422
    message = answer.json()["problems"][0]["message"]
    assert words in message
    assert "`" not in message


def test_a_fit_beyond_its_time_ends_in_words():
    with _opened(Limits(read_seconds=60, fit_seconds=0.2)) as client:
        table = b"a\n" + b"1\n2\n4\n7\n" * 5000
        case = _upload(client, table, table[:200]).json()["case"]
        client.post(f"/api/cases/{case}/judge", json={})
        assert "longer than is allowed" in _wait(client, case)["problems"][0]["message"]


def test_work_beyond_its_memory_ends_in_words():
    with pytest.raises(workers.WorkError, match="more memory than is allowed"):
        asyncio.run(workers.work("builtins:bytearray", 2**34, seconds=60, memory=2**33))


def test_an_upload_that_never_ends_is_broken_off():
    """Nor may it trickle in for ever, however little it sends."""
    app = make_app("secret", PORT, Limits(read_seconds=0.3))
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
    assert answer.json()["problems"][0]["table"] == answer.json()["files"][1]


def test_the_place_of_a_problem_is_shown(client, tables):
    answer = _upload(client, tables[0], b"id,K,Mg\nA,1,2\nB,1,x\n").json()
    assert answer["tables"][1]["header"] == ["id", "K", "Mg"]
    (row,) = answer["tables"][1]["rows"]
    assert (row["row"], row["cells"], list(row["marked"])) == (3, ["B", "1", "x"], ["2"])


def test_the_server_itself_stays_light():
    """Only the workers load the scientific libraries, so that the page opens in about a second."""
    code = "import sys, transvariation.cli, transvariation.web.serve, transvariation.web.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "pandas", "sklearn", "matplotlib"} & set(loaded)


def test_no_id_becomes_a_formula_in_the_verdicts_file():
    from transvariation.web.work import render

    glass = load_glass()
    other = glass.recovered[["K", "Mg"]].iloc[:2].rename(index={glass.recovered.index[0]: "=cmd|' /C calc'!A0"})
    result = judge(glass.control[["K", "Mg"]], other.assign(source=["=1", "B"])).to_dict()
    lines = base64.b64decode(render(result, "csv", 0.9)).decode().splitlines()
    assert lines[1].startswith("'=1 / =cmd|' /C calc'!A0,'=1,rejected,")
