"""Reasons as a figure: one row per variable, the target objects' distribution and the object's value."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import gaussian_kde

from transvariation.inspection import samples_of
from transvariation.report.figure_style import DARK, GREEN, RED, WIDTH
from transvariation.report.names import PLAIN, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def draw_reasons(control: "pd.DataFrame", table: "pd.DataFrame", name: Any) -> "Figure":
    """Draw one object among the target objects, variable by variable.

    Parameters
    ----------
    control : DataFrame
        The target objects.
    table : DataFrame
        From :func:`transvariation.explain_rejections`.
    name : label
        Which object of the table; of several with this name the first.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass, explain_rejections
    >>> glass = load_glass()
    >>> control, recovered = glass.control[["K", "Mg"]], glass.recovered[["K", "Mg"]]
    >>> table = explain_rejections(TOCC().fit(control), recovered.iloc[:1])
    >>> len(draw_reasons(control, table, 164).axes)
    2
    """
    import pandas as pd
    from matplotlib.figure import Figure

    missing = pd.isna(name)  # a missing label equals nothing, not even itself
    named = ((rows, label) for label, rows in samples_of(table) if pd.isna(label) == missing)
    rows = next((rows for rows, label in named if missing or label == name), None)
    if rows is None:
        raise ValueError(f"object {name!r} is not in the table; it has {', '.join(map(str, table['sample'].unique()))}")
    figure = Figure(figsize=(WIDTH, 0.75 * len(rows) + 1.1), layout="constrained")
    panels = figure.subplots(len(rows), 1, squeeze=False)[:, 0]
    for panel, row in zip(panels, rows.itertuples(), strict=True):
        values = control[row.feature].to_numpy(dtype=float)
        ends = np.array([*values, row.value, row.accepted_at])
        low, high = np.nanmin(ends), np.nanmax(ends)
        margin = 0.06 * (high - low) if high > low else 1.0
        panel.set_xlim(low - margin, high + margin)
        panel.set_ylim(-0.12, 1.15)
        if np.ptp(values) > 0:
            # Where the object lies far away, points of the axis may pass over all that the targets span.
            own = np.linspace(values.min(), values.max(), 100)
            grid = np.union1d(np.linspace(low - margin, high + margin, 400), own)
            height = gaussian_kde(values)(grid)
            panel.fill_between(grid, height / height.max(), color="0.85", lw=0)
        panel.plot(values, np.full(len(values), -0.06), "|", color="0.5", ms=4)
        colour = RED if row.needed else DARK
        panel.axvline(row.value, color=colour, lw=2.2)
        if not row.accepted and np.isfinite(row.accepted_at) and row.accepted_at != row.value:
            panel.annotate(
                "",
                (row.accepted_at, 0.5),
                (row.value, 0.5),
                arrowprops={"arrowstyle": "->", "color": GREEN, "lw": 1.8},
            )
        weight = "bold" if row.needed else "normal"
        panel.set_ylabel(wrapped(row.feature, 24), rotation=0, ha="right", va="center", fontweight=weight, **PLAIN)
        panel.set_yticks([])
        panel.spines[["top", "right", "left"]].set_visible(False)
    verdict = "accepted" if rows["accepted"].iloc[0] else "rejected"
    figure.suptitle(f"{wrapped(name, 70)}: {verdict}", x=0.02, ha="left", fontsize=11, **PLAIN)
    figure.supxlabel(
        "grey: target objects; line: this object (red: needed for the rejection);\n"
        "arrow: to the nearest accepted value",
        fontsize=9,
    )
    return figure
