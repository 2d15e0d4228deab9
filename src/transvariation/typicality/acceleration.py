"""When the compiled kernels take over."""

from functools import cache
from importlib.util import find_spec

# Below this many rows plain NumPy answers in a few hundredths of a second, and nobody should wait for a compiler, or
# even for its import. Above it the machine code, kept on disk between processes, soon pays for itself.
COMPILE_FROM = 50_000


@cache
def _installed() -> bool:
    return find_spec("numba") is not None


def worth_compiling(rows: int) -> bool:
    """Say whether a problem of this many rows should go to the compiled kernels (the extra ``fast``)."""
    return rows >= COMPILE_FROM and _installed()
