"""Work on a stranger's file happens in a process of its own, with an end in time and memory."""

import json
import multiprocessing
import pkgutil
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import anyio
import anyio.to_thread

CONTEXT = multiprocessing.get_context("forkserver")
TOO_MUCH = "This needs more memory than is allowed here; use fewer rows or columns."
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


def _child(connection: Connection, job: str, arguments: tuple, memory: int) -> None:
    """Do the work and send the outcome as JSON: nothing that could run code travels back."""
    import resource

    from transvariation.casework import CaseError
    from transvariation.tables import TableError
    from transvariation.web.preview import told

    function = pkgutil.resolve_name(job)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        outcome = {"result": function(*arguments)}
    except TableError as error:
        outcome = {"problems": [told(problem) for problem in error.problems[:200]]}
    except MemoryError:
        outcome = {"problems": [{"message": TOO_MUCH}]}
    except (ValueError, ImportError) as error:
        no_room = "failed to map" in str(error)  # a library that was to be loaded found none
        outcome = {
            "problems": [
                {"message": TOO_MUCH if no_room else error.text("page") if isinstance(error, CaseError) else str(error)}
            ]
        }
    connection.send_bytes(json.dumps(outcome).encode())


async def work(
    job: str,
    *arguments: Any,
    seconds: float,
    memory: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Any:
    """Run a function in a worker; give its result, or raise `WorkError` or `Cancelled`.

    The job is a function's name, as in ``"transvariation.web.work:decide"``: only the worker loads what it needs, and
    the process that answers the browser stays light.
    """
    here, there = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_child, args=(there, job, arguments, memory), daemon=True)
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
