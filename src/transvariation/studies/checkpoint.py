"""Run many independent tasks and keep their results in a file, so that an interrupted run can be resumed."""

import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any


class CheckpointError(ValueError):
    """A file holds results that this run cannot resume."""


class Checkpoint:
    """A file of results, one line of JSON per finished task.

    An incomplete last line, as a killed process leaves it, is removed and its task is run again.

    Parameters
    ----------
    path : Path
        The file; created if it does not exist.
    header : dict
        What all results in the file have in common (study, version, seed, ...). A file with another header, or one
        that is not a checkpoint, is refused and left unchanged.
    """

    def __init__(self, path: Path, header: dict[str, Any]):
        self.path = path
        self.header = json.loads(json.dumps(header))
        self.results: dict[Hashable, Any] = {}
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
    def _key(task: Sequence[Any]) -> tuple:
        return tuple(task)

    @staticmethod
    def _line(entry: dict[str, Any]) -> bytes:
        return (json.dumps(entry) + "\n").encode()

    def _not_ours(self, reason: object) -> CheckpointError:
        return CheckpointError(f"{self.path} is not a checkpoint of this program ({reason}); choose another folder")

    def _read(self, content: bytes) -> None:
        """Read the results of complete lines, or raise CheckpointError."""
        try:
            first, *lines = [json.loads(line) for line in content.splitlines()]
        except (ValueError, RecursionError) as error:
            raise self._not_ours(error) from error
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
            if not _is_result(line):
                raise self._not_ours(f"its line {number} is not a result")
            self.results[self._key(line["task"])] = line["result"]

    def _append(self, entry: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write(self._line(entry))
            file.flush()
            os.fsync(file.fileno())

    def missing(self, tasks: Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
        """List the tasks without a result."""
        return [task for task in tasks if self._key(task) not in self.results]

    def run(
        self, tasks: Sequence[Sequence[Any]], function: Callable[..., Any], jobs: int | str = 1
    ) -> Iterator[Sequence[Any]]:
        """Run the missing tasks, `function(*task)` each; yield every task when its result is on disk."""
        for task, result in _results(self.missing(tasks), function, jobs):
            self._append({"task": list(task), "result": result})
            self.results[self._key(task)] = result
            yield task


def _is_result(line: Any) -> bool:
    if not isinstance(line, dict) or not isinstance(line.get("result"), dict | list):
        return False
    task = line.get("task")
    return isinstance(task, list) and all(isinstance(part, str | int | float) for part in task)


def _with_task(function: Callable[..., Any], task: Sequence[Any]) -> tuple[Sequence[Any], Any]:
    return task, function(*task)


def _results(
    tasks: Sequence[Sequence[Any]], function: Callable[..., Any], jobs: int | str
) -> Iterator[tuple[Sequence[Any], Any]]:
    if isinstance(jobs, str):
        yield from _on_dask(tasks, function, jobs)
    elif jobs == 1:
        yield from (_with_task(function, task) for task in tasks)
    else:
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
        yield from parallel(delayed(_with_task)(function, task) for task in tasks)


def _on_dask(
    tasks: Sequence[Sequence[Any]], function: Callable[..., Any], address: str
) -> Iterator[tuple[Sequence[Any], Any]]:
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise ImportError(
            f"jobs={address!r} names a Dask scheduler; install it with: pip install 'transvariation[dask]'"
        ) from error
    with Client(address) as client:
        futures = client.map(lambda task: _with_task(function, task), list(tasks), pure=False)
        for _, pair in as_completed(futures, with_results=True):
            yield pair
