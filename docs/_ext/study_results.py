"""The studies kept in docs/results, as tables that fit a page and conclusions computed from them."""

import csv
from pathlib import Path

from benchmarks_page import say

RESULTS = Path(__file__).parents[1] / "results"
SUMMARIES = ("median_specificity", "median_fresh_sensitivity", "median_fresh_specificity")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cells() -> list[list[str]]:
    """Lay AUC and specificity, the printed and ours, side by side: one row per classifier and reduction."""
    lines = [["classifier, reduction", "paper", "here", "reading"]]
    for row in _rows(RESULTS / "glass" / "cells.csv"):
        spread = f" [{row['AUC, lowest']}, {row['AUC, highest']}]" if row["AUC, lowest"] else ""
        printed = f"{float(row['AUC, paper']):.3f} / {float(row['specificity, paper']):.3f}"
        ours = f"{row['AUC']}{spread} / {row['specificity']}"
        lines.append([f"{row['classifier']}, {row['reduction']}", printed, ours, row["reading"]])
    return lines


def medians(summary: str) -> list[list[str]]:
    """Round medians to hundredths, one row per setting, one column per method."""
    rows = _rows(RESULTS / "simulation" / f"{summary}.csv")
    methods = [name for name in rows[0] if name not in ("scenario", "shift", "size")]
    lines = [["setting", *methods]]
    for row in rows:
        shift = "" if row["shift"] == "0" else f", shift\u00a0{row['shift']}"
        setting = f"({row['scenario']}){shift}, n\u00a0=\u00a0{row['size']}"
        lines.append([setting, *[f"{float(row[name]):.2f}" for name in methods]])
    return lines


def held_out() -> list[list[str]]:
    """Lay sensitivity and specificity on unseen fragments side by side: one column per reduction."""
    rows = _rows(RESULTS / "glass" / "held_out.csv")
    reductions = list(dict.fromkeys(row["reduction"] for row in rows))
    found: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        pair = f"{float(row['sensitivity']):.2f} / {float(row['specificity']):.2f}"
        threshold = "calibrated" if row["calibration"] == "cv" else "paper's"
        found.setdefault((row["classifier"], threshold), {})[row["reduction"]] = pair
    lines = [[*names, *(pairs[reduction] for reduction in reductions)] for names, pairs in found.items()]
    return [["classifier", "threshold", *reductions], *lines]


def faulty_days() -> list[list[str]]:
    """Shorten the table of the faulty days of the water treatment plant: what went wrong and which sensors show it."""
    rows = _rows(RESULTS / "water" / "days.csv")
    return [["day", "what went wrong", "sensors"], *([*row.values()][:2] + [*row.values()][-1:] for row in rows)]


def shares(table: str) -> list[list[str]]:
    """Write the shares in a table of the water treatment plant as percentages."""
    rows = _rows(RESULTS / "water" / f"{table}.csv")
    lines = [[f"{float(cell):.0%}" if "." in cell else cell for cell in row.values()] for row in rows]
    return [list(rows[0]), *lines]


def found_days() -> str:
    """State which classifiers find all faulty days of the water treatment plant."""
    found = {}
    for row in _rows(RESULTS / "water" / "classifiers.csv"):
        count, total = row["faulty days found"].split(" of ")
        found[row["classifier"]] = int(count), int(total)
    whole = [name for name, (count, total) in found.items() if count == total]
    rest = {name: count for name, (count, total) in found.items() if count < total}
    total = next(iter(found.values()))[1]
    if set(rest) != {name for name in found if "2 last components" in name}:
        raise ValueError(f"the conclusion of the page on plants no longer holds: {found}")
    whole = [name.replace(", all sensors", "") for name in whole]
    short = [name.replace(", in", " in").replace(", random", " over random") for name in whole]
    names = f"{', '.join(short[:-1])} and {short[-1]}"
    return say("found_days", total=total, names=names, fewest=min(rest.values()), most=max(rest.values()))


def write(folder: Path) -> None:
    """Write the tables as CSV and the conclusions as Markdown, to be shown by the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "found_days.md").write_text(found_days(), encoding="utf-8")
    tables = {"cells": cells(), "held_out": held_out(), "faulty_days": faulty_days()}
    tables |= {name: shares(name) for name in ("classifiers", "failed_sensors")}
    tables |= {summary: medians(summary) for summary in SUMMARIES}
    for name, lines in tables.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
