"""Draw the figure of the README and the landing page: `make picture`."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from transvariation import NeighborTOCC, load_glass

STATIC = Path(__file__).parents[1] / "_static"
FEATURES = ["Al", "Mg"]
BLUE, RED, GREY = "#1f6feb", "#c9371c", "#57606a"


def split() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Hold out every fourth window fragment from the control."""
    glass = load_glass()
    held_out = np.arange(len(glass.control)) % 4 == 3
    return glass.control[~held_out][FEATURES], glass.control[held_out][FEATURES], glass.recovered[FEATURES]


def draw() -> plt.Figure:
    """Shade the p-value over the plane, and mark what is accepted and rejected."""
    known, windows, others = split()
    classifier = NeighborTOCC(n_neighbors=(3, 10), sensitivity=0.95).fit(known)
    fig, ax = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
    x, y = np.linspace(-0.05, 3.65, 300), np.linspace(-0.35, 5.2, 300)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(x, y)])
    p = classifier.p_values(pd.DataFrame(grid, columns=FEATURES)).reshape(len(y), len(x))
    ax.contourf(x, y, p, levels=[0.05, 0.2, 0.4, 0.6, 0.8, 1.01], cmap="Blues", alpha=0.55, antialiased=True)
    ax.contour(x, y, p, levels=[0.05], colors=BLUE, linewidths=1.6)
    ax.plot(*known.to_numpy().T, "o", ms=4, mfc="white", mec=GREY, mew=0.9, label=f"known windows ({len(known)})")
    for rows, name in ((windows, "other windows"), (others, "other kinds of glass")):
        accepted = classifier.predict(rows) == 1
        for mask, marker, colour, word in ((accepted, "o", BLUE, "accepted"), (~accepted, "X", RED, "rejected")):
            if mask.any():
                label = f"{name}: {mask.sum()} of {len(rows)} {word}"
                face = colour if rows is windows else "none"
                ax.plot(*rows[mask].to_numpy().T, marker, ms=7, color=colour, mfc=face, mew=1.3, ls="", label=label)
    ax.set(xlabel="aluminium oxide (wt %)", ylabel="magnesium oxide (wt %)")
    ax.legend(loc="upper right", bbox_to_anchor=(1.02, 1.02), frameon=False, fontsize=9.5, handletextpad=0.2)
    ax.spines[["top", "right"]].set_visible(False)
    return fig


if __name__ == "__main__":
    draw().savefig(STATIC / "hero.png", dpi=150)
