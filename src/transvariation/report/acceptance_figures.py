"""Figures that chemometricians expect: distances, extremes, sensitivity and specificity, type II error, spectra."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure, FigureBase
from numpy.typing import ArrayLike
from pandas.api.types import is_numeric_dtype

from transvariation.metrics import count_extremes, roc
from transvariation.report.figure_style import CYCLE, DARK, GREEN, GREY, PHONE_WIDTH, RED, REGION, SKY, WARM
from transvariation.report.names import PLAIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from transvariation.baselines import DDSIMCA
    from transvariation.baselines.strangers import Strangers
    from transvariation.spectral_bands import SpectralBand

__all__ = [
    "aliens_figure",
    "distance_figure",
    "extremes_figure",
    "importance_figure",
    "selectivity_figure",
    "sensitivity_specificity_figure",
    "spectrum_figure",
    "type_ii_figure",
]

MOST_POSITIONS = 600  # of a spectrum that are drawn


def distance_figure(
    model: DDSIMCA,
    members: Mapping[str, Any],
    strangers: Mapping[str, Any] | None = None,
    *,
    labels: bool = True,
    figure: FigureBase | None = None,
) -> Figure:
    """Draw the score and orthogonal distances of a fitted DD-SIMCA, with its limits: the classic acceptance plot.

    Parameters
    ----------
    model : DDSIMCA
        The fitted model.
    members : mapping of name to array-like
        Groups of samples of the target class, known and new: circles.
    strangers : mapping of name to array-like, optional
        Groups of samples of other classes: crosses.
    labels : bool, default=True
        Whether members that are rejected and strangers that are accepted are labelled, by the index of a DataFrame or
        the row number.
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
    """
    groups = []
    for given, member in ((members, True), (strangers or {}, False)):
        for name, X in given.items():
            distances, wrong = model.distances(X), (model.predict(X) == 1) != member
            names = X.index if hasattr(X, "index") else range(len(distances))
            texts = [str(text) if bad and labels else "" for text, bad in zip(names, wrong, strict=True)]
            groups.append((name, distances, member, texts))
    return draw_distances(model.degrees_of_freedom_, model.critical_distances(), groups, figure=figure)


def draw_distances(
    degrees_of_freedom: ArrayLike,
    limits: tuple[float, float],
    groups: Sequence[tuple[str, ArrayLike, bool, Sequence[str]]],
    *,
    figure: FigureBase | None = None,
) -> Figure:
    """Draw the acceptance plot of DD-SIMCA from distances.

    Parameters
    ----------
    degrees_of_freedom : array-like of shape (2,)
        Of score and orthogonal distance.
    limits : pair of float
        The full distances of the acceptance limit and of the outlier limit.
    groups : sequence of (name, distances, member, labels)
        Score and orthogonal distances of groups of samples, whether they are drawn as members (circles) or strangers
        (crosses), and a label for each sample, empty for none.
    figure : Figure or SubFigure, optional
        The figure to draw in; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
    """
    n_h, n_v = np.asarray(degrees_of_freedom)
    drawing, ax = axes_of(figure, 4.4)
    for full, style, label in zip(limits, ("-", ":"), ("acceptance limit", "outlier limit"), strict=True):
        h = np.linspace(0, full / n_h, 200) if n_h else np.zeros(2)
        ax.plot(np.log1p(h), np.log1p((full - n_h * h) / n_v), style, color="black", linewidth=1, label=label)
    colors = {True: cycle((DARK, GREEN, SKY)), False: cycle((RED, WARM, GREY))}
    for name, distances, member, texts in groups:
        h, v = np.log1p(np.asarray(distances)).T
        color = next(colors[member])
        look = {"marker": "o", "facecolor": "white", "edgecolor": color} if member else {"marker": "x", "color": color}
        ax.scatter(h, v, s=26, linewidth=1, zorder=3, label=name, **look)
        for x, y, text in zip(h, v, texts, strict=True):
            if text:
                ax.annotate(f" {text}", (x, y), fontsize=8, color=color, **PLAIN)
    ax.set(xlabel="score distance, log(1 + h/h0)", ylabel="orthogonal distance, log(1 + v/v0)")
    ax.set(xlim=(0, None), ylim=(0, None))
    drawing.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return drawing


def aliens_figure(strangers: Strangers, *, figure: FigureBase | None = None) -> Figure:
    """Draw the observed against the expected number of aliens, with the 95% tolerance.

    Parameters
    ----------
    strangers : Strangers
        See :func:`transvariation.baselines.describe_strangers`.
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
    """
    full = np.sort(strangers.full_distances[strangers.alien])
    x = np.linspace(0, len(full), 100)
    spread = 2 * np.sqrt(x * (1 - x / len(full)))
    expected = len(full) * strangers.share_within(full)
    return _draw_counts("aliens", expected, np.arange(1, len(full) + 1), (x, x - spread, x + spread), figure)


def selectivity_figure(strangers: Mapping[str, Strangers], *, figure: FigureBase | None = None) -> Figure:
    """Draw the sensitivity against one minus the selectivity, a curve for each class of strangers.

    Parameters
    ----------
    strangers : mapping of name to Strangers
        See :func:`transvariation.baselines.describe_strangers`.
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
    """
    sensitivity = np.linspace(0.001, 0.999, 400)
    drawing, ax = axes_of(figure, 3.2)
    for (name, each), style in zip(strangers.items(), cycle(("-", "--", ":", "-.")), strict=False):
        ax.plot(1 - each.selectivity_at(sensitivity), sensitivity, style, label=name)
    ax.set(xlabel="type II error (1 - selectivity)", ylabel="sensitivity", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(frameon=False)
    return drawing


def extremes_figure(p_values: ArrayLike, *, figure: FigureBase | None = None) -> Figure:
    """Draw the observed against the expected number of extreme target samples, with the 95% tolerance.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        p-values of target samples; see :func:`transvariation.metrics.count_extremes`.
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
    """
    table = count_extremes(p_values)
    tolerance = table["expected"], table["low"], table["high"]
    return _draw_counts("extremes", table["expected"], table["observed"], tolerance, figure)


def sensitivity_specificity_figure(
    scores_target: ArrayLike,
    scores_foreign: ArrayLike,
    threshold: float | None = None,
    *,
    figure: FigureBase | None = None,
) -> Figure:
    """Draw sensitivity and specificity over all thresholds.

    Parameters
    ----------
    scores_target, scores_foreign : array-like
        Scores of fresh target samples and of foreign samples; high = typical.
    threshold : float, optional
        The threshold in use (``classifier.offset_``), drawn as a line.
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
    """
    curve = roc(scores_target, scores_foreign)
    finite = np.isfinite(curve.thresholds)
    drawing, ax = axes_of(figure, 3.2)
    ax.step(curve.thresholds[finite], curve.sensitivity[finite], where="post", color=DARK, label="sensitivity")
    ax.step(
        *(curve.thresholds[finite], curve.specificity[finite]),
        **{"where": "post", "color": WARM, "linestyle": "--", "label": "specificity"},
    )
    if threshold is not None:
        ax.axvline(threshold, color=RED, linestyle=":", label="threshold in use")
    ax.set(xlabel="threshold of the score", ylabel="share", ylim=(-0.02, 1.02))
    ax.legend(frameon=False)
    return drawing


def type_ii_figure(table: pd.DataFrame, *, figure: FigureBase | None = None) -> Figure:
    """Draw the type II error against the level of adulteration, or for each foreign class.

    Parameters
    ----------
    table : DataFrame
        As :func:`transvariation.metrics.type_ii_error` returns it; one line per sensitivity.
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
    """
    numeric = is_numeric_dtype(table["level"])
    drawing, ax = axes_of(figure, 3.2)
    looks = cycle(zip("os^Dv", CYCLE, strict=False))
    for (mark, color), (sensitivity, rows) in zip(looks, table.groupby("sensitivity"), strict=False):
        x = rows["level"].to_numpy() if numeric else np.arange(len(rows))
        errors = np.maximum([rows["beta"] - rows["low"], rows["high"] - rows["beta"]], 0)
        ax.errorbar(
            *(x, rows["beta"], errors),
            **{"marker": mark, "color": color, "capsize": 3, "linestyle": "-" if numeric else "none"},
            label=f"sensitivity {sensitivity:.2g}",
        )
        if not numeric:
            ax.set_xticks(x, rows["level"])
    words = "level of adulteration" if numeric else "foreign class"
    ax.set(xlabel=words, ylabel="type II error, beta", ylim=(-0.03, 1.03))
    ax.legend(frameon=False)
    return drawing


def spectrum_figure(
    band: SpectralBand,
    spectra: Mapping[str, ArrayLike],
    axis: ArrayLike | None = None,
    *,
    gap: int = 0,
    figure: FigureBase | None = None,
) -> Figure:
    """Draw spectra over the band of the control spectra, and shade the intervals that make them foreign.

    Parameters
    ----------
    band : SpectralBand
        See :func:`transvariation.spectral_bands.spectral_band`.
    spectra : mapping of name to array-like of shape (n_features,)
        One panel each.
    axis : array-like of shape (n_features,), optional
        Wavelengths or wavenumbers; by default the positions 0, 1, ...
    gap : int, default=0
        Intervals separated by at most this many positions are joined.
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
    """
    x = np.arange(len(band.center)) if axis is None else np.asarray(axis, dtype=float)
    drawing, axes = axes_of(figure, 0.9 + 1.4 * len(spectra), len(spectra))
    lower, upper, drawn = band.lower, band.upper, _drawn(x)
    for ax, (name, spectrum) in zip(axes, spectra.items(), strict=True):
        intervals = band.intervals(spectrum, gap=gap)
        for interval in intervals:
            ax.axvspan(x[interval.first], x[interval.last], color=RED, alpha=0.25, linewidth=0.5)
        ax.fill_between(x[drawn], lower[drawn], upper[drawn], color="0.75", label="control band")
        ax.plot(x[drawn], np.asarray(spectrum, dtype=float)[drawn], color=DARK, linewidth=0.9, label="sample")
        words = f"{name}: {len(intervals)} foreign interval{'' if len(intervals) == 1 else 's'}"
        ax.set_title(words, fontsize=10, **PLAIN)
    _legend_below(drawing, axes[0])
    _label_positions(axes[-1], x, axis is None)
    return drawing


def importance_figure(
    band: SpectralBand,
    spectra: ArrayLike,
    axis: ArrayLike | None = None,
    *,
    figure: FigureBase | None = None,
) -> Figure:
    """Draw the share of samples that leave the band of the control spectra at each position.

    Parameters
    ----------
    band : SpectralBand
        See :func:`transvariation.spectral_bands.spectral_band`.
    spectra : array-like of shape (n_samples, n_features)
        The samples, such as those that a classifier rejects.
    axis : array-like of shape (n_features,), optional
        Wavelengths or wavenumbers; by default the positions 0, 1, ...
    figure : Figure or SubFigure, optional
        The figure to draw in, such as ``plt.figure()``; by default a new one, not managed by pyplot.

    Returns
    -------
    Figure
    """
    deviation = band.deviation(spectra)
    shares = {
        "above the band": ((deviation > band.width).mean(axis=0), WARM),
        "below the band": (-(deviation < -band.width).mean(axis=0), DARK),
    }
    x = np.arange(len(band.center)) if axis is None else np.asarray(axis, dtype=float)
    drawing, ax = axes_of(figure, 2.2)
    for label, (share, color) in shares.items():
        ax.fill_between(x[_drawn(x)], share[_drawn(x)], color=color, linewidth=0.5, label=label)
    ax.axhline(0, color="0.5", linewidth=0.8)
    ax.set(ylabel="share of samples", ylim=(-1.02, 1.02))
    ax.set_yticks([-1, 0, 1], ["1", "0", "1"])
    _legend_below(drawing, ax)
    _label_positions(ax, x, axis is None)
    return drawing


def _draw_counts(
    what: str, expected: ArrayLike, observed: ArrayLike, tolerance: tuple[Any, ...], figure: FigureBase | None
) -> Figure:
    """Draw observed against expected counts, and the tolerance: x, lower and upper limit."""
    n = np.size(expected)
    drawing, ax = axes_of(figure, 3.2)
    ax.fill_between(*tolerance, color=REGION, label="95% tolerance")
    ax.plot([0, n], [0, n], color="0.5", linestyle="--", linewidth=1)
    ax.plot(expected, observed, "o", color=DARK, markersize=4, label="observed")
    ax.set(xlabel=f"expected number of {what}", ylabel=f"observed number of {what}")
    ax.legend(frameon=False)
    return drawing


def _drawn(x: ArrayLike) -> slice:
    """Thin many positions: a figure shows no more, and its file would be large."""
    return slice(None, None, max(1, np.size(x) // MOST_POSITIONS))


def _label_positions(ax: Axes, x: ArrayLike, plain: bool) -> None:
    first, last = np.asarray(x)[[0, -1]]
    ax.set_xlabel("position" if plain else "wavelength or wavenumber")
    ax.set_xlim(first, last)  # wavenumbers fall from left to right if the table's do


def axes_of(figure: FigureBase | None, height: float, n: int | None = None) -> tuple[Any, Any]:
    """Give a figure one pair of axes, or n of them, one below the other."""
    drawn: Any = figure or Figure()
    if isinstance(drawn, Figure):  # a part of a figure has the size and the layout of the whole
        drawn.set_size_inches(PHONE_WIDTH, height)
        drawn.set_layout_engine("constrained")
    axes = drawn.subplots(n or 1, 1, sharex=True, squeeze=False).ravel()
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return drawn, axes if n else axes[0]


def _legend_below(drawing: FigureBase, ax: Axes) -> None:
    drawing.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
