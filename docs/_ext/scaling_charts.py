"""Draw the charts of the page on scaling from the numbers in benchmarks/results."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transvariation.report.figure_style import DARK, SETTINGS, SKY, WIDTH

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def rows(name: str, results: Path = RESULTS) -> list[dict[str, str]]:
    with (results / f"scaling_{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def size_chart() -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.2))
    for how, style in (("in memory", "o--"), ("out of core", "s-")):
        some = [row for row in rows("size") if row["fit"] == how]
        n = [float(row["n"]) for row in some]
        left.loglog(n, [float(row["CPU s"]) for row in some], style, label=how)
        right.loglog(n, [float(row["peak MB"]) for row in some], style, label=how)
    some = [row for row in rows("size") if row["fit"] == "out of core"]
    right.loglog(
        *zip(*((float(r["n"]), float(r["data MB"])) for r in some), strict=True), ":", color="0.5", label="the data"
    )
    left.set(xlabel="rows", ylabel="CPU seconds", title="Time to fit")
    right.set(xlabel="rows", ylabel="megabytes", title="Peak memory of the process")
    right.legend()
    return figure


def work_chart() -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.2))
    some = rows("partitions")
    count = [int(row["partitions"]) for row in some]
    work = [float(row["CPU us per row"]) for row in some]
    left.plot(count, work, "s-")
    left.set_xticks(count)
    left.set(
        xlabel="partitions of one size",
        ylabel="CPU microseconds per row",
        title="More partitions, more rows",
        ylim=(0, 1.15 * max(work)),
    )
    some = rows("processes")
    right.bar([row["processes"] for row in some], [float(row["wall s"]) for row in some], width=0.5)
    right.set(xlabel="worker processes", ylabel="wall-clock seconds", title="The same rows, more processes")
    return figure


def peers_chart() -> Figure:
    some = rows("peers")[::-1]
    figure, axes = plt.subplots(figsize=(WIDTH, 4.0))
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
    axes.set_yticks(list(places), [r["rule"].replace(", fitted", ",\nfitted") for r in some])
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def write(folder: Path) -> None:
    """Draw the charts."""
    folder.mkdir(parents=True, exist_ok=True)
    charts = {"size": size_chart, "work": work_chart, "peers": peers_chart}
    for name, draw in charts.items():
        with plt.rc_context(SETTINGS):
            figure = draw()
            figure.savefig(folder / f"scaling_{name}.svg", metadata={"Date": None})
        plt.close(figure)
