"""The charts of the casework page, each with a conclusion computed from the numbers kept in benchmarks/results."""

from collections.abc import Iterable
from pathlib import Path

import chart_style
import matplotlib.pyplot as plt
from benchmarks_page import read

from transvariation.report.figure_style import DARK, GREEN, GREY, SETTINGS, SKY, WARM

SCORES = ("tp", "Mahalanobis")
MARKS = {"5": ("o", WARM), "10": ("D", GREEN), "18": ("^", SKY)}  # by number of elements


def simulation(folder: Path) -> str:
    """Compare both scores on simulated panes, one mark per setting."""
    rows = read("casework_simulation")
    levels = ("0.10", "0.05")
    with plt.rc_context(SETTINGS):
        figure, panels = plt.subplots(1, 2, figsize=(chart_style.WIDTH, 3.6), sharey=True)
        for axes, level in zip(panels, levels, strict=True):
            for elements, (mark, colour) in MARKS.items():
                some = [row for row in rows if row["elements"] == elements]
                x, y = ([float(row[f"{score}: false inclusion, {level}"]) for row in some] for score in SCORES[::-1])
                axes.loglog(x, y, mark, color=colour, ms=5, label=f"{elements} elements")
            axes.axline((0.01, 0.01), (0.5, 0.5), color=GREY, lw=1)
            axes.set(title=f"{float(level):.0%} false exclusions", xlabel="Mahalanobis distance")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter("{x:g}")
        panels[0].set(ylabel="transvariation probability")
        panels[0].legend()
        chart_style.save(figure, folder / "casework_simulation.svg")
    shares = {level: [float(row[f"tp: false exclusion, {level}"]) for row in rows] for level in levels}
    lower = {
        elements: sum(
            float(row[f"tp: false inclusion, {level}"]) <= float(row[f"Mahalanobis: false inclusion, {level}"])
            for row in rows
            for level in levels
            if row["elements"] == elements
        )
        / sum(2 for row in rows if row["elements"] == elements)
        for elements in MARKS
    }
    at, below = (f"{min(values):.2f} to {max(values):.2f}" for values in shares.values())
    return (
        f"In {len(rows)} settings, false exclusion is {at} at a nominal 0.10 and {below} at 0.05. False inclusion "
        f"is that of the Mahalanobis distance or lower in {listed(f'{share:.0%}' for share in lower.values())} of the "
        f"comparisons with {listed(lower)} elements."
    )


def basis(folder: Path) -> str:
    """Compare calibration by the control and by a background, by the number of control fragments."""
    rows = read("casework_basis")
    with plt.rc_context(SETTINGS):
        figure, panels = plt.subplots(1, 2, figsize=(chart_style.WIDTH, 3.2), sharey=True)
        for axes, elements in zip(panels, ("5", "18"), strict=True):
            some = [row for row in rows if row["elements"] == elements]
            known = [int(row["known"]) for row in some]
            for how, style, colour in (("control", "o-", DARK), ("background", "s--", WARM)):
                values = [float(row[f"{how}: false inclusion"]) for row in some]
                axes.plot(known, values, style, color=colour, label=f"calibrated by the {how}")
            axes.set(title=f"{elements} elements", xlabel="control fragments", ylim=(0, None))
            axes.set_xticks(known)
        panels[0].set(ylabel="share of other panes\nnot excluded")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        chart_style.save(figure, folder / "casework_basis.svg")
    first = {row["elements"]: row for row in rows if row["known"] == min(rows, key=lambda r: int(r["known"]))["known"]}
    said = [
        f"{float(row['control: false inclusion']):.2f} against {float(row['background: false inclusion']):.2f} with "
        f"{elements} elements"
        for elements, row in first.items()
    ]
    few = next(iter(first.values()))["known"]
    return f"With {few} control fragments, calibration by the control leaves more other panes in: {listed(said)}."


def listed(words: Iterable[str]) -> str:
    """Join words by commas, the last two by "and"."""
    *rest, last = words
    return f"{', '.join(rest)} and {last}"


def write(folder: Path) -> None:
    """Draw the charts and write one conclusion for each."""
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (simulation, basis):
        (folder / f"casework_{draw.__name__}.md").write_text(draw(folder) + "\n", encoding="utf-8")
