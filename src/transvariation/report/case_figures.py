"""Figures of a case: fragments in two variables, strips, Tippett and ECE plots."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import cycle
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from transvariation._typing import Fields
from transvariation.baselines.strangers import Strangers, fit_strangers
from transvariation.casework import CaseResult, Conclusion
from transvariation.casework.background.performance import Performance
from transvariation.casework.spectra import Spectra
from transvariation.casework.validation import Ratios
from transvariation.conformal import is_accepted
from transvariation.displays import (
    AcceptanceDisplay,
    DistanceDisplay,
    ExtremesDisplay,
    SpectrumDisplay,
    TypeIIErrorDisplay,
)
from transvariation.displays.axes import Display, axes_of, legend
from transvariation.displays.spectra import prepare_positions
from transvariation.metrics import roc
from transvariation.report.case_text import measured_once
from transvariation.report.figure_style import DARK, PLAIN, RED, THRESHOLD, WARM, label_axes, wrapped
from transvariation.report.page import Section
from transvariation.report.wording.numbers import format_share
from transvariation.report.wording.statements import FIGURE_WORDS, outcome_words

LARGEST_LENGTH = 1e300  # axis lengths must stay finite
SPECTRA_DRAWN = 3  # spectra drawn
SOURCES_ABREAST = 6  # sources beside each other in the acceptance plot
MIN_FRAGMENTS_PLOTTED = 10  # recovered fragments; of fewer, the number of extreme p-values says nothing
EXCLUDED_NAMED = 40  # excluded fragments named in the acceptance plot of distances
CLASSES_DRAWN = 4  # classes of foreign fragments in the aliens plot
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
    figure, (ax,) = axes_of(3.6)
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
        look: Fields = {"marker": marker, "facecolor": face, "edgecolor": edge}
        ax.scatter(means[:, 0], means[:, 1], s=42, linewidth=0.8, zorder=3, label=label, **look)
        if label != "control" and len(result.conclusions) <= RECOVERED_NAMED:
            for place, ((name, _), at) in enumerate(zip(fragments, means, strict=True)):
                above = 5 if place % 2 else -11  # names of neighbors should not lie on each other
                ax.annotate(name, at, (5, above), textcoords="offset points", fontsize=8, **PLAIN)
    label_axes(ax, *[with_unit(result, name) for name in names])
    if len(names) == 1:
        ax.set_yticks([0, 1], ["control", "recovered"])
        ax.set_ylim(-1, 2)
    short = outcome_words(result)[1] == "excluded"
    figure.legend(loc="outside lower center", ncols=2 if short else 1, frameon=False, fontsize=9)
    return figure


def _is_against(c: Conclusion) -> bool:
    """Return whether a conclusion is against the control's source; without one, whether the fragment differs."""
    return bool(c.differs) if c.leads == "exclusion" else c.outcome is False


def has_band(result: CaseResult) -> bool:
    """Return whether there is a band of control spectra to draw."""
    return any(c.regions is not None for c in result.conclusions)


def _draw_spectra(result: CaseResult) -> Figure:
    """Draw recovered spectra over the band of the control, excluded ones first, and shade where they leave it."""
    spectra = spectra_of(result)
    ordered = sorted(result.conclusions, key=lambda c: (1.0 if c.p_value is None else c.p_value, -len(c.regions or ())))
    shown = ordered[:SPECTRA_DRAWN]
    band, gap = spectra.band(result.model.sensitivity_used), len(spectra.axis) // 100
    figure, axes = axes_of(0.9 + 1.4 * len(shown), len(shown))
    for ax, c in zip(axes, shown, strict=True):
        SpectrumDisplay(band, c.spectrum, spectra.axis, gap=gap, name=wrapped(c.fragment, 60)).plot(ax)
        ax.label_outer()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _draw_importance(result: CaseResult) -> Figure:
    """Draw the share of excluded fragments that leave the band of the control at each position."""
    spectra = spectra_of(result)
    band = spectra.band(result.model.sensitivity_used)
    deviation = band.deviation(np.array([c.spectrum for c in result.excluded]))
    figure, (ax,) = axes_of(2.2)
    x, drawn = prepare_positions(ax, deviation.shape[1], spectra.axis)
    above, below = (deviation > band.width).mean(axis=0), -(deviation < -band.width).mean(axis=0)
    ax.fill_between(x[drawn], above[drawn], color=WARM, linewidth=0.5, label="above the band")
    ax.fill_between(x[drawn], below[drawn], color=DARK, linewidth=0.5, label="below the band")
    ax.axhline(0, color="0.5", linewidth=0.8)
    ax.set(ylabel="share of samples", ylim=(-1.02, 1.02))
    ax.set_yticks([-1, 0, 1], ["1", "0", "1"])
    legend(ax, ncols=3)
    return figure


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


def _draw_acceptance(result: CaseResult) -> Figure:
    """Draw the acceptance plot of the recovered fragments, by source where there are a few."""
    n, sensitivity = result.model.calibrating.n, result.model.sensitivity_used
    return _drawn(AcceptanceDisplay(p_values_by_source(result), n_calibration=n, sensitivity=sensitivity), 3.2)


def draw_distance_plot(result: CaseResult) -> Figure:
    """Draw the acceptance plot of DD-SIMCA: known, new and foreign samples, with the names of those rejected."""
    found = result.distances
    assert found is not None
    sensitivity = result.model.sensitivity_used
    Group = tuple[str, Sequence[Sequence[float]], bool, list[str]]
    groups: list[Group] = [("control", found.control, True, [""] * len(found.control))]
    for against, words in enumerate(outcome_words(result)):
        at = [i for i, c in enumerate(result.conclusions) if _is_against(c) == bool(against)]
        named = bool(against) and len(at) <= EXCLUDED_NAMED
        names = [wrapped(result.conclusions[i].fragment, 20) if named else "" for i in at]
        if at:
            groups.append((f"recovered, {words}", [found.recovered[i] for i in at], not against, names))
    if found.foreign:
        foreign = result.foreign
        assert foreign is not None
        named = foreign.missed(sensitivity) <= EXCLUDED_NAMED
        each = zip(foreign.fragments, foreign.p_values, strict=True)
        names = [wrapped(name, 20) if named and is_accepted(p, sensitivity) else "" for name, p in each]
        groups.append(("foreign", found.foreign, False, names))
    limits = found.limits(sensitivity)
    return _drawn(DistanceDisplay(groups, degrees_of_freedom=found.degrees_of_freedom, limits=limits), 4.4)


def _draw_extremes(result: CaseResult) -> Figure:
    """Draw the extremes plot of the recovered fragments."""
    figure, (ax,) = axes_of(3.2)
    ExtremesDisplay.from_predictions([c.p_value for c in result.conclusions if c.p_value is not None], ax=ax)
    return figure


def _draw_foreign(result: CaseResult) -> Figure:
    """Draw sensitivity and specificity over the threshold of the p-value."""
    foreign, (figure, (ax,)) = result.foreign, axes_of(3.2)
    assert foreign is not None
    curve = roc(foreign.control_p_values, foreign.p_values)
    finite = np.isfinite(curve.thresholds)
    for name, color, style in (("sensitivity", DARK, "-"), ("specificity", WARM, "--")):
        share = getattr(curve, name)[finite]
        ax.step(curve.thresholds[finite], share, where="post", color=color, linestyle=style, label=name)
    ax.axvline(1 - result.model.sensitivity_used, label="threshold in use", **THRESHOLD)
    ax.set(xlabel="threshold of the p-value", ylabel="share", xlim=(0, 1), ylim=(-0.02, 1.02))
    ax.legend(frameon=False)
    return figure


def _draw_type_ii(result: CaseResult) -> Figure:
    """Draw the type II error of each foreign class or degree of adulteration."""
    assert result.foreign is not None
    return _drawn(TypeIIErrorDisplay(result.foreign.type_ii_error(result.model.sensitivity_used)), 3.2)


def _strangers_of(result: CaseResult) -> dict[str, Strangers]:
    """Describe the classes of known foreign fragments as DD-SIMCA does; those of which a distribution can be fitted."""
    found, foreign = result.distances, result.foreign
    if found is None or foreign is None or not result.model.conclusive:
        return {}
    dof, limit = int(sum(found.degrees_of_freedom)), found.limits(result.model.sensitivity_used)[0]
    full, levels, strangers = np.array(found.foreign) @ found.degrees_of_freedom, np.array(foreign.levels), {}
    for level in dict.fromkeys(foreign.levels):
        with suppress(ValueError):  # too few, or all too far
            strangers[wrapped(level, 40)] = fit_strangers(full[levels == level], dof, limit)
    return dict(list(strangers.items())[:CLASSES_DRAWN])


def _draw_aliens(result: CaseResult) -> Figure:
    """Draw the aliens plot of DD-SIMCA, a panel for each class of known foreign fragments."""
    strangers = _strangers_of(result)
    figure, axes = axes_of(0.4 + 2.8 * len(strangers), len(strangers))
    for ax, (name, each) in zip(axes, strangers.items(), strict=True):
        ExtremesDisplay.from_strangers(each, ax=ax)
        ax.set_title(f"{name}: {each.alien.sum()} of {len(each.alien)} are aliens", fontsize=10, **PLAIN)
    return figure


def _draw_selectivity(result: CaseResult) -> Figure:
    """Draw the selectivity of DD-SIMCA, a curve for each class of known foreign fragments."""
    sensitivity, (figure, (ax,)) = np.linspace(0.001, 0.999, 400), axes_of(3.2)
    for (name, each), style in zip(_strangers_of(result).items(), cycle(("-", "--", ":", "-.")), strict=False):
        ax.plot(1 - each.selectivity_at(sensitivity), sensitivity, style, label=name)
    ax.set(xlabel="type II error (1 - selectivity)", ylabel="sensitivity", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.legend(frameon=False)
    return figure


def _drawn(display: Display, height: float) -> Figure:
    """Draw a display in a figure of its own."""
    figure, (ax,) = axes_of(height)
    display.plot(ax)
    return figure


class CaseFigure(NamedTuple):
    """A figure of a case: its alternative text, how it is drawn, and whether a case has it."""

    alt: str
    draw: Callable[[CaseResult], Figure]
    is_in: Callable[[CaseResult], bool]


FIGURES = {
    "distances": CaseFigure(
        "acceptance plot of distances", draw_distance_plot, lambda r: r.model.conclusive and r.distances is not None
    ),
    "acceptance": CaseFigure("acceptance plot", _draw_acceptance, lambda r: r.model.conclusive),
    "extremes": CaseFigure(
        "extremes plot", _draw_extremes, lambda r: r.model.conclusive and len(r.conclusions) >= MIN_FRAGMENTS_PLOTTED
    ),
    "foreign": CaseFigure("sensitivity and specificity", _draw_foreign, lambda r: r.foreign is not None),
    "type_ii": CaseFigure("type II error", _draw_type_ii, lambda r: r.foreign is not None),
    "aliens": CaseFigure("aliens plot", _draw_aliens, lambda r: bool(_strangers_of(r))),
    "selectivity": CaseFigure("selectivity", _draw_selectivity, lambda r: bool(_strangers_of(r))),
    "spectra": CaseFigure("recovered fragments over the band of the control", _draw_spectra, has_band),
    "importance": CaseFigure(
        "share of excluded fragments outside the band", _draw_importance, lambda r: has_band(r) and len(r.excluded) > 1
    ),
    "fragments": CaseFigure("control and recovered fragments", draw_fragments, lambda r: not has_band(r)),
}


def figures_of(result: CaseResult) -> list[str]:
    """List the kinds of figures that a case has."""
    return [kind for kind, figure in FIGURES.items() if figure.is_in(result)]


def figure_words(result: CaseResult, kind: str) -> str:
    """Say what a figure of a case shows."""
    values: Fields = {}
    if kind == "spectra":
        spectra = spectra_of(result)
        values["share"] = format_share(spectra.band(result.model.sensitivity_used).sensitivity)
        values["after"] = f", after {spectra.preprocess}" if spectra.preprocess else ""
    elif kind == "importance":
        values["n"] = len(result.excluded)
    elif kind == "fragments":
        values["names"] = " and ".join(strongest_variables(result))
        values["dots"] = "" if measured_once(result) else "; dots are replicates"
    return FIGURE_WORDS[kind].format(**values)


def add_figures(section: Section, result: CaseResult, *kinds: str) -> Section:
    """Add those of these figures that a case has to a section, side by side."""
    shown = [kind for kind in kinds if FIGURES[kind].is_in(result)]
    if not shown:
        return section
    drawn = {FIGURES[kind].alt: FIGURES[kind].draw(result) for kind in shown}
    return section.figure(drawn, " ".join(figure_words(result, kind) for kind in shown))


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
    (tippett, (left,)), (entropy, (right,)) = axes_of(3.3), axes_of(3.3)
    draw_tippett(left, performance.tippett_same, performance.tippett_different)
    draw_ece(right, performance.ece)
    figures = {"Tippett plot": tippett, "Empirical cross-entropy (ECE)": entropy}
    for ax, title in zip((left, right), figures, strict=True):
        ax.set_title(title)
    return figures
