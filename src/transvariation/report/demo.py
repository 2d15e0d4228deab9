"""The demonstration: packaged glass fragments, some of them held-out windows, judged by the other windows."""

from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from transvariation.atomic_write import make_folder
from transvariation.casework import CaseResult, CaseSettings
from transvariation.datasets import load_glass, load_nfi_glass
from transvariation.report.case import write_report
from transvariation.report.console import judge_case, print_line
from transvariation.report.wording.numbers import format_p
from transvariation.report.wording.statements import headline

REPORT = "report.html"
HELD_OUT = 6  # every sixth window is put among the recovered fragments
CASE_SOURCES = ("v17", "v42", "v99")  # of the three-level example: the control, and two others


def demo_tables() -> dict[str, pd.DataFrame]:
    """Make the example tables that the documentation uses.

    ``windows.csv`` and ``recovered.csv`` are fragments of the packaged glass, the recovered ones with held-out windows
    among them. ``pane.csv``, ``questioned.csv`` and ``background.csv`` are a case with three control fragments and a
    background, from the float glass of the NFI.
    """
    glass = load_glass()
    held_out = glass.control.index[HELD_OUT - 1 :: HELD_OUT]
    recovered = pd.concat([glass.control.loc[held_out], glass.recovered])
    nfi = load_nfi_glass().frame
    own, *others = CASE_SOURCES
    pane = nfi[(nfi["source"] == own) & (nfi["piece"] <= 3)]
    questioned = nfi[((nfi["source"] == own) & (nfi["piece"] > 3)) | (nfi["source"].isin(others) & (nfi["piece"] == 1))]
    background = nfi[~nfi["source"].isin(CASE_SOURCES)]
    return {
        "windows.csv": glass.control.drop(index=held_out).reset_index(),
        "recovered.csv": recovered.reset_index(),
        "pane.csv": pane,
        "questioned.csv": questioned,
        "background.csv": background,
    }


def demo_files() -> dict[str, bytes]:
    """Return the example tables as CSV files."""
    return {name: table.to_csv(index=False).encode() for name, table in demo_tables().items()}


def write_tables(directory: Path) -> list[Path]:
    """Write the example tables into a folder."""
    make_folder(directory)
    files = {directory / name: content for name, content in demo_files().items()}
    for path, content in files.items():
        path.write_bytes(content)
    return list(files)


def demo(directory: Path, console: Console) -> list[Path]:
    """Judge the example fragments by the windows; print a table and write a report."""
    make_folder(directory)
    glass, tables = load_glass(), demo_tables()
    windows, recovered = (tables[name].set_index("fragment") for name in ("windows.csv", "recovered.csv"))
    path = directory / REPORT
    result = judge_case({"control": windows, "recovered": recovered}, CaseSettings(), console)
    with console.status("writing"):
        write_report(result, path)
    kinds = glass.all.loc[recovered.index, "Type"].map(glass.type_names)
    console.print(_table(result, list(kinds)))
    print_line(console, f"{headline(result)} The windows among them were held out of the control.")
    return [path]


def _table(result: CaseResult, kinds: list[str]) -> Table:
    table = Table(title="Could these glass fragments come from the windows?")
    for heading in ("fragments", "number", "not excluded", "excluded", "largest p-value"):
        table.add_column(heading, justify="left" if heading == "fragments" else "right")
    for kind in dict.fromkeys(kinds):
        of_kind = [c for c, its in zip(result.conclusions, kinds, strict=True) if its == kind]
        accepted = sum(c.accepted is True for c in of_kind)
        largest = format_p(max(c.p_value or 0.0 for c in of_kind))
        table.add_row(kind, str(len(of_kind)), str(accepted), str(len(of_kind) - accepted), largest)
    return table
