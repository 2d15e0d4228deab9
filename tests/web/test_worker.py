"""What a worker answers: whatever it is asked, in words."""

import base64
import json
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest

pytest.importorskip("starlette")

from tests.web.conftest import ROLES

from transvariation.casework import CaseSettings
from transvariation.report.wording.remedies import refusal
from transvariation.web import worker
from transvariation.web.session import Session


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


def test_work_beyond_its_memory_ends_in_words(monkeypatch):
    class Greedy:
        def take(self):
            return bytearray(2**40)

    assert worker.answer(Greedy(), "take", [])["problems"] == [{"message": refusal("too-large")}]
    limit = 3 << 30
    code = f"from transvariation.web import worker; worker.limit({limit}); bytearray({limit})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MemoryError" in ended.stderr


def test_numbers_that_json_does_not_have_are_sent_as_null():
    value = {"a": [float("-inf"), {"b": float("nan")}], "c": (float("inf"), 1.5, "x", None, True)}
    assert worker.finite(value) == {"a": [None, {"b": None}], "c": [None, 1.5, "x", None, True]}
