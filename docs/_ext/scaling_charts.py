"""Draw the charts and write the tables of the page on scaling from the numbers in benchmarks/results."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transvariation.report.figure_style import DARK, PHONE_WIDTH, SETTINGS, SKY

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def rows(name: str, results: Path = RESULTS) -> list[dict[str, str]]:
    with (results / f"scaling_{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def size_chart() -> Figure:
    figure, (above, below) = plt.subplots(2, 1, figsize=(PHONE_WIDTH, 6), sharex=True)
    for how, style in (("in memory", "o--"), ("in blocks", "s-")):
        some = [row for row in rows("size") if row["fit"] == how]
        n = [float(row["n"]) for row in some]
        above.loglog(n, [float(row["CPU s"]) for row in some], style, label=how)
        below.loglog(n, [float(row["peak MB"]) for row in some], style, label=how)
    some = [row for row in rows("size") if row["fit"] == "in blocks"]
    below.loglog(
        *zip(*((float(r["n"]), float(r["data MB"])) for r in some), strict=True), ":", color="0.5", label="the data"
    )
    above.set(ylabel="CPU seconds", title="Time to fit and score")
    below.set(xlabel="rows", ylabel="megabytes", title="Peak memory of the process")
    below.legend()
    return figure


def peers_chart() -> Figure:
    some = rows("peers")[::-1]
    figure, axes = plt.subplots(figsize=(PHONE_WIDTH, 4.8))
    places = range(len(some))
    axes.barh([p + 0.2 for p in places], [float(r["fit CPU s"]) for r in some], height=0.4, color=DARK, label="fit")
    axes.barh(
        [p - 0.2 for p in places],
        [float(r["score CPU s"]) for r in some],
        height=0.4,
        color=SKY,
        label="score as many new rows",
    )
    axes.set(xscale="log", xlabel="CPU seconds", title=f"{int(some[-1]['n']):,} rows of two features")
    axes.set_yticks(list(places), [peer(r["classifier"]) for r in some])
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def peer(name: str) -> str:
    """Break a long name into lines."""
    return name.replace("scikit-learn ", "").replace(", ", ",\n").replace("ParallelPostFit(", "ParallelPostFit\n(")


def sample_table() -> str:
    """Compare counting among all rows with counting among a sample of them, as a table."""
    lines = [
        "| rows counted | CPU seconds to fit | mean difference of tp | decisions that differ | new rows accepted |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows("sample"):
        n, fit, accepted = int(row["rows counted"]), float(row["fit CPU s"]), float(row["new rows accepted"])
        difference, decisions = float(row["mean difference of tp"]), float(row["decisions that differ"])
        if n == int(row["of"]):
            lines.append(f"| all {n:,} | {fit:.1f} | | | {accepted:.3f} |")
        else:
            lines.append(f"| {n:,} | {fit:.1f} | {difference:.3f} | {decisions:.2%} | {accepted:.3f} |")
    return "\n".join(lines)


def workers_table() -> str:
    """Compare two Dask workers with one, as a table."""
    lines = [
        "| classifier | rows scored | workers | seconds | CPU seconds of the workers |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows("processes"):
        cells = (f"{float(row[name]):.3g}" for name in ("wall s", "CPU s of the workers"))
        lines.append(f"| {row['classifier']} | {int(row['n']):,} | {row['processes']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write(folder: Path) -> None:
    """Draw the charts and write the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in {"workers": workers_table(), "sample": sample_table()}.items():
        (folder / f"scaling_{name}.md").write_text(f"```{{table}}\n:class: compact\n\n{table}\n```\n", encoding="utf-8")
    charts = {"size": size_chart, "peers": peers_chart}
    for name, draw in charts.items():
        with plt.rc_context(SETTINGS):
            figure = draw()
            figure.savefig(folder / f"scaling_{name}.svg", metadata={"Date": None})
        plt.close(figure)
