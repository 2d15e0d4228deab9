"""Read tables with typed columns: Parquet files, pandas DataFrames, and polars or Arrow tables."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from transvariation.tables.cells import Column
from transvariation.tables.grid import Block, Grid
from transvariation.tables.problems import Problems, TableError

if TYPE_CHECKING:
    import pandas as pd

_NAMELESS = re.compile(r"^__index_level_\d+__$")  # what pandas calls an index without a name


class ArrowGrid:
    """Batches of Arrow columns; what pandas stored as an index comes first, as in a DataFrame."""

    first_row, delimiter = 1, ""
    measured: Sequence[int] = ()

    def __init__(
        self,
        schema: Any,
        n_rows: int,
        batches: Callable[[int], Iterator[Any]],
        problems: Problems,
        decimal: str | None = None,
        sha256: str = "",
    ):
        self.name, self.decimal, self.n_rows, self._problems = problems.table, decimal or "", n_rows, problems
        index = (schema.pandas_metadata or {}).get("index_columns") or []
        self._order = sorted(range(len(schema.names)), key=lambda i: schema.names[i] not in index)
        self.header = [_NAMELESS.sub("", schema.names[i].strip()) for i in self._order]
        self._batches = batches
        self.sha256 = sha256 or _fingerprint(self)

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Read the rows in batches."""
        start = 0
        try:
            for batch in self._batches(block_rows):
                stop = start + batch.num_rows
                columns = [_arrow_column(batch.column(i)) for i in self._order]
                yield Block(np.arange(start, stop) + 2, columns, stop / max(self.n_rows, 1))
                start = stop
        except TableError:
            raise
        except Exception as error:  # pyarrow raises OSError, ArrowInvalid, ...
            self._problems.add("damaged", start + 2, kind="Parquet", reason=str(error))


def open_parquet(stream: BinaryIO, sha256: str, problems: Problems, decimal: str | None) -> ArrowGrid:
    """Open a Parquet file, to be read a batch of rows at a time."""
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise _needs_pyarrow(problems, "Parquet") from None
    stream.seek(0)
    try:
        file = parquet.ParquetFile(stream)
        n_rows, schema = file.metadata.num_rows, file.schema_arrow
    except Exception as error:  # pyarrow raises OSError, ArrowInvalid, ...
        raise problems.stop("damaged", kind="Parquet", reason=str(error)) from None
    return ArrowGrid(schema, n_rows, lambda n: file.iter_batches(batch_size=n), problems, decimal, sha256)


def open_arrow(table: Any, problems: Problems, decimal: str | None) -> ArrowGrid:
    """Open a table that offers Arrow's interface, such as a polars DataFrame."""
    try:
        import pyarrow as pa
    except ImportError:
        raise _needs_pyarrow(problems, type(table).__module__.split(".")[0]) from None
    arrow = pa.table(table)
    return ArrowGrid(arrow.schema, arrow.num_rows, lambda n: iter(arrow.to_batches(max_chunksize=n)), problems, decimal)


def _needs_pyarrow(problems: Problems, kind: str) -> TableError:
    return problems.stop("library", remedy="install", kind=kind, library="pyarrow", extra="transvariation[parquet]")


def _arrow_column(column: Any) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.types.is_integer(column.type)
    if pa.types.is_floating(column.type) or (whole and _exact(*pc.min_max(column).as_py().values())):
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    return list(column.to_pylist())


def _exact(least: int | None, largest: int | None) -> bool:
    """Return whether all integers between these two survive as floats: an id may have more digits."""
    return least is None or largest is None or (least >= -(2**53) and largest <= 2**53)


class PandasGrid:
    """A pandas DataFrame; an index other than 0, 1, 2, ... becomes the first column."""

    first_row, delimiter = 1, ""
    measured: Sequence[int] = ()

    def __init__(self, frame: "pd.DataFrame", problems: Problems, decimal: str | None = None):
        import pandas as pd

        self.name, self.decimal, self.n_rows = problems.table, decimal or "", len(frame)
        if isinstance(frame.columns, pd.MultiIndex) or isinstance(frame.index, pd.MultiIndex):
            raise problems.stop("header-levels")
        nameless = frame.index.name is None
        if nameless and not frame.index.is_unique:
            problems.note("unused-index")
        plain = nameless and (isinstance(frame.index, pd.RangeIndex) or not frame.index.is_unique)
        self._frame = frame
        self._index = None if plain else frame.index
        names = [] if plain else ["" if nameless else str(frame.index.name)]
        self.header = [name.strip() for name in names + [str(name) for name in frame.columns]]
        self.sha256 = _fingerprint(self)

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Read the rows in slices."""
        n = len(self._frame)
        for start in range(0, n, block_rows):
            part = self._frame.iloc[start : start + block_rows]
            columns: list[Column] = []
            if self._index is not None:
                columns.append(_cells(self._index[start : start + block_rows]))
            columns += [_pandas_column(column) for _, column in part.items()]
            yield Block(np.arange(start, start + len(part)) + 2, columns, (start + len(part)) / n)


def _fingerprint(grid: Grid) -> str:
    """Compute the SHA-256 of header and cells of a table that is no file."""
    digest = hashlib.sha256(repr(grid.header).encode("utf-8", "backslashreplace"))
    for block in grid.blocks(1 << 62):
        for column in block.columns:
            if isinstance(column, np.ndarray):
                digest.update(column.astype("<f8").tobytes())
            else:
                digest.update(repr(column).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _pandas_column(column: "pd.Series[Any]") -> Column:
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_integer_dtype, is_numeric_dtype

    dtype = column.dtype
    if is_integer_dtype(dtype) and column.notna().any() and not _exact(int(column.min()), int(column.max())):
        return _cells(column)
    if is_numeric_dtype(dtype) and not is_bool_dtype(dtype) and not is_complex_dtype(dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return _cells(column)


def _cells(cells: Any) -> list[object]:
    import pandas as pd

    missing = np.asarray(pd.isna(cells))
    return [None if gap is True or gap is np.True_ else cell for cell, gap in zip(cells, missing, strict=True)]
