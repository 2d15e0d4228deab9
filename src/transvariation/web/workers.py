"""Work on a stranger's file happens in a process of its own, with an end in time and memory."""

import json
import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import anyio
import anyio.to_thread

CONTEXT = multiprocessing.get_context("forkserver")
POLL = 0.05  # seconds between looks at a running worker


class WorkError(Exception):
    """The work could not be done; `problems` says why, one dictionary per reason."""

    def __init__(self, problems: list[dict[str, Any]]):
        super().__init__(problems)
        self.problems = problems


class Cancelled(Exception):
    """The person asked to stop."""


def warm_up() -> None:
    """Load the heavy libraries once; every worker then starts in milliseconds."""
    CONTEXT.set_forkserver_preload(["transvariation.web.work"])
    CONTEXT.Process(target=int).start()


def _child(connection: Connection, function: Callable[..., Any], arguments: tuple, memory: int) -> None:
    """Do the work and send the outcome as JSON: nothing that could run code travels back."""
    import resource

    from transvariation.table import TableError

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        outcome = {"result": function(*arguments)}
    except TableError as error:
        outcome = {"problems": [problem.to_dict() for problem in error.problems[:200]]}
    except MemoryError:
        outcome = {"problems": [{"message": "This needs more memory than is allowed here; use fewer rows or columns."}]}
    except (ValueError, ImportError) as error:
        outcome = {"problems": [{"message": str(error)}]}
    connection.send_bytes(json.dumps(outcome).encode())


async def work(
    function: Callable[..., Any],
    *arguments: Any,
    seconds: float,
    memory: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Any:
    """Run a function in a worker; give its result, or raise `WorkError` or `Cancelled`."""
    here, there = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_child, args=(there, function, arguments, memory), daemon=True)
    await anyio.to_thread.run_sync(process.start)
    there.close()
    try:
        answer = await _answer(here, process, time.monotonic() + seconds, stopped)
    finally:
        process.kill()
        await anyio.to_thread.run_sync(process.join)
        here.close()
    outcome = json.loads(answer)
    if "problems" in outcome:
        raise WorkError(outcome["problems"])
    return outcome["result"]


async def _answer(here: Connection, process: Any, deadline: float, stopped: Callable[[], bool]) -> bytes:
    while True:
        if here.poll():
            try:
                return await anyio.to_thread.run_sync(here.recv_bytes)
            except EOFError:
                raise WorkError([{"message": "The worker stopped unexpectedly; try again with fewer rows."}]) from None
        if stopped():
            raise Cancelled
        if time.monotonic() > deadline:
            raise WorkError(
                [{"message": "This took longer than is allowed here; use fewer rows, or the command line."}]
            )
        if not process.is_alive() and not here.poll():
            raise WorkError([{"message": "The worker stopped unexpectedly; try again with fewer rows."}])
        await anyio.sleep(POLL)
