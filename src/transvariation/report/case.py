"""The report of a case as a self-contained HTML page, or as a PDF made by Typst.

The conclusion comes first, then the form. The report renders a result and decides nothing.
"""

from datetime import date
from pathlib import Path

import pandas as pd

from transvariation._typing import Fields
from transvariation.casework import CASE_FIELDS, CaseResult, Conclusion
from transvariation.casework.background.rates import Rate
from transvariation.casework.decision import MIN_CONTROL_TO_CALIBRATE_ALONE
from transvariation.casework.variables import MANY_VARIABLES
from transvariation.report.case_appendices import appendices_of, lettered, mean_frame, provenance_section
from transvariation.report.case_figures import add_figures, figures_of, has_band
from transvariation.report.case_text import (
    alike_sentences,
    conclusion_frame,
    foreign_sentence,
    format_rate,
    format_ratio,
    group_lines,
    measured_once,
    monte_carlo_sentences,
    sentences,
)
from transvariation.report.controls import matrix_section
from transvariation.report.digits import decimals_for, rounded
from transvariation.report.page import BLANK, Document, Section
from transvariation.report.vocabulary import speaking, words_of
from transvariation.report.wording.cautions import UNITS, check_text, warning_texts
from transvariation.report.wording.numbers import SCALE, SCALE_NAME, format_p, format_share, listed, plural
from transvariation.report.wording.statements import (
    ALONE,
    BY_SURVEY,
    LEAD_WORDS,
    LIMITATIONS,
    PROPOSITIONS,
    QUESTION,
    SYSTEMS,
    WOULD_CHANGE,
    WOULD_CHANGE_HEADING,
    WOULD_CHANGE_POPULATION,
    another_source,
    description,
    disagreement,
    guarantee,
    headline,
)

__all__ = ["write_report"]

TITLE = "Comparison of recovered with control fragments"
ITEMS_ABREAST = 4  # fragments side by side in the table of items
FRAGMENTS_STATED = 12  # fragments with a separate paragraph
VARIABLES_NAMED = 6  # variables in which a fragment differs by itself
REGIONS_LISTED = 5  # regions of a spectrum that are listed
STATEMENTS = ("first_proposition", "second_proposition", "conditions", "would_change")  # have a place of their own


def case_document(result: CaseResult, today: date | None = None) -> Document:
    """Build the report, the same for HTML and PDF, in the vocabulary of the result."""
    cases, number = result.cases or (result,), result.settings.case.get("case_number")
    signing = {role: result.settings.case.get(role.lower()) for role in ("Examiner", "Reviewer")}
    with speaking(result) as words:
        body = [
            *([_matrix(result)] if result.cases else []),
            *(_named(_conclusions(case), case) for case in cases),
            _request(result, today),
            *(_named(part(case), case) for case in cases for part in (_items, error_rates)),
            limitations(result),
            method(cases[0]),
            *([Section("Signatures").signatures(signing)] if words == "case" else []),
        ]
        appendices = [_named(section, case) for case in cases for section in appendices_of(case)]
        sections = [*body, *lettered([*appendices, provenance_section(result)])]
        return Document(TITLE, sections, lead=QUESTION, foot=f"Case {number}" if number else TITLE)


def _named(section: Section, case: CaseResult) -> Section:
    """Name the control source of a section where there are several."""
    if source := case.conclusions[0].control:
        section.heading = f"{source}: {section.heading[:1].lower()}{section.heading[1:]}"
    return section


def _matrix(result: CaseResult) -> Section:
    section = Section("Conclusions").strong(headline(result))
    return matrix_section(result, section.notes(warning_texts(result)))


def _request(result: CaseResult, today: date | None) -> Section:
    details = result.settings.case
    asked = words_of(result) == "case"  # a laboratory without a case fills in no form
    fields = {key: label for key, label in CASE_FIELDS.items() if key not in STATEMENTS}
    rows = [{"": label, " ": details.get(key) or BLANK} for key, label in fields.items() if asked or details.get(key)]
    rows.append({"": "Date of report", " ": (today or date.today()).isoformat()})
    section = Section("Case and request").table(pd.DataFrame(rows), "", kind="fields")
    if asked:
        usual = PROPOSITIONS[0], f"The recovered fragment comes from {another_source(result)}."
        keys = "first_proposition", "second_proposition"
        section.text("Propositions:").items([details.get(key) or text for key, text in zip(keys, usual, strict=True)])
        section.labeled(CASE_FIELDS["conditions"], details.get("conditions") or BLANK)
    return section


def _conclusions(result: CaseResult) -> Section:
    section = Section("Conclusions").strong(headline(result)).notes(warning_texts(result))
    frame, caption = conclusion_frame(result, VARIABLES_NAMED), "Conclusion for each recovered fragment"
    if has_band(result) and result.excluded:
        found = zip(result.conclusions, frame[ALONE], strict=True)
        frame[ALONE] = [_region_list(c) or words for c, words in found]
        caption += "; regions outside the band of the control with the largest deviation in control standard deviations"
    section.table(frame, caption, outcomes=[c.outcome for c in result.conclusions])
    several = (
        len(result.conclusions) > FRAGMENTS_STATED
    )  # of many fragments the table is enough, unless the evidence disagrees
    explained: set[str] = set()
    for c in [c for c in result.conclusions if c.disagreements or not several][:FRAGMENTS_STATED]:
        stated = disagreement(c) if several else sentences(c, result)
        section.labeled(c.fragment, " ".join(words for words in stated if words not in explained))
        explained.update(disagreement(c)[1:])  # the reason, which is the same for many
    section.text(*group_lines(result), *alike_sentences(result))
    add_figures(section, result, "distances")
    if "extremes" in figures_of(result):
        add_figures(section, result, "acceptance", "extremes")
    if any(c.log10_lr for c in result.conclusions):
        section.text(
            "A likelihood ratio of 1 favors neither proposition. Words follow the verbal scale in the section on the "
            "method."
        )
    return section


def _region_list(c: Conclusion) -> str:
    """List the regions of an excluded fragment with their largest deviations."""
    regions = (c.regions or ()) if c.accepted is False else ()
    return listed([f"{region} ({region.deviation:+.1f})" for region in regions], REGIONS_LISTED)


def _items(result: CaseResult) -> Section:
    inputs, on_log_scale = result.inputs, result.settings.log or result.settings.logged
    section = Section("Items and observations").text(
        f"{_counted(inputs.control, 'control')}; {_counted(inputs.recovered, 'recovered')}; "
        f"{plural(len(inputs.features), 'variable')}. "
        + ("Fragments were compared on a logarithmic scale. " if on_log_scale else "")
    )
    section.text(*map(check_text, inputs.checks))
    if has_band(result):
        return add_figures(add_figures(section, result, "spectra"), result, "importance")
    if len(inputs.features) <= MANY_VARIABLES:
        what = (
            "control fragments, and the measurements of recovered fragments"
            if measured_once(result)
            else "fragment means of the control, and of the replicates of each recovered fragment"
        )
        section.text(
            f"The table gives the mean ± standard deviation of the {what}, with the digits that the standard deviation "
            "of measurements supports."
        )
        section.table(mean_frame(result, result.conclusions[:ITEMS_ABREAST]), "Mean ± standard deviation")
    return add_figures(section, result, "fragments")


def _counted(table: Fields, role: str) -> str:
    return f"{plural(table['fragments'], f'{role} fragment')}, {plural(table['rows'], 'measurement')}"


def limitations(result: CaseResult) -> Section:
    """State what the conclusions do not say, and what would change them."""
    given = result.settings.case.get("would_change")
    alternative = () if result.inputs.background is None else (WOULD_CHANGE_POPULATION,)
    words = given or "; ".join((*WOULD_CHANGE, *alternative))
    return Section("Limitations").items(LIMITATIONS).text(f"{WOULD_CHANGE_HEADING} {words.removesuffix('.')}.")


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
    section.text(guarantee(result), *monte_carlo_sentences(result))
    rows = []
    for name, measured in (("exclusion", model), (model.criterion.name, model.criterion)):
        if measured.exclusion is not None and measured.inclusion is not None:
            rows.append(_rates(name, measured.exclusion, measured.inclusion))
    for system, performance in model.likelihood.items():
        name = f"likelihood ratio on the wrong side of 1 ({SYSTEMS[system]})"
        rows.append(_rates(name, performance.same_below_one, performance.different_above_one))
    if rows:
        units = plural(model.bases["background"].n, UNITS["background"])
        caption = f"Measured by comparisons among {units}, with intervals by source, in the design of this case"
        section.table(pd.DataFrame(rows), caption)
    elif model.survey is not None:
        section.text("A survey with one value per source cannot show how often the likelihood ratio misleads.")
    elif result.foreign is None:
        section.text("Without a background or known foreign samples, rates of false inclusion cannot be measured.")
    else:
        section.text(foreign_sentence(result, result.foreign))
        table = result.foreign.type_ii_error(model.sensitivity_used)
        section.table(_foreign_frame(table), "Type II error (beta) on known foreign fragments")
        if figures:
            add_figures(section, result, "foreign", "type_ii")
            add_figures(section, result, "aliens", "selectivity")
    return section


def _foreign_frame(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "class or degree": [f"{level:g}" if isinstance(level, float) else str(level) for level in table["level"]],
            "fragments": table["n"],
            "beta": table["beta"].map(format_share),
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
        f"A fragment is excluded if its p-value is at most {1 - used:.3g}. The p-value rests on "
        f"the background if there is one and the control has fewer than {MIN_CONTROL_TO_CALIBRATE_ALONE} fragments, "
        "otherwise on the control "
        "fragments; other evidence is shown beneath it and does not change it."
    )
    if model.likelihood or model.survey:
        section.text(LEAD_WORDS[model.lead])
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
            "Likelihood ratio: logistic regression combines the tp of the difference with the ratio of a three-level "
            "model of sources (kernel density), fragments and replicates (t-distributed differences). It was "
            f"calibrated and bounded by {performance.n_same:,} same-source and {performance.n_different:,} "
            "different-source comparisons of background sources that the model had not seen; they support ratios from "
            f"{format_ratio(low)} to {format_ratio(high)}."
        )
    if (survey := model.survey) is not None:
        freedom = survey.freedom
        origin = "as given" if freedom is None else f"from the measurements ({freedom:g} degrees of freedom)"
        within = rounded(survey.within, decimals_for(survey.within))
        section.text(BY_SURVEY.format(n=survey.n, within=within, origin=origin, highest=survey.n + 1))
    if model.likelihood or model.survey:
        section.table(_scale_frame(), f"Verbal scale: {SCALE_NAME}")
    return section


def _scale_frame() -> pd.DataFrame:
    ends = [1, *(end for end, _ in SCALE)]
    rows = []
    for low, (high, words) in zip(ends, SCALE, strict=False):
        above = f"more than {low:,}" if high == float("inf") else f"{low:,} to {high:,.0f}"
        rows.append({"likelihood ratio, or its reciprocal": above, "words": words})
    return pd.DataFrame(rows)


def write_report(result: CaseResult, path: Path) -> None:
    """Write the report in the format of the file's ending: .html or .pdf.

    Parameters
    ----------
    result : CaseResult
        The case, from :func:`transvariation.casework.judge`.
    path : Path
        The file to write; a PDF needs the extra `pdf`.
    """
    case_document(result).write(path)
