"""The benchmarks page: one chart and one conclusion per topic, from the numbers kept in benchmarks/results.

The texts are in docs/_text, with names in place of the numbers; a new run of `make bench` changes the numbers.
"""

import csv
import math
import re
from pathlib import Path
from string import Template

import chart_style

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
TEXTS = Path(__file__).parents[1] / "_text"  # sentences written by hand, into which numbers are put
FROM_PAGE = "../../benchmarks/results"  # the results, seen from docs/reference
INTERNAL = {"target", "target s", "met", "wall s"}  # columns for the authors of the benchmarks
ERRORS = {"standard error", "standard error, at most"}  # columns that the text of a page sums up
HEADINGS = {  # of columns, as a page shows them
    "n": "samples",
    "p": "features",
    "CPU s": "CPU seconds",
    "peak MB": "peak memory (MB)",
    "data MB": "data (MB)",
    "known x replicates": "known × replicates",
}
METHODS = {"transvariation": "tp", "mahalanobis": "Mahalanobis", "astm": "4 s interval"}

# Tables to download, by topic.
DOWNLOADS = {
    "Quality": {
        "quality": "AUC on ADBench data sets: mean and rank",
        "quality_sets": "AUC on ADBench data sets, one by one",
        "quality_variants": "Variants of NeighborTOCC",
        "quality_tables": "AUC and average precision on tables of OddBench and OvRBench",
        "quality_tables_margin": "How far NeighborTOCC is above nearest neighbors on these tables, and without pairs",
        "coverage_summary": "Nominal and actual sensitivity, all data sets",
        "coverage": "Nominal and actual sensitivity, data set by data set",
        "neighbor_coverage": "False rejections of NeighborTOCC, all sizes",
        "neighbor_coverage_worst": "False rejections of NeighborTOCC, the largest",
        "neighbor_tail": "NeighborTOCC with few samples: ranks and an exponential tail",
        "one_unit": "NeighborTOCC on features in one unit",
        "robustness_wide": "NeighborTOCC with many features",
        "robustness_categories": "NeighborTOCC with categories, and one-hot indicators of them",
        "robustness_bad_samples": "NeighborTOCC with bad samples among the known",
        "robustness_missing": "NeighborTOCC with missing values",
        "certificate": "How often the certificate of NeighborTOCC holds",
        "certificate_summary": "How often the certificate of NeighborTOCC holds, summary",
        "certificate_peers": "Thresholds that guarantee a sensitivity, beside nonconform's and MAPIE's",
        "shift": "Another population or instrument",
        "discoveries": "False discoveries and the number of anomalies",
        "exchangeability": "Tests of exchangeability, beside MAPIE's",
        "drift": "Detection of a change, beside MAPIE's",
        "ordered": "Samples in the order of time",
        "ordered_warning": "How often fit warns of the order of the rows",
        "power": "What calibrated classifiers reject",
        "power_glass": "What calibrated classifiers reject: glass",
        "power_scenarios": "What calibrated classifiers reject: simulated scenarios",
        "authenticity": "Spectra and wide tables",
        "authenticity_data": "Spectra and wide tables, data set by data set",
        "casework_rates": "False exclusions and inclusions in casework",
        "casework_simulation": "Casework on simulated panes",
        "casework_basis": "Casework calibrated by the control or by a background",
        "casework_transfer": "Casework on another measurement series",
        "transfer_check": "Cases of another laboratory than the background",
        "transfer_packaged": "Panes of one maker with the packaged background",
        "casework_ratios": "Likelihood ratios in casework",
        "casework_lead": "Conclusions by exclusion or likelihood ratio",
        "ensemble_cells": "Projection ensembles on the paper's glass cells",
    },
    "Speed and memory": {
        "neighbor_speed": "NeighborTOCC and scikit-learn's nearest neighbors",
        "neighbor_latency": "Scores of one row",
        "neighbor_growth": "NeighborTOCC and other detectors by number of samples",
        "neighbor_memory": "NeighborTOCC on large tables",
        "neighbor_reference": "NeighborTOCC by number of reference samples",
        "core_fit": "TOCC: fit, compared with sorting the columns",
        "core_growth": "TOCC: fit by number of samples",
        "core_peers": "TOCC: fit and score, compared with other detectors",
        "core_cold": "TOCC: the first fit, with compilation",
        "mixture_search": "Mixtures: the search, compared with mclust",
        "mixture_growth": "Mixtures: the search by number of samples",
        "boxes_two_variables": "Box probabilities in two variables",
        "boxes_more_variables": "Box probabilities in more variables",
        "ensemble_speed": "Projection ensembles, compared with IsolationForest",
        "ensemble_search": "Projection ensembles: the search for projections",
        "baselines_targets": "Baselines, compared with other implementations",
        "baselines_growth": "Baselines by number of samples",
        "workers": "One worker and two",
        "reading": "Reading a table",
        "scaling_sample": "What counting among a sample costs",
        "scaling_size": "Rows in blocks: by number of rows",
        "scaling_processes": "Dask: one process and two",
        "scaling_peers": "Large tables: other libraries",
    },
    "Validation": {
        "validation_truth": "Intervals on simulated panes, beside the true rates",
        "validation_nfi": "The NFI's glass",
        "validation_fiu": "Vehicle glass of Florida International University",
        "validation_zadora": "Zadora's glass",
        "validation_xtc": "Ecstasy tablets",
        "validation_groups": "Groups of recovered items",
        "validation_speed": "Time of a validation",
    },
}

TINY = re.compile(r"(\bs|ms per box|ratio|false inclusion)$")  # columns whose small numbers matter
INTERVAL = re.compile(r"\(95% interval (.+?) to (.+?), n = [\d,]+\)")  # as rates are written by validate


def read(name: str) -> list[dict[str, str]]:
    """Read a kept table."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shown(name: str) -> list[list[str]]:
    """Lay out a kept table for a page: three decimals, digits in groups, short intervals, no columns for authors."""
    rows = [{key: cell for key, cell in row.items() if key not in INTERNAL | ERRORS} for row in read(name)]
    if not rows:
        return []
    if "sensitivity" in rows[0] and name.startswith("validation_"):
        rows = [_of_design(row) for row in rows]
    rows = [{key: INTERVAL.sub(r"(\1 to \2)", cell) for key, cell in row.items()} for row in rows]
    columns = {name: _align([_short(name, row[name]) for row in rows]) for name in rows[0]}
    table = [[_heading(name) for name in columns], *map(list, zip(*columns.values(), strict=True))]
    return list(map(list, zip(*table, strict=True))) if len(rows) < 3 <= len(columns) - 3 else table  # upright


def _of_design(row: dict[str, str]) -> dict[str, str]:
    """Shorten a row of a validation: the design with its sources, the method in words, no sensitivity (0.9)."""
    rest = {key: cell for key, cell in row.items() if key not in ("design", "sources", "sensitivity")}
    rest["method"] = METHODS.get(row["method"], row["method"])
    return {"design (sources)": f"{row['design']} ({row['sources']})", **rest}


def _heading(name: str) -> str:
    """Name a column; a line may end within the name of a classifier."""
    return re.sub("(?<=[a-z])(TOCC|OCC)", "\u00ad\\1", HEADINGS.get(name, name))


def _short(name: str, cell: str) -> str:
    """Shorten a number: a share of a few hundred samples has no more than three decimals."""
    if re.fullmatch(r"-?0\.\d{4,}", cell) and not TINY.search(name):
        return f"{float(cell):.3f}"
    return f"{int(cell):,}" if cell.isdigit() else cell


def _align(column: list[str]) -> list[str]:
    """Give the shares of a column the same number of decimals."""
    shares = [cell for cell in column if re.fullmatch(r"[01](\.\d{1,3})?", cell) and float(cell) <= 1]
    decimals = max((len(cell.partition(".")[2]) for cell in shares), default=0)
    if len(shares) < sum(map(bool, column)):  # something else
        return column
    return [f"{float(cell):.{decimals}f}" if cell else cell for cell in column]


def say(name: str, **numbers: object) -> str:
    """Put numbers into a text of docs/_text: floats as they are given, in a format of their own."""
    return Template((TEXTS / f"{name}.md").read_text(encoding="utf-8")).substitute(numbers)


def ranking(folder: Path) -> str:
    """Compare detectors by AUC."""
    rows = read("quality")
    ordered = sorted(rows, key=lambda row: -float(row["mean AUC"]))
    chart_style.dots(
        folder / "quality.svg",
        [row["method"] for row in ordered],
        [float(row["mean AUC"]) for row in ordered],
        label="mean AUC on twelve ADBench data sets",
        ours="NeighborTOCC",
    )
    first, second = rows[:2]
    final = max(rows, key=lambda row: float(row["AUC, final four"]))
    return say(
        "ranking",
        first=first["method"],
        first_rank=f"{float(first['mean rank']):.1f}",
        first_auc=f"{float(first['mean AUC']):.3f}",
        first_final_auc=f"{float(first['AUC, final four']):.3f}",
        second=second["method"],
        second_rank=f"{float(second['mean rank']):.1f}",
        final=final["method"],
        final_auc=f"{float(final['AUC, final four']):.3f}",
        detectors=len(rows),
    )


def coverage(folder: Path) -> str:
    """Compare nominal and actual sensitivity."""
    table = [
        (f"{row['classifier']}, {row['calibration']}", *(float(row[key]) for key in ("mean", "lowest", "highest")))
        for row in read("coverage_summary")
    ]
    chart_style.ranges(folder / "coverage.svg", table, label="share of new target samples accepted", nominal=0.9)
    own = [row[1] for row in table if "resubstitution" in row[0]]
    calibrated = [row[1] for row in table if "resubstitution" not in row[0]]
    return say(
        "coverage",
        own_low=f"{min(own):.2f}",
        own_high=f"{max(own):.2f}",
        calibrated_low=f"{min(calibrated):.2f}",
        calibrated_high=f"{max(calibrated):.2f}",
    )


def small_samples(folder: Path) -> str:
    """State the error rate of NeighborTOCC for few samples."""
    rows = read("neighbor_coverage_worst")
    worst = max(rows, key=lambda row: float(row["at 0.90"]))
    means = [float(row["mean at 0.90"]) for row in rows]
    low, high, largest = (f"{share:.2f}" for share in (min(means), max(means), float(worst["at 0.90"])))
    return say("small_samples", low=low, high=high, worst=largest, worst_data=worst["data"])


def power(folder: Path) -> str:
    """Compare what calibrated classifiers reject."""
    rows = sorted(read("power"), key=lambda row: -float(row["specificity"]))
    shares = {row["classifier"]: float(row["specificity"]) for row in rows}
    label = "share of other samples rejected"
    chart_style.dots(
        folder / "power.svg", list(shares), list(shares.values()), label=label, ours="NeighborTOCC", digits=2
    )
    first, second = list(shares)[:2]
    shown = {
        "first_share": first,
        "second_share": second,
        "tocc": "TOCC",
        "pamtocc": "PAMTOCC",
    }
    return say("power", first=first, second=second, **{key: f"{shares[name]:.2f}" for key, name in shown.items()})


def spectra(folder: Path) -> str:
    """Compare classifiers of spectra and wide tables."""
    rows = sorted(read("authenticity"), key=lambda row: -float(row["AUC"]))
    names, values = [row["classifier"] for row in rows], [float(row["AUC"]) for row in rows]
    chart_style.dots(folder / "authenticity.svg", names, values, label="mean AUC", ours="NeighborTOCC")
    published = next(row for row in rows if "published" in row["classifier"])
    return say(
        "spectra",
        first=names[0],
        first_auc=f"{values[0]:.3f}",
        second=names[1],
        second_auc=f"{values[1]:.3f}",
        published=f"{float(published['sensitivity']):.2f}",
    )


def casework(folder: Path) -> str:
    """Compare criteria of casework at the same rate of false exclusions."""
    found: dict[str, dict[str, float]] = {}
    for row in read("casework_rates"):
        if row["nominal"] in ("0.10", "0.1"):
            replicates = "one replicate" if row["replicates"] == "1" else f"{row['replicates']} replicates"
            case = f"{row['glass']}: {row['known']} known,\n{replicates}"
            criterion = row["criterion"].split(" with ")[0]  # the multiplier differs from row to row
            found.setdefault(criterion, {})[case] = float(row["false inclusion"])
    label = "false inclusions (share of other panes)"
    chart_style.groups(folder / "casework_rates.svg", found, label=label, ours="(used)")
    return say("casework", **casework_shares())


def casework_shares() -> dict[str, str]:
    """Return the false inclusions of each criterion on Zadora's glass with most known about a pane."""
    case = {"glass": "Zadora", "known": "3", "replicates": "3", "nominal": "0.10"}
    rows = [row for row in read("casework_rates") if case.items() <= row.items()]
    shares = {row["criterion"].split(" with ")[0]: f"{float(row['false inclusion']):.1%}" for row in rows}
    return {
        "tp": shares["tp of same-source differences (used)"],
        "mahalanobis": shares["calibrated Mahalanobis"],
        "interval": shares["4 s interval"],
    }


def neighbor_speed(folder: Path) -> str:
    """State the cost of NeighborTOCC."""
    *others, second, slowest = sorted(read("neighbor_speed"), key=lambda row: float(row["ratio"]))
    return say(
        "neighbor_speed",
        low=f"{float(others[0]['ratio']):.1g}",
        high=f"{float(slowest['ratio']):.2g}",
        second=f"{float(second['ratio']):.2g}",
        n=f"{int(slowest['n']):,}",
        p=slowest["p"],
        seconds=f"{float(slowest['NeighborTOCC, s']):.2f}",
        pairs=f"{max(float(row['ratio, pairs']) for row in read('neighbor_speed')):.1f}",
    )


def tocc_speed(folder: Path) -> str:
    """State the cost of TOCC."""
    fits = [row for row in read("core_fit") if row["kernels"] == "compiled"]
    largest = max(fits, key=lambda row: int(row["n"]))
    return say("tocc_speed", n=f"{int(largest['n']):,}", p=largest["p"], ratio=f"{float(largest['ratio']):.1f}")


TOPICS = {
    "Quality": {
        "Ranking anomalies": ranking,
        "Error rates on new samples": coverage,
        "Few samples, many features": small_samples,
        "What calibrated classifiers reject": power,
        "Spectra and wide tables": spectra,
        "Casework": casework,
    },
    "Speed and memory": {"NeighborTOCC": neighbor_speed, "TOCC": tocc_speed},
}


def quality_table() -> list[list[str]]:
    """Shorten the tables of detectors for the README and the landing page; the best of each column is bold."""
    rows = read("quality")
    columns = {
        "mean AUC": [float(row["mean AUC"]) for row in rows],
        "mean rank": [float(row["mean rank"]) for row in rows],
        "AUC on four held-out sets": [float(row["AUC, final four"]) for row in rows],
    }
    for collection, title in (("oddbench", "OddBench"), ("ovrbench", "OvRBench")):
        kept = [r for r in read("quality_tables") if r["collection"] == collection and r["set aside"] == "True"]
        found = {row["method"]: float(row["mean AUC"]) for row in kept}
        if found:
            columns[f"{title}, {kept[0]['tables']} tables"] = [found.get(row["method"], math.nan) for row in rows]
    cells = []
    for name, values in columns.items():
        best, digits = (min(values), 1) if name == "mean rank" else (max(v for v in values if v == v), 3)
        shown = [f"{value:.{digits}f}" if value == value else "" for value in values]
        cells.append([f"**{each}**" if value == best else each for each, value in zip(shown, values, strict=True)])
    return [["detector", *columns], *([row["method"], *each] for row, *each in zip(rows, *cells, strict=True))]


def update_readme(path: Path) -> None:
    """Replace the table of detectors in the README by that of the kept results."""
    header, *rows = ["| " + " | ".join(row) + " |" for row in quality_table()]
    rule = "| --- |" + " ---: |" * (header.count("|") - 2)
    text = path.read_text(encoding="utf-8")
    start = text.index("| detector |")
    end = text.index("\n\n", start) + 1
    path.write_text(text[:start] + "\n".join([header, rule, *rows]) + "\n" + text[end:], encoding="utf-8")


def downloads() -> list[str]:
    """List all kept tables by topic; those without a title come last."""
    measured = {row["table"]: row for row in read("measured")}
    kept = {path.stem for path in RESULTS.glob("*.csv")} - {"measured"}
    titled = {name for tables in DOWNLOADS.values() for name in tables}
    topics = {topic: {n: t for n, t in tables.items() if n in kept} for topic, tables in DOWNLOADS.items()}
    topics["Other"] = {name: name.replace("_", " ").capitalize() for name in sorted(kept - titled)}
    lines = ["## All tables", ""]
    for topic, tables in topics.items():
        if tables:
            lines += [f":::{{dropdown}} {topic}"]
            lines += [
                f"- {{download}}`{title} <{FROM_PAGE}/{name}.csv>` ({measured[name]['date']}, "
                f"version {measured[name]['version']})"
                for name, title in tables.items()
            ]
            lines += [":::", ""]
    return lines


def write(path: Path) -> None:
    """Draw the charts and write the page's text."""
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for heading, topics in TOPICS.items():
        lines += [f"## {heading}", ""]
        for title, topic in topics.items():
            text = topic(folder)
            lines += [f"### {title}", "", text]
            (folder / f"{topic.__name__}.md").write_text(text, encoding="utf-8")  # for other pages
    lines += downloads()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for path in RESULTS.glob("*.csv"):
        save(folder / "tables" / path.name, shown(path.stem))
    save(folder / "quality.csv", quality_table())


def save(path: Path, lines: list[list[str]]) -> None:
    """Write a table as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)


if __name__ == "__main__":  # called by make bench
    update_readme(RESULTS.parents[1] / "README.md")
