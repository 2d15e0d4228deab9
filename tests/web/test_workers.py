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
