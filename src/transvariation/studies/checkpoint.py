"""Run many independent tasks and keep their results in a file, so that an interrupted run can be resumed."""

import json
import os
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from transvariation.exceptions import OrderedScores

Task = Sequence[Any]  # the arguments of one call
Done = tuple[Task, Any, dict[str, str]]  # a task, its result, and the first warning of each kind


class CheckpointError(ValueError):
    """A file holds results that this run cannot resume."""


class Checkpoint:
    """A file of results, one line of JSON with a checksum per finished task.

    An incomplete last line, as a killed process leaves it, is removed and its task is run again. Of any other line that
    was changed, the file is refused with the number of the line; the others are kept once it is deleted.

    Parameters
    ----------
    path : Path
        The file; created if it does not exist.
    header : dict
        What all results in the file have in common (study, version, seed, ...). A file with another header, or one
        that is not a checkpoint, is refused and left unchanged.
    """

    def __init__(self, path: Path, header: dict[str, object]):
        self.path = path
        self.header = json.loads(json.dumps(header))
        self.results: dict[tuple, Any] = {}
        self.warned: Counter[str] = Counter()  # in how many tasks each kind of warning was given
        self.warnings: dict[str, str] = {}  # the first message of each kind
        content = path.read_bytes() if path.exists() else b""
        end = content.rfind(b"\n") + 1
        if end:
            self._read(content[:end])
        elif not self._line(self.header).startswith(content):
            raise self._not_ours("its first line is not what this command writes")
        # From here on the file is known to be a checkpoint.
        if end < len(content):
            with path.open("r+b") as file:
                file.truncate(end)  # an incomplete last line
        if not end:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._append(self.header)

    @staticmethod
    def _key(task: Task) -> tuple:
        return tuple(task)

    @staticmethod
    def _line(entry: dict[str, object]) -> bytes:
        return (json.dumps(entry) + "\n").encode()

    def _not_ours(self, reason: object) -> CheckpointError:
        return CheckpointError(f"{self.path} is not a checkpoint of this program ({reason}); choose another folder")

    def _read(self, content: bytes) -> None:
        """Read the results of complete lines, or raise CheckpointError."""
        first, *lines = [_parsed(line) for line in content.splitlines()]
        if not isinstance(first, dict) or "study" not in first:
            raise self._not_ours("its first line does not name a study")
        if first != self.header:
            different = sorted(k for k in {*self.header, *first} if self.header.get(k) != first.get(k))
            raise CheckpointError(
                f"{self.path} was begun with another "
                + ", ".join(f"{k} ({first.get(k)}, now {self.header.get(k)})" for k in different)
                + "; choose another folder, or delete this one to start again"
            )
        for number, line in enumerate(lines, 2):
            if not (isinstance(line, dict) and line.pop("checksum", None) == _checksum(line)):
                raise CheckpointError(
                    f"line {number} of {self.path} is damaged or was changed; delete that line to run its task again "
                    "(the other results are kept), or choose another folder"
                )
            self._keep(**line)

    def _keep(self, task: Task, result: object, warnings: dict[str, str]) -> None:
        self.results[self._key(task)] = result
        self.warned.update(warnings.keys())
        self.warnings = warnings | self.warnings

    def _append(self, entry: dict[str, object]) -> None:
        with self.path.open("ab") as file:
            file.write(self._line(entry))
            file.flush()
            os.fsync(file.fileno())

    def missing(self, tasks: Iterable[Task]) -> list[Task]:
        """List the tasks without a result."""
        return [task for task in tasks if self._key(task) not in self.results]

    def run(self, tasks: Sequence[Task], function: Callable[..., object], jobs: int = 1) -> Iterator[Task]:
        """Run the missing tasks, `function(*task)` each; yield every task when its result is on disk."""
        for task, result, warned in _results(self.missing(tasks), function, jobs):
            entry = {"task": list(task), "result": result, "warnings": warned}
            self._append(entry | {"checksum": _checksum(entry)})
            self._keep(task, result, warned)
            yield task


def _parsed(line: bytes) -> object:
    """Read a line of JSON; None if it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _checksum(entry: dict[str, object]) -> int:
    return zlib.crc32(json.dumps(entry, sort_keys=True).encode())


def _with_task(function: Callable[..., object], task: Task) -> Done:
    """Run a task; return it with its result and the first warning of each kind that it gave.

    Linear algebra has one thread, as in a worker process: with more, sums are taken in another order.
    """
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", OrderedScores)  # samples are divided at random, whatever their order
        result = function(*task)
    return task, result, {each.category.__name__: str(each.message) for each in reversed(caught)}


def _results(tasks: Sequence[Task], function: Callable[..., object], jobs: int) -> Iterator[Done]:
    if jobs == 1:
        yield from (_with_task(function, task) for task in tasks)
    else:
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
        yield from parallel(delayed(_with_task)(function, task) for task in tasks)
