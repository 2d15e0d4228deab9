"""Draw the figure of the README and the landing page: `make picture`."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from transvariation import NeighborTOCC, load_glass
from transvariation.report.figure_style import FOREIGN, FOREIGN_ACCEPTED, KNOWN, NEW, OUTLINE, PHONE_WIDTH, SETTINGS

STATIC = Path(__file__).parents[1] / "_static"
FEATURES = ["Al", "Mg"]


def split() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Hold out every fourth window fragment from the control."""
    glass = load_glass()
    held_out = np.arange(len(glass.control)) % 4 == 3
    return glass.control[~held_out][FEATURES], glass.control[held_out][FEATURES], glass.recovered[FEATURES]


def fit(known: pd.DataFrame) -> NeighborTOCC:
    """Learn the known windows."""
    return NeighborTOCC(sensitivity=0.95).fit(known)


def draw() -> plt.Figure:
    """Shade the p-value over the plane, and mark what is accepted and rejected."""
    known, windows, others = split()
    classifier = fit(known)
    fig, ax = plt.subplots(figsize=(PHONE_WIDTH, 3.7))
    x, y = np.linspace(-0.05, 3.65, 300), np.linspace(-0.35, 6.1, 300)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])
    p = classifier.p_values(pd.DataFrame(grid, columns=FEATURES)).reshape(len(y), len(x))
    ax.contourf(x, y, p, levels=[0.05, 0.2, 0.4, 0.6, 0.8, 1.01], cmap="Blues", alpha=0.55, antialiased=True)
    ax.contour(x, y, p, levels=[0.05], **OUTLINE)
    ax.scatter(*known.to_numpy().T, label=f"known windows ({len(known)})", **KNOWN)
    accepted = classifier.predict(windows) == 1
    label = f"new windows: {accepted.sum()} of {len(windows)} accepted"
    ax.scatter(*windows.to_numpy().T, label=label, **NEW)
    accepted = classifier.predict(others) == 1
    for mask, mark, word in ((~accepted, FOREIGN, "rejected"), (accepted, FOREIGN_ACCEPTED, "accepted")):
        label = f"other glass: {mask.sum()} of {len(others)} {word}"
        ax.scatter(*others[mask].to_numpy().T, label=label, **mark)
    ax.set(xlabel="aluminium oxide (weight %)", ylabel="magnesium oxide (weight %)")
    ax.legend(loc="upper right", handletextpad=0.2, borderpad=0)
    return fig


if __name__ == "__main__":
    with plt.rc_context(SETTINGS):
        draw().savefig(STATIC / "hero.png")
