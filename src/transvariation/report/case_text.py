"""The sentences, numbers and tables of a case that the screen, the report and the page share."""

from collections.abc import Sequence

import pandas as pd

from transvariation._typing import Fields
from transvariation.casework import CaseResult, Conclusion
from transvariation.casework.background.rates import Rate
from transvariation.casework.decision import Group
from transvariation.casework.foreign import Foreign
from transvariation.report.wording.cautions import UNITS
from transvariation.report.wording.numbers import (
    MAX_NAMES_LISTED,
    format_p,
    format_share,
    in_words,
    listed,
    p_equals,
    plural,
)
from transvariation.report.wording.statements import (
    ALONE,
    another_source,
    disagreement,
    match_word,
    statement,
    verdict,
)
from transvariation.tables.problems import Problem, printable


def format_number(value: float) -> str:
    """Write a number with a few significant digits, without an exponent where it can be read without.

    Examples
    --------
    >>> format_number(13.64159), format_number(123456.7), format_number(2.5e-9)
    ('13.64', '123457', '2.5e-09')
    """
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        text = f"{value:.4g}"
        return f"{value:.0f}" if "e" in text else text
    return f"{value:.3g}"


def format_rate(rate: Rate) -> str:
    """Write a measured rate with its number of comparisons and its 95% interval.

    Examples
    --------
    >>> format_rate(Rate(0.098, 1080, 0.051, 0.161)), format_rate(Rate(0.0, 2000, 0.0, 0.0015))
    ('9.8% (95% interval 5.1% to 16%, n = 1,080)', '0 of 2,000 (below 0.15%)')
    """
    if rate.share == 0:
        return f"0 of {rate.n:,} (below {100 * rate.high:.2g}%)"
    if rate.high < 0.001:
        return f"< 0.1% (n = {rate.n:,})"
    interval = f"{format_share(rate.low)} to {format_share(rate.high)}"
    return f"{format_share(rate.share)} (95% interval {interval}, n = {rate.n:,})"


def format_ratio(log10_lr: float, bound: str = "") -> str:
    """Write a likelihood ratio in figures.

    Examples
    --------
    >>> format_ratio(1.23), format_ratio(-1.63, "at most"), format_ratio(0.01)
    ('17', 'at most 1/43', '1')
    """
    figure = _times(log10_lr)
    value = figure if log10_lr >= 0 or figure == "1" else f"1/{figure}"
    return f"{bound} {value}".strip()


def _times(log10_lr: float) -> str:
    """Write how many times more probable the measurements are under one of the propositions."""
    times = float(f"{10 ** abs(log10_lr):.2g}")
    return f"{times:,.3g}" if times < 1000 else f"{times:,.0f}"


def ratio_sentence(log10_lr: float, bound: str = "", other: str = "another source") -> str:
    """Put a likelihood ratio in words and figures; `other` names the alternative.

    Examples
    --------
    >>> print(ratio_sentence(1.23))
    The measurements are about 17 times more probable if the fragment comes from the control's source than if it comes
    from another source (likelihood ratio 17): moderate support for a common source.
    """
    figure = _times(log10_lr)
    if figure == "1":
        return "The measurements are about equally probable under both propositions (likelihood ratio 1)."
    sources = ["the control's source", other] if log10_lr > 0 else [other, "the control's source"]
    return (
        f"The measurements are {'at least' if bound else 'about'} {figure} times more probable if the fragment comes "
        f"from {sources[0]} than if it comes from {sources[1]} (likelihood ratio {format_ratio(log10_lr, bound)}): "
        f"{in_words(log10_lr)}."
    )


def sentences(c: Conclusion, result: CaseResult) -> list[str]:
    """State the conclusion on a fragment, then the evidence beneath it, then where the two disagree."""
    ratios = [ratio_sentence(v, c.bound.get(system, ""), another_source(result)) for system, v in c.log10_lr.items()]
    found = [statement(c, result), *ratios] if c.leads == "exclusion" else [*ratios, statement(c, result)]
    if c.t_test is not None:
        found.append(f"Student's t-test of the means of control and fragment: {p_equals(c.t_test)}.")
    return list(filter(None, [*found, *disagreement(c)]))


def conclusion_frame(result: CaseResult, shown: int | None = None) -> pd.DataFrame:
    """Tabulate the conclusions, one row per recovered fragment; at most `shown` variables are named as evidence."""
    rows, criterion = [], result.model.criterion.name
    for c in result.conclusions:
        row = {
            "fragment": c.fragment,
            "conclusion": verdict(c),
            "p-value": format_p(c.p_value),
        }
        for system, value in c.log10_lr.items():
            row["likelihood ratio"] = format_ratio(value, c.bound.get(system, ""))
        if c.leads == "ratio":
            row["p-value"] = row.pop("p-value")  # beneath what leads
        row[criterion] = match_word(c)
        none = "no single variable" if c.accepted is False else ""
        row[ALONE] = listed(c.evidence, len(c.evidence) if shown is None else shown) if c.evidence else none
        rows.append(row)
    table = pd.DataFrame(rows)
    unused = [criterion] if all(c.match is None for c in result.conclusions) else []
    return table.drop(columns=[*unused, *([] if result.excluded else [ALONE])])


def fact_lines(result: CaseResult) -> list[str]:
    """State what was compared, what calibrates the conclusions, and which fragments belong together."""
    inputs, model, calibration = result.inputs, result.model, result.model.calibrating
    rows = {name: getattr(inputs, name) for name in ("control", "recovered")}
    counted = "; ".join(
        f"{plural(t['fragments'], f'{name} fragment')} ({plural(t['rows'], 'row')})" for name, t in rows.items()
    )
    lines = [f"{counted}; {_variables(result)}."]
    if calibration.n > 1:
        calibrated = f"calibrated by {plural(calibration.n, UNITS[model.basis])}; no p-value can be below"
        what = f"Sensitivity {model.sensitivity_used:.3g}," if model.conclusive else "The p-values are"
        lines.append(f"{what} {calibrated} {format_p(calibration.smallest_p_value)}.")
    if model.exclusion is not None and model.inclusion is not None:
        among = plural(calibration.n, UNITS[model.basis])
        lines.append(
            f"Measured by comparisons among {among}, with intervals by source: {format_rate(model.exclusion)} of "
            f"same-source comparisons are excluded, {format_rate(model.inclusion)} of different-source comparisons are "
            "not. This holds for cases that were measured as the background was."
        )
    if model.basis == "background" and measured_once(result) and rows["control"]["fragments"] == 1:
        lines.append(
            "One control fragment and no replicates: only where the control lies was compared with the background. "
            "That its measurements vary as much as those of the background cannot be checked."
        )
    lines += alike_sentences(result)
    lines += monte_carlo_sentences(result)
    if result.foreign is not None:
        lines.append(foreign_sentence(result, result.foreign))
    lines += group_lines(result)
    return lines + [
        f"Left out of the {role} because a value is missing or below detection: {listed(table['dropped'])}."
        for role, table in tables_of(result).items()
        if table["dropped"]
    ]


def measured_once(result: CaseResult) -> bool:
    """Return whether no control or recovered fragment has replicates."""
    return all(table["rows"] == table["fragments"] for table in (result.inputs.control, result.inputs.recovered))


def monte_carlo_sentences(result: CaseResult) -> list[str]:
    """State how much other draws of the same background would change."""
    calibration = result.model.calibrating
    errors = {"p-values": calibration.monte_carlo_error, "log10 likelihood ratios": calibration.ratio_error}
    printed = " and ".join(f"{error:.1g} in the {what}" for what, error in errors.items() if error)
    return [f"Monte Carlo error, from the draws of background fragments: at most {printed}."] if printed else []


def alike_sentences(result: CaseResult) -> list[str]:
    """State how many background sources cannot be distinguished from the control."""
    model = result.model
    if model.survey is not None:
        names, share = model.survey.indistinguishable(model.sensitivity)
        return [
            f"{len(names):,} of {share.n:,} surveyed sources cannot be distinguished from the control by Student's "
            f"t-test at a level of {1 - model.sensitivity:.2g} ({_with_interval(share)}){_names(names)}."
        ]
    alike = model.calibrating.indistinguishable(model.sensitivity_used)
    if alike is None:
        return []
    names, share = alike
    return [
        f"{len(names)} of {share.n:,} background sources cannot be distinguished from the control "
        f"({_with_interval(share)}){_names(names)}."
    ]


def _with_interval(rate: Rate) -> str:
    return f"{format_share(rate.share)}, 95% interval {format_share(rate.low)} to {format_share(rate.high)}"


def _names(names: Sequence[str]) -> str:
    return f": {listed(names, 8)}" if names else ""


def foreign_sentence(result: CaseResult, foreign: Foreign) -> str:
    """State how many of the known foreign fragments are not excluded."""
    n, missed = len(foreign.p_values), foreign.missed(result.model.sensitivity_used)
    return f"Of {plural(n, 'known foreign fragment')}, {missed} would not be excluded."


def disagreement_lines(result: CaseResult) -> list[str]:
    """Name the fragments on which the evidence disagrees."""
    found = [c for c in result.conclusions if c.disagreements][:MAX_NAMES_LISTED]
    return [f"{printable(c.fragment)}: {' '.join(disagreement(c))}" for c in found]


def _variables(result: CaseResult) -> str:
    v = result.model.variables
    words = f"variables: {listed(v.used)}"
    if result.spectra is not None and result.spectra.whole:
        words = f"{len(v.used)} variables from {v.used[0]} to {v.used[-1]}"
    if v.combinations:
        words += f", in {v.combinations} combinations"
    if result.settings.steps is not None:
        words += f", after {result.settings.steps}"
    return words + (f"; not used: {listed(v.unused)}" if v.unused else "")


def group_lines(result: CaseResult) -> list[str]:
    """State which recovered fragments belong together, and how often such groups are wrong."""
    lines = [group_sentence(result, group) for group in result.groups]
    if lines and (found := result.grouping) is not None:
        lines.append(
            f"Such groups on the background: {format_rate(found.divided)} of sets of {found.fragments} fragments of "
            f"one source are divided, {format_rate(found.mixed)} of sets of two sources have a group with both."
        )
    return lines


def group_sentence(result: CaseResult, group: Group) -> str:
    """State which recovered fragments belong together, and their joint evidence."""
    words = f"Fragments {listed(group.fragments)} cannot be distinguished from each other"
    if group.accepted is None:
        return f"{words}."
    outcome = "not excluded" if group.accepted else "excluded"
    p = f"p-value {format_p(group.p_values[result.model.basis])}"
    ratios = [(value, group.bound.get(system, "")) for system, value in group.log10_lr.items()]
    if not ratios:
        return f"{words}; taken together they are {outcome} ({p})."
    (value, bound), other = ratios[0], another_source(result)
    ratio = (
        f"likelihood ratio {format_ratio(value, bound)} that all come from the control's source, against all from "
        f"one and the same {other.removeprefix('another ')} other than the control's"
    )
    if result.model.lead == "ratio":
        return f"{words}; taken together: {in_words(value)} ({ratio}; {p}, {outcome})."
    return f"{words}; taken together they are {outcome} ({p}; {ratio})."


def tables_of(result: CaseResult) -> dict[str, Fields]:
    """Return the tables that were read, by role."""
    roles = ("control", "recovered", "background", "foreign")
    return {role: table for role in roles if (table := getattr(result.inputs, role)) is not None}


def note_lines(result: CaseResult) -> list[str]:
    """List what was understood of the tables: in a line each the labels, units and uncertainties, then the rest.

    A column whose name is its role is not mentioned.
    """
    lines = []
    for table in tables_of(result).values():
        notes = [Problem.from_dict(note) for note in table["notes"]]
        labels = {note.column or "": note.params["role"] for note in notes if note.code == "role"}
        inferred = [(column, role) for column, role in labels.items() if column.casefold() != role]
        words = [repr(printable(column)) if column else "the column without a name" for column, _ in inferred]
        if inferred:
            words[0] += " taken"
            taken = ", ".join(f"{name} for the {role}" for name, (_, role) in zip(words, inferred, strict=True))
            lines.append(f"{printable(table['file'])}: {taken}")
        units: dict[str, list[str]] = {}
        for note in notes:
            if note.code == "unit":
                units.setdefault(note.params["unit"], []).append(note.column or "")
        file = printable(table["file"])
        lines += [f"{file}: unit {printable(unit)} of {listed(names)}" for unit, names in units.items()]
        if beside := [note.column or "" for note in notes if note.code == "unused-uncertainty"]:
            lines.append(f"{file}: not used, taken for uncertainties or detection limits: {listed(beside)}")
        lines += [str(note) for note in notes if note.code not in ("role", "unit", "unused-uncertainty")]
    return lines
