"""A process that is monitored on the page."""

import json

import numpy as np
import pytest

pytest.importorskip("starlette")

from transvariation.datasets import make_plant
from transvariation.monitoring import monitor
from transvariation.report.monitoring import monitoring_summary


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
