"""Draw the figure of the README and the landing page: `make picture`."""

from pathlib import Path

import demonstration
import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

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
NEW_WINDOWS = "new windows"
OTHERS = (FOREIGN_ACCEPTED, FOREIGN)


def split() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Hold out every sixth window fragment from the control, as the demonstration does."""
    glass = load_glass()
    held_out = glass.control.index[5::6]
    return glass.control.drop(held_out), glass.control.loc[held_out], glass.recovered


def fit(known: pd.DataFrame) -> NeighborTOCC:
    """Learn the known windows."""
    return NeighborTOCC(sensitivity=SENSITIVITY).fit(known)


def draw() -> Figure:
    """Draw the fragments in the plane of two oxides, and below that their p-values by kind of glass."""
    control, windows, others = split()
    classifier = fit(control)
    names = load_glass().all["Type"].map(load_glass().type_names)
    rows = {NEW_WINDOWS: windows}
    rows |= {name: some for name in names.unique() if len(some := others[names.loc[others.index] == name])}
    kinds = {name: (table, classifier.p_values(table), classifier.predict(table) == 1) for name, table in rows.items()}
    first, *further = kinds
    order = [*reversed(further), first]
    figure = Figure(figsize=(PHONE_WIDTH, 5.4), layout="constrained")
    plane, strips = figure.subplots(2, 1, height_ratios=(3, 2))
    plane.scatter(control["Al"], control["Mg"], label=f"known windows ({len(control)})", **KNOWN)
    for name, of_name, marks in ((NEW_WINDOWS, [first], (NEW, FOREIGN)), ("other glass", further, OTHERS)):
        table = pd.concat([kinds[kind][0] for kind in of_name])
        accepted = np.concatenate([kinds[kind][2] for kind in of_name])
        for mask, mark, word in zip((accepted, ~accepted), marks, ("accepted", "rejected"), strict=True):
            some = table[mask]
            label = f"{name}: {len(some)} of {len(table)} {word}"
            if len(some):
                shown = None if name == NEW_WINDOWS and mark is FOREIGN else label
                plane.scatter(some["Al"], some["Mg"], label=shown, **mark)
    plane.set(xlabel="aluminum oxide (weight %)", ylabel="magnesium oxide (weight %)", ylim=(-0.3, 7.4))
    plane.legend(loc="upper right", handletextpad=0.2, borderpad=0, frameon=False)
    rng = np.random.default_rng(0)
    for place, kind in enumerate(order):
        _, p, accepted = kinds[kind]
        height = place + rng.uniform(-0.18, 0.18, len(p))
        marks = (NEW, FOREIGN) if kind == first else OTHERS
        for mask, mark in zip((accepted, ~accepted), marks, strict=True):
            strips.scatter(p[mask], height[mask], **mark)
    strips.axvline(1 - SENSITIVITY, **THRESHOLD)
    strips.annotate("threshold", (1 - SENSITIVITY, len(kinds) - 0.45), ha="center", color=RED, annotation_clip=False)
    strips.set_yticks(range(len(kinds)), order)
    strips.set(xlabel="p-value: how usual the fragment is for a window", xlim=(-0.03, 1.03))
    strips.tick_params(axis="y", length=0)
    return figure


if __name__ == "__main__":
    with rc_context(SETTINGS):
        draw().savefig(STATIC / "hero.png")
    demonstration.stamp(STATIC / "hero.png")
