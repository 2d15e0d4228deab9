"""How hard the reader is fuzzed: briefly with the tests, at length by `make fuzz`; and tests that write typed files."""

from importlib.util import find_spec

import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

from transvariation.tables import TableError, read_pair, read_table

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("brief", max_examples=100, derandomize=True, database=None, **_COMMON)
settings.register_profile("fuzz", max_examples=5_000, **_COMMON)
settings.load_profile("brief")


@pytest.fixture(autouse=True)
def _skip_without_the_library(monkeypatch):
    """Skip a test that writes a kind of file for which the library is not installed."""
    writers = {"pyarrow": [(pd.DataFrame, "to_parquet")], "openpyxl": [(pd.DataFrame, "to_excel"), (pd, "ExcelWriter")]}
    for library, functions in writers.items():
        for owner, name in functions if find_spec(library) is None else ():
            monkeypatch.setattr(owner, name, _skipping(library))


def _skipping(library):
    return lambda *args, **options: pytest.skip(f"{library} is not installed")


def problems(*sources, **options) -> list[str]:
    """List the problems of a table or of a pair of tables."""
    with pytest.raises(TableError) as caught:
        read_pair(*sources, **options) if len(sources) == 2 else read_table(*sources, **options)
    return [str(problem) for problem in caught.value.problems]


def problems_of_file(source, **options) -> list[str]:
    """List the problems of a table called f.csv."""
    return problems(source, name="f.csv", **options)
