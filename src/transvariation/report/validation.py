"""The report of a validation: what an assessor reads."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from transvariation.casework.background.likelihood_ratio import MIN_SOURCES_FOR_RATIOS
from transvariation.casework.database import ABOUT
from transvariation.casework.validation import DesignResult, ValidationResult, Verdict
from transvariation.report.case_figures import draw_tippett
from transvariation.report.case_text import format_rate, plural
from transvariation.report.figure_style import DARK, GREY, PHONE_WIDTH, RED, SETTINGS, THRESHOLD, WARM
from transvariation.report.page import Section, page, write_page
from transvariation.report.wording.notices import finding_text
from transvariation.report.wording.statements import COMPARED_METHODS, CRITERIA_NAMES

TITLE = "Validation of the comparison of fragments"
NAMES = {"transvariation": "transvariation", "mahalanobis": "Mahalanobis", "astm": "4 s interval", "lir": "lir"}
BLANK = "______________________"
COLOURS = {"transvariation": DARK, "mahalanobis": GREY, "astm": WARM, "lir": RED}
LIMITS = (
    "The rates hold for sources like those of the database, measured alike. They say nothing about other populations.",
    "Every source was compared by what was learned from the others. The database used in casework has all of them.",
    "Intervals are 95% intervals that allow for comparisons with a source in common. They do not cover errors of "
    "sampling, labelling or measurement.",
    "Many comparisons come from few sources: the number of sources, not of comparisons, limits what can be shown.",
)


def validation_summary(result: ValidationResult) -> str:
    """Return the conclusion in a sentence."""
    met = sum(verdict.met for verdict in result.verdicts)
    open_ = sum(verdict.met and not verdict.shown for verdict in result.verdicts)
    words = f"{met} of {len(result.verdicts)} acceptance criteria are met"
    more = f"; for {open_} of these the interval extends beyond the limit" if open_ else ""
    return f"{words}{more}."


def write_validation_report(result: ValidationResult, path: str | Path) -> None:
    """Write the report as HTML or PDF, by the ending of the file.

    Parameters
    ----------
    result : ValidationResult
    path : path
        The file to write.
    """
    with mpl.rc_context(SETTINGS):
        write_page(Path(path), TITLE, validation_sections(result), validation_summary(result))


def validation_html(result: ValidationResult) -> str:
    """Render the report as one HTML page."""
    with mpl.rc_context(SETTINGS):
        return page(TITLE, validation_sections(result), validation_summary(result))


def validation_sections(result: ValidationResult) -> list[Section]:
    """Return the sections of the report."""
    return [
        _purpose(result),
        _conclusion(result),
        *(_design(each) for each in result.designs),
        *([_stability(result)] if result.stability or len(result.learning) > 1 else []),
        _data(result),
        _method(result),
        Section("Limits").items(LIMITS),
        _hard(result),
        _signatures(),
        Section("Provenance").code("\n".join(f"{name}: {value}" for name, value in result.provenance.items())),
    ]


def _purpose(result: ValidationResult) -> Section:
    about = result.database
    section = Section("Purpose and population").text(
        "How often does the method exclude a fragment of the same source, and how often does it fail to exclude one of "
        "another source, on this laboratory's own measurements?"
    )
    for key, label in ABOUT.items():
        section.labelled(label, about[key] or BLANK)
    return section.text(
        f"{about['sources']:,} sources, {about['fragments']:,} fragments, {about['measurements']:,} measurements "
        f"of {len(about['variables'])} variables."
    )


def verdict_table(result: ValidationResult) -> pd.DataFrame:
    """Tabulate the acceptance criteria: limit, what was measured, and whether it is met."""
    rows = [
        {
            "criterion": CRITERIA_NAMES[verdict.criterion],
            "design": verdict.design,
            "sensitivity": "–" if verdict.sensitivity is None else f"{verdict.sensitivity:g}",
            "limit": f"{verdict.limit:g}" if verdict.criterion == "cllr" else f"{100 * verdict.limit:g}%",
            "measured": _measured(verdict),
            "result": ("met" if verdict.met else "not met") + ("" if verdict.shown else ", not shown"),
        }
        for verdict in result.verdicts
    ]
    return pd.DataFrame(rows)


def _conclusion(result: ValidationResult) -> Section:
    section = Section("Conclusion by criterion").strong(validation_summary(result))
    return section.table(
        verdict_table(result),
        "Limits were set before the validation. “Not shown”: the interval contains the limit; more sources are needed.",
    )


def _measured(verdict: Verdict) -> str:
    if verdict.criterion == "cllr":
        return f"{verdict.measured:.3f}"
    return f"{100 * round(verdict.measured, 9):.2g}% ({100 * verdict.low:.2g} to {100 * verdict.high:.2g}%)"


def _design(each: DesignResult) -> Section:
    known, replicates = each.design.split("x")
    section = Section(f"Design {each.design}").text(
        f"Known: {plural(int(known), 'fragment')} with {plural(int(replicates), 'measurement')} each. Questioned: one "
        f"fragment with {plural(int(replicates), 'measurement')}. "
        f"{each.n_same:,} comparisons of the same source and {each.n_different:,} of different sources, from "
        f"{each.n_sources:,} sources."
    )
    section.figure(rates_figure(each), "Error rates with 95% intervals; the dashed lines are the promised shares.")
    if each.ratios:
        drawn = [(f"Tippett plot, {NAMES[name]}", _tippett(ratios)) for name, ratios in each.ratios.items()]
        for start in range(0, len(drawn), 2):  # two fit side by side
            pair = dict(drawn[start : start + 2])
            section.figure(pair, f"{', '.join(pair)}: shares of pairs with a larger likelihood ratio.")
        section.table(_ratio_table(each), "Likelihood ratios. Cllr: 0 is perfect, 1 is without information.")
    else:
        section.text(
            "No likelihood ratios were measured: they were not asked for, or fewer than "
            f"{MIN_SOURCES_FOR_RATIOS} sources remain when some are left out."
        )
    return section.table(rate_table(each), "Error rates, with 95% intervals by source.")


def rates_figure(each: DesignResult) -> Figure:
    """Draw false exclusions and inclusions of every method with their intervals.

    Parameters
    ----------
    each : DesignResult

    Returns
    -------
    Figure
    """
    rows = [(method, rates) for method, several in each.rates.items() for rates in several]
    figure = Figure(figsize=(PHONE_WIDTH, 1.6 + 0.45 * len(rows)), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    labels = []
    for place, (method, rates) in enumerate(reversed(rows)):
        level = "" if rates.sensitivity is None else f", {rates.sensitivity:g}"
        labels.append(NAMES[method] + level)
        for ax, rate in zip(axes, (rates.false_exclusion, rates.false_inclusion), strict=True):
            ax.plot([rate.low, rate.high], [place, place], color=COLOURS[method], linewidth=2)
            ax.plot([rate.share], [place], "o", color=COLOURS[method])
        if rates.same_stratum is not None:
            axes[1].plot([rates.same_stratum.share], [place], "D", color=RED, markersize=5)
    for sensitivity in {rates.sensitivity for _, rates in rows if rates.sensitivity is not None}:
        axes[0].axvline(1 - sensitivity, **THRESHOLD)
    axes[0].set_yticks(range(len(rows)), labels)
    for ax, title in zip(axes, ("false exclusion", "false inclusion"), strict=True):
        ax.set(title=title, xlim=(0, None), ylim=(-0.6, len(rows) - 0.4))
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.tick_params(axis="y", length=0)
    return figure


def _tippett(ratios: Any) -> Figure:
    figure = Figure(figsize=(PHONE_WIDTH, 3.2), layout="constrained")
    draw_tippett(figure.subplots(), ratios.tippett_same, ratios.tippett_different)
    return figure


def rate_table(each: DesignResult) -> pd.DataFrame:
    """Tabulate the error rates of every method with their intervals."""
    rows = []
    for method, several in each.rates.items():
        for rates in several:
            row = {
                "method": NAMES[method],
                "sensitivity": "–" if rates.sensitivity is None else f"{rates.sensitivity:g}",
                "false exclusion": format_rate(rates.false_exclusion),
                "false inclusion": format_rate(rates.false_inclusion),
            }
            if any(r.same_stratum for several in each.rates.values() for r in several):
                within = rates.same_stratum
                row["false inclusion, same stratum"] = "–" if within is None else format_rate(within)
            rows.append(row)
    return pd.DataFrame(rows)


def _ratio_table(each: DesignResult) -> pd.DataFrame:
    rows = []
    for method, ratios in each.ratios.items():
        row = {
            "method": NAMES[method],
            "Cllr": f"{ratios.cllr:.3f}",
            "after best recalibration": f"{ratios.cllr_min:.3f}",
            "devPAV": f"{ratios.dev_pav:.2f}",
            "bounds (log10)": f"{ratios.bounds[0]:.2g} to {ratios.bounds[1]:.2g}",
            "no ratio stated": f"{ratios.refused:,} comparisons",
        }
        for misleading in ratios.misleading[:3]:
            row[f"same source, below 1/{misleading.strength}"] = format_rate(misleading.same_source)
            row[f"different, above {misleading.strength}"] = format_rate(misleading.different_sources)
        rows.append(row)
    return pd.DataFrame(rows).set_index("method").T.rename_axis("").reset_index()


def _stability(result: ValidationResult) -> Section:
    section = Section("Stability")
    if found := result.stability:
        section.text(
            f"With {found['seeds']:.0f} seeds, p-values of one comparison differ by at most {found['p_value']:.2g}"
            + (f", log10 likelihood ratios by at most {found['log10_lr']:.2g}" if "log10_lr" in found else "")
            + f"; {found['changed_conclusions']:.1%} of the conclusions change."
        )
    if len(result.learning) > 1:
        section.figure(
            _learning_figure(result), "Would more sources help? The same comparisons with a part of the sources."
        )
    return section


def _learning_figure(result: ValidationResult) -> Figure:
    figure = Figure(figsize=(PHONE_WIDTH, 3), layout="constrained")
    ax = figure.subplots()
    x = [point["sources"] for point in result.learning]
    for key, label, colour, marker in (
        ("false_exclusion", "false exclusion", DARK, "o"),
        ("false_inclusion", "false inclusion", RED, "s"),
        ("cllr", "Cllr", WARM, "^"),
    ):
        if all(key in point for point in result.learning):
            ax.plot(x, [point[key] for point in result.learning], marker=marker, color=colour, label=label)
    ax.set(xlabel="sources learned from", ylim=(0, None))
    ax.legend()
    return figure


def _data(result: ValidationResult) -> Section:
    section = Section("Data checks")
    if not result.findings:
        section.text(
            "No duplicates, outlying measurements or sources, differing units, drift or missing values were found."
        )
    for finding in result.findings:
        section.labelled(finding.check.capitalize(), finding_text(finding))
    rows = [
        {
            "variable": name + (f" ({each['unit']})" if each["unit"] else ""),
            "smallest": f"{each['smallest']:.4g}",
            "median": f"{each['median']:.4g}",
            "largest": f"{each['largest']:.4g}",
            "sd within sources": f"{each['within sources']:.2g}",
            "sd between sources": f"{each['between sources']:.2g}",
        }
        for name, each in result.database["variables"].items()
    ]
    return section.table(
        pd.DataFrame(rows), "Variables" + (", as logarithms (base 10)" if result.database["logged"] else "")
    )


def _method(result: ValidationResult) -> Section:
    settings = result.settings
    what = "all sources of a stratum" if settings["leave_out"] == "stratum" else "sources"
    return Section("Method").items(
        [
            f"{settings['n_folds']} folds: {what} were left out in turn, and compared by what was learned from the "
            "others, with the code that judges cases.",
            "Half of the comparisons of different sources are between sources of one stratum, where strata are named.",
            f"Variables: {', '.join(settings['variables'])}" + (", as logarithms." if settings["log"] else "."),
            *(
                f"{NAMES[name]}: {words}."
                for name, words in COMPARED_METHODS.items()
                if name in result.designs[0].rates
            ),
        ]
    )


def _hard(result: ValidationResult) -> Section:
    section = Section("Hard pairs", new_page=True)
    for each in result.designs:
        for pairs, caption in (
            (each.hard_different, "different sources that are hardest to tell apart"),
            (each.hard_same, "same-source comparisons that look most different"),
        ):
            rows = [
                {
                    "known": pair.known,
                    "questioned": pair.questioned,
                    "p-value": f"{pair.p_value:.3g}",
                    "log10 likelihood ratio": "–" if pair.log10_lr is None else f"{pair.log10_lr:.2f}",
                }
                for pair in pairs[:10]
            ]
            section.table(pd.DataFrame(rows), f"Design {each.design}: {caption}")
    return section


def _signatures() -> Section:
    rows = [
        {"": role, "name": BLANK, "signature": BLANK, "date": "______________"}
        for role in ("Validated by", "Approved by")
    ]
    return Section("Signatures").table(pd.DataFrame(rows), "", kind="signatures")
