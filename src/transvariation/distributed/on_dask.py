"""Rows that Dask holds: each question is one task per partition, answered where the partition is."""

import re
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed, delayed

from transvariation.distributed.rows import Floats, Rows, checked

_FAN_IN = 8  # answers added in one task: no worker holds more at a time


class DaskRows(Rows):
    """Partitions as delayed arrays; whatever scheduler is active computes them."""

    def __init__(self, parts: Iterable[Delayed]):
        self.parts = list(parts)

    def map(self, function: Callable, *arguments: Any) -> list:
        """Ask each partition where it is."""
        return list(computed(self._tasks(function, arguments)))

    def total(self, function: Callable, *arguments: Any) -> Any:
        """Add up the answers in a tree."""
        return computed([_added(self._tasks(function, arguments))])[0]

    def _tasks(self, function: Callable, arguments: tuple) -> list:
        # A delayed constant travels once, not once with each task.
        fixed = [delayed(a, pure=False) if isinstance(a, np.ndarray) and a.nbytes > 1 << 16 else a for a in arguments]
        token = f"{getattr(function, '__name__', 'task').strip('_')}-{uuid.uuid4().hex[:12]}"
        call = delayed(function, pure=False, traverse=False)
        return [
            call(part, i, *fixed, dask_key_name=f"transvariation-{token}-partition-{i}")
            for i, part in enumerate(self.parts)
        ]

    def derive(self, function: Callable, *arguments: Any) -> "DaskRows":
        """Transform where it is."""
        return DaskRows(self._tasks(function, arguments))

    def exchange(self, function: Callable, n_parts: int, *arguments: Any) -> "DaskRows":
        """Regroup over the network."""
        cut: list[Any] = self._tasks(function, arguments)
        joined = delayed(_join, pure=False)
        return DaskRows(joined([pieces[j] for pieces in cut]) for j in range(n_parts))

    def against(self, asked: list[Rows], count: Callable, finish: Callable) -> "DaskRows":
        """Put each partition to all partitions."""
        if not all(isinstance(rows, DaskRows) for rows in asked):
            raise ValueError("the rule was fitted on one machine without Dask; give it arrays or blocks to score")
        question, end = delayed(count, pure=False), delayed(finish, pure=False)
        finished = []
        for z in self.parts:
            totals = [question(part, k, z) for k, rows in enumerate(asked) for part in rows.parts]  # type: ignore[attr-defined]
            finished.append(end(z, _added(totals)))
        return DaskRows(finished)

    def store(self) -> "DaskRows":
        """Keep in the workers' memory."""
        with naming_partitions():
            return DaskRows(dask.persist(*self.parts))


def _added(terms: list[Delayed]) -> Any:
    """Add in a tree: no worker holds more than a few terms at a time."""
    add = delayed(sum, pure=False)
    while len(terms) > 1:
        terms = [add(terms[i : i + _FAN_IN]) for i in range(0, len(terms), _FAN_IN)]
    return terms[0] if terms else 0


def computed(tasks: list[Delayed]) -> tuple:
    """Compute several tasks together."""
    with naming_partitions():
        return dask.compute(*tasks)


class naming_partitions:
    """Turn the loss of a worker, again and again at the same task, into an error that names the partition."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or type(error).__name__ != "KilledWorker":
            return
        task = str(getattr(error, "task", error.args[0] if error.args else ""))
        number = re.search(r"partition-(\d+)$|, (\d+)(?:, 0)?\)$", task)
        which = f"partition {number[1] or number[2]}" if number else f"the task {task}"
        raise RuntimeError(
            f"every worker that took {which} was lost, most likely because it ran out of memory; use smaller "
            "partitions (rechunk or repartition), fewer threads per worker, or workers with more memory"
        ) from error


def _join(pieces: list[Floats]) -> Floats:
    return np.concatenate(pieces)


def parts_of(X: Any, width: int | None = None, finite: bool = True) -> list[Delayed]:
    """List the row partitions of a Dask array or DataFrame, checked when they are computed."""
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; give rows and columns")
    if hasattr(X, "rechunk"):
        # A row must be in one piece; rows stay where they are.
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        parts = X.to_delayed().ravel().tolist()
    else:
        parts = X.to_delayed()
    check = delayed(checked, pure=False, traverse=False)
    token = uuid.uuid4().hex[:12]
    return [
        check(part, i, width, finite, dask_key_name=f"transvariation-check-{token}-partition-{i}")
        for i, part in enumerate(parts)
    ]
