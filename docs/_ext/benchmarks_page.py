"""The benchmarks page: one chart and one conclusion per topic, from the numbers kept in benchmarks/results.

The conclusions quote numbers from the tables, so a new run of `make bench` changes them.
"""

import csv
import math
from pathlib import Path

import chart_style

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
FROM_PAGE = "../../benchmarks/results"  # the results, seen from docs/reference
INTERNAL = {"target", "target s", "met", "wall s"}  # columns for the authors of the benchmarks
HEADINGS = {  # of columns, as a page shows them
    "n": "samples",
    "p": "features",
    "CPU s": "CPU seconds",
    "peak MB": "peak memory (MB)",
    "data MB": "data (MB)",
}

# Tables to download, by topic.
DOWNLOADS = {
    "Quality": {
        "quality": "AUC on ADBench data sets: mean and rank",
        "quality_sets": "AUC on ADBench data sets, one by one",
        "quality_variants": "Variants of NeighborTOCC",
        "coverage_summary": "Nominal and actual sensitivity, all data sets",
        "coverage": "Nominal and actual sensitivity, data set by data set",
        "neighbor_coverage": "False rejections of NeighborTOCC, all sizes",
        "neighbor_coverage_worst": "False rejections of NeighborTOCC, the largest",
        "neighbor_tail": "NeighborTOCC with few samples: ranks and an exponential tail",
        "certificate": "How often the certificate of NeighborTOCC holds",
        "certificate_summary": "How often the certificate of NeighborTOCC holds, summary",
        "shift": "Another population or instrument",
        "discoveries": "False discoveries and the number of anomalies",
        "exchangeability": "Tests of exchangeability, beside MAPIE's",
        "drift": "Detection of a change, beside MAPIE's",
        "ordered": "Samples in the order of time",
        "power": "What calibrated classifiers reject",
        "power_glass": "What calibrated classifiers reject: glass",
        "power_scenarios": "What calibrated classifiers reject: simulated scenarios",
        "authenticity": "Spectra and wide tables",
        "authenticity_data": "Spectra and wide tables, data set by data set",
        "casework_rates": "False exclusions and inclusions in casework",
        "casework_simulation": "Casework on simulated panes",
        "casework_basis": "Casework calibrated by the control or by a background",
        "casework_transfer": "Casework on another measurement series",
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
        "scaling_size": "Rows in blocks: by number of rows",
        "scaling_processes": "Dask: one process and two",
        "scaling_peers": "Large tables: other libraries",
    },
}


def read(name: str) -> list[dict[str, str]]:
    """Read a kept table."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shown(name: str) -> list[list[str]]:
    """Lay out a kept table for a page: whole numbers in groups of three digits, no columns for authors."""
    rows = [{key: cell for key, cell in row.items() if key not in INTERNAL} for row in read(name)]
    cells = [[f"{int(cell):,}" if cell.isdigit() else cell for cell in row.values()] for row in rows]
    return [[HEADINGS.get(name, name) for name in rows[0]], *cells] if rows else []


def ranking(folder: Path) -> list[str]:
    """Compare detectors by AUC."""
    rows = read("quality")
    if not rows:
        return []
    names = [row["method"] for row in rows]
    values = [float(row["mean AUC"]) for row in rows]
    order = sorted(range(len(rows)), key=lambda k: -values[k])
    label = "mean AUC on twelve ADBench data sets"
    chart_style.dots(
        folder / "quality.svg", [names[k] for k in order], [values[k] for k in order], label=label, ours="NeighborTOCC"
    )
    first, second = rows[0], rows[1]
    final = max(rows, key=lambda row: float(row["AUC, final four"]))
    return [
        "### Ranking anomalies",
        "",
        f"{first['method']} has the best mean rank ({float(first['mean rank']):.1f}; next is {second['method']} with "
        f"{float(second['mean rank']):.1f}). Its mean AUC is {float(first['mean AUC']):.3f}. On the four data sets "
        f"that were left out when its variants were compared, {final['method']} has the highest mean AUC "
        f"({float(final['AUC, final four']):.3f}; {first['method']} {float(first['AUC, final four']):.3f}).",
        "",
        "Each detector learns from half of the normal samples (at most 1,500) and ranks the others and all "
        "anomalies, in five splits.",
        "",
        *image("quality", f"Mean AUC of {len(rows)} detectors on twelve data sets"),
    ]


def coverage(folder: Path) -> list[str]:
    """Compare nominal and actual sensitivity."""
    rows = read("coverage_summary")
    if not rows:
        return []
    table = [
        (f"{row['classifier']}, {row['calibration']}", *(float(row[key]) for key in ("mean", "lowest", "highest")))
        for row in rows
    ]
    chart_style.ranges(folder / "coverage.svg", table, label="share of new target samples accepted", nominal=0.9)
    own = [row[1] for row in table if "resubstitution" in row[0]]
    calibrated = [row[1] for row in table if "resubstitution" not in row[0]]
    return [
        "### Error rates on new samples",
        "",
        f"At a nominal sensitivity of 0.9, classifiers whose threshold comes from their own training samples "
        f"accept {min(own):.2f} to "
        f"{max(own):.2f} of new target samples, on average over fourteen data sets. Calibrated ones accept "
        f"{min(calibrated):.2f} to "
        f"{max(calibrated):.2f}.",
        "",
        *image("coverage", "Actual sensitivity by classifier and calibration: mean and range over fourteen data sets"),
    ]


def small_samples(folder: Path) -> list[str]:
    """State the error rate of NeighborTOCC for few samples."""
    rows = read("neighbor_coverage_worst")
    if not rows:
        return []
    worst = max(rows, key=lambda row: float(row["at 0.90"]))
    means = [float(row["mean at 0.90"]) for row in rows]
    return [
        "### Few samples, many features",
        "",
        f"At a nominal 0.10, NeighborTOCC rejects {min(means):.2f} to {max(means):.2f} of new target samples on "
        f"average, depending on the kind of data. The sizes start at ten samples and include far more features than "
        f"samples. The largest share for any size is {float(worst['at 0.90']):.2f} ({worst['data']}).",
        "",
        f"```{{image}} {FROM_PAGE}/neighbor_coverage.png",
        ":alt: Share of new target samples rejected, by kind of data, number of features and number of samples",
        "```",
        "",
    ]


def power(folder: Path) -> list[str]:
    """Compare what calibrated classifiers reject."""
    rows = sorted(read("power"), key=lambda row: -float(row["specificity"]))
    if not rows:
        return []
    names = [row["classifier"] for row in rows]
    values = [float(row["specificity"]) for row in rows]
    counting = ", ".join(f"{n} {v:.2f}" for n, v in zip(names, values, strict=True) if n in ("TOCC", "PAMTOCC"))
    label = "share of other samples rejected"
    chart_style.dots(folder / "power.svg", names, values, label=label, ours="NeighborTOCC", digits=2)
    return [
        "### What calibrated classifiers reject",
        "",
        "At a sensitivity of 0.9, on the glass fragments and the simulated scenarios of the paper, "
        f"{names[0]} rejects {values[0]:.2f} of other samples, followed by {names[1]} with {values[1]:.2f}. "
        f"Classifiers that count reject far less once their threshold is valid: {counting}.",
        "",
        *image("power", "Share of other samples rejected by calibrated classifiers"),
    ]


def spectra(folder: Path) -> list[str]:
    """Compare classifiers of spectra and wide tables."""
    rows = sorted(read("authenticity"), key=lambda row: -float(row["AUC"]))
    if not rows:
        return []
    names = [row["classifier"] for row in rows]
    chart_style.dots(
        folder / "authenticity.svg", names, [float(row["AUC"]) for row in rows], label="mean AUC", ours="NeighborTOCC"
    )
    limits = next((row for row in rows if "published" in row["classifier"]), None)
    best, next_best = (f"{float(row['AUC']):.3f}" for row in rows[:2])
    text = f"{names[0]} ranks best (mean AUC {best}), followed by {names[1]} ({next_best})."
    if best == next_best:
        text = f"{names[0]} and {names[1]} have the same mean AUC of {best}."
    if limits:
        share = float(limits["sensitivity"])
        text += f" DD-SIMCA with its published limits accepts only {share:.2f} of new samples at a nominal 0.90."
    return ["### Spectra and wide tables", "", text, "", *image("authenticity", "Mean AUC on spectra and wide tables")]


def casework(folder: Path) -> list[str]:
    """Compare criteria of casework at the same rate of false exclusions."""
    rows = [row for row in read("casework_rates") if row["nominal"] in ("0.10", "0.1")]
    if not rows:
        return []
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        replicates = "one replicate" if row["replicates"] == "1" else f"{row['replicates']} replicates"
        case = f"{row['glass']}: {row['known']} known,\n{replicates}"
        criterion = row["criterion"].split(" with ")[0]  # the multiplier of ASTM differs from row to row
        found.setdefault(criterion, {})[case] = float(row["false inclusion"])
    label = "false inclusions (share of other panes)"
    chart_style.groups(folder / "casework_rates.svg", found, label=label, ours="(used)")
    return [
        "### Casework",
        "",
        "One questioned fragment is compared with a few known ones. All criteria are set to exclude about 10% of the "
        "fragments of the same pane, so the better criterion is the one with fewer false inclusions: fragments of "
        "*other* panes that are not excluded. "
        "[How often conclusions in casework are wrong](../explanation/casework_error_rates.md) describes the data.",
        "",
        casework_conclusion(),
        "",
        *image("casework_rates", "False inclusions by criterion, data and number of fragments"),
    ]


def casework_conclusion() -> str:
    """State the false inclusions of each criterion on Zadora's glass with most known about a pane."""
    case = {"glass": "Zadora", "known": "3", "replicates": "3", "nominal": "0.10"}
    rows = [row for row in read("casework_rates") if case.items() <= row.items()]
    shares = {row["criterion"].split(" with ")[0]: f"{float(row['false inclusion']):.1%}" for row in rows}
    return (
        f"On Zadora's glass, with three known fragments of three replicates, "
        f"{shares['tp of same-source differences (used)']} of the fragments of other panes are not excluded by tp, "
        f"{shares['calibrated Mahalanobis']} by calibrated Mahalanobis distances and {shares['ASTM E2927']} by the "
        f"ASTM criterion."
    )


def speed(folder: Path) -> list[str]:
    """State the cost of NeighborTOCC and of TOCC."""
    rows = read("neighbor_speed")
    lines = []
    if rows:
        ratios = [float(row["ratio"]) for row in rows]
        lines += [
            "### NeighborTOCC",
            "",
            f"Fitting and scoring takes {min(ratios):.1g} to {max(ratios):.2g} times the CPU time of scikit-learn's "
            "search for five neighbors on the same data. The ratio is smallest for large samples: beyond 10,000 known "
            "samples the cost of a scored sample no longer grows, because the neighbors come from a subsample.",
            "",
            f"```{{image}} {FROM_PAGE}/neighbor_growth.png",
            ":alt: CPU seconds against the number of samples for NeighborTOCC, nearest neighbors, LOF and "
            "IsolationForest",
            "```",
            "",
        ]
    fits = [row for row in read("core_fit") if row["kernels"] == "compiled"]
    if fits:
        largest = max(fits, key=lambda row: int(row["n"]))
        lines += [
            "### TOCC",
            "",
            f"With compiled kernels, fitting {int(largest['n']):,} samples of {largest['p']} features takes "
            f"{float(largest['ratio']):.1f} times the CPU time of sorting the columns.",
            "",
            "```{image} ../_static/benchmark_growth.png",
            ":alt: CPU time of the fit of TOCC against the number of samples, on log axes, with np.sort for comparison",
            "```",
            "",
        ]
    return lines


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


def image(name: str, alt: str) -> list[str]:
    """Embed a chart of the build."""
    return [f"```{{image}} ../_generated/{name}.svg", f":alt: {alt}", "```", ""]


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
            lines += [f"**{topic}**", ""]
            lines += [
                f"- {{download}}`{title} <{FROM_PAGE}/{name}.csv>`, measured on {measured[name]['date']} with version "
                f"{measured[name]['version']} ({measured[name]['commit']})"
                for name, title in tables.items()
            ]
            lines += [""]
    return lines


def write(path: Path) -> None:
    """Draw the charts and write the page's text."""
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["## Quality", ""]
    for topic in (ranking, coverage, small_samples, power, spectra, casework):
        found = topic(folder)
        lines += found
        # Without its heading, for other pages.
        (folder / f"{topic.__name__}.md").write_text("\n".join(found[2:]) + "\n", encoding="utf-8")
    lines += ["## Speed and memory", "", *speed(folder), *downloads()]
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
