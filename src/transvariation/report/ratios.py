"""Figures on likelihood ratios: how often they mislead (Tippett), and whether they mean what they say (calibration)."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAME, DIFFERENT = "#1b4965", "#c1121f"


def draw_tippett(ax: "Axes", log10_lr: NDArray[np.float64], same: NDArray[np.bool_]) -> None:
    """Draw, for pairs of the same and of different sources, the share with a larger ratio than each value."""
    for chosen, ink, dashes, label in ((same, SAME, "-", "same source"), (~same, DIFFERENT, "--", "different sources")):
        values = np.sort(log10_lr[chosen])
        larger = 1 - np.arange(len(values) + 1) / len(values)
        ax.step(np.append(values[:1], values), larger, where="post", color=ink, linestyle=dashes, label=label)
    ax.axvline(0, color="0.7", linewidth=0.8)
    ax.set(xlabel="log10 likelihood ratio", ylabel="share of pairs with a larger ratio", ylim=(-0.02, 1.02))
    ax.legend()


def draw_calibration(ax: "Axes", log10_lr: NDArray[np.float64], same: NDArray[np.bool_]) -> None:
    """Draw the ratios against what pairs of known origin say that they are worth (isotonic, at even prior odds)."""
    from sklearn.isotonic import IsotonicRegression

    weights = np.where(same, 0.5 / same.sum(), 0.5 / (~same).sum())
    fitted = IsotonicRegression(out_of_bounds="clip").fit(log10_lr, same.astype(float), sample_weight=weights)
    grid = np.unique(log10_lr)
    worth = fitted.predict(grid)
    inside = (worth > 0) & (worth < 1)
    ax.plot(grid, grid, color="0.7", linestyle=":", label="as stated")
    ax.step(grid[inside], np.log10(worth[inside] / (1 - worth[inside])), where="mid", color=SAME, label="as observed")
    ax.set(xlabel="log10 likelihood ratio, as stated", ylabel="log10 likelihood ratio, as observed")
    ax.legend()
