"""READ: CSV, TSV, Excel, Parquet or a DataFrame -> a frozen table; every message about bad input lives here."""

from transvariation.tables.grid import Limits
from transvariation.tables.missing import apply_policy, filling
from transvariation.tables.pairing import Pair, align, read_pair
from transvariation.tables.problems import Problem, TableError
from transvariation.tables.reading import read_chunks, read_table
from transvariation.tables.table import Table

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
