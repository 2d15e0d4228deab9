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

pytest.importorskip("starlette")
from starlette.testclient import TestClient

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.casework.checks import format_p
from transvariation.cli import main
from transvariation.preprocessing import SNV
from transvariation.report.case_text import conclusion_frame
from transvariation.web import work, workers
from transvariation.web.app import AS_READ, STATIC, Limits, make_app
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
    assert "http" not in page
    assert "style=" not in page
    for name in STATIC:
        assert client.get(f"/static/{name}").status_code == 200


def named(name, content):
    """A file in memory that knows its name."""
    file = io.BytesIO(content)
    file.name = name
    return file


def test_page_and_library_give_the_same_result(judged, tables):
    _, result = judged
    expected = json.loads(judge(*map(named, ("control.csv", "recovered.csv"), tables)).to_json())
    expected["provenance"]["command"] = "transvariation serve"
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
    assert view["headline"] == expected.headline
    assert view["warnings"] == list(expected.warnings)
    assert _p_values(view) == [c.p_value for c in expected.conclusions]
    assert [c["accepted"] for c in view["conclusions"]] == [c.accepted for c in expected.conclusions]
    assert [c["evidence"] for c in view["conclusions"]] == conclusion_frame(expected, 4)["evidence"].tolist()


@pytest.mark.parametrize("share", [0.6, 0.97])
def test_evidence_on_a_fragment_is_that_of_the_library_at_the_sensitivity(client, clusters, share):
    case, tables = clusters
    expected = judge(*tables, method="pam", sensitivity=share).conclusions[3]
    where = f"/api/cases/{case}/evidence"
    found = client.get(where, params={"fragment": expected.fragment, "sensitivity": share}).json()
    assert found["statement"] == expected.statement
    assert [reason["variable"] for reason in found["reasons"]] == [reason.variable for reason in expected.reasons]
    assert [reason["evidence"] for reason in found["reasons"]] == [reason.evidence for reason in expected.reasons]
    assert [reason["p"] for reason in found["reasons"]] == [
        format_p(reason.p_values["control"]) for reason in expected.reasons
    ]
    unknown = client.get(where, params={"fragment": "x"})
    assert (unknown.status_code, unknown.json()["problems"]) == (422, [{"message": "There is no fragment 'x'."}])


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


def test_axes_of_the_figure_stay_while_the_sensitivity_moves(client, judged):
    case, _ = judged
    axes = [client.get(f"/api/cases/{case}/view?sensitivity={share}").json()["axes"] for share in (0.5, 0.9, 0.99)]
    assert axes[0] == axes[1] == axes[2]


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

    roles = json.dumps({"Where": "source", "Piece": "fragment", "Rep": "replicate"})
    control, recovered, background = table(["A"], 3), table(["Q"], 1), table([f"S{i}" for i in range(40)], 4)
    background = background.replace(b"Where,Piece", b"pane,fragment")
    files = {
        role: (f"{role}.csv", content)
        for role, content in zip(("control", "recovered", "background"), (control, recovered, background), strict=True)
    }
    data = {"control-roles": roles, "recovered-roles": roles, "background-kind": "file", "scale": "log"}
    answer = client.post("/api/tables", files=files, data=data)
    assert answer.status_code == 200, answer.json()
    assert [each["fragments"] for each in answer.json()["tables"]] == [3, 1]
    result = _judge(client, answer.json()["case"], case={"case_number": "2026-1", "examiner": "N. N."})
    assert result["inputs"]["log"] is True
    assert result["inputs"]["case"] == {"case_number": "2026-1", "examiner": "N. N."}
    (conclusion,) = result["conclusions"]
    assert (conclusion["basis"], conclusion["n"]) == ("background", 40)


def test_background_file_must_be_there_if_chosen(client, tables):
    answer = _upload(client, *tables, **{"background-kind": "file"})
    assert answer.status_code == 422
    assert "Choose the background table" in answer.json()["problems"][0]["message"]


@pytest.mark.parametrize("roles", ["no json", "[]", '{"K": "magic"}'])
def test_unknown_column_roles_are_refused(client, tables, roles):
    answer = _upload(client, *tables, **{"control-roles": roles})
    assert answer.status_code == 422
    assert "roles of the control table" in answer.json()["problems"][0]["message"]


def test_missing_values_are_judged_as_they_were_read(client, tables):
    lines = tables[1].decode().splitlines()
    gap = "\n".join([*lines[:-1], lines[-1].rsplit(",", 1)[0] + ","]).encode()
    case = _upload(client, tables[0], gap, missing="drop").json()["case"]
    result = _judge(client, case, missing="impute")
    assert len(result["inputs"]["recovered"]["dropped"]) == 1
    assert len(result["conclusions"]) == len(lines) - 2


def test_summary_rows_are_left_out_if_chosen(client, tables):
    with_mean = tables[1] + b"mean,1,2\n"
    refused = _upload(client, tables[0], with_mean)
    assert refused.status_code == 422
    assert "choose “leave out summary rows”" in refused.json()["problems"][0]["message"]
    read = _upload(client, tables[0], with_mean, drop_summary_rows="1")
    assert _p_values(_judge(client, read.json()["case"])) == [c.p_value for c in judge(*tables).conclusions]


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
    assert [table["objects"] for table in answer["tables"]] == [72, 32]


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
    result = _judge(client, answer["case"])
    expected = judge(control.encode(), recovered.encode(), decimal=",")
    assert _p_values(result) == [c.p_value for c in expected.conclusions]


def test_a_decimal_mark_of_another_kind_is_refused_in_words(client, tables):
    answer = _upload(client, *tables, **{"recovered-decimal": "x"})
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"] == "recovered-decimal='x' is unknown; choose the comma or the point."


def test_each_table_may_have_its_own_decimal_mark(client):
    control = "id;RI;Na\n" + "".join(f"F{i};1,{515 + i % 9};13,{600 + 7 * i}\n" for i in range(30))
    recovered = "id,RI,Na\nA,1.523,13.771\n"
    asked = _upload(client, control, recovered).json()["problems"]
    assert {problem["table"] for problem in asked} == {"control.csv"}
    assert "choose the comma under “Decimal mark”" in asked[0]["message"]
    case = _upload(client, control, recovered, **{"control-decimal": ","}).json()["case"]
    result = _judge(client, case)
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
    assert refused.json()["sheets"] == [["cover", *ROLES], []]
    chosen = {"control-sheet": "control", "recovered-sheet": "recovered"}
    answer = _upload(client, book, book, names=("book.xlsx", "book.xlsx"), **chosen).json()
    assert answer["warnings"] == []
    assert _p_values(_judge(client, answer["case"])) == [c.p_value for c in judge(*tables).conclusions]


def test_one_table_given_twice_is_warned_of_before_and_after_judging(client, book):
    once = {"control-sheet": "control", "recovered-sheet": "control"}
    answer = _upload(client, book, book, names=("book.xlsx", "book.xlsx"), **once).json()
    assert answer["warnings"]
    result = _judge(client, answer["case"])
    assert set(answer["warnings"]) <= set(result["warnings"])


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
        assert answer.status_code == 400


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in ("method", "reduce", "preprocess") for value in (3, True, ["a"], {"a": 1})),
        *(("features", value) for value in (3, "K", [1], [["K"]], {"K": 1})),
        *(("ranges", value) for value in (3, "1-2", [1, 2], [[1]], [["a", 2]], [[1, 2, 3]], [None])),
        *(("sensitivity", value) for value in ("0.9", True, [0.9])),
        *(("reduce_to", value) for value in ("2", 2.5, True, [2])),
        *(("case", value) for value in (3, "x", ["x"], {"examiner": 3})),
    ],
)
def test_values_of_the_wrong_kind_are_refused_before_any_work(client, case_of_glass, name, value):
    for where in ("judge", "preview"):
        answer = client.post(f"/api/cases/{case_of_glass}/{where}", json={name: value})
        assert answer.status_code == 400
        assert answer.json()["problems"][0]["message"].startswith(f"{name}=")


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
    monkeypatch.setattr("transvariation.web.app.JOBS", "os")  # os.understand is an unforeseen error
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


def test_no_id_becomes_a_formula_in_the_saved_conclusions():
    from transvariation.web.work import render

    glass = load_glass()
    other = glass.recovered[["K", "Mg"]].iloc[:2].rename(index={glass.recovered.index[0]: "=cmd|' /C calc'!A0"})
    result = judge(glass.control[["K", "Mg"]], other).to_dict()
    lines = base64.b64decode(render(result, "csv", 0.9)).decode().splitlines()
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
    assert [table["columns"] for table in answer.json()["tables"]] == [["id"], ["id"]]
    assert [table["hidden"] for table in answer.json()["tables"]] == [393, 393]


def test_preview_shows_spectra_preprocessed_within_the_ranges(client, spectra):
    case = _upload(client, *spectra).json()["case"]
    asked = {"ranges": [[850, 950], [1000, 1100.5]], "preprocess": "snv"}
    found = client.post(f"/api/cases/{case}/preview", json=asked).json()
    assert found["kept"] == [202, 401]
    assert found["of"] == [30, 6]
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
    assert answer.status_code == 422
    assert words in answer.json()["problems"][0]["message"]
    assert client.post(f"/api/cases/{case}/preview", json=[1]).status_code == 400
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
    found = client.get(f"/api/cases/{case}/evidence", params={"fragment": "S5"}).json()
    last = expected.conclusions[-1]
    assert [region[0] for region in found["regions"]] == [str(region) for region in last.regions]
    assert any(low < 1150 < high for low, high in found["shaded"])
    band = expected.spectra.band(0.9)
    (part,) = found["spectrum"]["parts"]
    assert min(part["band"][0]) == pytest.approx(band.lower.min(), rel=1e-3)
    seen = client.get(f"/api/cases/{case}/spectra").json()
    assert seen["excluded"] == len(expected.excluded) > 0
    outside = [(c.spectrum < band.lower) | (c.spectrum > band.upper) for c in expected.excluded]
    largest = max(max(part["lines"][0]) for part in seen["importance"])
    assert largest == pytest.approx(100 * np.mean(outside, axis=0).max())
    wider = client.get(f"/api/cases/{case}/spectra?sensitivity=0.6").json()
    assert wider["range"] == seen["range"]  # the scale stays while the slider moves


def test_figures_are_drawn_and_saved(client, tables, spectra):
    case = _upload(client, *tables).json()["case"]
    _judge(client, case)
    for kind in ("acceptance", "extremes"):
        found = client.get(f"/api/cases/{case}/figure", params={"kind": kind}).json()
        assert found["svg"].rstrip().endswith("</svg>")
        assert found["words"].lower().startswith(kind)
    assert client.get(f"/api/cases/{case}/figure?kind=other").status_code == 422
    names = {"acceptance.svg", "extremes.svg"}
    wide = _upload(client, *spectra).json()["case"]
    _judge(client, wide)
    for each, more in ((case, {"fragments.svg"}), (wide, {"spectra.svg", "importance.svg"})):
        content = client.get(f"/api/cases/{each}/file.zip").content
        assert set(zipfile.ZipFile(io.BytesIO(content)).namelist()) == names | more


def test_views_of_spectra_are_sent_without_the_measurements(spectra):
    files = [(f"{name}.csv", content) for name, content in zip(ROLES, spectra, strict=True)]
    found = work.decide(files, AS_READ, {"preprocess": "snv"}, progress=lambda step, share: None)
    full, shown = found["case"], found["shown"]
    assert 2 * len(json.dumps(shown)) < len(json.dumps(full))
    assert work.view(shown, 0.8) == work.view(full, 0.8)
    assert work.spectra(shown, 0.8) == work.spectra(full, 0.8)
    assert work.evidence(shown, "S5", 0.8) == work.evidence(full, "S5", 0.8)


def test_known_foreign_samples_are_a_third_table(client, spectra):
    files = {name: (f"{name}.csv", content) for name, content in zip(ROLES, spectra, strict=True)}
    answer = client.post("/api/tables", files=files, data={"background-kind": "foreign"})
    assert answer.json()["problems"] == [{"message": "Choose the foreign table, or none."}]
    files["background"] = ("foreign.csv", spectra[1])
    case = client.post("/api/tables", files=files, data={"background-kind": "foreign"}).json()["case"]
    _judge(client, case, preprocess="snv")
    assert client.get(f"/api/cases/{case}/view").json()["foreign"] is True
    found = client.get(f"/api/cases/{case}/figure?kind=foreign").json()
    assert found["words"].startswith("Sensitivity and specificity over the threshold")
    assert "<svg" in found["svg"]
    content = client.get(f"/api/cases/{case}/file.zip").content
    assert {"foreign.svg", "type_ii.svg"} <= set(zipfile.ZipFile(io.BytesIO(content)).namelist())


def test_worker_reports_its_steps():
    found = []
    files = [(f"{name}.csv", b"a\n" + b"1\n2\n3\n" * 5) for name in ROLES]
    told = {"seconds": 60, "memory": 2**33, "progress": lambda step, share: found.append((step, share))}
    asyncio.run(workers.work("transvariation.web.work:decide", files, AS_READ, {}, **told))
    steps, shares = zip(*found, strict=True)
    assert steps[:2] == ("reading the tables", "comparing 15 recovered with 15 control fragments")
    assert shares == (0, None, 0.9)
