"""Draw the charts of the page on scaling from the numbers in benchmarks/results."""

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


def write(folder: Path) -> None:
    """Draw the charts."""
    folder.mkdir(parents=True, exist_ok=True)
    charts = {"size": size_chart, "peers": peers_chart}
    for name, draw in charts.items():
        with plt.rc_context(SETTINGS):
            figure = draw()
            figure.savefig(folder / f"scaling_{name}.svg", metadata={"Date": None})
        plt.close(figure)
