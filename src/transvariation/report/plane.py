"""The plane of two variables: level of tp in shades, the objects, and what was rejected."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from transvariation.report.names import label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Told apart by shape as well as by colour, which print and colour-blind readers need.
MARKS: dict[str, dict[str, Any]] = {
    "control, accepted": {"marker": "o", "s": 22, "facecolor": "white", "edgecolor": "#1b4965", "linewidth": 0.9},
    "control, rejected": {"marker": "*", "s": 70, "facecolor": "white", "edgecolor": "#1b4965", "linewidth": 0.9},
    "recovered, accepted": {"marker": "s", "s": 34, "facecolor": "#f4a261", "edgecolor": "black", "linewidth": 0.6},
    "recovered, rejected": {"marker": "X", "s": 42, "facecolor": "#c1121f", "edgecolor": "white", "linewidth": 0.5},
}


def draw_plane(
    ax: "Axes", rule: Any, control: pd.DataFrame, recovered: pd.DataFrame | None = None, *, zoom: bool = False
) -> Any:
    """Draw a fitted rule on two variables: tp in shades, its boundary, its centre, accepted and rejected objects.

    Parameters
    ----------
    ax : matplotlib Axes
    rule : a fitted transvariation-based classifier on two variables
    control, recovered : DataFrames with the two variables the rule was fitted on
    zoom : bool
        Show the surroundings of the control objects only.

    Returns
    -------
    The image, for a colour bar.
    """
    tables = {"control": control} | ({} if recovered is None else {"recovered": recovered})
    grid, shape, extent = _grid(control if zoom else pd.concat(tables.values()))
    levels = rule.transvariation_probability(grid).reshape(shape)
    shades = ax.imshow(
        levels, extent=extent, origin="lower", aspect="auto", cmap="Blues", vmin=0, vmax=1, interpolation="nearest"
    )
    accepted = (rule.predict(grid) == 1).reshape(shape).astype(float)
    ax.contour(accepted, levels=[0.5], extent=extent, colors="#1b4965", linewidths=1.2)
    for name, table in tables.items():
        verdict = rule.predict(table)
        for label, wanted in (("accepted", 1), ("rejected", -1)):
            some = table[verdict == wanted].to_numpy()
            if len(some):
                ax.scatter(some[:, 0], some[:, 1], label=f"{name}, {label}: {len(some)}", **MARKS[f"{name}, {label}"])
    centers = np.atleast_2d(rule.centers_ if hasattr(rule, "centers_") else rule.center_)
    ax.scatter(centers[:, 0], centers[:, 1], marker="+", s=160, color="black", linewidth=2, label="centre")
    label_axes(ax, control.columns[0], control.columns[1])
    ax.set(xlim=extent[:2], ylim=extent[2:])
    return shades


def _grid(
    points: pd.DataFrame, steps: int = 300
) -> tuple[pd.DataFrame, tuple[int, int], tuple[float, float, float, float]]:
    """A grid of cell centres over all points and a margin."""
    low, high = points.min().to_numpy(float), points.max().to_numpy(float)
    margin = np.where(high > low, 0.06 * (high - low), 1.0)
    low, high = low - margin, high + margin
    axes = [np.linspace(a, b, 2 * steps + 1)[1::2] for a, b in zip(low, high, strict=True)]
    x, y = np.meshgrid(*axes)
    grid = pd.DataFrame({points.columns[0]: x.ravel(), points.columns[1]: y.ravel()})
    return grid, (steps, steps), (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
