"""The same search in machine code: optional (numba), cached between processes, loaded only when there is much to do.

One fit after the other, everything in small arrays that stay in the nearest cache. What each step does and why is said
in `em`, `models` and `hierarchical` of the package above; a test makes the two agree.
"""

from typing import Any

from numba import njit


def compiled(**options: Any) -> Any:
    """Compile on first call and keep the machine code on disk where some folder can be written."""

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        except RuntimeError:  # no writable folder: compile anew in each process
            return njit(nogil=True, error_model="numpy", **options)(function)

    return decorate


# Sums may be taken in any order, so that several terms are added at once.
compiled_sums = compiled(fastmath={"reassoc", "contract", "nsz", "arcp"})
