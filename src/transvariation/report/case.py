"""The report of a case as a self-contained HTML page, or as a PDF made by Typst.

Headings follow ISO 21043-5. The report renders a result and decides nothing.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pandas as pd

from transvariation.casework import CASE_FIELDS, CaseResult, Conclusion
from transvariation.casework.background.rates import Rate
from transvariation.casework.decision import MIN_CONTROL_TO_CALIBRATE_ALONE
from transvariation.casework.variables import MANY_VARIABLES
from transvariation.report.case_figures import (
    draw_acceptance,
    draw_extremes,
    draw_foreign,
    draw_fragments,
    draw_importance,
    draw_performance,
    draw_spectra,
    draw_type_ii,
    foreign_of,
    has_band,
    known_values,
    spectra_of,
    strip_svg,
    strongest_variables,
    with_unit,
)
from transvariation.report.case_text import (
    FOREIGN_WORDS,
    TYPE_II_WORDS,
    conclusion_frame,
    foreign_sentence,
    format_mean_sd,
    format_number,
    format_rate,
    format_ratio,
    format_share,
    group_sentence,
    note_lines,
    sentences,
    tables_of,
)
from transvariation.report.controls import matrix_section
from transvariation.report.page import Section, page, pdf, write_page
from transvariation.report.vocabulary import speaking, words_of
from transvariation.report.wording import (
    ALONE,
    LIMITATIONS,
    PROPOSITIONS,
    QUESTION,
    SCALE,
    SCALE_NAME,
    SYSTEMS,
    UNITS,
    check_text,
    description,
    format_p,
    guarantee,
    headline,
    listed,
    plural,
    warning_texts,
)

TITLE = "Comparison of recovered with control fragments"
DETAILED = 60  # fragments with a table of reasons; the JSON file has all
BESIDE = 4  # fragments side by side in the table of items
STATED = 12  # fragments with a separate paragraph
NAMED = 6  # variables in which a fragment differs by itself
STRIPS = 10  # variables of a fragment that are drawn
REGIONS = 5  # regions of a spectrum that are listed
SEVERAL = 10  # recovered fragments from which an acceptance plot is drawn
BLANK = "______________________________"


def case_sections(result: CaseResult, today: date | None = None) -> list[Section]:
    """Build the sections of the report, the same for HTML and PDF, in the vocabulary of the result."""
    cases = result.cases or (result,)
    with speaking(result) as words:
        return [
            _case(result, today),
            *([matrix_section(result, headline(result))] if result.cases else []),
            *(_named(part(case), case) for case in cases for part in (_conclusions, _items, error_rates)),
            Section("Limitations").items(LIMITATIONS),
            method(cases[0]),
            *([_signatures(result)] if words == "case" else []),
            *(_named(section, case) for case in cases for section in _appendices(case)),
            _provenance(result),
        ]


def _named(section: Section, case: CaseResult) -> Section:
    """Name the control source of a section where there are several."""
    if source := case.conclusions[0].control:
        section.heading = f"{source}: {section.heading[:1].lower()}{section.heading[1:]}"
    return section


def case_html(result: CaseResult, today: date | None = None) -> str:
    """Render the report as one HTML page."""
    with speaking(result):
        return page(TITLE, case_sections(result, today), lead=QUESTION)


def _case(result: CaseResult, today: date | None) -> Section:
    details = result.settings.case
    asked = words_of(result) == "case"  # a laboratory without a case fills in no form
    rows = [
        {"": label, " ": details.get(key) or BLANK} for key, label in CASE_FIELDS.items() if asked or details.get(key)
    ]
    rows.append({"": "Date of report", " ": (today or date.today()).isoformat()})
    section = Section("Case and request").table(pd.DataFrame(rows), "", kind="fields")
    return section.text("Propositions:").items(PROPOSITIONS) if asked else section


def _conclusions(result: CaseResult) -> Section:
    section = Section("Conclusions").strong(headline(result))
    for warning in warning_texts(result):
        section.note(warning)
    frame, caption = conclusion_frame(result, NAMED), "Conclusion for each recovered fragment"
    if has_band(result) and result.excluded:
        found = zip(result.conclusions, frame[ALONE], strict=True)
        frame[ALONE] = [_region_list(c) or words for c, words in found]
        caption += "; regions outside the band of the control with the largest deviation in control standard deviations"
    section.table(frame, caption)
    several = len(result.conclusions) > STATED  # of many fragments the table is enough, unless the evidence disagrees
    for c in [c for c in result.conclusions if c.disagreements or not several][:STATED]:
        section.labelled(c.fragment, " ".join(sentences(c, result)))
    for group in result.groups:
        section.text(group_sentence(result, group))
    if result.model.conclusive and len(result.conclusions) >= SEVERAL:
        section.figure(
            {"acceptance plot": draw_acceptance(result), "extremes plot": draw_extremes(result)},
            "Acceptance plot of p-values: regular fragments are not excluded. Extreme fragments are excluded although "
            "at least one calibration fragment is as unusual. Outliers are more unusual than all of them. Extremes "
            "plot: how many recovered fragments have a p-value of at most each level, against how many would if all "
            "came from the control's source.",
        )
    if any(c.log10_lr for c in result.conclusions):
        section.text(
            "A likelihood ratio of 1 favours neither proposition. Words follow the verbal scale in the section on the "
            "method."
        )
    return section


def _items(result: CaseResult) -> Section:
    inputs, on_log_scale = result.inputs, result.settings.log or result.settings.logged
    section = Section("Items and observations").text(
        f"{_counted(inputs.control, 'control')}; {_counted(inputs.recovered, 'recovered')}; {len(inputs.features)} "
        "variables. " + ("Fragments were compared on a logarithmic scale. " if on_log_scale else "")
    )
    for check in inputs.checks:
        section.text(check_text(check))
    if has_band(result):
        return _spectra(result, section)
    if len(inputs.features) <= MANY_VARIABLES:
        section.text(
            "The table gives the mean ± standard deviation of the replicates of each fragment, and of the fragment "
            "means of the control."
        )
        section.table(_mean_frame(result, result.conclusions[:BESIDE]), "Mean ± standard deviation")
    names = " and ".join(strongest_variables(result))
    return section.figure(draw_fragments(result), f"Control and recovered fragments by {names}; dots are replicates.")


def _spectra(result: CaseResult, section: Section) -> Section:
    """Show spectra over the band of the control, and where the excluded ones leave it."""
    spectra = spectra_of(result)
    steps, share = spectra.preprocess, format_share(spectra.band(result.model.sensitivity_used).sensitivity)
    section.figure(
        draw_spectra(result),
        f"Recovered fragments over the band of the control{f', after {steps}' if steps else ''}. A spectrum of the "
        f"control's own source stays in the band at every position with a probability of {share}; regions outside it "
        "are shaded.",
    )
    if result.model.conclusive and len(result.excluded) > 1:
        section.figure(
            draw_importance(result),
            f"Which positions make fragments foreign: the share of the {len(result.excluded)} excluded fragments that "
            "leave the band of the control.",
        )
    return section


def _counted(table: dict[str, Any], role: str) -> str:
    return f"{plural(table['fragments'], f'{role} fragment')}, {plural(table['rows'], 'measurement')}"


def _mean_frame(result: CaseResult, conclusions: Any) -> pd.DataFrame:
    known = {name: [mean(k.measurements[name]) for k in result.inputs.known] for name in result.inputs.features}
    return _by_variable(result, [("control", known), *((c.fragment, c.measurements) for c in conclusions)])


def _by_variable(result: CaseResult, columns: Sequence[tuple[str, Mapping[str, Any]]]) -> pd.DataFrame:
    """Arrange means with a row per variable; a fragment may be called "control" or "variable"."""
    cells = [[_mean_sd(values[name]) for _, values in columns] for name in result.inputs.features]
    names = [with_unit(result, name) for name in result.inputs.features]
    frame = pd.DataFrame(cells, columns=[name for name, _ in columns])
    frame.insert(0, "variable", names, allow_duplicates=True)
    return frame


def _mean_sd(values: Any) -> str:
    text = format_mean_sd(mean(values), stdev(values) if len(values) > 1 else 0.0)
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def error_rates(result: CaseResult, *, figures: bool = True) -> Section:
    """State what the error rates are based on, and tabulate those that were measured."""
    model, section = result.model, Section("Error rates")
    calibration = model.calibrating
    if calibration.n > 1:
        if model.conclusive:
            share = format_share(1 - model.sensitivity_used)
            section.text(f"Nominal: {share} of fragments of the control's own source are excluded.")
        section.text(
            f"The p-values are calibrated by {calibration.n} {UNITS[model.basis]}s; none can be below "
            f"{format_p(calibration.smallest_p_value)}."
        )
    section.text(guarantee(result))
    rows = []
    measured = calibration.measured_rates(model.sensitivity_used)
    if model.false_exclusion is not None and measured is not None:
        rows.append(_rates("conclusion above", *measured))
    criterion = model.criterion
    if criterion.exclusion is not None and criterion.inclusion is not None:
        rows.append(_rates(criterion.name, criterion.exclusion, criterion.inclusion))
    for system, performance in model.likelihood.items():
        name = f"likelihood ratio on the wrong side of 1 ({SYSTEMS[system]})"
        rows.append(_rates(name, performance.same_below_one, performance.different_above_one))
    if rows:
        section.table(pd.DataFrame(rows), "Measured on the background, in the design of this case")
    elif result.foreign is None:
        section.text("Without a background or known foreign samples, rates of false inclusion cannot be measured.")
    else:
        section.text(foreign_sentence(result, result.foreign))
        section.table(_foreign_frame(result), "Type II error, measured on known foreign fragments")
        if figures:
            drawn = {"sensitivity and specificity": draw_foreign(result), "type II error": draw_type_ii(result)}
            section.figure(drawn, f"{FOREIGN_WORDS} {TYPE_II_WORDS}")
    return section


def _foreign_frame(result: CaseResult) -> pd.DataFrame:
    table = foreign_of(result).type_ii_error(result.model.sensitivity_used)
    return pd.DataFrame(
        {
            "class or degree": [f"{level:g}" if isinstance(level, float) else str(level) for level in table["level"]],
            "fragments": table["n"],
            "not excluded": table["beta"].map(format_share),
            "95% interval": [
                f"{format_share(low)} to {format_share(high)}"
                for low, high in zip(table["low"], table["high"], strict=True)
            ],
        }
    )


def _rates(name: str, exclusion: Rate, inclusion: Rate) -> dict[str, str]:
    return {
        "criterion": name,
        "same source, excluded": format_rate(exclusion),
        "different sources, not excluded": format_rate(inclusion),
    }


def method(result: CaseResult) -> Section:
    """Describe how the fragments were compared."""
    model = result.model
    used = model.sensitivity_used if model.conclusive else model.sensitivity
    section = Section("Method").text(description(result))
    if fixed := result.provenance.get("procedure"):
        section.text(f"The settings were fixed by the procedure {fixed}.")
    section.text(
        f"A fragment is excluded if its p-value is at most {1 - used:.3g}. The conclusion rests on "
        f"the background if there is one and the control has fewer than {MIN_CONTROL_TO_CALIBRATE_ALONE} fragments, "
        "otherwise on the control "
        "fragments; other evidence is shown beneath it and does not change it."
    )
    criterion = model.criterion
    if criterion.n_measurements:
        section.text(
            f"{criterion.name}: the mean of every element within the mean of the control ± {criterion.multiplier:g} "
            f"times the larger of the standard deviation of its {criterion.n_measurements} measurements and "
            f"{criterion.min_rsd:g} of the mean."
        )
    for performance in model.likelihood.values():
        low, high = performance.bounds
        section.text(
            "Likelihood ratio: sources, fragments within sources and replicates within fragments vary (three-level "
            f"model, kernel density between sources). It was calibrated and bounded by {performance.n_same} "
            f"same-source and {performance.n_different} different-source comparisons of background sources that the "
            f"model had not seen; they support ratios from {format_ratio(low)} to {format_ratio(high)}."
        )
        section.table(_scale_frame(), f"Verbal scale: {SCALE_NAME}")
    return section


def _scale_frame() -> pd.DataFrame:
    ends = [1, *(end for end, _ in SCALE)]
    rows = []
    for low, (high, words) in zip(ends, SCALE, strict=False):
        above = f"more than {low:,}" if high == float("inf") else f"{low:,} to {high:,.0f}"
        rows.append({"likelihood ratio, or its reciprocal": above, "words": words})
    return pd.DataFrame(rows)


def _signatures(result: CaseResult) -> Section:
    case = result.settings.case
    rows = [
        {"": role, "name": case.get(role.lower()) or BLANK, "signature": BLANK, "date": "______________"}
        for role in ("Examiner", "Reviewer")
    ]
    return Section("Signatures").table(pd.DataFrame(rows), "", kind="signatures")


def _appendices(result: CaseResult) -> list[Section]:
    found = [_fragments(result), _reasons(result)]
    if result.model.likelihood:
        found.append(_validation(result))
    return found


def _fragments(result: CaseResult) -> Section:
    many = len(result.inputs.features) > MANY_VARIABLES
    section = Section("Appendix A: fragments", new_page=not many)
    known = list(result.inputs.known)
    if many:
        return section.text(
            f"{len(known)} control and {len(result.conclusions)} recovered fragments; their measurements by "
            f"{len(result.inputs.features)} variables are in the tables and in the JSON file."
        )
    for start in range(0, min(len(known), DETAILED), BESIDE + 1):
        chosen = known[start : start + BESIDE + 1]
        section.table(_by_variable(result, [(k.fragment, k.measurements) for k in chosen]), "Control fragments")
    for start in range(BESIDE, min(len(result.conclusions), DETAILED), BESIDE):
        section.table(_mean_frame(result, result.conclusions[start : start + BESIDE]), "Recovered fragments")
    return section


def _reasons(result: CaseResult) -> Section:
    section = Section("Appendix B: variables")
    ordered = sorted(result.conclusions, key=lambda c: not c.differs)
    section.text(
        "Grey ticks: control fragments; band: their middle half; line: their median. A cross marks a variable in "
        "which an excluded fragment differs by itself, a dot one in which it does not, an arrow a value far outside. "
        "The p-values of single variables are corrected for their number; the conclusion weighs all variables together."
    )
    most = DETAILED if len(result.inputs.features) <= MANY_VARIABLES else 1
    for c in ordered[:most]:
        more = f", the {STRIPS} most telling variables" if len(result.model.variables.used) > STRIPS else ""
        section.table(_strips(result, c), f"{c.fragment}: p-value {format_p(c.p_value)}{more}", kind="strips")
    if len(ordered) > most:
        section.text(f"{len(ordered) - most} more fragments are in the JSON file only.")
    return section


def _region_list(c: Conclusion) -> str:
    """List the regions of a fragment with their largest deviations."""
    return listed(
        [f"{region} ({region.deviation:+.1f})" for region in (c.regions or () if c.accepted is False else ())], REGIONS
    )


def _strips(result: CaseResult, c: Conclusion) -> pd.DataFrame:
    intervals = {interval.element: interval for interval in c.intervals}
    rows = []
    for r in c.reasons[:STRIPS]:
        known = known_values(result, r.variable)
        words = f"{r.side} the control mean" + (", differs by itself" if r.evidence else "")
        row = {
            "variable": with_unit(result, r.variable),
            "fragment": format_number(r.value),
            "control": format_number(r.control),
            "among the control fragments": {"svg": strip_svg(known, r.value, r.evidence), "alt": words},
            "p-value": format_p(r.p_value(result.model.basis)),
        }
        if c.match is not None:
            interval = intervals[r.variable]
            row["ASTM interval"] = f"{format_number(interval.low)} to {format_number(interval.high)}"
            row["inside"] = "yes" if interval.inside else "no"
        rows.append(row)
    return pd.DataFrame(rows)


def _validation(result: CaseResult) -> Section:
    section = Section("Appendix C: validation of the likelihood ratio")
    for system, performance in result.model.likelihood.items():
        section.text(
            f"{SYSTEMS[system].capitalize()}: Cllr {performance.cllr:.3f} (0 is perfect, 1 is without information), "
            f"{performance.cllr_min:.3f} after the best recalibration; "
            f"{format_share(performance.same_below_one.share)} of same-source ratios below 1, "
            f"{format_share(performance.different_above_one.share)} of different-source ratios above 1."
        )
        section.figure(draw_performance(performance), "Performance on background sources that the model had not seen.")
    return section


def _provenance(result: CaseResult) -> Section:
    section = Section("Appendix D: data and provenance")
    rows = [
        {
            "table": role,
            "file": table["file"],
            "rows": str(table["rows"]),
            "fragments": str(table["fragments"]),
            "sources": "–" if table["sources"] is None else str(table["sources"]),
            "rows left out": str(len(table["dropped"])),
        }
        for role, table in tables_of(result).items()
    ]
    section.table(pd.DataFrame(rows), "Tables")
    section.text("SHA-256 of the tables:")
    section.code("\n".join(f"{table['sha256']}  {table['file']}" for table in tables_of(result).values()))
    if notes := note_lines(result):
        section.text("What was understood:").code("\n".join(notes))
    return section.code("\n".join(f"{name}: {value}" for name, value in result.provenance.items()))


def case_pdf(result: CaseResult, today: date | None = None) -> bytes:
    """Render the report as PDF."""
    with speaking(result):
        return pdf(TITLE, case_sections(result, today), QUESTION)


def write_report(result: CaseResult, path: Path) -> None:
    """Write the report in the format of the file's ending: .html or .pdf."""
    with speaking(result):
        write_page(path, TITLE, case_sections(result), QUESTION)
