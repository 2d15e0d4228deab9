"""Compile numerical kernels with numba (the extra ``fast``) and decide when they run.

The back end depends on the number of rows and on whether numba is installed, on nothing else. Plain NumPy and compiled
kernels return the same numbers.
"""

import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

# Below this many rows plain NumPy takes a few hundredths of a second, less than importing numba.
COMPILE_FROM = 50_000

F = TypeVar("F", bound=Callable[..., object])


@cache
def can_compile() -> bool:
    """Return whether numba is installed and works with the installed NumPy, which only its import shows."""
    if find_spec("numba") is None:
        return False
    try:
        import_module("numba")
    except ImportError as error:
        warnings.warn(
            f"numba is installed but cannot be imported ({error}); the slower NumPy code runs instead: upgrade numba, "
            "or uninstall it",
            stacklevel=2,
        )
        return False
    return True


def use_compiled(rows: int) -> bool:
    """Return whether compiled kernels handle a problem of this many rows."""
    return rows >= COMPILE_FROM and can_compile()


def compiled(**options: Any) -> Callable[[F], F]:
    """Compile a function on its first call and keep the machine code on disk where a folder is writable.

    Division by zero gives inf, as in NumPy: a check of each divisor would keep loops from being vectorized.
    """
    from numba import njit

    def decorate(function: F) -> F:
        try:
            return njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        except RuntimeError:  # no writable folder: every process compiles for itself
            return njit(nogil=True, error_model="numpy", **options)(function)

    return decorate


ENGINES = ("auto", "compiled", "numpy")


def resolve_engine(engine: str, microseconds: float) -> str:
    """Choose between compiled code and NumPy for a problem of this size.

    Parameters
    ----------
    engine : {"auto", "compiled", "numpy"}
        ``"auto"`` takes compiled code for large problems, if numba is installed; ``"compiled"`` for all of them, if
        numba is installed; ``"numpy"`` never.
    microseconds : float
        About how long NumPy takes.

    Returns
    -------
    {"compiled", "numpy"}
    """
    if engine not in ENGINES:
        raise ValueError(f"engine={engine!r} is unknown; choose one of {', '.join(ENGINES)}")
    wanted = engine == "compiled" or (engine == "auto" and microseconds >= COMPILE_FROM)
    return "compiled" if wanted and can_compile() else "numpy"
