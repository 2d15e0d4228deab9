"""Worker processes, one per case: the page sends jobs and gets answers in lines of JSON, which cannot run code.

Where processes can be forked, a first one imports the heavy libraries once and then forks a worker for each case within
milliseconds. It and the workers end when the page closes its end of their sockets, whatever ends the page itself.
"""

import asyncio
import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from transvariation.report.wording.remedies import refusal

if TYPE_CHECKING:
    from transvariation._typing import Fields

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")  # Windows starts every worker from scratch
LONGEST_MESSAGE = 2**30  # bytes of a message


class WorkError(Exception):
    """A request or a job failed; `problems` holds one dictionary per reason, `status` is that of the response."""

    def __init__(self, *problems: dict[str, object], status: int = 422, **more: object):
        super().__init__(problems)
        self.answer: Fields = {"problems": list(problems), **more}
        self.status = status


def failure(code: str, status: int = 422, **values: object) -> WorkError:
    """Make the error of a request that is refused."""
    return WorkError({"message": refusal(code, **values)}, status=status)


def _command() -> tuple[list[str], dict[str, str]]:
    """Return the command of a worker and its environment: it imports from where this process does."""
    command = [sys.executable, "-P", "-m", "transvariation.web.worker"]
    return command, os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@functools.cache
def _fork_server() -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start the process that forks workers; Ctrl-C in a terminal does not reach it."""
    here, there = socket.socketpair()
    command, environment = _command()
    with there:
        process = subprocess.Popen([*command, "fork"], env=environment, stdin=there.fileno(), process_group=0)
    atexit.register(_end, process, here)
    return process, here


def _end(process: "subprocess.Popen[bytes]", here: socket.socket) -> None:
    here.close()
    process.kill()  # it may still import
    process.wait()


def warm_up() -> None:
    """Import the heavy libraries before they are needed."""
    if CAN_FORK:
        _fork_server()


class Worker:
    """A process that holds one case, and the connection to it. It does one job at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self.reader, self.writer = reader, writer
        self.turn = asyncio.Lock()
        self.pid = 0
        self.closed = False

    @classmethod
    async def start(cls, memory: int) -> "Worker":
        """Start a worker that may take so many bytes of memory."""
        if CAN_FORK:
            process, server = _fork_server()
            if process.poll() is not None:  # something ended it
                _fork_server.cache_clear()
                _, server = _fork_server()
            here, there = socket.socketpair()
            with there:
                socket.send_fds(server, [b"1"], [there.fileno()])
            reader, writer = await asyncio.open_connection(sock=here, limit=LONGEST_MESSAGE)
        else:
            command, environment = _command()
            child = await asyncio.create_subprocess_exec(
                *command, env=environment, limit=LONGEST_MESSAGE, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            assert child.stdout is not None
            assert child.stdin is not None
            reader, writer = child.stdout, child.stdin
        worker = cls(reader, writer)
        worker.pid = await worker.ask("limit", memory, seconds=60)
        return worker

    async def ask(
        self, job: str, *arguments: object, seconds: float, progress: Callable[[str, float | None], None] | None = None
    ) -> Any:  # noqa: ANN401  # parsed JSON
        """Have a job done: return its result or raise `WorkError`. A worker that takes longer, or is left, is ended."""
        try:
            async with self.turn, asyncio.timeout(seconds):
                self.writer.write(json.dumps({"job": job, "arguments": arguments}).encode() + b"\n")
                await self.writer.drain()
                while "step" in (answer := json.loads(await self.reader.readline() or b"null") or {}):
                    if progress is not None:
                        progress(answer["step"], answer["share"])
        except TimeoutError:
            self.close()
            raise failure("too-slow") from None
        except ConnectionError:
            answer = {}
        except BaseException:
            self.close()
            raise
        if not answer:
            self.close()
            raise failure("stopped")
        if "problems" in answer:
            raise WorkError(*answer.pop("problems"), **answer)
        return answer["result"]

    def close(self) -> None:
        """End the worker."""
        if not self.closed:
            self.closed = True
            self.writer.close()
            if self.pid:
                with contextlib.suppress(OSError):
                    os.kill(self.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
