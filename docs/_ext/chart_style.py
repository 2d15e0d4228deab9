"""The look of the charts that the build draws: one size, one set of colours, ours in blue."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt

BLUE, GREY, RED = "#1f6feb", "#57606a", "#c9371c"
STYLE = {
    "font.size": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#57606a",
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "transvariation",
}


def dots(path: Path, names: Sequence[str], values: Sequence[float], *, label: str, ours: str, digits: int = 3) -> None:
    """Draw one dot per name, the first on top, with its value; names that contain `ours` are blue."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7.2, 0.3 * len(names) + 0.8))
        places = range(len(names))[::-1]
        axes.hlines(places, min(values), values, color="#e6e9ed", lw=1.2)
        for place, name, value in zip(places, names, values, strict=True):
            axes.plot(value, place, "o", ms=8, color=BLUE if ours in name else GREY)
            axes.annotate(f"{value:.{digits}f}", (value, place), (8, -3), textcoords="offset points", fontsize=9.5)
        axes.set_yticks(list(places), names)
        axes.set(xlabel=label)
        axes.margins(x=0.12)
        axes.tick_params(axis="y", length=0)
        save(figure, path)


def ranges(path: Path, rows: Sequence[tuple[str, float, float, float]], *, label: str, nominal: float) -> None:
    """Draw one dot per row at its mean, with a line from lowest to highest, beside the nominal value."""
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7.2, 0.3 * len(rows) + 0.8))
        axes.axvline(nominal, color=RED, lw=1.2, label=f"nominal, {nominal:g}")
        for place, (name, mean, low, high) in zip(range(len(rows))[::-1], rows, strict=True):
            colour = GREY if "resubstitution" in name else BLUE
            axes.plot([low, high], [place, place], color=colour, lw=1.6, solid_capstyle="round")
            axes.plot(mean, place, "o", color=colour, ms=6)
        axes.set_yticks(list(range(len(rows))[::-1]), [row[0] for row in rows])
        axes.tick_params(axis="y", length=0)
        axes.set(xlabel=label)
        axes.legend(frameon=False, loc="lower left")
        save(figure, path)


def save(figure: plt.Figure, path: Path) -> None:
    """Write a figure and close it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
