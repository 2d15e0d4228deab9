"""Files and DataFrames read as checked numbers, with every problem located."""

from transvariation.tables.grid import Limits
from transvariation.tables.pairing import Pair, align, read_pair
from transvariation.tables.problems import Problem, TableError, printable
from transvariation.tables.reading import read_chunks, read_table
from transvariation.tables.table import Table, apply_policy

__all__ = [
    "Limits",
    "Pair",
    "Problem",
    "Table",
    "TableError",
    "align",
    "apply_policy",
    "printable",
    "read_chunks",
    "read_pair",
    "read_table",
]
