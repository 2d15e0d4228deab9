"""The same counts and passes, compiled (numba, optional), kept on disk, and never imported for small problems."""

from typing import Any

from numba import njit


def compiled(function: Any = None, **options: Any) -> Any:
    """Compile on first call and keep the machine code on disk where some folder can be written."""

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # no writable folder: compile anew in each process
            return njit(nogil=True, **options)(function)

    return decorate if function is None else decorate(function)


def inlined(function: Any) -> Any:
    """Compile into the caller: for the few lines of a hot loop, where handing over arrays costs more than the work."""
    return njit(inline="always")(function)
