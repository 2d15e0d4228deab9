"""Rows that Dask holds: each question is one task per partition, answered where the partition is."""

import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed

import dask
from transvariation.dask.rows import Floats, Rows, checked, within
from transvariation.dask.worker_failure import naming_partitions

_FAN_IN = 8  # answers added in one task: no worker holds more at a time


class DaskRows(Rows):
    """Partitions as delayed arrays; whatever scheduler is active computes them.

    Tasks are named after the partition that they are for, or after the slab where rows were regrouped: when one fails,
    its name says which.
    """

    def __init__(self, parts: Iterable[Delayed], kind: str = "partition"):
        self.parts, self.kind = list(parts), kind

    def map(self, function: Callable, *arguments: Any) -> list:
        """Ask each partition where it is."""
        return list(computed(self._tasks(function, arguments)))

    def total(self, function: Callable, *arguments: Any) -> Any:
        """Add up the answers in a tree."""
        return computed([_added(self._tasks(function, arguments))])[0]

    def _tasks(self, function: Callable, arguments: tuple) -> list:
        # A delayed constant travels once, not once with each task.
        fixed = [delayed(a, pure=False) if isinstance(a, np.ndarray) and a.nbytes > 1 << 16 else a for a in arguments]
        name = self._names(getattr(function, "__name__", "task"))
        call = delayed(within, pure=False, traverse=False)
        return [call(self.kind, function, part, i, *fixed, dask_key_name=name(i)) for i, part in enumerate(self.parts)]

    def _names(self, what: str) -> Callable[[int], str]:
        token = f"{what.strip('_')}-{uuid.uuid4().hex[:12]}"
        return lambda i: f"transvariation-{token}-{self.kind}-{i}"

    def derive(self, function: Callable, *arguments: Any) -> "DaskRows":
        """Transform where it is."""
        return DaskRows(self._tasks(function, arguments), self.kind)

    def exchange(self, function: Callable, n_parts: int, *arguments: Any) -> "DaskRows":
        """Regroup over the network."""
        cut: list[Any] = self._tasks(function, arguments)
        regrouped = DaskRows([], "slab")
        joined, name = delayed(_join, pure=False), regrouped._names("join")
        regrouped.parts = [joined([p[j] for p in cut], j, dask_key_name=name(j)) for j in range(n_parts)]
        return regrouped

    def against(self, asked: list[Rows], count: Callable, finish: Callable) -> "DaskRows":
        """Put each partition to all partitions."""
        if not all(isinstance(rows, DaskRows) for rows in asked):
            raise ValueError("the rule was fitted on one machine without Dask; give it arrays or blocks to score")
        question, end = delayed(count, pure=False), delayed(finish, pure=False)
        finished = []
        name = self._names("rate")
        for i, z in enumerate(self.parts):
            pairs = [(part, k) for k, rows in enumerate(asked) for part in rows.parts]  # type: ignore[attr-defined]
            names = (self._names(f"count-{j}-for")(i) for j in range(len(pairs)))
            totals = [question(part, k, z, dask_key_name=key) for (part, k), key in zip(pairs, names, strict=True)]
            finished.append(end(z, _added(totals), dask_key_name=name(i)))
        return DaskRows(finished, self.kind)

    def joined(self, others: Sequence[Rows]) -> "DaskRows":
        """All partitions, wherever they are."""
        return DaskRows([*self.parts, *(part for rows in others for part in rows.parts)], self.kind)  # type: ignore[attr-defined]

    def store(self) -> "DaskRows":
        """Keep in the workers' memory."""
        with naming_partitions(self.parts):
            kept = dask.persist(*self.parts)
            _settle(kept)
        return DaskRows(kept, self.kind)

    def __getstate__(self) -> dict[str, Any]:
        """Refuse to fetch everything for a model file."""
        raise TypeError(
            "the rule was fitted to a Dask collection, and a model file would have to hold all its rows; fit one to a "
            "memory map, to blocks or, with X.compute(), to an array, and save that"
        )


def _added(terms: list[Delayed]) -> Any:
    """Add in a tree: no worker holds more than a few terms at a time."""
    add = delayed(sum, pure=False)
    while len(terms) > 1:
        terms = [add(terms[i : i + _FAN_IN]) for i in range(0, len(terms), _FAN_IN)]
    return terms[0] if terms else 0


def computed(tasks: list[Delayed]) -> tuple:
    """Compute several tasks together."""
    with naming_partitions(tasks):
        return dask.compute(*tasks)


def _settle(kept: Iterable[Delayed]) -> None:
    """Wait for what workers keep: what goes wrong there is said here."""
    if not (futures := [value for part in kept for value in part.dask.values() if hasattr(value, "exception")]):
        return  # another scheduler than the distributed one has computed them already
    from distributed import wait

    wait(futures)
    for future in futures:
        if future.status == "error":
            future.result()


def _join(pieces: list[Floats], number: int) -> Floats:
    return within("slab", _concatenated, pieces, number)


def _concatenated(pieces: list[Floats], number: int) -> Floats:
    return np.concatenate(pieces)


def parts_of(X: Any, width: int | None = None, finite: bool = True, columns: list | None = None) -> list[Delayed]:
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
        check(part, i, width, finite, columns, dask_key_name=f"transvariation-check-{token}-partition-{i}")
        for i, part in enumerate(parts)
    ]
