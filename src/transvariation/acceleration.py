"""When the compiled kernels take over."""

import sys
import warnings
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Below this many rows plain NumPy answers in a few hundredths of a second, and nobody should wait for a compiler, or
# even for its import. Above it the machine code, kept on disk between processes, soon pays for itself.
COMPILE_FROM = 50_000


@cache
def can_compile() -> bool:
    """Say whether numba is there and goes with the NumPy that is; to find out takes its import."""
    if find_spec("numba") is None:
        return False
    try:
        import_module("numba")
    except ImportError as error:
        words = f"numba is installed but cannot be imported ({error}); NumPy does its work, which takes longer"
        warnings.warn(f"{words}: upgrade numba, or uninstall it", stacklevel=2)
        return False
    return True


def use_compiled(rows: int) -> bool:
    """Say whether a problem of this many rows should go to the compiled kernels (the extra ``fast``)."""
    return rows >= COMPILE_FROM and can_compile()


# Where work is shared out among workers: the kernels that were at hand before any of it began.
kernels_before: ContextVar[frozenset[str] | None] = ContextVar("kernels_before", default=None)


def kernel_at_hand(name: str) -> bool:
    """Say whether someone has fetched this compiled module; within shared work, whether before all of it."""
    before = kernels_before.get()
    return name in (sys.modules if before is None else before)


def kernels_at_hand() -> frozenset[str]:
    """Name the compiled modules at hand."""
    before = kernels_before.get()
    if before is not None:
        return before
    return frozenset(name for name in tuple(sys.modules) if name.startswith("transvariation.depth.compiled."))


def compiled(function: Any = None, **options: Any) -> Any:
    """Compile on first call and keep the machine code on disk where some folder can be written."""

    from numba import njit

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # no writable folder: compile anew in each process
            return njit(nogil=True, **options)(function)

    return decorate if function is None else decorate(function)


def inlined(function: Any) -> Any:
    """Compile into the caller: for the few lines of a hot loop, where handing over arrays costs more than the work."""
    from numba import njit

    return njit(inline="always")(function)
