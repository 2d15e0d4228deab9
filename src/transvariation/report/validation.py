"""The report of a validation: what an assessor reads."""

from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from transvariation.casework.astm import MIN_MEASUREMENTS, is_covered
from transvariation.casework.background.likelihood_ratio import MIN_SOURCES_FOR_RATIOS
from transvariation.casework.database import ABOUT
from transvariation.casework.validation import DesignResult, ValidationResult, Verdict
from transvariation.conformal import is_accepted
from transvariation.report.case_figures import draw_performance
from transvariation.report.case_text import format_rate, plural
from transvariation.report.digits import decimals_for
from transvariation.report.figure_style import DARK, GRAY, GREEN, PHONE_WIDTH, RED, SETTINGS, THRESHOLD, WARM
from transvariation.report.page import BLANK, Document, Section
from transvariation.report.wording.cautions import finding_text
from transvariation.report.wording.numbers import format_p, significant
from transvariation.report.wording.statements import COMPARED_METHODS, CRITERIA_NAMES

TITLE = "Validation of the comparison of fragments"
_METHOD_NAMES = {"transvariation": "transvariation", "mahalanobis": "Mahalanobis", "astm": "4 s interval", "lir": "lir"}
COLORS = {"transvariation": DARK, "mahalanobis": GRAY, "astm": WARM, "lir": GREEN}
NOT_COVERED = (
    "ASTM E2927 covers concentrations of elements by LA-ICP-MS. These variables are others, by their names, so the 4 s "
    "interval is not the standard's criterion."
)
LIMITATIONS = (
    "The rates hold for sources like those of the database, measured alike. They say nothing about other populations.",
    "Every source was compared by what was learned from the others. The database used in casework has all of them.",
    "Intervals are 95% intervals that allow for comparisons with a source in common. They do not cover errors of "
    "sampling, labeling or measurement.",
    "Many comparisons come from few sources: the number of sources, not of comparisons, limits what can be shown.",
)


def validation_summary(result: ValidationResult) -> str:
    """Return the conclusion in a sentence."""
    met = sum(verdict.met for verdict in result.verdicts)
    open_ = sum(verdict.met and not verdict.shown for verdict in result.verdicts)
    lacking = sum(verdict.measured is None for verdict in result.verdicts)
    words = f"{met} of {len(result.verdicts)} acceptance criteria are met"
    more = f"; for {open_} of these the interval extends beyond the limit" if open_ else ""
    return f"{words}{more}" + (f"; {lacking} could not be measured" if lacking else "") + "."


def write_validation_report(result: ValidationResult, path: str | Path) -> None:
    """Write the report as HTML or PDF, by the ending of the file."""
    validation_document(result).write(Path(path))


def validation_document(result: ValidationResult) -> Document:
    """Build the report: the purpose, the conclusion by criterion, the designs, and what they rest on."""
    foot = f"Validation on {result.database['name']}, SHA-256 {result.database['sha256'][:12]}"
    with mpl.rc_context(SETTINGS):
        sections = [
            _purpose(result),
            _conclusion(result),
            *(_design(each, new_page=each is result.designs[0]) for each in result.designs),
            *([_stability(result)] if result.stability or len(result.learning) > 1 else []),
            _data(result),
            _method(result),
            Section("Limits").items(LIMITATIONS),
            _hard(result),
            Section("Provenance").code(result.provenance),
            Section("Signatures").signatures({"Validated by": None, "Approved by": None}),
        ]
    return Document(TITLE, sections, validation_summary(result), foot)


def _purpose(result: ValidationResult) -> Section:
    about = result.database
    section = Section("Purpose and population").text(
        "How often does the method exclude a fragment of the same source, and how often does it fail to exclude one of "
        "another source, on this laboratory's own measurements?"
    )
    for key, label in ABOUT.items():
        section.labeled(label, about[key] or BLANK)
    section.labeled("Database", f"{about['name']}, SHA-256 {about['sha256']}")
    strata = ", ".join(f"{name} {n:,}" for name, n in about["strata"].items())
    return section.text(
        f"{about['sources']:,} sources with {about['measurements']:,} measurements of {len(about['variables'])} "
        f"variables; fragments per source: {about['fragments per source']}; replicates per fragment: "
        f"{about['replicates per fragment']}." + (f" Sources by stratum: {strata}." if strata else "")
    )


def rate_lines(result: ValidationResult) -> list[str]:
    """State the error rates of every design in lines."""
    lines = []
    for each in result.designs:
        lines.append(
            f"Design {each.design}: {each.n_sources:,} sources, {each.n_same:,} comparisons of one source, "
            f"{each.n_different:,} of two"
        )
        for rates in each.rates["transvariation"]:
            lines.append(f"  sensitivity {rates.sensitivity:g}: false exclusion {format_rate(rates.false_exclusion)}")
            lines.append(f"    false inclusion {format_rate(rates.false_inclusion)}")
            if rates.same_stratum is not None:
                lines.append(f"    false inclusion within a stratum {format_rate(rates.same_stratum)}")
        if ratios := each.ratios.get("transvariation"):
            low, high = ratios.cllr_interval
            lines.append(f"  likelihood ratios: Cllr {ratios.cllr:.2g} (95% interval {low:.2g} to {high:.2g})")
    return lines


def verdict_table(result: ValidationResult) -> pd.DataFrame:
    """Tabulate the acceptance criteria: limit, what was measured, and whether it is met."""
    rows = [
        {
            "criterion": CRITERIA_NAMES[verdict.criterion],
            "design": verdict.design,
            "sensitivity": "–" if verdict.sensitivity is None else f"{verdict.sensitivity:g}",
            "limit": f"{verdict.limit:g}" if verdict.criterion == "cllr" else f"{100 * verdict.limit:g}%",
            "measured": _measured(verdict),
            "result": _result(verdict),
        }
        for verdict in result.verdicts
    ]
    return pd.DataFrame(rows)


def _conclusion(result: ValidationResult) -> Section:
    limits = result.settings["criteria"] or "those of the software; the laboratory wrote down none"
    return (
        Section("Conclusion by criterion")
        .strong(validation_summary(result))
        .table(
            verdict_table(result),
            f"Limits: {limits}. “Not shown”: the 95% interval, in parentheses, contains the limit; more sources are "
            "needed.",
        )
    )


def _result(verdict: Verdict) -> str:
    if verdict.measured is None:
        return "not measured"
    return ("met" if verdict.met else "not met") + ("" if verdict.shown else ", not shown")


def _measured(verdict: Verdict) -> str:
    if verdict.measured is None or verdict.low is None or verdict.high is None:
        return "–"
    if verdict.criterion == "cllr":
        return f"{verdict.measured:.2g} ({verdict.low:.2g} to {verdict.high:.2g})"
    share, low, high = (100 * each for each in (verdict.measured, verdict.low, verdict.high))
    decimals = decimals_for((high - low) / 2)
    return f"{share:z.{decimals}f}% ({low:z.{decimals}f} to {high:z.{decimals}f}%)"


def _design(each: DesignResult, new_page: bool) -> Section:
    known, replicates = each.design.split("x")
    section = Section(f"Design {each.design}", new_page=new_page).text(
        f"Known fragments: {known}; questioned fragments: 1; measurements of each: {replicates}. "
        f"{each.n_same:,} comparisons of the same source and {each.n_different:,} of different sources, from "
        f"{each.n_sources:,} sources."
    )
    if "astm" in each.rates and (n := int(known) * int(replicates)) < MIN_MEASUREMENTS:
        section.text(
            f"ASTM E2927 asks for {MIN_MEASUREMENTS} measurements of the known. With {n}, the 4 s interval is not the "
            "standard's criterion."
        )
    caption = "Error rates with 95% intervals by source; the dashed lines are the promised shares."
    if _has_strata(each):
        caption += " Diamonds: sources of one stratum, at least half of the comparisons of different sources."
    section.figure(rates_figure(each), caption)
    if own := each.ratios.get("transvariation"):
        section.figure(draw_performance(own), "Likelihood ratios on sources that were left out.")
        section.table(_ratio_table(each), "Likelihood ratios. Cllr: 0 is perfect, 1 is without information.")
    else:
        section.text(
            "No likelihood ratios were measured: they were not asked for, or fewer than "
            f"{MIN_SOURCES_FOR_RATIOS} sources remain when some are left out."
        )
    return section.table(rate_table(each), "Error rates, with 95% intervals by source.")


def _has_strata(each: DesignResult) -> bool:
    return any(rates.same_stratum for several in each.rates.values() for rates in several)


def rates_figure(each: DesignResult) -> Figure:
    """Draw false exclusions and inclusions of every method with their intervals."""
    rows = [(method, rates) for method, several in each.rates.items() for rates in several]
    figure = Figure(figsize=(PHONE_WIDTH, 0.9 + 0.36 * len(rows)), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    labels = []
    for place, (method, rates) in enumerate(reversed(rows)):
        level = "" if rates.sensitivity is None else f", {rates.sensitivity:g}"
        labels.append(_METHOD_NAMES[method] + level)
        for ax, rate, mark, down in (
            (axes[0], rates.false_exclusion, "o", 0.0),
            (axes[1], rates.false_inclusion, "o", 0.0),
            (axes[1], rates.same_stratum, "D", 0.25),
        ):
            if rate is not None:
                y = place - down
                ax.plot([rate.low, rate.high], [y, y], color=COLORS[method], linewidth=2 if mark == "o" else 1)
                ax.plot(
                    [rate.share], [y], mark, color=COLORS[method], clip_on=False, markersize=6 if down == 0 else 4.5
                )
    for sensitivity in {rates.sensitivity for _, rates in rows if rates.sensitivity is not None}:
        axes[0].axvline(1 - sensitivity, **THRESHOLD)
    axes[0].set_yticks(range(len(rows)), labels)
    for ax, title in zip(axes, ("false exclusion", "false inclusion"), strict=True):
        ax.set(title=title, xlim=(0, 1.05 * ax.dataLim.x1), ylim=(-0.6, len(rows) - 0.4))
        ax.xaxis.set_major_locator(MaxNLocator(3))
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
        ax.tick_params(axis="y", length=0)
    return figure


def rate_table(each: DesignResult) -> pd.DataFrame:
    """Tabulate the error rates of every method with their intervals."""
    rows = []
    for method, several in each.rates.items():
        for rates in several:
            row = {
                "method": _METHOD_NAMES[method],
                "sensitivity": "–" if rates.sensitivity is None else f"{rates.sensitivity:g}",
                "false exclusion": format_rate(rates.false_exclusion),
                "false inclusion": format_rate(rates.false_inclusion),
            }
            if _has_strata(each):
                within = rates.same_stratum
                row["false inclusion, same stratum"] = "–" if within is None else format_rate(within)
            rows.append(row)
    return pd.DataFrame(rows)


def _ratio_table(each: DesignResult) -> pd.DataFrame:
    rows = []
    for method, ratios in each.ratios.items():
        low, high = ratios.cllr_interval
        row = {
            "method": _METHOD_NAMES[method],
            "Cllr (95% interval)": f"{ratios.cllr:.2g} ({low:.2g} to {high:.2g})",
            "Cllr_min, after the best recalibration": f"{ratios.cllr_min:.3f}",
            "devPAV": f"{ratios.dev_pav:.2f}",
            "bounds (log10)": f"{ratios.bounds[0]:.2g} to {ratios.bounds[1]:.2g}",
            "comparisons without a ratio": f"{ratios.refused:,}",
        }
        for misleading in ratios.misleading:
            below = "1" if misleading.strength == 1 else f"1/{misleading.strength:,}"
            row[f"same source, ratio below {below}"] = format_rate(misleading.same_source)
            row[f"different sources, ratio above {misleading.strength:,}"] = format_rate(misleading.different_sources)
        rows.append(row)
    return pd.DataFrame(rows).set_index("method").T.rename_axis("").reset_index()


def _stability(result: ValidationResult) -> Section:
    section = Section("Stability")
    if found := result.stability:
        p_value = max(found["p_value"], 1e-4)
        section.text(
            f"With {found['seeds']:.0f} seeds, p-values of one comparison differ by at most {p_value:.2g}"
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
    for key, label, color, marker in (
        ("false_exclusion", "false exclusion", DARK, "o"),
        ("false_inclusion", "false inclusion", RED, "s"),
        ("cllr", "Cllr", WARM, "^"),
    ):
        if all(key in point for point in result.learning):
            ax.plot(x, [point[key] for point in result.learning], marker=marker, color=color, label=label)
    ax.set(xlabel="sources learned from", ylim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _data(result: ValidationResult) -> Section:
    section = Section("Data checks")
    if not result.findings:
        section.text(
            "No duplicates, outlying measurements or sources, differing units, drift or missing values were found."
        )
    for finding in result.findings:
        words = finding_text(finding)
        section.labeled(finding.check.capitalize(), f"{words[0].upper()}{words[1:]}.")
    if dropped := result.settings["dropped"]:
        section.text(f"{plural(dropped, 'measurement')} with missing values left out; nothing else was changed.")
    elif result.findings:
        section.text("Nothing was changed or left out.")
    rows = [
        {
            "variable": name + (f" ({each['unit']})" if each["unit"] else ""),
            **{key: significant(each[key], 4) for key in ("smallest", "median", "largest")},
            **{key: significant(each[key], 2) for key in ("within sources", "between sources")},
        }
        for name, each in result.database["variables"].items()
    ]
    return section.table(
        pd.DataFrame(rows),
        "Range, and standard deviations within and between sources"
        + (", of logarithms (base 10)." if result.database["logged"] else "."),
    )


def _method(result: ValidationResult) -> Section:
    settings = result.settings
    what = "all sources of a stratum" if settings["leave_out"] == "stratum" else "sources"
    return Section("Method").items(
        [
            f"{settings['n_folds']} folds: {what} were left out in turn, and compared by what was learned from the "
            "others, with the code that judges cases.",
            f"In each design {settings['n_comparisons']:,} comparisons of one source and as many of different sources "
            f"were drawn, all sources alike; seed {settings['seed']}."
            + (" At least half of the latter are within strata." if result.database["strata"] else ""),
            f"Variables: {', '.join(settings['variables'])}" + (", as logarithms." if settings["log"] else "."),
            *(
                f"{_METHOD_NAMES[name]}: {words}."
                for name, words in COMPARED_METHODS.items()
                if name in result.designs[0].rates
            ),
            *([] if is_covered(settings["variables"]) or "astm" not in result.designs[0].rates else [NOT_COVERED]),
        ]
    )


def _hard(result: ValidationResult) -> Section:
    section = Section("Hard pairs")
    for each in result.designs:
        for pairs, caption in (
            (each.hard_different, "the different sources that are hardest to tell apart"),
            (each.hard_same, "the sources whose own fragments look most different"),
        ):
            rows = [
                (
                    {"source": pair.known}
                    if pair.known == pair.questioned
                    else {"known": pair.known, "questioned": pair.questioned}
                )
                | {
                    "p-value": format_p(pair.p_value),
                    "log10 likelihood ratio": "–" if pair.log10_lr is None else f"{pair.log10_lr:.2f}",
                }
                for pair in pairs[:10]
            ]
            excluded = not any(is_accepted(pair.p_value, max(result.settings["sensitivities"])) for pair in pairs)
            section.table(pd.DataFrame(rows), f"Design {each.design}: {caption}" + ", all excluded" * excluded)
    return section
