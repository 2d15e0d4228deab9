"""What `transvariation demo` shows: the packaged glass fragments, judged."""

from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from transvariation.classifiers import TOCC
from transvariation.datasets import load_glass
from transvariation.report.plane import draw_plane

VARIABLES = ["K", "Mg"]


def demo(directory: Path, console: Console) -> Path:
    """Judge the glass fragments that are not windows by the 87 that are; print a table and save a figure."""
    glass = load_glass()
    control, recovered = glass.control[VARIABLES], glass.recovered[VARIABLES]
    rule = TOCC().fit(control)
    kinds = glass.all.loc[recovered.index, "Type"].map(glass.type_names)
    console.print(_table(rule, control, recovered, kinds))
    console.print(
        f"An object is accepted if its transvariation probability (tp) is at least {rule.offset_:.3f}, "
        f"the level that keeps {rule.sensitivity:.0%} of the window fragments themselves."
    )
    return _figure(rule, control, recovered, directory)


def _table(rule: TOCC, control: pd.DataFrame, recovered: pd.DataFrame, kinds: pd.Series) -> Table:
    table = Table(title=f"Could these glass fragments come from a window? Judged by {' and '.join(VARIABLES)}")
    for heading in ("fragments", "number", "accepted", "rejected", "largest tp"):
        table.add_column(heading, justify="left" if heading == "fragments" else "right")
    groups = {"window (control)": control}
    groups |= {f"{kind} (recovered)": recovered[kinds == kind] for kind in kinds.unique()}
    for name, fragments in groups.items():
        accepted = int((rule.predict(fragments) == 1).sum())
        largest = rule.transvariation_probability(fragments).max()
        table.add_row(name, str(len(fragments)), str(accepted), str(len(fragments) - accepted), f"{largest:.3f}")
    return table


def _figure(rule: TOCC, control: pd.DataFrame, recovered: pd.DataFrame, directory: Path) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.4), layout="constrained")
    whole, near = figure.subplots(1, 2)
    draw_plane(whole, rule, control, recovered)
    shades = draw_plane(near, rule, control, recovered, zoom=True)
    for ax, title in ((whole, "All fragments"), (near, "Around the window fragments")):
        ax.set(title=title, xlabel="potassium oxide K (weight %)", ylabel="magnesium oxide Mg (weight %)")
    figure.colorbar(shades, ax=near, label="transvariation probability (tp)", pad=0.02)
    figure.legend(*whole.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "glass.png"
    figure.savefig(path, dpi=150)
    return path
