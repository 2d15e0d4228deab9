"""What `transvariation demo` shows: the packaged glass fragments, judged."""

from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from transvariation.atomic_write import make_folder
from transvariation.casework import CaseResult, judge
from transvariation.datasets import load_glass
from transvariation.report.case import write_report
from transvariation.report.console import summary_lines
from transvariation.report.scatter_figure import draw_plane
from transvariation.tocc import TOCC

VARIABLES = ["K", "Mg"]  # the plane of the figure


def demo(directory: Path, console: Console) -> list[Path]:
    """Judge the glass fragments that are not windows by the 87 that are; print a table, save a figure and a report."""
    make_folder(directory)
    glass = load_glass()
    result = judge(glass.control, glass.recovered, command="transvariation demo")
    kinds = glass.all.loc[glass.recovered.index, "Type"].map(glass.type_names)
    console.print(_table(result, list(kinds)))
    for line in summary_lines(result):
        console.print(line, highlight=False, markup=False)
    paths = [directory / "report.html", directory / "glass.png"]
    write_report(result, paths[0])
    _figure(glass.control[VARIABLES], glass.recovered[VARIABLES], paths[1])
    return paths


def _table(result: CaseResult, kinds: list[str]) -> Table:
    table = Table(title="Could these glass fragments come from the windows?")
    for heading in ("fragments", "number", "accepted", "rejected", "largest p-value"):
        table.add_column(heading, justify="left" if heading == "fragments" else "right")
    for kind in dict.fromkeys(kinds):
        verdicts = [verdict for verdict, its in zip(result.verdicts, kinds, strict=True) if its == kind]
        accepted = sum(verdict.accepted for verdict in verdicts)
        largest = max(verdict.p_value for verdict in verdicts)
        table.add_row(kind, str(len(verdicts)), str(accepted), str(len(verdicts) - accepted), f"{largest:.3f}")
    return table


def _figure(control: pd.DataFrame, recovered: pd.DataFrame, path: Path) -> None:
    from matplotlib.figure import Figure

    rule = TOCC().fit(control)
    figure = Figure(figsize=(11, 5.4), layout="constrained")
    whole, near = figure.subplots(1, 2)
    draw_plane(whole, rule, control, recovered)
    shades = draw_plane(near, rule, control, recovered, zoom=True)
    for ax, title in ((whole, "All fragments, by TOCC on two variables"), (near, "Around the window fragments")):
        ax.set(title=title, xlabel="potassium oxide K (weight %)", ylabel="magnesium oxide Mg (weight %)")
    figure.colorbar(shades, ax=near, label="transvariation probability (tp)", pad=0.02)
    figure.legend(*whole.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=150)
