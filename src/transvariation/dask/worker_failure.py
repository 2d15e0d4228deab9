"""Which partition brings its worker down?

When a worker is lost, Dask suspects every task that was assigned to it, also those that only waited there, and gives up
on whichever of them it has seen at too many losses first. The scheduler keeps a record of every loss, however: a
task that brings down its worker was there at each. Where several were there each time, they are tried one by one.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from dask.core import get_deps
from dask.delayed import Delayed, delayed

import dask

_LABEL = re.compile(r"transvariation-.*-(partition|slab)-(\d+)$")

REMEDY = {
    "partition": "use smaller partitions (rechunk or repartition), fewer threads per worker, or workers with more "
    "memory",
    "slab": "a slab holds the rows between two quantiles of a variable, and there are as many as partitions: use more "
    "partitions, fewer threads per worker, or workers with more memory",
}


@contextmanager
def naming_partitions(tasks: Iterable[Any]) -> Iterator[None]:
    """Turn the loss of workers, again and again at the same task, into an error that names the partition."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise RuntimeError(_explained(error, list(tasks))) from error


def _explained(error: Exception, tasks: list[Any]) -> str:
    graph: dict = {}
    for task in tasks:
        graph.update(task.__dask_graph__() if hasattr(task, "__dask_graph__") else {})
    labels = Labels(graph)
    suspects = _present_at_every_loss(error.task, graph)  # type: ignore[attr-defined]
    named = labels.of(suspects)
    if len(named) > 1:
        deadly = next((key for key in suspects if _is_deadly(key, graph)), None)
        if deadly is None:
            together = " and ".join(f"{kind} {number}" for kind, number in named)
            return (
                f"workers were lost again and again with {together} on them; each of these passes alone, together they "
                f"do not, most likely for want of memory; {REMEDY[named[0][0]]}"
            )
        named = labels.of([deadly])
    kind, number = named[0] if named else ("partition", None)
    which = f"the task {suspects[0]!r}" if number is None else f"{kind} {number}"
    return f"every worker that took {which} was lost, most likely because it ran out of memory; {REMEDY[kind]}"


class Labels:
    """The partition, or the slab, that a task is for: its own label, or those of the first labelled tasks after it."""

    def __init__(self, graph: dict):
        self._dependents = get_deps(graph)[1] if graph else {}

    def of(self, keys: Iterable[Any]) -> list[tuple[str, int]]:
        """List the labels, each once, in order."""
        return sorted({label for key in keys for label in self._nearest(key)})

    def _nearest(self, key: Any) -> set[tuple[str, int]]:
        queue, seen, found = deque([key]), {key}, set()
        while queue:
            key = queue.popleft()
            if match := _LABEL.match(str(key)):
                found.add((match[1], int(match[2])))
                continue
            new = set(self._dependents.get(key, ())) - seen
            seen |= new
            queue.extend(new)
        return found


def _present_at_every_loss(blamed: Any, graph: dict) -> list[Any]:
    """The tasks that were on the lost worker each time that the blamed one was; the blamed one first."""
    from distributed import get_client

    present = {blamed}
    losses = [
        set(event["processing-tasks"])
        for _, event in get_client().get_events("all")
        if isinstance(event, dict) and event.get("action") == "remove-worker" and not event.get("expected")
    ]
    losses = [there for there in losses if blamed in there]
    if losses:
        present |= set.intersection(*losses) & graph.keys()
    return sorted(present, key=lambda key: (key != blamed, str(key)))


def _is_deadly(key: Any, graph: dict) -> bool:
    """Try one task while no other suspect is about."""
    try:
        # Its result stays where it is: only that there is one comes back.
        dask.compute(delayed(_passed, pure=False)(Delayed(key, graph)))
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        return True
    return False


def _passed(result: Any) -> bool:
    return True
