"""The figures of the paper's glass analysis."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from transvariation.depth.probability import transvariation_probability
from transvariation.report.figure_style import DARK, FOREIGN, GREEN, KNOWN, RED, SKY, WARM, WIDTH
from transvariation.report.scatter_figure import draw_plane
from transvariation.report.selection_figure import draw_features

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WINDOW, OTHER = "window (target)", "not window (non-target)"
STYLES = {
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
    """Draw both classes in one or several planes, side by side."""
    figure = Figure(figsize=(WIDTH, 5.4 if len(planes) == 1 else 4.0), layout="constrained")
    axes = figure.subplots(1, len(planes), squeeze=False)[0]
    for ax, (title, (control, recovered)) in zip(axes, planes.items(), strict=True):
        _scatter(ax, control, recovered)
        ax.set_title(title)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


def feature_boxes(control: pd.DataFrame, recovered: pd.DataFrame) -> Figure:
    """Draw the distribution of every variable in both classes."""
    figure = Figure(figsize=(WIDTH, 6.4), layout="constrained")
    draw_features(figure.subplots(3, 3), {"window": control, "other": recovered})
    return figure


def levels(classifier: Any, control: pd.DataFrame) -> Figure:
    """Draw the level of tp in the target's plane and the targets that the classifier rejects."""
    figure = Figure(figsize=(WIDTH, 5.8), layout="constrained")
    ax = figure.add_subplot()
    shades = draw_plane(ax, classifier, control)
    figure.colorbar(shades, ax=ax, label="transvariation probability (tp)")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def membership(classifiers: dict[str, Any], control: pd.DataFrame, recovered: pd.DataFrame) -> Figure:
    """Draw, one panel per classifier, which objects of either class are accepted."""
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    axes = figure.subplots(1, len(classifiers), sharex=True, sharey=True)
    for ax, (name, classifier) in zip(axes, classifiers.items(), strict=True):
        draw_plane(ax, classifier, control, recovered)
        ax.set_title(name)
    handles, labels = axes[0].get_legend_handles_labels()
    labels = [label.split(":")[0] for label in labels]  # the counts differ from panel to panel
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def roc_panels(scored: list[dict[str, Any]]) -> Figure:
    """Draw the ROC curves of the three classifiers, one panel per reduction; of several seeds the first is drawn."""
    figure = Figure(figsize=(WIDTH, 7.2), layout="constrained")
    names = {"PCA": "last two principal components", "RP": "random projections"}
    names |= {"varSel": "varSel: {K, Mg}", "kappa-VIP": "kappa-VIP: {Si, Mg}"}
    for ax, (reduction, title) in zip(figure.subplots(2, 2).ravel(), names.items(), strict=True):
        for entry in scored:
            if entry["reduction"] == reduction and entry["seed"] == 0:
                curve = entry["roc"]
                ax.plot(
                    1 - curve.specificity,
                    curve.sensitivity,
                    label=f"{entry['classifier']}: {entry['auc']:.3f}",
                    **STYLES[entry["classifier"]],
                )
        ax.plot([0, 1], [0, 1], color="0.7", linestyle=":", linewidth=1)
        ax.set(title=title, xlabel="1 - specificity", ylabel="sensitivity", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.legend(loc="lower right", title="AUC", fontsize=9)
    return figure


def regions(control: pd.DataFrame, center: np.ndarray, c: np.ndarray) -> Figure:
    """Draw the four regions about the median, and for one object the part beyond it and its whole quadrant."""
    figure = Figure(figsize=(WIDTH, 5.0), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    X = control.to_numpy()
    side = np.sign(c - center)
    quadrant = ((X - center) * side > 0).all(axis=1)
    beyond = ((X - c) * side > 0).all(axis=1)
    for ax in (left, right):
        ax.axvline(center[0], color="0.4", linewidth=0.8)
        ax.axhline(center[1], color="0.4", linewidth=0.8)
    codes = np.greater(X, center) @ np.array([1, 2])
    for code, (ink, mark) in enumerate(zip((DARK, WARM, GREEN, RED), "osD^", strict=True)):
        left.scatter(*X[codes == code].T, marker=mark, s=24, color=ink, label=f"{(codes == code).sum()} objects")
    left.set_title("the median divides\nthe plane into 2² regions")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2, columnspacing=1, handletextpad=0.2)
    same = {"marker": "s", "color": SKY, "edgecolor": "black", "linewidth": 0.6}
    right.scatter(*X[~quadrant].T, marker=".", s=40, color="0.7", label="other regions")
    right.scatter(*X[quadrant & ~beyond].T, s=28, **same, label=f"same region: {quadrant.sum()} in all")
    right.scatter(*X[beyond].T, s=28, color=DARK, label=f"beyond the object: {beyond.sum()}")
    right.scatter(*c, marker="^", s=90, color=RED, label="object c")
    tp = transvariation_probability(X, c[None], center)[0]
    right.set_title(f"tp of one object: {tp:.2f}")
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), handletextpad=0.2)
    for ax in (left, right):
        ax.scatter(*center, marker="+", s=180, color="black", linewidth=2)
        ax.set(xlabel=str(control.columns[0]), ylabel=str(control.columns[1]))
    return figure


def three_rows() -> Figure:
    """Draw transvariation between an object and a group on one variable: two cases without it, one with."""
    units = np.array([1.0, 1.8, 2.3, 3.1, 3.6, 4.0, 4.7, 5.2, 6.1, 6.6, 7.4])
    m = float(np.median(units))
    figure = Figure(figsize=(WIDTH, 4.2), layout="constrained")
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
    figure.legend(*rows[-1].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure
