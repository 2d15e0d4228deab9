"""The charts of the casework page and the numbers of the texts beside them, from benchmarks/results."""

import re
from pathlib import Path
from statistics import fmean

import chart_style
import matplotlib.pyplot as plt
from benchmarks_page import casework_shares, read, say

from transvariation.report.figure_style import DARK, GRAY, GREEN, PHONE_WIDTH, SETTINGS, SKY, THRESHOLD, WARM

SCORES = ("tp", "Mahalanobis")
MARKS = {"5": ("o", WARM), "10": ("D", GREEN), "18": ("^", SKY)}  # by number of elements


def simulation(folder: Path) -> str:
    """Compare both scores on simulated panes, one mark per setting."""
    rows = read("casework_simulation")
    levels = ("0.10", "0.05")
    with plt.rc_context(SETTINGS):
        figure, panels = plt.subplots(1, 2, figsize=(PHONE_WIDTH, 3.4), sharey=True)
        for axes, level in zip(panels, levels, strict=True):
            for elements, (mark, color) in MARKS.items():
                some = [row for row in rows if row["elements"] == elements]
                x, y = ([float(row[f"{score}: false inclusion, {level}"]) for row in some] for score in SCORES[::-1])
                axes.loglog(x, y, mark, color=color, ms=5, label=f"{elements} elements")
            axes.axline((0.01, 0.01), (0.5, 0.5), color=GRAY, lw=1)
            axes.set(title=f"{float(level):.0%} false exclusions", xlabel="Mahalanobis")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter("{x:g}")
        panels[0].set(ylabel="transvariation probability")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, columnspacing=1)
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
    (at_10_low, at_10_high), (at_05_low, at_05_high) = (
        (f"{min(values):.2f}", f"{max(values):.2f}") for values in shares.values()
    )
    return say(
        "casework_simulation",
        settings=len(rows),
        at_10_low=at_10_low,
        at_10_high=at_10_high,
        at_05_low=at_05_low,
        at_05_high=at_05_high,
        **{f"lower_{elements}": f"{share:.0%}" for elements, share in lower.items()},
    )


def basis(folder: Path) -> str:
    """Compare calibration by the control and by a background, by the number of control fragments."""
    rows = read("casework_basis")
    with plt.rc_context(SETTINGS):
        figure, panels = plt.subplots(1, 2, figsize=(PHONE_WIDTH, 3.4), sharey=True)
        for axes, elements in zip(panels, ("5", "18"), strict=True):
            some = [row for row in rows if row["elements"] == elements]
            known = [int(row["known"]) for row in some]
            for how, style, color in (("control", "o-", DARK), ("background", "s--", WARM)):
                values = [float(row[f"{how}: false inclusion"]) for row in some]
                axes.plot(known, values, style, color=color, label=f"by the {how}")
            axes.set(title=f"{elements} elements", xlabel="control fragments", ylim=(0, None))
            axes.set_xticks(known)
        panels[0].set(ylabel="share of other panes\nnot excluded")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        chart_style.save(figure, folder / "casework_basis.svg")
    first = {row["elements"]: row for row in rows if row["known"] == min(rows, key=lambda r: int(r["known"]))["known"]}
    numbers = {
        f"{how}_{elements}": f"{float(row[f'{how}: false inclusion']):.2f}"
        for elements, row in first.items()
        for how in ("control", "background")
    }
    return say("casework_basis", known=next(iter(first.values()))["known"], **numbers)


def transfer(folder: Path) -> str:
    """Show false exclusions with a background of the same and of another measurement series."""
    rows = read("casework_transfer")
    found: dict[str, dict[str, dict[str, str]]] = {}
    for row in rows:
        found.setdefault(row["background"], {})[row["compared"]] = row
    training, validation = found["training"], found["triplo and duplo"]
    shown = list(validation)
    with plt.rc_context(SETTINGS):
        figure, axes = plt.subplots(figsize=(PHONE_WIDTH, 0.45 * len(shown) + 1.6))
        axes.axvline(0.1, label="nominal, 0.10", **THRESHOLD)
        series = (("training data", training, "s", WARM), ("other validation data", validation, "o", DARK))
        for name, group, mark, color in series:
            values = [float(group[compared]["false exclusion at .10"]) for compared in shown]
            axes.plot(values, range(len(shown)), mark, ms=8, color=color, label=f"background: {name}")
        axes.set_yticks(range(len(shown)), [compared.replace(" against ", "\nagainst ") for compared in shown])
        axes.set(xlabel="false exclusions", xlim=(0, None), ylim=(len(shown) - 0.5, -0.5))
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside lower center")
        chart_style.save(figure, folder / "casework_transfer.svg")
    cases = "triplo: two against the third", "triplo against one of duplo", "duplo: one against the other"
    triplo, _, duplo = (float(training[compared]["mean square"]) for compared in cases)
    numbers = {
        f"{name}_{where}": f"{float(group[compared]['false exclusion at .10']):.2f}"
        for name, group in (("training", training), ("validation", validation))
        for where, compared in zip(("within", "between", "duplo"), cases, strict=True)
    }
    return say("casework_transfer", duplo_square=f"{duplo:.2f}", triplo_square=f"{triplo:.2f}", **numbers)


def ratios(folder: Path) -> str:
    """Tabulate the cost of likelihood ratios, and count where a peer is better."""
    rows = read("casework_ratios")
    systems = ("used", "lir", "Mahalanobis")
    lines = [
        "| data (variables, sources) | known × repli\u00adcates | Cllr | lir | Mahala\u00adnobis "
        "| difference to the better one | same source, LR < 1/10: used, lir, Mahala\u00adnobis |",
        "| --- | --- | ---: | ---: | ---: | --- | --- |",
    ]
    for row in rows:
        costs = [row[f"Cllr, {system}"] for system in systems]
        misleading = ", ".join(row[f"same source, LR < 1/10, {system}"] for system in systems)
        data = f"{row['data']} ({row['variables']}, {row['sources']})"
        cells = [data, row["known x replicates"], *costs, row["used - better peer"], misleading]
        lines.append(f"| {' | '.join(cells)} |")
    differences, more = (
        [[float(x) for x in re.findall(r"[-+][\d.]+", row[column])] for row in rows]
        for column in ("used - better peer", "LR < 1/10, used - lir")
    )
    used, lir, mahalanobis = (
        [float(row[f"same source, LR < 1/10, {system}"].strip("%")) for row in rows] for system in systems
    )
    counts = {
        "worse": sum(value > 0 for value, _, _ in differences),
        "unclear": sum(low <= 0 <= high for _, low, high in differences),
        "more_lir": sum(value > 0 for value, _, _ in more),
        "more_lir_unclear": sum(value > 0 >= low for value, low, _ in more),
        "more_mahalanobis": sum(ours > theirs for ours, theirs in zip(used, mahalanobis, strict=True)),
    }
    means = {name: f"{fmean(x):.1f}%" for name, x in (("used", used), ("lir", lir), ("mahalanobis", mahalanobis))}
    return say("casework_ratios", table="\n".join(lines), rows=len(rows), **counts, **means)


def rates(folder: Path) -> str:
    """Compare the criteria on the data of the chart."""
    return say("casework_rates", **casework_shares())


def lead(folder: Path) -> str:
    """Tabulate how often either conclusion misleads."""
    rows = read("casework_lead")
    columns = [column for column in rows[0] if column != "known"]
    lines = [columns, ["---"] * len(columns), *([row[column] for column in columns] for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"```{{table}}\n:class: compact\n\n{table}\n```\n"


def write(folder: Path) -> None:
    """Draw the charts and write one conclusion for each."""
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (rates, simulation, basis, transfer, ratios, lead):
        (folder / f"casework_{draw.__name__}.md").write_text(draw(folder), encoding="utf-8")
