"""The benchmark tables, from the numbers that `make bench` last kept in benchmarks/results."""

import csv
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


# What each table is about, in the order of the page; others follow by their names.
HEADINGS = {
    "core_fit": "Learning one class, against sorting its columns",
    "core_peers": "Learning and rating, against other detectors",
    "core_cold": "The first fit, compiler included",
    "core_growth": "Learning more and more objects",
    "ensemble_speed": "Ensembles of projections, against an IsolationForest",
    "ensemble_cells": "Ensembles of projections: the paper's glass cells over seeds",
    "ensemble_search": "The search for projections alone",
    "mixture_search": "Mixtures: the whole search, against mclust",
    "mixture_growth": "Mixtures: the search on larger tables",
    "boxes_two_variables": "Box probabilities in two variables",
    "boxes_more_variables": "Box probabilities in more variables",
    "rivals_promises": "The paper's competitors, against other implementations",
    "rivals_growth": "The paper's competitors on more and more objects",
    "workers": "One worker and two",
    "reading": "Reading a table",
    "scaling_size": "Out of memory's reach: more and more rows",
    "scaling_partitions": "Out of memory's reach: more and more partitions",
    "scaling_processes": "One process and two",
    "scaling_peers": "Out of memory's reach: other libraries",
    "coverage": "Promised and actual sensitivity, data set by data set",
    "coverage_summary": "Promised and actual sensitivity, over all data sets",
    "power": "What calibrated rules reject, on average",
    "power_glass": "What calibrated rules reject: glass",
    "power_scenarios": "What calibrated rules reject: simulated classes",
    "quality": "AUC on ADBench sets, learned from normal samples",
    "quality_sets": "AUC on ADBench sets, set by set",
    "quality_variants": "Variants of NeighborTOCC",
    "neighbor_coverage": "False rejections of NeighborTOCC",
    "neighbor_coverage_worst": "Largest false rejections of NeighborTOCC",
    "neighbor_speed": "NeighborTOCC beside scikit-learn's nearest neighbors",
    "neighbor_growth": "NeighborTOCC and other detectors on more and more samples",
    "neighbor_memory": "Time and memory of NeighborTOCC on large tables",
    "neighbor_reference": "What a subsample of reference samples costs",
    "authenticity": "Spectra and wide tables, on average",
    "authenticity_data": "Spectra and wide tables, data set by data set",
    "casework_rates": "False exclusions and inclusions in casework",
    "casework_ratios": "Likelihood ratios in casework",
}


def tables(results: Path = RESULTS) -> str:
    """Compose one section per kept table, in Markdown."""
    lines: list[str] = []
    kept = {path.stem: path for path in sorted(results.glob("*.csv"))}
    for name in [*filter(kept.get, HEADINGS), *(name for name in kept if name not in HEADINGS)]:
        with kept[name].open(newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        heading = HEADINGS.get(name, name.replace("_", " ").capitalize())
        lines += [f"## {heading}", "", _line(header), _line(["---"] * len(header))]
        lines += [_line([_WORDS.get(cell, cell) for cell in row]) for row in rows] + [""]
    return "\n".join(lines) or "No results are kept in this copy: `make bench` measures and keeps them.\n"


_WORDS = {"True": "yes", "False": "no"}


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def write(path: Path) -> None:
    """Write the tables, to be included by the page on speed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tables(), encoding="utf-8")
