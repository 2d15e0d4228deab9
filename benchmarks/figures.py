"""Draw the results: `python -m benchmarks.figures` reads benchmarks/results and writes into docs/_static."""

import csv
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.table import RESULTS
from transvariation.report.figure_style import DARK, GRAY, GREEN, PHONE_WIDTH, SETTINGS, WARM

IMAGES = Path(__file__).parent.parent / "docs" / "_static"


def growth() -> Path:
    """Draw time against n on log axes."""
    with (RESULTS / "core_growth.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    figure, axes = plt.subplots(figsize=(PHONE_WIDTH, 5))
    styles = {"compiled": "-", "plain": "--", "np.sort": ":"}
    colors = {"2": DARK, "3": WARM, "5": GREEN}
    marks = {"2": "o", "3": "^", "5": "s"}
    for kernels, p in dict.fromkeys((row["kernels"], row["p"]) for row in rows):
        points = [row for row in rows if (row["kernels"], row["p"]) == (kernels, p)]
        label = "np.sort of two columns" if kernels == "np.sort" else f"TOCC, {p} features, {kernels}"
        axes.loglog(
            [int(row["n"]) for row in points],
            [float(row["CPU s"]) for row in points],
            styles[kernels],
            color=GRAY if kernels == "np.sort" else colors[p],
            marker="x" if kernels == "np.sort" else marks[p],
            markersize=5,
            label=label,
        )
    axes.set(xlabel="target samples", ylabel="CPU seconds, fit")
    axes.grid(True, which="major", color="0.9")
    figure.legend(loc="outside lower center")
    IMAGES.mkdir(parents=True, exist_ok=True)
    path = IMAGES / "benchmark_growth.png"
    figure.savefig(path)
    return path


if __name__ == "__main__":
    with plt.rc_context(SETTINGS):
        print(growth())
