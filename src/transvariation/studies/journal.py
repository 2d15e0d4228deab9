"""Many independent tasks, done once each: results go to a journal, and a second call goes on from there."""

import json
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any


class JournalError(ValueError):
    """A folder holds results that cannot be continued."""


class Journal:
    """A file of results, one line per finished task, that survives being cut off at any moment.

    Parameters
    ----------
    path : Path
        The file; made where there is none.
    header : dict
        What all results in the file have in common (version, seed, ...). A file with another header is refused: its
        results would not be comparable.
    """

    def __init__(self, path: Path, header: dict[str, Any]):
        self.path = path
        self.header = json.loads(json.dumps(header))
        self.results: dict[Hashable, Any] = {}
        lines = self._complete_lines()
        if lines and lines[0] != self.header:
            different = sorted(k for k in {*self.header, *lines[0]} if self.header.get(k) != lines[0].get(k))
            raise JournalError(
                f"{path} was begun with another "
                + ", ".join(f"{k} ({lines[0].get(k)}, now {self.header.get(k)})" for k in different)
                + "; choose another folder, or delete this one to start anew"
            )
        for line in lines[1:]:
            self.results[self._key(line["task"])] = line["result"]
        if not lines:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._append(self.header)

    @staticmethod
    def _key(task: Sequence[Any]) -> tuple:
        return tuple(task)

    def _complete_lines(self) -> list[dict[str, Any]]:
        """Read the file; what a kill cut off in the middle of its last line is removed."""
        if not self.path.exists():
            return []
        content = self.path.read_bytes()
        kept = content[: content.rfind(b"\n") + 1]
        if len(kept) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(kept))
        try:
            return [json.loads(line) for line in kept.splitlines()]
        except ValueError as error:
            raise JournalError(
                f"{self.path} is not a journal of this program ({error}); choose another folder"
            ) from error

    def _append(self, entry: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            file.write((json.dumps(entry) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())

    def missing(self, tasks: Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
        """List the tasks without a result."""
        return [task for task in tasks if self._key(task) not in self.results]

    def run(
        self, tasks: Sequence[Sequence[Any]], function: Callable[..., Any], jobs: int | str = 1
    ) -> Iterator[Sequence[Any]]:
        """Do the missing tasks, `function(*task)` each; yield every task when its result is safe on disk."""
        for task, result in _results(self.missing(tasks), function, jobs):
            self._append({"task": list(task), "result": result})
            self.results[self._key(task)] = result
            yield task


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
