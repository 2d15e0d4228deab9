"""Draw the flowchart of the page on choosing a classifier: `make picture`."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

from transvariation.report.figure_style import DARK, GREY, REGION, SETTINGS

STATIC = Path(__file__).parents[1] / "_static"
QUESTIONS = [
    ("Do you reproduce the paper?", "TOCC, DensityTOCC, PAMTOCC", 'with calibration="resubstitution"'),
    (
        "Do you have a detector\nthat you want to keep?",
        "CalibratedOCC(detector)",
        "any scikit-learn or PyOD detector or pipeline",
    ),
    ("Is the distribution known?", "DensityTOCC(density=...)", "a SciPy distribution or any density"),
    ("Are the data spectra?", "SNV, derivative, NeighborTOCC", "in a pipeline inside CalibratedOCC"),
    ("Do the data exceed memory?", "transvariation.dask.NeighborTOCC", "Dask collections, memory maps, blocks"),
]


def box(ax: plt.Axes, x: float, y: float, text: str, *, width: float, fill: str, edge: str, bold: bool = False) -> None:
    """Draw a rounded box with centered text."""
    style = matplotlib.patches.FancyBboxPatch(
        (x - width / 2, y - 0.3), width, 0.6, boxstyle="round,pad=0.02,rounding_size=0.12", fc=fill, ec=edge, lw=1.3
    )
    ax.add_patch(style)
    ax.text(x, y, text, ha="center", va="center", fontsize=10, weight="bold" if bold else "normal", color="black")


def draw() -> plt.Figure:
    """Draw one question per row: yes leads right, no leads down."""
    fig, ax = plt.subplots(figsize=(8.4, 6.4))
    ax.set(xlim=(0, 8.8), ylim=(-0.55, 6.6))
    ax.axis("off")
    fig.patch.set_facecolor("white")
    arrow = {"arrowstyle": "-|>", "color": GREY, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
    for k, (question, answer, note) in enumerate(QUESTIONS):
        y = 6.1 - 1.2 * k
        box(ax, 1.75, y, question, width=3.1, fill="white", edge=GREY)
        box(ax, 6.6, y, answer, width=4.0, fill=REGION, edge=DARK, bold=True)
        ax.text(6.6, y - 0.46, note, ha="center", va="center", fontsize=9, color=GREY)
        ax.annotate("", (4.55, y), (3.35, y), arrowprops=arrow)
        ax.text(3.95, y + 0.14, "yes", ha="center", fontsize=9.5, color=GREY)
        ax.annotate("", (1.75, y - 0.88), (1.75, y - 0.34), arrowprops=arrow)
        ax.text(1.87, y - 0.66, "no", fontsize=9.5, color=GREY)
    box(ax, 1.75, 0.1, "NeighborTOCC()", width=3.1, fill=DARK, edge=DARK, bold=True)
    ax.texts[-1].set_color("white")
    ax.text(3.6, 0.1, "the recommended classifier", va="center", fontsize=9.5, color=GREY)
    return fig


if __name__ == "__main__":
    with plt.rc_context(SETTINGS | {"figure.constrained_layout.use": False}):
        draw().savefig(STATIC / "which_classifier.svg", bbox_inches="tight", metadata={"Date": None})
