"""A judged case on the screen: one line per recovered object."""

from collections.abc import Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from transvariation.base import OneClassClassifier
from transvariation.casework.coverage_text import in_plain_words
from transvariation.casework.result import CaseResult, largest_sensitivity
from transvariation.casework.selected_features import Say, having_a_say
from transvariation.report.page import laid_out
from transvariation.report.tables import AGAINST, FORMS, verdict_frame
from transvariation.tables import Table as Measured
from transvariation.tables.problems import Problem, printable, quoted

SHOWN = 4  # deciding variables per line
NOTES = 6  # notes about the tables
LISTED = 20  # variables, objects left out


def case_table(result: CaseResult) -> Table:
    """Lay out the verdicts as the report does, with fewer variables named."""
    columns, rows = laid_out(verdict_frame(result, SHOWN), forms=FORMS)
    table = Table(title=escape(result.question))
    for column in columns:
        folded = column["name"] in ("object", "source", AGAINST)
        justify: Any = "left" if column["text"] else "right"
        table.add_column(column["name"], justify=justify, overflow="fold", no_wrap=not folded)
    at = [column["name"] for column in columns].index("verdict")
    for verdict, row in zip(result.verdicts, rows, strict=True):
        cells = [escape(cell) for cell in row]
        cells[at] = cells[at] if verdict.accepted else f"[bold red]{cells[at]}[/]"
        table.add_row(*cells)
    return table


def _share(result: CaseResult) -> str:
    """The sensitivity in effect, and the one asked for where there are too few control objects for it."""
    asked, used = result.sensitivity, result.sensitivity_used
    more = "" if used == asked else f" ({_percent(asked)} was asked for)"
    return f"{_percent(used)} of their like{more}"


def _percent(share: float) -> str:
    """Write a share with as many digits as it was given: 87.5 % is not 88 %, and 99.6 % not all."""
    return f"{100 * share:.4g}%"


def summary_lines(result: CaseResult) -> list[str]:
    """Say in a few sentences what the table means and how far it can be trusted."""
    rejected, variables = len(result.rejected), result.say.counted()
    lines = [
        f"{rejected} of {len(result.verdicts)} recovered objects rejected; judged by {variables} "
        f"of {result.control['objects']} control objects, to accept {_share(result)}.",
        *_left_out(result),
        _columns(result),
        f"Smallest p-value that this rule can give here: {result.coverage.attainable_p_value:.3g}.",
        *(f"Caution: {warning}" for warning in result.warnings),
    ]
    if len(result.verdicts) > 1:
        lines += [
            f"If all recovered objects come from one source, the combined p-value is {result.combined_p_value:.3g}.",
            _foreign(result),
        ]
    lines += [
        f"{ratio.id}: log10 likelihood ratio {ratio.two_level:.2f} (two-level), {ratio.two_level_words}; "
        f"{ratio.score_based:.2f} (from tp), {ratio.score_based_words}."
        for ratio in result.likelihood_ratios
    ]
    notes = _notes(result)
    lines += [f"Note: {note}" for note in notes[:NOTES]]
    return [*lines, f"and {len(notes) - NOTES} more notes, all in the report"] if len(notes) > NOTES else lines


def _foreign(result: CaseResult) -> str:
    """Say how many can be called foreign; the tables say which. Replicates of one source count once."""
    replicates = len({v.source for v in result.verdicts}) < len(result.verdicts) and result.recovered["sources"]
    unit, selected = "sources" if replicates else "objects", set(result.selected)
    named = {v.source if replicates else v.id: v.id in selected for v in result.verdicts}
    return (
        f"Named foreign with at most {_percent(result.false_discovery_rate)} expected errors: {sum(named.values())} of "
        f"{len(named)} {unit}. This weighs all {unit} together and may differ from the verdicts."
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join(map(printable, names[:LISTED])) + (f" and {more} more" if more > 0 else "")


def _left_out(result: CaseResult) -> list[str]:
    """Name the objects that had to be left out: no verdict tells of them."""
    lost = {role: table["dropped"] for role, table in result.tables.items() if table["dropped"]}
    words = {
        "control": "Control objects left out because a value is missing or below detection",
        "recovered": f"NOT JUDGED because a value is missing or below detection, {len(lost.get('recovered', ()))} of "
        f"{len(result.verdicts) + len(lost.get('recovered', ()))} recovered objects",
        "background": "Background objects left out because a value is missing or below detection",
    }
    return [f"{words[role]}: {_listed(names)}." for role, names in lost.items()]


def _columns(result: CaseResult) -> str:
    """Say which columns were measured by and which names the objects: a wrong guess must be seen."""
    control, recovered = _named_by(result.control), _named_by(result.recovered)
    by = control if control == recovered else f"{control} in the control, by {recovered} in the recovered"
    return f"Variables: {_names(result.say)}. Objects are named by {by}."


def _names(say: Say) -> str:
    return _listed(say.features) + (f"; without a say: {_listed(say.no_say)}" if say.no_say else "")


def rule_lines(rule: OneClassClassifier, control: Measured) -> list[str]:
    """Say what a rule that was kept judges by, and what it promises."""
    say, coverage = having_a_say(rule, control.features), in_plain_words(rule.coverage_report())
    used = min(float(rule.sensitivity), largest_sensitivity(coverage))
    return [
        f"{len(control)} control objects, judged by {say.counted()}: {_names(say)}.",
        f"To accept {_percent(used)} of their like; the smallest p-value that this rule can give is "
        f"{coverage.attainable_p_value:.3g}.",
        coverage.guarantee,
    ]


def _named_by(table: dict[str, Any]) -> str:
    columns = {role: name for name, role in table["roles"].items()}
    levels = [role for role in ("source", "fragment", "replicate") if role in columns]
    if "id" in columns or len(levels) == 1:
        return f"column {quoted(columns['id' if 'id' in columns else levels[0]])}"
    return " and ".join(levels) or "row"


def _notes(result: CaseResult) -> list[Problem]:
    """Tell what became of values and columns, not what columns were taken for; values left out or put in come first."""
    told = [Problem.from_dict(note) for table in result.tables.values() for note in table["notes"]]
    told = [note for note in told if note.code not in ("role", "units-row", "unit")]
    return sorted(told, key=lambda note: note.code not in ("dropped", "imputed-limit", "imputed-median"))
