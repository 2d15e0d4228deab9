import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask")

from transvariation.dask import parts
from transvariation.dask.parts import in_memory, map_parts, sample_numbers, sample_rows

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

X = np.random.default_rng(0).normal(size=(5_000, 2))
TABLE = pd.DataFrame(X, columns=["a", "b"])


@pytest.mark.parametrize("size", [1, 7, 100, 2_499, 2_500, 4_999, 5_000, 9_000])
def test_the_sample_does_not_depend_on_the_parts(size, tmp_path):
    expected = X[sample_numbers(len(X), size)]
    assert (size / 4 if size > 50 else 0) <= len(expected) <= size
    on_disk = np.memmap(tmp_path / "rows", dtype=float, mode="w+", shape=X.shape)
    on_disk[:] = X
    divided = {
        "one block": iter([X]),
        "uneven blocks": iter(np.split(X, [1, 1, 8, 4_000])),
        "a function": lambda: iter(np.array_split(X, 9)),
        "tables": (TABLE[i : i + 700] for i in range(0, 5_000, 700)),
        "a memory map": on_disk,
        "a Dask array": da.from_array(X, chunks=((7, 2_000, 2_993), (1, 1))),
        "a Dask table": dd.from_pandas(TABLE, npartitions=3),
        "an array of unknown lengths": dd.from_pandas(TABLE, npartitions=2).to_dask_array(),
    }
    for rows in divided.values():
        np.testing.assert_array_equal(sample_rows(rows, size), expected)


def test_the_sample_is_spread_over_all_rows():
    drawn = sample_numbers(200_000, 20_000)
    share = np.histogram(drawn, bins=10, range=(0, 200_000))[0] / len(drawn)
    assert share == pytest.approx(0.1, abs=0.01)
    assert np.bincount(drawn % 7) / len(drawn) == pytest.approx(1 / 7, abs=0.012)


def test_a_memory_map_is_read_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "BLOCK_ROWS", 600)
    on_disk = np.memmap(tmp_path / "rows", dtype=float, mode="w+", shape=X.shape)
    on_disk[:] = X
    seen = []
    found = map_parts(on_disk, lambda rows: seen.append(len(rows)) or rows[:, 0], np.float64)
    np.testing.assert_array_equal(found, X[:, 0])
    assert seen == [600] * 8 + [200]


def test_results_have_the_type_of_the_input():
    blocks = map_parts(iter([X[:10], X[10:10], X[10:12]]), lambda rows: rows[:, 0], np.float64)
    assert [len(block) for block in blocks] == [10, 0, 2]
    lazy = map_parts(dd.from_pandas(TABLE, npartitions=3), lambda rows: rows["b"].to_numpy(), np.float64)
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy.compute(), X[:, 1])


def test_a_part_that_fails_is_named():
    def fail(rows):
        raise MemoryError("no room")

    with pytest.raises(MemoryError, match="partition 0: no room; use smaller partitions or blocks"):
        list(map_parts(iter([X]), fail, np.float64))
    with pytest.raises(ValueError, match=r"partition 1 has the columns \['b', 'a'\], not \['a', 'b'\]"):
        sample_rows(iter([TABLE[:5], TABLE[["b", "a"]][5:]]), 10)
    with pytest.raises(ValueError, match="partition 1 has 1 columns, not 2"):
        sample_rows(iter([X[:5], X[5:, :1]]), 10)
    with pytest.raises(ValueError, match=r"partition 0 has shape \(5,\)"):
        sample_rows(iter([X[:5, 0]]), 10)
    with pytest.raises(ValueError, match="X has 1 dimensions"):
        sample_rows(da.from_array(X[:, 0], chunks=100), 10)
    with pytest.raises(ValueError, match="X has no rows"):
        sample_rows(iter([]), 10)
    with pytest.raises(ValueError, match=r"X is a list of tables; .*iter\(blocks\)"):
        in_memory([X, X])
