"""The appendices of the report of a case: measurements, variables, validation, data and provenance."""

from collections.abc import Mapping, Sequence
from statistics import mean
from string import ascii_uppercase

import pandas as pd

from transvariation.casework import CaseResult, Conclusion
from transvariation.casework.astm import MatchInterval
from transvariation.casework.result import Measured
from transvariation.casework.variables import MANY_VARIABLES
from transvariation.report.case_figures import draw_performance, known_values, strip_svg, with_unit
from transvariation.report.case_text import format_number, format_rate, measured_once, note_lines, tables_of
from transvariation.report.digits import Digits
from transvariation.report.page import Section
from transvariation.report.vocabulary import said
from transvariation.report.wording.numbers import format_p, plural
from transvariation.report.wording.statements import SYSTEMS, side_text

FRAGMENTS_DETAILED = 100  # fragments with a table of reasons; the JSON file has all
STRIPS_DRAWN = 10  # variables of a fragment that are drawn
VARIABLES_ABREAST = 6  # variables in one table of measurements


def lettered(appendices: Sequence[Section]) -> list[Section]:
    """Letter the appendices without a gap."""
    for letter, section in zip(ascii_uppercase * 2, appendices, strict=False):
        section.heading = f"Appendix {letter}: {section.heading}"
    return list(appendices)


def appendices_of(result: CaseResult) -> list[Section]:
    """Build the appendices of one control source, without letters."""
    found = [_fragments(result), _reasons(result)]
    return [*found, *([_validation(result)] if result.model.likelihood else [])]


def mean_frame(result: CaseResult, conclusions: Sequence[Conclusion]) -> pd.DataFrame:
    """Tabulate means and standard deviations of the control and some fragments, with a row per variable."""
    digits = Digits(result)
    known = {name: [mean(k.measurements[name]) for k in result.inputs.known] for name in result.inputs.features}
    columns: list[tuple[str, Mapping[str, Sequence[float]]]] = [
        ("control", known),
        *((c.fragment, c.measurements) for c in conclusions),
    ]
    cells = [[_mean_sd(digits, name, values[name]) for _, values in columns] for name in result.inputs.features]
    frame = pd.DataFrame(cells, columns=[name for name, _ in columns])  # a fragment may be called "variable"
    names = [with_unit(result, name) for name in result.inputs.features]
    frame.insert(0, "variable", names, allow_duplicates=True)
    return frame


def _mean_sd(digits: Digits, name: str, values: Sequence[float]) -> str:
    return digits.mean_sd(name, values).replace(" ", "\N{NO-BREAK SPACE}")


def _fragments(result: CaseResult) -> Section:
    inputs, n = result.inputs, len(result.conclusions)
    if len(inputs.features) > MANY_VARIABLES:
        return Section("fragments").text(
            f"{len(inputs.known)} control and {n} recovered fragments; their measurements by {len(inputs.features)} "
            "variables are in the tables and in the JSON file."
        )
    counted = f"{plural(len(inputs.known), 'control fragment')}, {n} recovered"
    section = Section("fragments", new_page=True, folded=counted)
    digits = Digits(result)
    once = measured_once(result)
    abreast = 2 * VARIABLES_ABREAST if once else VARIABLES_ABREAST
    what = "measurements" if once else "mean ± standard deviation of the replicates"
    for start in range(0, len(inputs.features), abreast):
        names = inputs.features[start : start + abreast]
        for words, fragments in (("Control fragments", inputs.known), ("Recovered fragments", result.conclusions)):
            rows = [_row(result, digits, fragment, names) for fragment in fragments]
            section.table(pd.DataFrame(rows), f"{words}: {what}")
    return section


def _row(result: CaseResult, digits: Digits, fragment: Measured | Conclusion, names: Sequence[str]) -> dict[str, str]:
    values = fragment.measurements
    cells = {with_unit(result, name): _mean_sd(digits, name, values[name]) for name in names}
    return {" ": fragment.fragment, "n": str(len(values[names[0]]))} | cells


def _reasons(result: CaseResult) -> Section:
    n = min(len(result.conclusions), FRAGMENTS_DETAILED if len(result.inputs.features) <= MANY_VARIABLES else 1)
    section = Section("variables", folded=plural(n, "recovered fragment"))
    digits = Digits(result)
    ordered = sorted(result.conclusions, key=lambda c: not c.differs)
    section.text(
        "Gray ticks: control fragments; band: their middle half; line: their median. A cross marks a variable in "
        "which an excluded fragment differs by itself, a dot one in which it does not, an arrow a value far outside. "
        "The p-values of single variables are corrected for their number; the conclusion weighs all variables together."
    )
    for c in ordered[:n]:
        more = f", the {STRIPS_DRAWN} most telling variables" if len(result.model.variables.used) > STRIPS_DRAWN else ""
        frame = reason_frame(result, c, STRIPS_DRAWN, digits)
        section.table(frame, f"{c.fragment}: p-value {format_p(c.p_value)}{more}", kind="strips")
    if len(ordered) > n:
        section.text(f"{len(ordered) - n} more fragments are in the JSON file only.")
    return section


def reason_frame(result: CaseResult, c: Conclusion, n: int, digits: Digits) -> pd.DataFrame:
    """Tabulate the first n reasons of a conclusion: where the fragment lies among the control fragments."""
    intervals = {interval.element: interval for interval in c.intervals}
    rows = []
    for r in c.reasons[:n]:
        known = known_values(result, r.variable)
        # Spectra are shown after preprocessing.
        value, control = (
            format_number(x) if result.spectra else digits.write(r.variable, x) for x in (r.value, r.control)
        )
        row = {
            "variable": with_unit(result, r.variable),
            "fragment": value,
            "control": control,
            "among the control fragments": {"svg": strip_svg(known, r.value, r.evidence), "alt": side_text(r)},
            "p-value": format_p(r.p_value(result.model.basis)),
        }
        if c.match is not None:
            interval = intervals[r.variable]
            scale = " (concentration)" if result.settings.logged else ""
            row[result.model.criterion.name + scale] = _interval(result, digits, interval)
            row["inside"] = "yes" if interval.inside else "no"
        rows.append(row)
    return pd.DataFrame(rows)


def _interval(result: CaseResult, digits: Digits, interval: MatchInterval) -> str:
    """Write the interval of the criterion, which is one of contents where the tables hold logarithms."""
    low, high = interval.low, interval.high
    if result.settings.logged:
        return f"{format_number(low)} to {format_number(high)}"
    return f"{digits.write(interval.element, low)} to {digits.write(interval.element, high)}"


def _validation(result: CaseResult) -> Section:
    section = Section("validation of the likelihood ratio")
    for system, performance in result.model.likelihood.items():
        section.text(
            f"{SYSTEMS[system].capitalize()}: Cllr {performance.cllr:.3f} (0 is perfect, 1 is without information), "
            f"{performance.cllr_min:.3f} after the best recalibration; "
            f"same-source ratios below 1: {format_rate(performance.same_below_one)}; different-source ratios above 1: "
            f"{format_rate(performance.different_above_one)}."
        )
        section.figure(draw_performance(performance), "Performance on background sources that the model had not seen.")
    return section


def provenance_section(result: CaseResult) -> Section:
    """List the tables that were read, what was understood, and versions."""
    section = Section("data and provenance")
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
        section.text("What was understood:").code(said("\n".join(notes)))
    section.code(result.provenance)
    return section.text("End of the report.")
