"""Draw the flowchart of the page on choosing a classifier: `make picture`."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

from transvariation.report.figure_style import DARK, GRAY, PHONE_WIDTH, REGION, SETTINGS

STATIC = Path(__file__).parents[1] / "_static"
QUESTIONS = [
    ("Several classes\nknown?", "OpenSetClassifier"),
    ("Keep a detector\nyou trust?", "CalibratedOCC\n(detector)"),
    ("Spectra?", "preprocessing, then\nNeighborTOCC"),
    ("Data exceed\nmemory?", "dask.NeighborTOCC"),
    ("Distribution\nknown?", "DensityTOCC\n(density=...)"),
    ("Reproduce\nthe paper?", "TOCC, DensityTOCC,\nPAMTOCC"),
]


def box(ax: plt.Axes, x: float, y: float, text: str, *, width: float, fill: str, edge: str, ink: str = "black") -> None:
    """Draw a rounded box with centered text."""
    style = matplotlib.patches.FancyBboxPatch(
        (x - width / 2, y - 0.32), width, 0.64, boxstyle="round,pad=0.02,rounding_size=0.12", fc=fill, ec=edge, lw=1.3
    )
    ax.add_patch(style)
    ax.text(x, y, text, ha="center", va="center", fontsize=11, color=ink)


def draw() -> plt.Figure:
    """Draw one question per row: yes leads right, no leads down."""
    fig, ax = plt.subplots(figsize=(PHONE_WIDTH, 7.26))
    ax.set(xlim=(0, PHONE_WIDTH), ylim=(-0.1, 7.16))
    ax.axis("off")
    fig.subplots_adjust(0, 0, 1, 1)
    arrow = {"arrowstyle": "-|>", "color": GRAY, "lw": 1.3, "shrinkA": 0, "shrinkB": 0}
    for k, (question, answer) in enumerate(QUESTIONS):
        y = 6.76 - 1.06 * k
        box(ax, 0.9, y, question, width=1.6, fill="white", edge=GRAY)
        box(ax, 3.65, y, answer, width=2.1, fill=REGION, edge=DARK)
        ax.annotate("", (2.56, y), (1.74, y), arrowprops=arrow)
        ax.text(2.13, y + 0.1, "yes", ha="center", fontsize=11, color=GRAY)
        ax.annotate("", (0.9, y - 0.72), (0.9, y - 0.34), arrowprops=arrow)
        ax.text(1.0, y - 0.59, "no", fontsize=11, color=GRAY)
    box(ax, 0.9, 0.4, "NeighborTOCC", width=1.6, fill=DARK, edge=DARK, ink="white")
    ax.text(1.95, 0.4, "the recommended classifier", va="center", fontsize=11, color=GRAY)
    return fig


if __name__ == "__main__":
    with plt.rc_context(SETTINGS | {"figure.constrained_layout.use": False}):
        draw().savefig(STATIC / "which_classifier.svg", metadata={"Date": None})
