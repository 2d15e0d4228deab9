"""When machine code takes over.

NumPy answers a single search on a small table in a few tenths of a second; nobody should wait for a compiler there. Who
fits mixtures by the hundred (projections, simulations, leave-one-out) should not wait for NumPy. So the work that this
process has asked for is counted, and once it would have paid for the machine code, the machine code is fetched: from
the cache on disk after a few searches, from the compiler after some dozens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from transvariation.mixture import em
from transvariation.mixture.hierarchical import Merge

FitMixtures = Callable[..., "list[em.Mixture | None]"]

# In components x objects x variables; the full search on 87 objects of 2 variables is 1.1e5.
LOAD_FROM = 5e5
COMPILE_FROM = 7e6


@dataclass(frozen=True)
class Engine:
    """What does the work; `merge` is None where NumPy does."""

    fit_mixtures: FitMixtures
    merge: Merge | None


_NUMPY = Engine(em.fit_mixtures, None)
_asked_for = 0.0


@cache
def compiled_engine() -> Engine:
    """Load the compiled search, compiling it if no cache holds it. Whoever knows that much is coming calls it first."""
    from transvariation.mixture.compiled.em import fit_mixtures
    from transvariation.mixture.compiled.merging import merge_clusters

    return Engine(fit_mixtures, merge_clusters)


def fetch_engine() -> None:
    """Decide now, for the whole of this process: machine code if it can be had, else NumPy.

    Who promises the same numbers whatever ran before in a process (studies, worker processes) calls this first.
    """
    if _installed():
        compiled_engine()


def choose_engine(work: float) -> Engine:
    """Choose by how much there is to do now and was before in this process."""
    global _asked_for
    _asked_for += work
    if compiled_engine.cache_info().currsize:
        return compiled_engine()
    if _asked_for < LOAD_FROM or not _installed() or (_asked_for < COMPILE_FROM and not _is_on_disk()):
        return _NUMPY
    return compiled_engine()


@cache
def _installed() -> bool:
    return find_spec("numba") is not None


def _is_on_disk() -> bool:
    """Whether an earlier process has left machine code that is younger than its source."""
    folder = Path(__file__).parent / "compiled"
    source = max(path.stat().st_mtime for path in folder.glob("*.py"))
    return any(index.stat().st_mtime > source for index in folder.glob("__pycache__/em._fit-*.nbi"))
