"""The conclusions by several control sources: a matrix, and the answer to "any of these?"."""

import pandas as pd

from transvariation.casework import CaseResult, Conclusion
from transvariation.casework.controls import Joint
from transvariation.report.case_text import format_ratio, format_share
from transvariation.report.page import Section
from transvariation.report.wording.numbers import format_p, listed, plural
from transvariation.report.wording.statements import verdict
from transvariation.tables.problems import printable

ANY = "any of these"


def matrix_frame(result: CaseResult) -> pd.DataFrame:
    """Tabulate the conclusions: a row per recovered fragment, a column per control source, and one for any of these."""
    joint = joint_of(result)
    columns: dict[str, list[str]] = {"fragment": [each.fragment for each in joint.conclusions]}
    for source, case in zip(joint.sources, result.cases, strict=True):
        columns[source if source not in columns else f"{source} (control)"] = list(map(_cell, case.conclusions))
    words = {None: "no conclusion", True: "not excluded", False: "excluded"}
    columns[ANY] = [f"{words[each.accepted]} (p {format_p(each.p_value)})" for each in joint.conclusions]
    return pd.DataFrame(columns)


def _cell(c: Conclusion) -> str:
    ratios = [f"; LR {format_ratio(value, c.bound.get(system, ''))}" for system, value in c.log10_lr.items()]
    return f"{verdict(c)} (p {format_p(c.p_value)}{''.join(ratios)})"


def joint_of(result: CaseResult) -> Joint:
    """Return the answers to "any of these?" of a case with several control sources."""
    if result.joint is None:
        raise ValueError("the control has one source only")
    return result.joint


def joint_lines(result: CaseResult) -> list[str]:
    """State how often the answer to "any of these?" is wrong."""
    joint, conclusive = joint_of(result), result.model.conclusive
    counts = [f"{printable(s)} ({len(case.inputs.known)})" for s, case in zip(joint.sources, result.cases, strict=True)]
    lines = [f"Control sources, with their numbers of fragments: {listed(counts)}."]
    if conclusive:
        lines.append(
            "A fragment of one of these sources is excluded from all of them with a probability of at most "
            f"{format_share(joint.false_exclusion)}."
        )
    if conclusive and (rate := joint.false_inclusion) is not None:
        lines.append(
            f"{round(rate.share * rate.n)} of {rate.n:,} background sources cannot be distinguished from one or more "
            f"of them (95% interval {format_share(rate.low)} to {format_share(rate.high)}): so often a fragment of "
            "another source is not excluded."
        )
    return lines


def matrix_section(result: CaseResult, section: Section) -> Section:
    """Add the conclusions by all control sources to a section."""
    caption = (
        f"Conclusion for each recovered fragment by each of {plural(len(result.cases), 'control source')}, with p-value"
    )
    ratios = any(c.log10_lr for c in result.conclusions)
    section.table(matrix_frame(result), caption + (" and likelihood ratio (LR)" if ratios else ""))
    return section.text(*joint_lines(result))
