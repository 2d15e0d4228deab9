"""Workers: what they answer, how they end, and where processes cannot be forked, as on Windows."""

import asyncio
import contextlib
import os
import subprocess
import time

import pytest

pytest.importorskip("starlette")

from transvariation.report.wording.remedies import refusal
from transvariation.web import workers
from transvariation.web.workers import Worker, WorkError

MEMORY = 4 << 30


def _asked(*jobs):
    """Ask a new worker for several jobs; return the answers."""

    async def asking():
        one = await Worker.start(MEMORY)
        try:
            return [await one.ask(*job, seconds=60) for job in jobs]
        finally:
            one.close()
            with contextlib.suppress(ConnectionError):
                await one.reader.read()  # until the worker has ended
            await asyncio.sleep(0.1)  # for its exit status

    return asyncio.run(asking())


def _is_running(pid):
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return found.strip() != "" and "Z" not in found


def test_worker_keeps_what_it_was_given():
    files, *_ = _asked(("example",))
    _, seen, _, view = _asked(("load", files), ("read", {}), ("judge", {}), ("show", "view", 0.8))
    assert seen["files"] == {which: file["name"] for which, file in files.items()}
    assert view["sensitivity"] == 0.8


def test_worker_that_is_started_from_scratch_answers(monkeypatch):
    monkeypatch.setattr(workers, "CAN_FORK", False)
    (found,) = _asked(("example",))
    assert found["control"]["name"] == "windows.csv"
    assert workers.warm_up() is None


@pytest.mark.skipif(not workers.CAN_FORK, reason="processes cannot be forked here")
def test_a_worker_whose_answer_nobody_awaits_ends_silently(capfd):
    async def leaving():
        one = await Worker.start(MEMORY)
        one.writer.write(b'{"job": "example", "arguments": []}\n')
        one.writer.close()
        return one.pid

    pid = asyncio.run(leaving())
    deadline = time.monotonic() + 30
    while _is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(pid)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.skipif(not workers.CAN_FORK, reason="processes cannot be forked here")
def test_a_worker_that_is_busy_ends_when_the_page_leaves(capfd):
    """Also if the page was killed and can kill nobody: the closed connection is enough."""

    async def leaving():
        one = await Worker.start(MEMORY)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.5):
                table = "\n".join(["a,b,c,d", *(f"{i % 97}.5,{i % 89}.5,{i % 83}.5,{i % 79}.5" for i in range(9000))])
                file = {"content": __import__("base64").b64encode(table.encode()).decode()}
                files = {which: {"name": f"{which}.csv", **file} for which in ("control", "recovered")}
                one.writer.write(__import__("json").dumps({"job": "load", "arguments": [files]}).encode() + b"\n")
                one.writer.write(b'{"job": "judge", "arguments": [{"method": "projections"}]}\n')
                await asyncio.sleep(60)
        one.writer.close()
        return one.pid

    pid = asyncio.run(leaving())
    deadline = time.monotonic() + 30
    while _is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(pid)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.skipif(not workers.CAN_FORK, reason="processes cannot be forked here")
def test_a_killed_worker_is_reported_and_the_fork_server_replaced():
    async def killed():
        one = await Worker.start(MEMORY)
        os.kill(one.pid, 9)
        with pytest.raises(WorkError) as error:
            await one.ask("example", seconds=60)
        return error.value.answer["problems"]

    assert asyncio.run(killed()) == [{"message": refusal("stopped")}]
    process, _ = workers._fork_server()
    process.kill()
    process.wait()
    (found,) = _asked(("example",))
    assert set(found) == {"control", "recovered"}
