"""Judge many cases in one call."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from transvariation.casework.database import Database
from transvariation.casework.errors import CaseError
from transvariation.casework.judging import judge_tables
from transvariation.casework.progress import Progress, ProgressStep, ignore_progress, progress_of_part
from transvariation.casework.reading import CaseTables, read_case
from transvariation.casework.result import CaseResult
from transvariation.casework.settings import CASE_FIELDS, CaseSettings
from transvariation.tables import Limits
from transvariation.tables.cells import cell_text
from transvariation.tables.opening import TableSource, opened

_COLUMNS = ("case", "control", "recovered")
_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".xls", ".xlsm", ".ods", ".parquet")


@dataclass(frozen=True)
class BatchCase:
    """The tables of one of many cases."""

    name: str  # of the case and of its files
    control: TableSource
    recovered: TableSource
    details: dict[str, str] = field(default_factory=dict)  # for its report


def read_batch(path: str | Path) -> list[BatchCase]:
    """List the cases of a folder or of a table.

    Parameters
    ----------
    path : path
        A folder with a folder for each case that holds the tables ``control`` and ``recovered``. Or a table with
        the columns ``case``, ``control`` and ``recovered``, the last two files beside it, and perhaps case details.
    """
    path = Path(path)
    cases = _from_folder(path) if path.is_dir() else _from_table(path)
    if not cases:
        raise CaseError("empty-batch", file=path)
    seen: dict[str, str] = {}
    for case in cases:
        if (other := seen.setdefault(file_name(case.name).casefold(), case.name)) is not case.name:
            raise CaseError("same-case", one=other, other=case.name)
    return cases


def file_name(case: str) -> str:
    """Return the name of a case as part of a file name.

    Examples
    --------
    >>> file_name("2026/117 (a)")
    '2026_117_a'
    """
    return re.sub(r"[^\w.-]+", "_", case).strip("._") or "case"


def _from_folder(path: Path) -> list[BatchCase]:
    found = []
    for folder in sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith(".")):
        tables = {}
        for role in _COLUMNS[1:]:
            files = sorted(each for each in folder.iterdir() if each.stem == role and each.suffix.lower() in _SUFFIXES)
            if len(files) != 1:
                raise CaseError("batch-folder", folder=folder, role=role, n=len(files))
            tables[role] = files[0]
        found.append(BatchCase(folder.name, tables["control"], tables["recovered"]))
    return found


def _from_table(path: Path) -> list[BatchCase]:
    found = []
    with opened(path, None, Limits()) as grid:
        if lacking := [name for name in _COLUMNS if name not in grid.header]:
            raise CaseError("batch-table", file=path, lacking=", ".join(lacking))
        for block in grid.blocks():
            for number, cells in zip(block.rows, zip(*block.columns, strict=True), strict=True):
                row = dict(zip(grid.header, map(cell_text, cells), strict=True))
                if empty := [name for name in _COLUMNS if not row[name]]:
                    raise CaseError("batch-row", file=path, row=int(number), column=empty[0])
                control, recovered = (path.parent / row[role] for role in _COLUMNS[1:])
                details = {name: row[name] for name in CASE_FIELDS if row.get(name)}
                found.append(BatchCase(row["case"], control, recovered, details))
        grid.problems.check()
    return found


def judge_batch(
    cases: Sequence[BatchCase],
    *,
    background: TableSource | Database | None = None,
    settings: CaseSettings | None = None,
    progress: Progress | None = None,
    command: str = "transvariation.casework.batch",
) -> Iterator[tuple[BatchCase, CaseResult | Exception]]:
    """Judge many cases by the same settings and background, each as `judge` would alone.

    A case that cannot be judged does not stop the others: its error is yielded instead of its result. What was learned
    from the background serves all cases with the same variables.
    """
    settings, learned = settings or CaseSettings(), list[CaseTables]()
    for i, case in enumerate(cases):
        report = progress_of_part(progress or ignore_progress, case.name, i, len(cases))
        report(ProgressStep("reading"), 0.0)
        sources = {"control": case.control, "recovered": case.recovered, "background": background}
        own = replace(settings, case={"case_number": case.name, **settings.case, **case.details})
        try:
            tables = _sharing(read_case(sources, own), learned)
            yield case, judge_tables(tables, own, progress=report, command=command)
        except (ValueError, OSError, ImportError) as error:
            yield case, error


def _sharing(tables: CaseTables, earlier: list[CaseTables]) -> CaseTables:
    """Let a case use what an earlier one learned from the background, if it has the same variables."""
    if tables.background_table is None:
        return tables
    for other in earlier:
        if all(getattr(other, name) == getattr(tables, name) for name in ("features", "exponent", "preprocess")):
            return replace(tables, learned=other.learned)
    earlier.append(tables)
    return tables
