"""Monitoring and validation on the page: in a worker, with progress, cancellable."""

import json
import time

import numpy as np
import pytest

pytest.importorskip("starlette")
from tests.casework.conftest import make_glass

from transvariation.casework import Database, validate
from transvariation.datasets import make_plant
from transvariation.monitoring import monitor
from transvariation.report.monitoring import monitoring_summary
from transvariation.report.validation import rate_table, validation_summary

QUICK = {"designs": ["1x1"], "sensitivities": [0.9], "n_comparisons": 20, "rates_only": True}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("database")
    table = make_glass(20, 3, 2, np.random.default_rng(0))
    database = Database.build(table, name="panes", source_column="pane")
    database.write(folder / "panes.csv")
    return {
        which: (name, (folder / name).read_bytes())
        for which, name in (("table", "panes.csv"), ("description", "panes.json"))
    }, database


def begun(client, files, **options):
    return client.post("/api/validate", files=files, data={"options": json.dumps(QUICK | options)}).json()


def waited(client, name):
    while (answer := client.get(f"/api/cases/{name}").json())["state"] == "running":
        time.sleep(0.1)
    return answer


def test_the_page_shows_what_the_library_measures(client, files):
    uploaded, database = files
    start = begun(client, uploaded)
    assert start["described"] == "panes: 20 sources, 60 fragments, 120 measurements, 5 variables."
    assert waited(client, start["case"]) == {"state": "done"}
    shown = client.get(f"/api/cases/{start['case']}/analysis").json()
    expected = validate(database, designs=["1x1"], n_comparisons=20, rates_only=True)
    conclusion, design = (each["parts"] for each in shown["sections"])
    assert conclusion[0]["text"] == validation_summary(expected)
    assert design[-1]["rows"] == rate_table(expected.designs[0]).values.tolist()
    assert [image["svg"].count("<svg") for part in design for image in part.get("images", ())] == [1]
    assert "Purpose and population" in shown["report"]
    assert json.loads(shown["json"])["designs"][0]["design"] == "1x1"


def test_a_process_is_monitored_as_by_the_library(client):
    normal, new = make_plant(250, random_state=0), make_plant(120, fault=8, onset=60, random_state=1)
    files = {
        which: (f"{which}.csv", run.to_csv(index_label="time")) for which, run in (("normal", normal), ("new", new))
    }
    begun = client.post("/api/monitor", files=files, data={"options": json.dumps({"run": 2})}).json()
    assert waited(client, begun["case"]) == {"state": "done"}
    answer = client.get(f"/api/cases/{begun['case']}/analysis").json()
    expected = monitor(normal, new, run=2)
    assert answer["summary"] == monitoring_summary(expected)
    charts, alarms, _ = (section["parts"] for section in answer["sections"])
    assert [len(part["images"]) for part in (*charts, alarms[1])] == [1, 1]
    assert alarms[0]["rows"][0][-1].startswith(next(iter(expected.alarms[0].contributions)))
    assert answer["summary"] in answer["report"]
    assert json.loads(answer["json"])["run"] == 2
    page = client.get("/monitor").text
    assert 'src="/static/analysis.js"' in page
    assert "{{" not in page
    lacking = client.post("/api/monitor", files={"new": files["new"]})
    assert lacking.json()["problems"][0]["message"] == "Choose the table of the normal run."
    for wrong in ({"lags": "many"}, {"classifier": 1}, {"run": 0}, {"lags": np.inf}):
        refused = client.post("/api/monitor", files=files, data={"options": json.dumps(wrong)}).json()
        refused = refused if "problems" in refused else waited(client, refused["case"])
        assert next(iter(wrong)) in refused["problems"][0]["message"]


def test_a_validation_can_be_cancelled(client, files):
    start = begun(client, files[0], rates_only=False, n_comparisons=20_000)
    assert client.post(f"/api/cases/{start['case']}/cancel").json() == {"state": "cancelled"}
    assert client.get(f"/api/cases/{start['case']}/analysis").status_code == 404


def test_wrong_choices_are_named(client, files):
    uploaded, _ = files
    for wrong, words in (
        ({"n_comparisons": 30_000}, "at most 20000"),
        ({"n_comparisons": 0}, "must be a whole number, at least 1"),
        ({"sensitivities": ["high"]}, "='high' must be a number above 0 and at most 1"),
        ({"design": "1x1"}, "did you mean 'designs'?"),
    ):
        assert words in begun(client, uploaded, **wrong)["problems"][0]["message"]
    failed = waited(client, begun(client, uploaded, designs=["9x9"])["case"])
    assert "choose a smaller design" in failed["problems"][0]["message"]
    changed = uploaded | {"table": ("panes.csv", uploaded["table"][1] + b"P0,9,1,1,1,1,1,1\n")}
    assert "was changed after" in begun(client, changed)["problems"][0]["message"]
    lacking = client.post("/api/validate", files={"description": uploaded["description"]})
    assert lacking.json()["problems"][0]["message"] == "Choose the table of the database."


def test_the_page_is_there(client):
    page = client.get("/validate").text
    assert 'src="/static/analysis.js"' in page
    assert "{{" not in page
    assert client.get("/static/analysis.js").status_code == 200
    assert 'href="/validate"' in client.get("/").text
