"""Draw the figure of the README and the landing page: `make picture`."""

from pathlib import Path

import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from transvariation import NeighborTOCC, load_glass
from transvariation.report.demo import draw_fragments
from transvariation.report.figure_style import SETTINGS

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


def draw() -> Figure:
    """Draw the fragments in the plane of two oxides, and below that their p-values by kind of glass."""
    known, windows, others = split()
    classifier = fit(known)
    kinds = load_glass().all["Type"].map(load_glass().type_names)
    rows = {"new windows": windows}
    rows |= {name: some for name in kinds.unique() if len(some := others[kinds.loc[others.index] == name])}
    parts = {name: (table, classifier.p_values(table), classifier.predict(table) == 1) for name, table in rows.items()}
    return draw_fragments(known, parts, SENSITIVITY, ("accepted", "rejected"))


if __name__ == "__main__":
    with rc_context(SETTINGS):
        draw().savefig(STATIC / "hero.png")
