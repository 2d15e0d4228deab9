"""Tables that come with typed columns: Parquet files and DataFrames."""

import hashlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from transvariation.tables.grid import Block, Column, Plan
from transvariation.tables.problems import Findings, TableError, quoted

if TYPE_CHECKING:
    import pandas as pd

_NAMELESS = re.compile(r"^__index_level_\d+__$")  # what pandas calls an index without a name


class ParquetGrid:
    """A Parquet file, read a batch of rows at a time; what pandas kept as an index comes first, as in a DataFrame."""

    first_row = 1
    plan: Plan | None = None

    def __init__(self, stream: BinaryIO, sha256: str, findings: Findings, decimal: str | None = None):
        self.name, self.sha256, self._findings = findings.file, sha256, findings
        self.decimal = decimal or ""
        try:
            import pyarrow.parquet as parquet
        except ImportError:
            findings.problem("reading Parquet files needs pyarrow: pip install 'transvariation[parquet]'")
            findings.check()
        stream.seek(0)
        try:
            self._file = parquet.ParquetFile(stream)
            self._n = self._file.metadata.num_rows
            names = self._file.schema_arrow.names
            index = (self._file.schema_arrow.pandas_metadata or {}).get("index_columns") or []
            self._order = sorted(range(len(names)), key=lambda i: names[i] not in index)
            self.header = [_NAMELESS.sub("", names[i].strip()) for i in self._order]
        except Exception as error:  # pyarrow raises OSError, ArrowInvalid, ...
            findings.problem(f"the Parquet file cannot be opened: {quoted(error, 200)}")
            findings.check()

    @property
    def n_rows(self) -> int:
        """The number of rows that the file says it has."""
        return int(self._n)

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Read the rows in batches."""
        start = 0
        try:
            for batch in self._file.iter_batches(batch_size=block_rows):
                n = batch.num_rows
                columns = [_arrow_column(batch.column(i)) for i in self._order]
                yield Block(np.arange(start, start + n) + 2, columns, (start + n) / max(self._n, 1))
                start += n
        except TableError:
            raise
        except Exception as error:
            self._findings.problem(f"the Parquet file is damaged: {quoted(error, 200)}", start + 2)


def _arrow_column(column: Any) -> Column:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.types.is_integer(column.type)
    if pa.types.is_floating(column.type) or (whole and _exact(*pc.min_max(column).as_py().values())):
        return column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return column.to_pylist()


def _exact(least: int | None, largest: int | None) -> bool:
    """Tell whether all whole numbers between these two survive as floats: an id may have more digits."""
    return least is None or largest is None or (least >= -(2**53) and largest <= 2**53)


class FrameGrid:
    """A pandas DataFrame; an index other than 0, 1, 2, ... becomes the first column."""

    first_row = 1
    plan: Plan | None = None

    def __init__(self, frame: "pd.DataFrame", findings: Findings, decimal: str | None = None):
        import pandas as pd

        self.name, self.decimal = findings.file, decimal or ""
        plain = isinstance(frame.index, pd.RangeIndex) and frame.index.name is None
        if isinstance(frame.columns, pd.MultiIndex) or isinstance(frame.index, pd.MultiIndex):
            findings.problem("the DataFrame has several levels of names; flatten them with reset_index or set_axis")
            findings.check()
        self._frame = frame
        self._index = None if plain else frame.index
        names = [] if plain else ["" if frame.index.name is None else str(frame.index.name)]
        self.header = [name.strip() for name in names + [str(name) for name in frame.columns]]

        self.sha256 = self._fingerprint()

    def _fingerprint(self) -> str:
        """Compute the SHA-256 of header and cells, there being no file."""
        digest = hashlib.sha256(repr(self.header).encode("utf-8", "backslashreplace"))
        for block in self.blocks(max(len(self._frame), 1)):
            for column in block.columns:
                if isinstance(column, np.ndarray):
                    digest.update(column.astype("<f8").tobytes())
                else:
                    digest.update(repr(column).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()

    def blocks(self, block_rows: int) -> Iterator[Block]:
        """Read the rows in slices."""
        n = len(self._frame)
        for start in range(0, n, block_rows):
            part = self._frame.iloc[start : start + block_rows]
            columns: list[Column] = (
                [] if self._index is None else [_plain_cells(self._index[start : start + block_rows])]
            )
            columns += [_frame_column(part.iloc[:, j]) for j in range(part.shape[1])]
            yield Block(np.arange(start, start + len(part)) + 2, columns, (start + len(part)) / n)


def _frame_column(column: "pd.Series[Any]") -> Column:
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_integer_dtype, is_numeric_dtype

    dtype = column.dtype
    if is_integer_dtype(dtype) and column.notna().any() and not _exact(int(column.min()), int(column.max())):
        return _plain_cells(column)
    if is_numeric_dtype(dtype) and not is_bool_dtype(dtype) and not is_complex_dtype(dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return _plain_cells(column)


def _plain_cells(cells: Any) -> list[object]:
    import pandas as pd

    missing = pd.isna(cells)
    return [
        None if gap is True or gap is np.True_ else cell for cell, gap in zip(cells, np.asarray(missing), strict=True)
    ]
