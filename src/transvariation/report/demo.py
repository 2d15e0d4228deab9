"""The demonstration: packaged glass fragments, some of them held-out windows, judged by the other windows."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from transvariation._typing import Bools, Floats
from transvariation.atomic_write import make_folder
from transvariation.casework import CaseResult, CaseSettings
from transvariation.casework.judging import judge_tables
from transvariation.casework.reading import read_case
from transvariation.datasets import load_glass, load_nfi_glass
from transvariation.report.case import write_report
from transvariation.report.console import print_line
from transvariation.report.figure_style import (
    FOREIGN,
    FOREIGN_ACCEPTED,
    KNOWN,
    NEW,
    PHONE_WIDTH,
    RED,
    SETTINGS,
    THRESHOLD,
)
from transvariation.report.wording.numbers import format_p
from transvariation.report.wording.statements import headline

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OTHERS = (FOREIGN_ACCEPTED, FOREIGN)
NEW_WINDOWS = "new windows"
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


def write_tables(directory: Path) -> list[Path]:
    """Write the example tables into a folder."""
    make_folder(directory)
    paths = []
    for name, table in demo_tables().items():
        paths.append(directory / name)
        table.to_csv(paths[-1], index=False)
    return paths


def demo(directory: Path, console: Console) -> list[Path]:
    """Judge the example fragments by the windows; print a table, save a figure and a report."""
    from matplotlib import rc_context

    make_folder(directory)
    glass, tables = load_glass(), demo_tables()
    windows, recovered = (tables[name].set_index("fragment") for name in ("windows.csv", "recovered.csv"))
    with console.status("judging"):
        settings = CaseSettings()
        read = read_case({"control": windows, "recovered": recovered}, settings)
        result = judge_tables(read, settings, command="transvariation demo")
        paths = [directory / "report.html", directory / "glass.png"]
        write_report(result, paths[0])
        kinds = glass.all.loc[recovered.index, "Type"].map(glass.type_names)
        p_values = np.array([c.p_value for c in result.conclusions])
        drawn = kinds.where(~recovered.index.isin(glass.control.index), NEW_WINDOWS)
        accepted = np.array([c.accepted for c in result.conclusions])
        parts = {
            kind: (recovered[drawn == kind], p_values[drawn == kind], accepted[drawn == kind])
            for kind in drawn.unique()
        }
        with rc_context(SETTINGS):
            draw_fragments(windows, parts, settings.sensitivity, ("not excluded", "excluded")).savefig(paths[1])
    console.print(_table(result, list(kinds)))
    print_line(console, f"{headline(result)} The windows among them were held out of the control.")
    return paths


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


def draw_fragments(
    control: pd.DataFrame,
    kinds: Mapping[str, tuple[pd.DataFrame, Floats, Bools]],
    sensitivity: float,
    words: tuple[str, str],
) -> "Figure":
    """Draw fragments in the plane of two oxides, and below that the p-values of each kind of glass.

    Parameters
    ----------
    control : DataFrame
        The known windows.
    kinds : mapping
        Kind of glass -> its fragments, their p-values, and which of them are accepted. The first are new windows.
    sensitivity : float
        Where the threshold is drawn.
    words : pair of str
        What the legend calls accepted and rejected fragments.
    """
    from matplotlib.figure import Figure

    windows, *others = kinds
    rows = [*reversed(others), windows]
    figure = Figure(figsize=(PHONE_WIDTH, 5.4), layout="constrained")
    plane, strips = figure.subplots(2, 1, height_ratios=(3, 2))
    plane.scatter(control["Al"], control["Mg"], label=f"known windows ({len(control)})", **KNOWN)
    for name, of_name, marks in ((NEW_WINDOWS, [windows], (NEW, FOREIGN)), ("other glass", others, _OTHERS)):
        table = pd.concat([kinds[kind][0] for kind in of_name])
        accepted = np.concatenate([kinds[kind][2] for kind in of_name])
        for mask, mark, word in zip((accepted, ~accepted), marks, words, strict=True):
            some = table[mask]
            label = f"{name}: {len(some)} of {len(table)} {word}"
            if len(some):
                plane.scatter(
                    some["Al"], some["Mg"], label=None if name == NEW_WINDOWS and mark is FOREIGN else label, **mark
                )
    plane.set(xlabel="aluminium oxide (weight %)", ylabel="magnesium oxide (weight %)", ylim=(-0.3, 7.4))
    plane.legend(loc="upper right", handletextpad=0.2, borderpad=0, frameon=False)
    rng = np.random.default_rng(0)
    for place, kind in enumerate(rows):
        _, p, accepted = kinds[kind]
        height = place + rng.uniform(-0.18, 0.18, len(p))
        marks = (NEW, FOREIGN) if kind == windows else _OTHERS
        for mask, mark in zip((accepted, ~accepted), marks, strict=True):
            strips.scatter(p[mask], height[mask], **mark)
    strips.axvline(1 - sensitivity, **THRESHOLD)
    strips.annotate("threshold", (1 - sensitivity, len(kinds) - 0.45), ha="center", color=RED, annotation_clip=False)
    strips.set_yticks(range(len(kinds)), rows)
    strips.set(xlabel="p-value: how usual the fragment is for a window", xlim=(-0.03, 1.03))
    strips.tick_params(axis="y", length=0)
    return figure
