"""The page of the simulation study: box plots as in the paper, an assessment of each claim, tables."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import pandas as pd

from transvariation.report.figure_style import PHONE_WIDTH, RED, SETTINGS, SKY
from transvariation.report.page import Document, Section, save_figure
from transvariation.studies.claims import check_claims, listed
from transvariation.studies.simulation import N_FRESH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THOUSANDTHS = "%.3f"  # summaries are read by people; the rows that they sum up are kept in full
LAWS = {
    "a": "bivariate normal, shifted",
    "b": "squared normal, shifted",
    "c": "root of absolute normal, shifted",
    "d": "log of absolute normal, shifted",
    "e": "normal, non-targets uniform",
    "f": "squared normal, non-targets uniform",
    "g": "root of absolute normal, non-targets uniform",
    "h": "log of absolute normal, non-targets uniform",
    "i": "bananas of different width",
}


def box_plots(table: pd.DataFrame, scenario: str) -> "Figure":
    """Draw one scenario: a panel per shift and size, a box per method, the median of TOCC_df as a line."""
    from matplotlib.figure import Figure

    found = table[table["scenario"] == scenario]
    shifts, sizes = sorted(found["shift"].unique()), sorted(found["size"].unique())
    methods = list(dict.fromkeys(found["method"]))
    figure = Figure(figsize=(PHONE_WIDTH, 0.9 + 2.6 * len(shifts)), layout="constrained")
    grid = {"wspace": 0.12}  # room for the labels at the ends of neighboring axes
    axes = figure.subplots(len(shifts), len(sizes), squeeze=False, sharex=True, sharey=True, gridspec_kw=grid)
    for row, shift in zip(axes, shifts, strict=True):
        for ax, size in zip(row, sizes, strict=True):
            panel = found[(found["shift"] == shift) & (found["size"] == size)]
            groups = [panel.loc[panel["method"] == method, "specificity"].to_numpy() for method in methods]
            ax.axvline(pd.Series(groups[0]).median(), color=RED, linewidth=1, zorder=0)
            boxes = ax.boxplot(
                groups,
                orientation="horizontal",
                widths=0.65,
                patch_artist=True,
                medianprops={"color": "black"},
                flierprops={"markersize": 2.5},
            )
            if panel["specificity"].nunique() == 1:  # boxes that are only lines
                ax.text(0.5, 0.5, f"all {panel['specificity'].iloc[0]:g}", ha="center", transform=ax.transAxes)
            for box, method in zip(boxes["boxes"], methods, strict=True):
                box.set_facecolor(SKY if "TOCC" in method else "#e9ecef")
            ax.set_title((f"shift {shift:g}\n" if shift else "") + f"n = {size}")
    low = math.floor(10 * found["specificity"].min()) / 10
    axes[0, 0].set(xlim=(low - 0.04 * (1 - low), 1 + 0.04 * (1 - low)), xticks=[low, (1 + low) / 2, 1])
    axes[0, 0].xaxis.set_major_formatter("{x:g}")
    axes[0, 0].set_yticks(range(1, len(methods) + 1), methods)
    axes[0, 0].invert_yaxis()
    figure.supxlabel("specificity", fontsize=11)
    figure.suptitle(f"Scenario ({scenario}):\n{LAWS[scenario]}", fontsize=11)
    return figure


def write_simulation_page(table: pd.DataFrame, directory: Path, made_by: dict[str, str]) -> Path:
    """Write everything into a folder: the tidy table, summaries, figures, the page and what made it."""
    directory.mkdir(parents=True, exist_ok=True)
    table.to_csv(directory / "simulation.csv", index=False)
    claims = check_claims(table)
    worded(claims).to_csv(directory / "claims.csv", index=False)
    summaries = {value: _summary(table, value) for value in ("specificity", "fresh_sensitivity", "fresh_specificity")}
    for value, summary in summaries.items():
        summary.to_csv(directory / f"median_{value}.csv", index=False, float_format=THOUSANDTHS)
    (directory / "provenance.json").write_text(json.dumps(made_by, indent=1) + "\n")
    pictures = Section("Box plots").text(
        "Specificity of the classifier that accepts at least 90% of its own training targets, as in the paper. "
        "Blue: transvariation-based; gray: competitors. The red line is the median of TOCC_df."
    )
    for scenario in dict.fromkeys(table["scenario"]):
        with matplotlib.rc_context(SETTINGS):
            drawn = save_figure(box_plots(table, scenario), directory / "figures", f"scenario_{scenario}")
        pictures.figure(drawn, f"Scenario ({scenario}): {LAWS[scenario]}.")
    settings, kept = table.groupby(["scenario", "shift", "size"]).ngroups, table.groupby("method")["sensitivity"].mean()
    document = Document(
        "Simulation study of one-class classifiers",
        [claims_section(claims), pictures, *_table_sections(summaries, listed(kept)), origin(made_by)],
        lead=f"{table['repeat'].nunique()} repetitions, {settings} settings, {table['method'].nunique()} methods.",
    )
    path = directory / "index.html"
    document.write(path)
    return path


def _summary(table: pd.DataFrame, value: str) -> pd.DataFrame:
    order = list(dict.fromkeys(table["method"]))
    wide = table.groupby(["scenario", "shift", "size", "method"])[value].median().unstack()[order]
    return wide.reset_index().rename_axis(columns=None).assign(shift=lambda rows: rows["shift"].map("{:g}".format))


def claims_section(claims: pd.DataFrame) -> Section:
    """Show each claim of the paper, whether it holds, and the numbers."""
    return (
        Section("The paper's claims and our results")
        .text("Each claim is checked against the results below; its numbers are in the last column.")
        .table(worded(claims), "The paper's claims")
    )


def worded(claims: pd.DataFrame) -> pd.DataFrame:
    """Write a truth value as yes or no."""
    return claims.assign(holds=claims["holds"].map({True: "yes", False: "no"}))


def _table_sections(summaries: dict[str, pd.DataFrame], kept: str) -> list[Section]:
    return [
        Section("Specificity as in the paper")
        .text(
            "Median over repetitions. The threshold keeps at least 90 % of the objects that the classifier was "
            f"fitted to, and more where scores are tied, as counted ones are. On average: {kept}."
        )
        .table(summaries["specificity"], "Median specificity", digits=2),
        Section("The sensitivity actually reached")
        .text(
            f"The same classifiers on {N_FRESH} new targets. If a value is well below 0.90, the specificity above is "
            "high only because many targets are rejected, too."
        )
        .table(summaries["fresh_sensitivity"], "Median sensitivity on new targets", digits=2),
        Section("Specificity at equal sensitivity on new targets")
        .text("The threshold of each classifier is set to accept at least 90 % of new targets: the fair comparison.")
        .table(summaries["fresh_specificity"], "Median specificity at sensitivity 0.9 on new targets", digits=2),
    ]


def origin(made_by: dict[str, str]) -> Section:
    """List the versions, the seed and the command that made a page."""
    return Section("What made this page").code(made_by)
