"""Files and DataFrames read as checked numbers, with every problem located."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transvariation.tables.grid import Limits as Limits
    from transvariation.tables.pairing import Pair as Pair
    from transvariation.tables.pairing import align as align
    from transvariation.tables.pairing import read_pair as read_pair
    from transvariation.tables.problems import Problem as Problem
    from transvariation.tables.problems import TableError as TableError
    from transvariation.tables.problems import printable as printable
    from transvariation.tables.reading import read_chunks as read_chunks
    from transvariation.tables.reading import read_table as read_table
    from transvariation.tables.settings import SettingsError as SettingsError
    from transvariation.tables.settings import TableSettings as TableSettings
    from transvariation.tables.table import Table as Table
    from transvariation.tables.table import apply_policy as apply_policy

# Where each public name lives. Loaded on first use: the command line reads `settings` without NumPy.
_HOME = {
    "Limits": "grid",
    "Pair": "pairing",
    "Problem": "problems",
    "SettingsError": "settings",
    "Table": "table",
    "TableError": "problems",
    "TableSettings": "settings",
    "align": "pairing",
    "apply_policy": "table",
    "printable": "problems",
    "read_chunks": "reading",
    "read_pair": "pairing",
    "read_table": "reading",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
