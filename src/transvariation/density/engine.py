"""When machine code takes over.

NumPy answers a single search on a small table in a few tenths of a second; nobody should wait for a compiler there. Who
fits mixtures by the hundred (projections, simulations, leave-one-out) should not wait for NumPy. So the work that this
process has asked for is counted, and once it would have paid for the machine code, the machine code is fetched: from
the cache on disk after a few searches, from the compiler after some dozens.

The two agree to many digits, not to the last. Where many fits are shared out among workers, the choice in each
therefore depends on what was known before any began and on itself alone: not on what others did before it in the same
process.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from pathlib import Path

from transvariation.acceleration import can_compile
from transvariation.density import em
from transvariation.density.hierarchical import Merge

FitMixtures = Callable[..., "list[em.Mixture | None]"]

# In components x objects x variables; the full search on 87 objects of 2 variables is 1.1e5.
LOAD_FROM = 5e5
COMPILE_FROM = 7e6

# The compiled fits: each is compiled when first needed, and kept on disk under its name.
IN_PLANE, IN_SPACE = "plane.fit", "space.fit"


@dataclass(frozen=True)
class Engine:
    """What does the work; `merge` is None where NumPy does."""

    fit_mixtures: FitMixtures
    merge: Merge | None


_NUMPY = Engine(em.fit_mixtures, None)
_asked_for = 0.0


@cache
def compiled_engine() -> Engine:
    """Load the compiled search. Whoever knows that much is coming calls it first.

    What no cache on disk holds is compiled when it is first used.

    Who fits mixtures by the hundred also measures boxes by the hundred: from now on by machine code, however few.
    """
    import_module("transvariation.density.compiled.orthants")
    from transvariation.density.compiled.em import fit_mixtures
    from transvariation.density.compiled.merging import merge_clusters

    return Engine(fit_mixtures, merge_clusters)


def fetch_engine() -> None:
    """Decide now, for the whole of this process: machine code if it can be had, else NumPy.

    Who promises the same numbers whatever ran before in a process (studies, worker processes) calls this first.
    """
    if can_compile():
        compiled_engine()


@dataclass(frozen=True)
class Lot:
    """What was known before many alike pieces of work were shared out."""

    n_pieces: int
    asked_for: float
    at_hand: bool
    on_disk: frozenset[str]


_lot: ContextVar[Lot | None] = ContextVar("lot", default=None)
_asked_in_piece: ContextVar[float] = ContextVar("asked_in_piece", default=0.0)


def lot_of(n_pieces: int) -> Lot:
    """Take note of what is known now; within a piece of another lot, what was known before that."""
    outer = _lot.get()
    if outer is not None:
        asked_for = outer.asked_for + _asked_in_piece.get() * outer.n_pieces
        return replace(outer, n_pieces=outer.n_pieces * n_pieces, asked_for=asked_for)
    return Lot(n_pieces, _asked_for, bool(compiled_engine.cache_info().currsize), _on_disk())


@contextmanager
def part_of(lot: Lot) -> Iterator[None]:
    """Do one piece of a lot: the same engine is chosen in it wherever, and after whatever else, it is done."""
    tokens = (_lot, _lot.set(lot)), (_asked_in_piece, _asked_in_piece.set(0.0))
    try:
        yield
    finally:
        for variable, token in tokens:
            variable.reset(token)  # type: ignore[arg-type]


def choose_engine(work: float, p: int) -> Engine:
    """Choose by how much there is to do now, with p variables, and was before in this process."""
    global _asked_for
    _asked_for += work
    lot = _lot.get()
    if lot is None:
        at_hand, asked_for, on_disk = bool(compiled_engine.cache_info().currsize), _asked_for, _on_disk
    else:
        _asked_in_piece.set(_asked_in_piece.get() + work)
        at_hand, asked_for = lot.at_hand, lot.asked_for + _asked_in_piece.get() * lot.n_pieces
        on_disk = partial(getattr, lot, "on_disk")
    if at_hand:
        return compiled_engine()
    if asked_for < LOAD_FROM:
        return _NUMPY
    if asked_for < COMPILE_FROM and (IN_PLANE if p == 2 else IN_SPACE) not in on_disk():
        return _NUMPY
    return compiled_engine() if can_compile() else _NUMPY


def _on_disk() -> frozenset[str]:
    """Which machine code an earlier process has left that is younger than its source."""
    folder = Path(__file__).parent / "compiled"
    source = max(path.stat().st_mtime for path in folder.glob("*.py"))
    return frozenset(
        name
        for name in (IN_PLANE, IN_SPACE)
        if any(index.stat().st_mtime > source for index in folder.glob(f"__pycache__/{name}-*.nbi"))
    )
