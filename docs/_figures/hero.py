"""Draw the figure of the README and the landing page: `make picture`."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from transvariation import NeighborTOCC, load_glass
from transvariation.report.figure_style import (
    FOREIGN,
    FOREIGN_ACCEPTED,
    KNOWN,
    NEW,
    PHONE_WIDTH,
    RED,
    SETTINGS,
    THRESHOLD,
)

STATIC = Path(__file__).parents[1] / "_static"
SENSITIVITY = 0.9


def split() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Hold out every sixth window fragment from the control, as the demonstration does."""
    glass = load_glass()
    held_out = glass.control.index[5::6]
    return glass.control.drop(held_out), glass.control.loc[held_out], glass.recovered


def fit(known: pd.DataFrame) -> NeighborTOCC:
    """Learn the known windows."""
    return NeighborTOCC(sensitivity=SENSITIVITY).fit(known)


def draw() -> plt.Figure:
    """Draw the fragments in the plane of two oxides, and below that their p-values by kind of glass."""
    known, windows, others = split()
    classifier = fit(known)
    figure, (plane, strips) = plt.subplots(2, 1, figsize=(PHONE_WIDTH, 5.4), height_ratios=(3, 2))
    plane.scatter(known["Al"], known["Mg"], label=f"known windows ({len(known)})", **KNOWN)
    new, foreign = classifier.predict(windows) == 1, classifier.predict(others) == 1
    plane.scatter(windows["Al"], windows["Mg"], label=f"new windows: {new.sum()} of {len(windows)} accepted", **NEW)
    for mask, mark, word in ((~foreign, FOREIGN, "rejected"), (foreign, FOREIGN_ACCEPTED, "accepted")):
        if not mask.any():
            continue
        some = others[mask]
        plane.scatter(some["Al"], some["Mg"], label=f"other glass: {mask.sum()} of {len(others)} {word}", **mark)
    plane.set(xlabel="aluminium oxide (weight %)", ylabel="magnesium oxide (weight %)", ylim=(-0.3, 6.4))
    plane.legend(loc="upper right", handletextpad=0.2, borderpad=0)
    kinds = load_glass().all["Type"].map(load_glass().type_names)
    rows = {"new windows": windows} | {name: others[kinds.loc[others.index] == name] for name in kinds.unique()}
    rows = {name: rows[name] for name in rows if len(rows[name])}
    rng = np.random.default_rng(0)
    for place, (name, table) in enumerate(reversed(rows.items())):
        p = classifier.p_values(table)
        height = place + rng.uniform(-0.18, 0.18, len(p))
        for mask, mark in (
            (p > 1 - SENSITIVITY, NEW if name == "new windows" else FOREIGN_ACCEPTED),
            (p <= 1 - SENSITIVITY, FOREIGN),
        ):
            strips.scatter(p[mask], height[mask], **mark)
    strips.axvline(1 - SENSITIVITY, **THRESHOLD)
    strips.annotate("threshold", (1 - SENSITIVITY, len(rows) - 0.45), ha="center", color=RED, annotation_clip=False)
    strips.set_yticks(range(len(rows)), list(reversed(rows)))
    strips.set(xlabel="p-value: how usual the fragment is for a window", xlim=(-0.03, 1.03))
    strips.tick_params(axis="y", length=0)
    return figure


if __name__ == "__main__":
    with plt.rc_context(SETTINGS):
        draw().savefig(STATIC / "hero.png")
