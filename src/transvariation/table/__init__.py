"""READ: CSV, TSV, Excel, Parquet or a DataFrame -> a frozen table; every message about bad input lives here."""

from transvariation.table.grid import Limits
from transvariation.table.missing import apply_policy, filling
from transvariation.table.model import Table
from transvariation.table.pairing import Pair, align, read_pair
from transvariation.table.problems import Problem, TableError
from transvariation.table.reading import read_chunks, read_table

__all__ = [
    "Limits",
    "Pair",
    "Problem",
    "Table",
    "TableError",
    "align",
    "apply_policy",
    "filling",
    "read_chunks",
    "read_pair",
    "read_table",
]
