"""Variables: how important, how often chosen, how they differ between groups of objects."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from transvariation.report.figure_style import DARK, REGION, SKY, WARM
from transvariation.report.names import PLAIN, label_ticks, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from transvariation.feature_selection.stability import SelectionStability


def draw_stability(ax: "Axes", stability: "SelectionStability") -> None:
    """Draw how often each variable was chosen, as bars in the order of the table."""
    share = stability.frequency["share"]
    bars = ax.bar(range(len(share)), share, color=DARK)
    label_ticks(ax, range(len(share)), share.index)
    ax.bar_label(bars, labels=[f"{value:.0%}" if value else "" for value in share], padding=2, fontsize=8)
    counted = stability.n_repeats - stability.n_refused
    ax.set(ylim=(0, 1.1), ylabel=f"share of {counted} selections")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.spines[["top", "right"]].set_visible(False)


def draw_vip(ax: "Axes", selector: BaseEstimator, names: list[str] | None = None) -> None:
    """Draw the Importance Coefficients of a fitted VIPSelector as boxes, the most important variable first.

    The line within a box is VIP, the median; a box holds half of the projections, its whiskers 90% of them. Selected
    variables are darker.
    """
    if names is None:
        names = list(getattr(selector, "feature_names_in_", [f"x{u}" for u in range(len(selector.vip_))]))
    order = np.argsort(selector.ranking_)
    boxes = ax.boxplot(
        selector.ci_[:, order],
        whis=(5, 95),
        showfliers=False,
        patch_artist=True,
        medianprops={"color": "black", "linewidth": 1.5},
    )
    for box, selected in zip(boxes["boxes"], selector.get_support()[order], strict=True):
        box.set_facecolor(SKY if selected else REGION)
    label_ticks(ax, range(1, len(order) + 1), [names[u] for u in order])
    ax.set(ylabel="Importance Coefficient")
    ax.spines[["top", "right"]].set_visible(False)


def draw_features(axes: Any, groups: dict[str, pd.DataFrame]) -> None:
    """Draw one panel per variable with a box for each group of samples.

    Parameters
    ----------
    axes : array of matplotlib Axes, at least one per variable
    groups : dict of DataFrames
        The samples of each group by its name, all with the same variables; the first group, the target, stands out.
    """
    first = next(iter(groups.values()))
    panels = np.ravel(axes)
    for ax, variable in zip(panels, first.columns, strict=False):
        boxes = ax.boxplot(
            [table[variable].to_numpy() for table in groups.values()],
            widths=0.6,
            patch_artist=True,
            medianprops={"color": "black"},
            flierprops={"markersize": 3},
        )
        for box, colour in zip(boxes["boxes"], [SKY] + [WARM] * (len(groups) - 1), strict=True):
            box.set_facecolor(colour)
        label_ticks(ax, range(1, len(groups) + 1), groups)
        ax.set_title(wrapped(variable, 24), fontsize=10, **PLAIN)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in panels[len(first.columns) :]:
        ax.set_visible(False)
