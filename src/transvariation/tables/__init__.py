"""Files and DataFrames read as checked numbers, with every problem located."""

from transvariation.tables.excel import sheet_titles
from transvariation.tables.grid import Limits
from transvariation.tables.pairing import Pair, align, read_pair, unit_problems
from transvariation.tables.problems import Problem, TableError, printable, quoted
from transvariation.tables.reading import read_chunks, read_table
from transvariation.tables.table import Table, apply_policy, filling

__all__ = [
    "Limits",
    "Pair",
    "Problem",
    "Table",
    "TableError",
    "align",
    "apply_policy",
    "filling",
    "printable",
    "quoted",
    "read_chunks",
    "read_pair",
    "read_table",
    "sheet_titles",
    "unit_problems",
]
