"""Numbers in every spelling."""

import time

import pandas as pd
import pytest

from transvariation.tables import TableError, read_table


def test_numbers_in_every_spelling():
    cells = ["1", "+1.5", "-.5", "1.", "1e3", "1E-3", " 2 ", "\u22123", "0", "0e5"]
    table = read_table(pd.DataFrame({"Na": cells}, dtype=object))
    assert table.X[:, 0].tolist() == [1, 1.5, -0.5, 1, 1000, 0.001, 2, -3, 0, 0]


def test_cells_made_to_waste_time():
    for cell in (
        "1" * 100_000,
        "1a" * 50_000,
        "1.1" * 40_000,
        "1,111" * 20_000,
        "1 " * 60_000 + "!",
        "-" * 100_000,
        "1:1:" * 30_000,
    ):
        start = time.process_time()
        with pytest.raises(TableError):
            read_table(f'id;Na\nA;1\nB;"{cell}"\n'.encode())
        assert time.process_time() - start < 5
