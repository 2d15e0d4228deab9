"""The page in this process, cases on it, and what the tests of its modules ask of it."""

import io
import json
import os
import subprocess
import sys
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from transvariation import load_glass
from transvariation.web import workers

PORT = 8377
ORIGIN = f"http://127.0.0.1:{PORT}"
ROLES = ("control", "recovered")
LIMITS = {"max_bytes": 4 * 2**20, "read_seconds": 60, "fit_seconds": 60, "cases": 500}


def open_page(**limits):
    """Return a client of a page with these limits, logged in; modules that use it skip themselves without starlette."""
    from starlette.testclient import TestClient

    from transvariation.web.app import PageLimits, make_app
    from transvariation.web.guard import COOKIE

    app = make_app("secret", PORT, PageLimits(**limits))
    client = TestClient(app, base_url=ORIGIN)
    client.cookies.set(f"{COOKIE}-{PORT}", "secret")
    client.headers.update({"origin": ORIGIN, "x-csrf-token": app.csrf})
    return client


@pytest.fixture(scope="module")
def client():
    workers.warm_up()  # as `serve` does: every worker then starts in milliseconds
    with open_page(**LIMITS) as client:
        yield client


@pytest.fixture(scope="module")
def tables():
    glass = load_glass()
    return [glass.control[["K", "Mg"]].to_csv().encode(), glass.recovered[["K", "Mg"]].iloc[::10].to_csv().encode()]


def upload(client, control, recovered, names=("control.csv", "recovered.csv"), third=("", None), **settings):
    files = {"control": (names[0], control), "recovered": (names[1], recovered)}
    if third[1] is not None:
        files[third[0]] = (f"{third[0]}.csv", third[1])
    return client.post("/api/tables", files=files, data={"third": third[0], "settings": json.dumps(settings)})


def for_tables(**settings):
    """Settings of single tables, by table."""
    return {"tables": settings}


def wait_for(client, case):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        answer = client.get(f"/api/cases/{case}").json()
        if answer["state"] != "running":
            return answer
        time.sleep(0.05)
    raise AssertionError("the fit did not end")


def judge_on_page(client, name, /, **options):
    """Judge a case and return the complete result, as the page saves it."""
    assert client.post(f"/api/cases/{name}/judge", json=options).status_code == 202
    final = wait_for(client, name)
    assert final["state"] == "done", final
    return client.get(f"/api/cases/{name}/file.json").json()


def p_values_of(result):
    return [conclusion["p_value"] for conclusion in result["conclusions"]]


@pytest.fixture(scope="module")
def judged(client, tables):
    case = upload(client, *tables).json()["case"]
    return case, judge_on_page(client, case)


@pytest.fixture
def case_of_glass(judged):
    return judged[0]


@pytest.fixture(scope="module")
def book(tables):
    sheets, buffer = [pd.read_csv(io.BytesIO(table)) for table in tables], io.BytesIO()
    with pd.ExcelWriter(buffer) as writer:
        pd.DataFrame().to_excel(writer, sheet_name="cover")
        for title, sheet in zip(ROLES, sheets, strict=True):
            sheet.to_excel(writer, sheet_name=title, index=False)
    return buffer.getvalue()


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


def wait_for_page(where):
    """Wait for an answer, whatever it says: then the page is up."""
    connection = HTTPConnection(where, timeout=60)
    connection.request("GET", "/")
    connection.getresponse().read()
    connection.close()


@pytest.fixture
def served(tmp_path):
    """A page in a session of its own, whose temporary files go to a folder of their own."""
    command = [sys.executable, "-m", "transvariation", "serve", "--port", "0", "--no-browser"]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True, "text": True}
    with subprocess.Popen(command, env=os.environ | {"TMPDIR": str(tmp_path)}, **options) as page:
        yield page, urlsplit(page.stdout.readline().strip()).netloc
        page.kill()
