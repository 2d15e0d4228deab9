"""Compile numerical kernels with numba (the extra ``fast``) and decide when they run.

The back end depends on the number of rows and on whether numba is installed, on nothing else. Plain NumPy and compiled
kernels return the same numbers.
"""

import logging
import sys
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Below this many rows plain NumPy takes a few hundredths of a second, less than importing numba.
COMPILE_FROM = 50_000


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


def compiled(function: Any = None, **options: Any) -> Any:
    """Compile a function on its first call and keep the machine code on disk where a folder is writable.

    Division by zero gives inf, as in NumPy: a check of each divisor would keep loops from being vectorised.
    """
    from numba import njit

    _announce_compilation()

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        except RuntimeError:  # no writable folder: every process compiles for itself
            return njit(nogil=True, error_model="numpy", **options)(function)

    return decorate if function is None else decorate(function)


def inlined(function: Any) -> Any:
    """Compile a function into its callers: for a few lines in a hot loop, where a call costs more than the work."""
    from numba import njit

    return njit(inline="always")(function)


@cache
def _announce_compilation() -> None:
    """Arrange that the first compilation in this process, which takes seconds, is logged and, in a terminal, shown."""
    from numba.core import event

    class Announcement(event.Listener):
        done = False

        def on_start(self, event: Any) -> None:
            if not self.done and event.data["dispatcher"].py_func.__module__.startswith("transvariation."):
                self.done = True
                text = "compiling numerical kernels; this takes some seconds, once per installation"
                logging.getLogger("transvariation").info(text)
                if hasattr(sys, "ps1") or sys.stderr.isatty():
                    print(f"transvariation: {text}", file=sys.stderr)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Announcement())


ENGINES = ("auto", "compiled", "numpy")


def resolve_engine(engine: str, rows: float) -> str:
    """Choose between compiled code and NumPy for a problem of this many rows.

    Parameters
    ----------
    engine : {"auto", "compiled", "numpy"}
        ``"auto"`` takes compiled code for large problems, if numba is installed; ``"compiled"`` for all of them, if
        numba is installed; ``"numpy"`` never.
    rows : float
        The size of the problem, in rows whose processing takes about a microsecond.

    Returns
    -------
    {"compiled", "numpy"}
    """
    if engine not in ENGINES:
        raise ValueError(f"engine={engine!r} is unknown; choose one of {', '.join(ENGINES)}")
    wanted = engine == "compiled" or (engine == "auto" and rows >= COMPILE_FROM)
    return "compiled" if wanted and can_compile() else "numpy"
