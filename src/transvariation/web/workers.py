"""Run jobs on uploaded files in processes of their own, with limits on time and memory."""

import json
import math
import multiprocessing
import os
import pkgutil
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import anyio
import anyio.to_thread

# Windows starts every process from scratch.
METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
CONTEXT: Any = multiprocessing.get_context(METHOD)
STOPPED = "The worker stopped unexpectedly; try again with fewer rows."
TOO_MUCH = "This needs more memory than is allowed here; use fewer rows or columns."
POLL = 0.05  # seconds between looks at a running worker


class WorkError(Exception):
    """A request or a job failed; `problems` holds one dictionary per reason, `status` is that of the response."""

    def __init__(self, *problems: dict[str, Any], status: int = 422):
        super().__init__(problems)
        self.problems = list(problems)
        self.status = status


def failure(message: str, status: int = 422) -> WorkError:
    """Make the error of a single reason."""
    return WorkError({"message": message}, status=status)


class Cancelled(Exception):
    """The job was cancelled by the user."""


def warm_up() -> None:
    """Import the heavy libraries once, so that workers start in milliseconds."""
    if METHOD == "forkserver":
        CONTEXT.set_forkserver_preload(["transvariation.web.work"])
        CONTEXT.Process(target=int).start()


def _limit_memory(n_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))


def _child(connection: Connection, job: str, arguments: tuple, memory: int, reports: bool) -> None:
    """Run a job and send its steps and its outcome as JSON, which cannot run code."""
    from transvariation.casework import CaseError
    from transvariation.tables import TableError
    from transvariation.web.preview import problem_dict

    function = pkgutil.resolve_name(job)
    _limit_memory(memory)

    def send(message: dict[str, Any]) -> None:
        try:
            connection.send_bytes(json.dumps(_finite(message), allow_nan=False).encode())
        except BrokenPipeError:  # nobody waits for the answer any more
            os._exit(0)

    def report(step: str, share: float | None) -> None:
        send({"step": step, "share": share})

    options = {"progress": report} if reports else {}
    try:
        outcome = {"result": function(*arguments, **options)}
    except TableError as error:
        outcome = {"problems": [problem_dict(problem) for problem in error.problems[:200]]}
    except MemoryError:
        outcome = {"problems": [{"message": TOO_MUCH}]}
    except CaseError as error:
        outcome = {"problems": [{"message": error.text("page")}]}
    except ImportError as error:
        # A shared library that finds no memory fails to load, and then the error names its path.
        outcome = {"problems": [{"message": TOO_MUCH if error.path else str(error)}]}
    except ValueError as error:
        outcome = {"problems": [{"message": str(error)}]}
    send(outcome)


def _finite(value: Any) -> Any:
    """Replace infinite numbers and NaN, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


async def work(
    job: str,
    *arguments: Any,
    seconds: float,
    memory: int,
    stopped: Callable[[], bool] = lambda: False,
    progress: Callable[[str, float | None], None] | None = None,
) -> Any:
    """Run a function in a worker; return its result, or raise `WorkError` or `Cancelled`.

    The job is the name of a function, such as ``"transvariation.web.work:decide"``: only the worker imports it. With
    `progress` it reports its steps, and the share of the work done before each, or None.
    """
    here, there = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_child, args=(there, job, arguments, memory, progress is not None), daemon=True)
    await anyio.to_thread.run_sync(process.start)
    there.close()
    deadline = time.monotonic() + seconds
    try:
        outcome = await _answer(here, process, deadline, stopped)
        while progress is not None and "step" in outcome:
            progress(outcome["step"], outcome["share"])
            outcome = await _answer(here, process, deadline, stopped)
    finally:
        process.kill()
        await anyio.to_thread.run_sync(process.join)
        here.close()
    if "problems" in outcome:
        raise WorkError(*outcome["problems"])
    return outcome["result"]


async def _answer(here: Connection, process: Any, deadline: float, stopped: Callable[[], bool]) -> dict[str, Any]:
    while True:
        if here.poll():
            try:
                return json.loads(await anyio.to_thread.run_sync(here.recv_bytes))
            except EOFError:
                raise failure(STOPPED) from None
        if stopped():
            raise Cancelled
        if time.monotonic() > deadline:
            raise failure("This took longer than is allowed here; use fewer rows, or the command line.")
        if not process.is_alive() and not here.poll():
            raise failure(STOPPED)
        await anyio.sleep(POLL)
