"""The figures of the paper's glass analysis."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from sklearn.base import BaseEstimator

from transvariation._typing import Fields
from transvariation.depth.probability import transvariation_probability
from transvariation.report.figure_style import (
    DARK,
    FOREIGN,
    GREEN,
    KNOWN,
    PHONE_WIDTH,
    PLAIN,
    RED,
    SKY,
    WARM,
    label_ticks,
    wrapped,
)
from transvariation.report.scatter_figure import draw_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WINDOW, OTHER = "window (target)", "not window (non-target)"
CLOSE: Fields = {"frameon": False, "handletextpad": 0.3, "columnspacing": 1.0}  # of legends
STYLES: dict[str, Fields] = {
    "TOCC_df": {"color": DARK, "linestyle": "-"},
    "TOCC_db": {"color": WARM, "linestyle": "--"},
    "PAM-TOCC_df": {"color": GREEN, "linestyle": "-."},
}


def _scatter(ax: "Axes", control: pd.DataFrame, recovered: pd.DataFrame) -> None:
    for label, table, mark in ((WINDOW, control, KNOWN), (OTHER, recovered, FOREIGN)):
        ax.scatter(table.iloc[:, 0], table.iloc[:, 1], label=label, **mark)
    x, y = (name if name.startswith("PC") else f"{name} (weight %)" for name in map(str, control.columns[:2]))
    ax.set(xlabel=x, ylabel=y)


def view(planes: dict[str, tuple[pd.DataFrame, pd.DataFrame]]) -> Figure:
    """Draw both classes in one or several planes, one below the other."""
    figure = Figure(figsize=(PHONE_WIDTH, 0.8 + 3.2 * len(planes)), layout="constrained")
    axes = figure.subplots(len(planes), 1, squeeze=False)[:, 0]
    for ax, (title, (control, recovered)) in zip(axes, planes.items(), strict=True):
        _scatter(ax, control, recovered)
        ax.set_title(title)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, **CLOSE)
    return figure


def draw_features(axes: np.ndarray, groups: dict[str, pd.DataFrame]) -> None:
    """Draw one panel per variable with a box for each group of samples; the first group, the target, stands out."""
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
        for box, color in zip(boxes["boxes"], [SKY] + [WARM] * (len(groups) - 1), strict=True):
            box.set_facecolor(color)
        label_ticks(ax, range(1, len(groups) + 1), groups)
        ax.set_title(wrapped(variable, 24), fontsize=10, **PLAIN)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in panels[len(first.columns) :]:
        ax.set_visible(False)


def feature_boxes(control: pd.DataFrame, recovered: pd.DataFrame) -> Figure:
    """Draw the distribution of every variable in both classes."""
    figure = Figure(figsize=(PHONE_WIDTH, 6), layout="constrained")
    draw_features(figure.subplots(3, 3), {"window": control, "other": recovered})
    figure.supylabel("refractive index (RI), weight % of the oxides", fontsize=11)
    return figure


def levels(classifier: BaseEstimator, control: pd.DataFrame) -> Figure:
    """Draw the level of tp in the target's plane and the targets that the classifier rejects."""
    figure = Figure(figsize=(PHONE_WIDTH, 4.8), layout="constrained")
    ax = figure.add_subplot()
    shades = draw_plane(ax, classifier, control)
    ax.locator_params(axis="x", nbins=6)
    figure.colorbar(shades, ax=ax, location="top", label="transvariation probability (tp)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, **CLOSE)
    return figure


def membership(classifiers: Fields, control: pd.DataFrame, recovered: pd.DataFrame) -> Figure:
    """Draw, one panel per classifier, which objects of either class are accepted."""
    figure = Figure(figsize=(PHONE_WIDTH, 1 + 3 * len(classifiers)), layout="constrained")
    axes = figure.subplots(len(classifiers), 1, sharex=True, sharey=True)
    for ax, (name, classifier) in zip(axes, classifiers.items(), strict=True):
        draw_plane(ax, classifier, control, recovered)
        ax.set_title(name)
        ax.label_outer()
    handles, labels = axes[0].get_legend_handles_labels()
    labels = [label.split(":")[0] for label in labels]  # the counts differ from panel to panel
    figure.legend(handles, labels, loc="outside lower center", ncols=2, **CLOSE)
    return figure


def roc_panels(scored: list[Fields]) -> Figure:
    """Draw the ROC curves of the three classifiers, one panel per reduction; of several seeds the first is drawn."""
    figure = Figure(figsize=(PHONE_WIDTH, 5.4), layout="constrained")
    names = {"PCA": "last two components", "RP": "random projections"}
    names |= {"varSel": "varSel: K, Mg", "kappa-VIP": "kappa-VIP: Si, Mg"}
    axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for ax, (reduction, title) in zip(axes, names.items(), strict=True):
        for entry in scored:
            if entry["reduction"] == reduction and entry["seed"] == 0:
                curve, look = entry["roc"], STYLES[entry["classifier"]]
                ax.plot(1 - curve.specificity, curve.sensitivity, label=f"{entry['auc']:.3f}", **look)
        ax.plot([0, 1], [0, 1], color="0.7", linestyle=":", linewidth=1)
        ax.set(title=title, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        ax.legend(loc="lower right", title="AUC")
    figure.supxlabel("1 - specificity", fontsize=11)
    figure.supylabel("sensitivity", fontsize=11)
    lines = [Line2D([], [], label=name, **look) for name, look in STYLES.items()]
    figure.legend(handles=lines, loc="outside upper center", ncols=3, **CLOSE)
    return figure


def regions(control: pd.DataFrame, center: np.ndarray, c: np.ndarray) -> Figure:
    """Draw the four regions about the median, and for one object the part beyond it and its whole quadrant."""
    figure = Figure(figsize=(PHONE_WIDTH, 7.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, sharey=True)
    X = control.to_numpy()
    side = np.sign(c - center)
    quadrant = ((X - center) * side > 0).all(axis=1)
    beyond = ((X - c) * side > 0).all(axis=1)
    for ax in (above, below):
        ax.axvline(center[0], color="0.4", linewidth=0.8)
        ax.axhline(center[1], color="0.4", linewidth=0.8)
    codes = np.greater(X, center) @ np.array([1, 2])
    for code, (ink, mark) in enumerate(zip((DARK, WARM, GREEN, RED), "osD^", strict=True)):
        above.scatter(*X[codes == code].T, marker=mark, s=24, color=ink, label=f"{(codes == code).sum()} objects")
    above.set_title("the median divides the plane into 2² regions")
    above.legend(loc="lower left", **CLOSE)
    same = {"marker": "s", "color": SKY, "edgecolor": "black", "linewidth": 0.6}
    below.scatter(*X[~quadrant].T, marker=".", s=40, color="0.7", label="other regions")
    below.scatter(*X[quadrant & ~beyond].T, s=28, **same, label=f"same region: {quadrant.sum()} in all")
    below.scatter(*X[beyond].T, s=28, color=DARK, label=f"beyond the object: {beyond.sum()}")
    below.scatter(*c, marker="^", s=90, color=RED, label="object c")
    tp = transvariation_probability(X, c[None], center)[0]
    below.set_title(f"tp of one object: {tp:.2f}")
    below.legend(loc="lower left", **CLOSE)
    for ax in (above, below):
        ax.scatter(*center, marker="+", s=180, color="black", linewidth=2)
        ax.set_ylabel(str(control.columns[1]))
    below.set_xlabel(str(control.columns[0]))
    below.locator_params(axis="x", nbins=6)
    return figure


def three_rows() -> Figure:
    """Draw transvariation between an object and a group on one variable: two cases without it, one with."""
    units = np.array([1.0, 1.8, 2.3, 3.1, 3.6, 4.0, 4.7, 5.2, 6.1, 6.6, 7.4])
    m = float(np.median(units))
    figure = Figure(figsize=(PHONE_WIDTH, 4.2), layout="constrained")
    rows = figure.subplots(3, 1, sharex=True)
    for ax, (where, c) in zip(rows, {"left of": 0.2, "right of": 8.3, "within": 5.7}.items(), strict=True):
        beyond = (units - c) * (m - c) < 0
        ax.axhline(0, color="0.85", zorder=0)
        ax.scatter(units[~beyond], 0 * units[~beyond], s=45, color=SKY, label="unit of the group")
        ax.scatter(
            units[beyond],
            0 * units[beyond],
            marker="D",
            s=45,
            color=WARM,
            edgecolor="black",
            label="unit beyond the object",
        )
        ax.scatter(m, 0, marker="s", s=130, facecolor="none", edgecolor="black", label="median")
        ax.scatter(c, 0, marker="^", s=110, color=RED, label="object c")
        ax.set_title(
            f"object {where} the group: {beyond.sum()} of {len(units)} units beyond it", fontsize=10, loc="left"
        )
        ax.set(ylim=(-1, 1), yticks=[])
        ax.spines[["left", "right", "top"]].set_visible(False)
    figure.legend(*rows[-1].get_legend_handles_labels(), loc="outside lower center", ncols=2, **CLOSE)
    return figure
