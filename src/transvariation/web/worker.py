"""The worker's side: the process of one case, and the process that forks such processes."""

import json
import math
import os
import queue
import signal
import socket
import sys
import threading
from typing import Any, BinaryIO

from transvariation._typing import Fields
from transvariation.casework import CaseError, SettingsError
from transvariation.report.wording.cautions import step_text
from transvariation.report.wording.remedies import error_text, refusal
from transvariation.tables import TableError
from transvariation.web.preview import problem_dict
from transvariation.web.session import MAX_PROBLEMS, Session


def fork_workers(page: socket.socket) -> None:
    """Fork a worker for every socket that the page sends, until the page ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for workers
    while True:
        _, sockets, *_ = socket.recv_fds(page, 1, 1)
        if not sockets:
            return
        if os.fork() == 0:
            page.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            connection = socket.socket(fileno=sockets[0])
            serve(connection.makefile("rb"), connection.makefile("wb"))
        os.close(sockets[0])


def serve(received: BinaryIO, sent: BinaryIO) -> None:
    """Do the jobs of a case, one after the other, until the page closes the connection."""
    jobs: queue.SimpleQueue[Fields] = queue.SimpleQueue()

    def listen() -> None:
        for line in received:
            jobs.put(json.loads(line))
        os._exit(0)  # nobody waits for an answer any more

    def send(message: dict[str, object]) -> None:
        try:
            sent.write(json.dumps(finite(message), allow_nan=False).encode() + b"\n")
            sent.flush()
        except OSError:
            os._exit(0)

    session = Session(lambda step, share: send({"step": step_text(step), "share": share}))
    threading.Thread(target=listen, daemon=True).start()
    while True:
        asked = jobs.get()
        send(answer(session, asked["job"], asked["arguments"]))


def answer(session: Session, job: str, arguments: list[Any]) -> dict[str, object]:
    """Do a job; return its result, or what is wrong with the tables or the request."""
    try:
        return {"result": limit(*arguments) if job == "limit" else getattr(session, job)(*arguments)}
    except SettingsError as error:
        return _problem(error_text(error, "page"), 400)
    except TableError as error:
        return {"problems": [problem_dict(problem) for problem in error.problems[:MAX_PROBLEMS]]}
    except MemoryError:
        return _problem(refusal("too-large"))
    except CaseError as error:
        return _problem(error_text(error, "page"))
    except ImportError as error:
        # A shared library that finds no memory fails to load, and then the error names its path.
        return _problem(refusal("too-large") if error.path else str(error))
    except ValueError as error:
        return _problem(str(error))


def _problem(message: str, status: int = 422) -> dict[str, object]:
    return {"problems": [{"message": message}], "status": status}


def limit(n_bytes: int) -> int:
    """Limit the memory of this process; return its number."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return os.getpid()
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    return os.getpid()


def finite(value: object) -> object:
    """Replace infinite numbers and NaN, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


if __name__ == "__main__":
    if sys.argv[1:] == ["fork"]:
        with socket.socket(fileno=0) as connection:
            fork_workers(connection)
    else:
        answers = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)  # whatever a library prints is no answer
        serve(sys.stdin.buffer, answers)
