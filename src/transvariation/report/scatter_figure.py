"""The plane of two variables: level of tp in shades, the samples, and what was rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from transvariation._typing import Fields
from transvariation.report import figure_style
from transvariation.report.figure_style import label_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

MARKS: dict[str, Fields] = {
    "control, accepted": figure_style.KNOWN,
    "control, rejected": figure_style.KNOWN_REJECTED,
    "recovered, accepted": figure_style.FOREIGN_ACCEPTED,
    "recovered, rejected": figure_style.FOREIGN,
}
_MANY_VALUES = 250  # values in a variable; with more the even lines are narrow enough


def draw_plane(
    ax: Axes, classifier: BaseEstimator, control: pd.DataFrame, recovered: pd.DataFrame | None = None
) -> QuadMesh:
    """Draw a fitted classifier on two variables: tp in shades, its boundary, its center, accepted and rejected samples.

    The image is returned for a color bar.
    """
    tables = {"control": control} | ({} if recovered is None else {"recovered": recovered})
    samples = pd.concat(tables.values())
    centers = np.atleast_2d(classifier.centers_ if hasattr(classifier, "centers_") else classifier.center_)
    x, y = grid_lines(samples, np.vstack([samples, centers]))
    corners = np.meshgrid(x, y)
    grid = pd.DataFrame(np.stack(corners, axis=-1).reshape(-1, 2), columns=control.columns)
    levels = classifier.transvariation_probability(grid).reshape(corners[0].shape)
    shades = ax.pcolormesh(x, y, levels, shading="nearest", cmap="Blues", vmin=0, vmax=1, rasterized=True)
    accepted = (classifier.predict(grid) == 1).reshape(levels.shape).astype(float)
    ax.contour(x, y, accepted, levels=[0.5], **figure_style.OUTLINE)
    for name, table in tables.items():
        verdict = classifier.predict(table)
        for label, wanted in (("accepted", 1), ("rejected", -1)):
            some = table[verdict == wanted].to_numpy()
            if len(some):
                ax.scatter(some[:, 0], some[:, 1], label=f"{name}, {label}: {len(some)}", **MARKS[f"{name}, {label}"])
    ax.scatter(centers[:, 0], centers[:, 1], marker="+", s=160, color="black", linewidth=2, label="center")
    label_axes(ax, control.columns[0], control.columns[1])
    ax.set(xlim=x[[0, -1]], ylim=y[[0, -1]])
    return shades


def grid_lines(frame: ArrayLike, samples: ArrayLike, steps: int = 300) -> list[np.ndarray]:
    """Compute the lines of a grid over a frame and a margin: even ones, and those through the samples.

    tp by counting changes at samples and centers only, and a strip between two of them may be narrower than an even
    cell: the grid also has a line through each of them and one midway between neighbors.

    Parameters
    ----------
    frame : array-like of shape (m, p)
        The grid reaches from their smallest to their largest values, and a little further.
    samples : array-like of shape (n, p)
        Samples and centers; those outside are left out. With more than 250 in a variable, its lines are even.
    steps : int
        Even cells along each axis.

    Returns
    -------
    One increasing array per variable.
    """
    lines = []
    for values, through in zip(np.asarray(frame, float).T, np.asarray(samples, float).T, strict=True):
        margin = 0.06 * np.ptp(values) or 1.0
        even = np.linspace(values.min() - margin, values.max() + margin, steps + 1)
        some = np.unique(through[(through > even[0]) & (through < even[-1])])
        between = (some[1:] + some[:-1]) / 2
        lines.append(even if len(some) > _MANY_VALUES else np.unique(np.concatenate([even, some, between])))
    return lines
