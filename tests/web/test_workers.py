"""Workers where processes cannot be forked, as on Windows."""

import multiprocessing
from functools import partial

import pytest

anyio = pytest.importorskip("anyio")

from transvariation.web import workers


def test_a_worker_that_is_started_from_scratch_answers(monkeypatch):
    monkeypatch.setattr(workers, "CONTEXT", multiprocessing.get_context("spawn"))
    job = partial(workers.work, "json:loads", "[1, 2]", seconds=60, memory=4 << 30)
    assert anyio.run(job) == [1, 2]


def test_nothing_is_preloaded_without_a_fork_server(monkeypatch):
    monkeypatch.setattr(workers, "METHOD", "spawn")
    monkeypatch.setattr(workers, "CONTEXT", None)
    assert workers.warm_up() is None


@pytest.mark.parametrize(
    ("text", "sent"), [("[Infinity, 1]", [None, 1]), ('{"a": [-Infinity, {"b": NaN}]}', {"a": [None, {"b": None}]})]
)
def test_numbers_that_json_does_not_have_are_sent_as_null(text, sent):
    job = partial(workers.work, "json:loads", text, seconds=60, memory=4 << 30)
    assert anyio.run(job) == sent


def test_a_worker_whose_answer_nobody_awaits_ends_silently(capfd):
    here, there = workers.CONTEXT.Pipe(duplex=False)
    process = workers.CONTEXT.Process(target=workers._child, args=(there, "json:loads", ("[1]",), 4 << 30, False))
    process.start()
    there.close()
    here.close()
    process.join(60)
    assert process.exitcode == 0
    assert "Traceback" not in capfd.readouterr().err
