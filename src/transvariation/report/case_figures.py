"""Figures of a case: fragments in two variables, strips, Tippett and ECE plots."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transvariation._typing import Fields
from transvariation.casework import CaseResult, Conclusion
from transvariation.casework.background.performance import Performance
from transvariation.casework.foreign import Foreign
from transvariation.casework.spectra import Spectra
from transvariation.casework.validation import Ratios
from transvariation.displays import AcceptanceDisplay
from transvariation.report.acceptance_figures import (
    axes_of,
    draw_distances,
    extremes_figure,
    importance_figure,
    sensitivity_specificity_figure,
    spectrum_figure,
    type_ii_figure,
)
from transvariation.report.figure_style import DARK, PHONE_WIDTH, RED, WARM
from transvariation.report.names import PLAIN, label_axes, wrapped
from transvariation.report.wording.statements import outcome_words

LARGEST_LENGTH = 1e300  # axis lengths must stay finite
SPECTRA_DRAWN = 3  # spectra drawn
SOURCES_ABREAST = 6  # sources beside each other in the acceptance plot
MIN_FRAGMENTS_PLOTTED = 10  # recovered fragments; of fewer, the number of extreme p-values says nothing
EXCLUDED_NAMED = 40  # excluded fragments named in the acceptance plot of distances
RECOVERED_NAMED = 12  # recovered fragments named in the figure
WIDTH, HEIGHT, PAD = 260, 26, 12
MAX_TICKS = 200  # more control values are thinned to quantiles


def strongest_variables(result: CaseResult) -> tuple[str, ...]:
    """Find the two variables that are evidence against most fragments."""
    count = dict.fromkeys(result.inputs.features, 0.0)
    for conclusion in result.excluded or result.conclusions:
        for reason in conclusion.reasons:
            p = reason.p_value(result.model.basis)
            count[reason.variable] += reason.evidence + (0.0 if p is None else 1 - p) / 1000
    return tuple(sorted(count, key=lambda name: -count[name])[:2])


def draw_fragments(result: CaseResult) -> Figure:
    """Draw control and recovered fragments in their two strongest variables, or in the only one."""
    names = strongest_variables(result)
    figure = Figure(figsize=(PHONE_WIDTH, 3.6), layout="constrained")
    ax = figure.add_subplot()
    sets = [("control", [(k.fragment, k.measurements) for k in result.inputs.known])]
    for against, words in enumerate(outcome_words(result)):
        chosen = [(c.fragment, c.measurements) for c in result.conclusions if _is_against(c) == bool(against)]
        sets.append((f"recovered, {words}", chosen))
    marks = (("o", "white", DARK), ("s", WARM, "black"), ("X", RED, "white"))
    for (label, fragments), (marker, face, edge) in zip(sets, marks, strict=True):
        if not fragments:
            continue
        level = 0.0 if label == "control" else 1.0
        rows = [np.clip([m[name] for name in names], -LARGEST_LENGTH, LARGEST_LENGTH) for _, m in fragments]
        rows = [row if len(names) > 1 else np.vstack([row, np.full(row.shape[1], level)]) for row in rows]
        means = np.array([row.mean(axis=1) for row in rows])
        several = np.hstack([row for row in rows if row.shape[1] > 1] or [np.empty((2, 0))])
        ax.scatter(several[0], several[1], marker=".", s=16, color=RED if marker == "X" else "0.5", linewidth=0)
        look: Fields = {
            "marker": marker,
            "s": 42,
            "facecolor": face,
            "edgecolor": edge,
            "linewidth": 0.8,
            "zorder": 3,
        }
        ax.scatter(means[:, 0], means[:, 1], label=label, **look)
        if label != "control" and len(result.conclusions) <= RECOVERED_NAMED:
            for place, ((name, _), at) in enumerate(zip(fragments, means, strict=True)):
                above = 5 if place % 2 else -11  # names of neighbors should not lie on each other
                ax.annotate(name, at, (5, above), textcoords="offset points", fontsize=8, **PLAIN)
    label_axes(ax, *[with_unit(result, name) for name in names])
    if len(names) == 1:
        ax.set_yticks([0, 1], ["control", "recovered"])
        ax.set_ylim(-1, 2)
    ax.spines[["top", "right"]].set_visible(False)
    short = outcome_words(result)[1] == "excluded"
    figure.legend(loc="outside lower center", ncols=2 if short else 1, frameon=False, fontsize=9)
    return figure


def _is_against(c: Conclusion) -> bool:
    """Return whether a conclusion is against the control's source; without one, whether the fragment differs."""
    return bool(c.differs) if c.leads == "exclusion" else c.outcome is False


def has_band(result: CaseResult) -> bool:
    """Return whether there is a band of control spectra to draw."""
    return any(c.regions is not None for c in result.conclusions)


def draw_spectra(result: CaseResult) -> Figure:
    """Draw recovered spectra over the band of the control, excluded ones first, and shade where they leave it."""
    spectra = spectra_of(result)
    ordered = sorted(result.conclusions, key=lambda c: (1.0 if c.p_value is None else c.p_value, -len(c.regions or ())))
    panels = {wrapped(c.fragment, 60): c.spectrum for c in ordered[:SPECTRA_DRAWN]}
    gap = len(spectra.axis) // 100
    return spectrum_figure(spectra.band(result.model.sensitivity_used), panels, spectra.axis, gap=gap)


def draw_importance(result: CaseResult) -> Figure:
    """Draw where the excluded fragments leave the band of the control."""
    spectra = spectra_of(result)
    excluded = np.array([c.spectrum for c in result.excluded])
    return importance_figure(spectra.band(result.model.sensitivity_used), excluded, spectra.axis)


def spectra_of(result: CaseResult) -> Spectra:
    """Return the control spectra; refuse a case without."""
    if result.spectra is None:
        raise ValueError("the variables of this case are no spectrum")
    return result.spectra


def p_values_by_source(result: CaseResult) -> dict[str, list[float]]:
    """Group the p-values of the recovered fragments by source, where there are a few sources."""
    p_values = [c.p_value for c in result.conclusions if c.p_value is not None]
    sources = [c.source for c in result.conclusions if c.p_value is not None]
    if not 1 < len(set(sources)) <= SOURCES_ABREAST:
        return {"recovered": p_values}
    return {str(source): [p for p, s in zip(p_values, sources, strict=True) if s == source] for source in sources}


def draw_acceptance(result: CaseResult) -> Figure:
    """Draw the acceptance plot of the recovered fragments, by source where there are a few."""
    model, (figure, ax) = result.model, axes_of(None, 3.2)
    n, sensitivity = model.calibrating.n, model.sensitivity_used
    AcceptanceDisplay(p_values_by_source(result), n_calibration=n, sensitivity=sensitivity).plot(ax)
    return figure


def draw_distance_plot(result: CaseResult) -> Figure:
    """Draw the acceptance plot of DD-SIMCA: known, new and foreign samples, with the names of those rejected."""
    found = result.distances
    assert found is not None
    groups: list[tuple[str, Any, bool, list[str]]] = [("control", found.control, True, [""] * len(found.control))]
    for against, words in enumerate(outcome_words(result)):
        at = [i for i, c in enumerate(result.conclusions) if _is_against(c) == bool(against)]
        named = bool(against) and len(at) <= EXCLUDED_NAMED
        names = [wrapped(result.conclusions[i].fragment, 20) if named else "" for i in at]
        if at:
            groups.append((f"recovered, {words}", [found.recovered[i] for i in at], not against, names))
    if found.foreign:
        groups.append(("foreign", found.foreign, False, [""] * len(found.foreign)))
    return draw_distances(found.degrees_of_freedom, found.limits(result.model.sensitivity_used), groups)


def draw_extremes(result: CaseResult) -> Figure:
    """Draw the extremes plot of the recovered fragments."""
    return extremes_figure([c.p_value for c in result.conclusions if c.p_value is not None])


def draw_foreign(result: CaseResult) -> Figure:
    """Draw sensitivity and specificity over the threshold of the p-value."""
    foreign, threshold = foreign_of(result), 1 - result.model.sensitivity_used
    figure = sensitivity_specificity_figure(foreign.control_p_values, foreign.p_values, threshold)
    figure.axes[0].set(xlabel="threshold of the p-value", xlim=(0, 1))
    return figure


def draw_type_ii(result: CaseResult) -> Figure:
    """Draw the type II error of each foreign class or degree of adulteration."""
    return type_ii_figure(foreign_of(result).type_ii_error(result.model.sensitivity_used))


def foreign_of(result: CaseResult) -> Foreign:
    """Return the foreign fragments of a case that has some."""
    assert result.foreign is not None
    return result.foreign


def with_unit(result: CaseResult, name: str) -> str:
    """Return the name of a variable with its unit."""
    return f"{name} ({result.inputs.units[name]})" if result.inputs.units.get(name) else name


def known_values(result: CaseResult, variable: str) -> list[float]:
    """Return the values of the control fragments in a variable, on the scale of the reasons."""
    if result.spectra is None:
        return [float(np.mean(known.measurements[variable])) for known in result.inputs.known]
    at = result.inputs.features.index(variable)
    return [spectrum[at] for spectrum in result.spectra.known]


def strip_svg(control: ArrayLike, value: float, evidence: bool) -> str:
    """Draw where a value lies among control values, small enough for a table row.

    The scale spans the control values and half their range on either side; a value beyond is drawn as an arrow.
    """
    known = np.sort(np.asarray(control, dtype=float))
    if len(known) > MAX_TICKS:
        known = np.quantile(known, np.linspace(0, 1, MAX_TICKS))
    spread = known[-1] - known[0] or max(abs(known[0]), 1.0) * 1e-3
    low, high = known[0] - spread / 2, known[-1] + spread / 2

    def at(x: float) -> str:
        return f"{PAD + (WIDTH - 2 * PAD) * (x - low) / (high - low):.1f}"

    first, median, third = np.quantile(known, [0.25, 0.5, 0.75])
    band = max(float(at(third)) - float(at(first)), 1.0)
    middle, ink = HEIGHT / 2, RED if evidence else DARK
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
        f'<rect x="{at(first)}" y="6" width="{band:.1f}" height="14" fill="#cfe3f0"/>',
        f'<path d="{"".join(f"M{at(x)} 8V18" for x in known)}" stroke="#5b6b7b" stroke-opacity=".5"/>',
        f'<path d="M{at(median)} 3V23" stroke="#1d2733" stroke-width="1.5"/>',
    ]
    if value < low:
        parts.append(f'<path d="M10 {middle - 5}L2 {middle}L10 {middle + 5}Z" fill="{ink}"/>')
    elif value > high:
        x = WIDTH - 10
        parts.append(f'<path d="M{x} {middle - 5}L{x + 8} {middle}L{x} {middle + 5}Z" fill="{ink}"/>')
    elif evidence:
        parts.append(f'<path d="M{float(at(value)) - 4:.1f} 9l8 8m0-8l-8 8" stroke="{ink}" stroke-width="2.2"/>')
    else:
        parts.append(f'<circle cx="{at(value)}" cy="{middle}" r="4" fill="{ink}" stroke="#fff"/>')
    return "".join([*parts, "</svg>"])


def draw_tippett(ax: Axes, same: ArrayLike, different: ArrayLike) -> None:
    """Draw the share of same-source and of different-source pairs with a larger likelihood ratio than each value."""
    for values, ink, dashes, label in (
        (same, DARK, "-", "same source"),
        (different, RED, "--", "different sources"),
    ):
        ordered = np.sort(np.asarray(values, dtype=float))
        larger = 1 - np.arange(len(ordered) + 1) / len(ordered)
        ax.step(np.append(ordered[:1], ordered), larger, where="post", color=ink, linestyle=dashes, label=label)
    ax.axvline(0, color="0.7", linewidth=0.8)
    ax.set(xlabel="log10 likelihood ratio", ylabel="share of pairs with a larger ratio", ylim=(-0.02, 1.02))
    ax.legend(fontsize=9, frameon=False)


def draw_ece(ax: Axes, ece: dict[str, tuple[float, ...]]) -> None:
    """Draw the empirical cross-entropy against prior odds."""
    lines = (
        ("system", "-", RED, "as reported"),
        ("recalibrated", "--", DARK, "after best recalibration"),
        ("reference", ":", "0.3", "no information"),
    )
    for key, dashes, ink, label in lines:
        ax.plot(ece["log10_prior_odds"], ece[key], linestyle=dashes, color=ink, label=label)
    # The curve without information rises to 1; above it is room for the legend.
    ax.set(xlabel="log10 prior odds", ylabel="empirical cross-entropy", ylim=(0, 1.45), yticks=[0, 0.5, 1])
    ax.legend(fontsize=9, frameon=False, loc="upper left")


def draw_performance(performance: Performance | Ratios) -> dict[str, Figure]:
    """Draw the Tippett and the ECE plot of a likelihood-ratio system."""
    titles = ("Tippett plot", "Empirical cross-entropy (ECE)")
    figures = {title: Figure(figsize=(PHONE_WIDTH, 3.3), layout="constrained") for title in titles}
    left, right = (figure.add_subplot(title=title) for title, figure in figures.items())
    draw_tippett(left, performance.tippett_same, performance.tippett_different)
    draw_ece(right, performance.ece)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figures
