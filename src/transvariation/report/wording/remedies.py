"""Errors and problems of tables in the terms of the command line and of the page; what the page refuses."""

from collections.abc import Callable
from dataclasses import replace

from transvariation.casework import errors
from transvariation.casework.errors import CaseError
from transvariation.tables import problems, settings
from transvariation.tables.options import Option, flag_of
from transvariation.tables.problems import Problem, TableError
from transvariation.tables.settings import SettingsError

# What can be done about a problem, in the terms of the command line and of the page. Python's own terms are beside the
# messages, in `tables.problems` and `casework.errors`: an exception says everything by itself.
_CHOOSE_MARK = "if it is the decimal mark, choose the {mark!s} under “Decimal mark”"
_GIVE_ROW = "give it under “Header row”"
_ANY_LENGTH = "the command “transvariation score” takes tables of any length"
_REMEDIES = {
    "within": ("give the standard deviation of measurements of one source (--within), or replicates",
        "give the standard deviation of measurements of one source under “Method”, or replicates"),
    "drop-or-impute": ("choose --missing drop or --missing impute",
        "choose under “Missing values” to leave the row out or to fill in"),
    "drop": ("choose --missing drop", "choose under “Missing values” to leave the row out"),
    "impute": ("try --missing impute", "choose under “Missing values” to fill in"),
    "drop-summary-rows": ("choose --drop-summary-rows", "choose “Leave out summary rows” for this table"),
    "fragment-column": ("for replicates of one fragment give --fragment-column {column}",
        "for replicates of one fragment choose “fragment” as the role of this column"),
    "give-role": ("give its role, such as --role {column}=fragment, =replicate, =ignore or =measurement",
        "choose its role under “Roles of the columns”"),
    "source-role": ("give --source-column {column}, or --role {column}=ignore if the numbers do not start again",
        "choose “source” as the role of this column, or do not use it if the numbers do not start again"),
    "give-decimal": ("if the {mark!s} is the decimal mark, give --decimal {mark!s}", _CHOOSE_MARK),
    "give-decimal-control": ("if the {mark!s} is the decimal mark, give --control-decimal {mark!s}", _CHOOSE_MARK),
    "give-decimal-recovered": ("if the {mark!s} is the decimal mark, give --recovered-decimal {mark!s}", _CHOOSE_MARK),
    "name-sheet": ("name the sheet to read (--sheet, or --control-sheet, --recovered-sheet, --background-sheet,"
        " --foreign-sheet), or move it to the front", "choose one under “Sheet”"),
    "name-encoding": ("save the file as UTF-8, or name its encoding (--encoding)", "save the file as UTF-8"),
    "read-chunks": (_ANY_LENGTH, _ANY_LENGTH),
    "header-row": ("give --header-row {row!s}; for one table only, --background-header-row {row!s} or the like",
        _GIVE_ROW),
    "header-row-control": ("give --control-header-row {row!s}", _GIVE_ROW),
    "header-row-recovered": ("give --recovered-header-row {row!s}", _GIVE_ROW),
    "numbered-names": ("give --numbered-names replicates or --numbered-names fragments",
        "choose one under “Numbered names”"),
    "install": ("pip install {packages!s}", "pip install {packages!s}"),
    "other-method": ("use --method neighbor, fewer variables (--features) or no --reduce",
        "choose the method neighbor, untick variables, or choose no reduction"),
    "background": ("use --method neighbor without --reduce, and give a --background: control fragments are few",
        "choose the method neighbor without a reduction, and give a background: control fragments are few"),
    "no-log": ("leave the variable out (--without), or judge without --log (with --logged if they are logarithms)",
        "untick the variable, or judge without logarithms"),
    "log": ("if they are concentrations, take logarithms (--log without --logged)",
        "if they are concentrations, take logarithms"),
    "source-column": ("name the column of the sources (--source-column)",
        "set the role of the column that names the sources"),
    "features": ("name the variables to use (--features)", "untick the variables that the background lacks"),
    "leave-out": ("leave these variables out (--features), or these measurements (--missing drop)",
        "leave these columns or rows out of the table"),
    "no-zeros": ("leave these variables out (--features), or take no logarithms (--linear)",
        "leave these columns out of the table, or choose “Take no logarithms”"),
    "preprocess": ("use steps such as --preprocess snv,sg1, or leave it out",
        "choose other steps of preprocessing, or none"),
    "ranges": ("give two numbers such as --range 800-1200", "give two numbers such as 800-1200"),
    "without": ('name variables of the tables, such as --without "Ba,Fe"',
        "name variables of the tables, separated by commas"),
    "reduce-to": ("use another --reduce-to, or no --reduce", "choose another number of variables, or no reduction"),
    "more-sources": ("give a background with more sources, or leave out --background",
        "give a background with more sources, or none"),
}  # fmt: skip
REMEDIES = {
    front_end: {code: texts[i] for code, texts in _REMEDIES.items()} for i, front_end in enumerate(("cli", "page"))
}


_CALLED: dict[str, Callable[[str, Option | None], str]] = {
    "cli": lambda name, given: name if given is None else flag_of(name, given),
    "page": lambda name, given: name.replace("_", " "),
}


def error_text(error: BaseException, front_end: str) -> str:
    """Write an error in the terms of a front end, "cli" or "page"."""
    if isinstance(error, SettingsError):
        return settings.listed(error, _CALLED[front_end])
    if isinstance(error, TableError):
        return problems.listed(error, REMEDIES[front_end])
    if isinstance(error, CaseError):
        return errors.worded(error, REMEDIES[front_end])
    return str(error)


def problem_text(problem: Problem, front_end: str) -> str:
    """Write a problem of a table, without its place, in the terms of a front end."""
    return problems.worded(problem, REMEDIES[front_end])


def located_text(problem: Problem, front_end: str) -> str:
    """Write a problem or note after its row and column, where the table is known."""
    return problems.located(replace(problem, table=""), REMEDIES[front_end])


# Requests that the page cannot fulfill.
_REFUSALS = {
    "unreadable": "The request could not be read; reload the page.",
    "upload": "The upload could not be read; reload the page and choose the tables again.",
    "slow-upload": "The upload took too long and was stopped; try again with smaller tables.",
    "large-upload": "The upload is larger than {limit:.3g} MB. Send fewer rows or columns.",
    "third": "third={third!r} is unknown; choose none, nfi, background or foreign.",
    "choose-table": "Choose the {table} table.",
    "choose-third": "Choose the {table} table, or none.",
    "choose-table-of": "Choose the table of the {table}.",
    "choose-saved": "Choose a case that was saved as JSON.",
    "gone": "These tables are no longer here; load them again.",
    "no-result": "There is no result yet.",
    "no-analysis": "There is no result; start again.",
    "no-view": "There is no view {view!r}.",
    "no-file-kind": "There is no file of the kind {kind!r}.",
    "no-figure": "There is no figure {kind!r}; there are {there}.",
    "no-variable": "There is no variable {x!r} or no variable {y!r}.",
    "no-conclusion": "There is no conclusion {key!r}; they are numbered from 0 to {last}.",
    "no-source": "There is no control source {source!r}; they are numbered from 0 to {last}.",
    "no-spectrum": "The names of the variables are not the positions of a spectrum.",
    "sensitivity": "The sensitivity must be a number such as 0.9.",
    "option": "{name}={value!r} is not understood; give numbers for {there}.",
    "comparisons": "n_comparisons={n} is too many here; at most {most}.",
    "lost": "The worker was stopped, and the result is lost; judge the case again.",
    "stopped": "The worker stopped unexpectedly; try again with fewer rows.",
    "too-slow": "This took longer than is allowed here; use fewer rows, or the command line.",
    "too-large": "This needs more memory than is allowed here; use fewer rows or columns.",
    "unexpected": "An unexpected error occurred; please report it, and try another method.",
    "no-path": "There is no such file.",
    "other-address": "This page answers only to the address that was printed when it started.",
    "no-secret": "Open the address that was printed when the page was started.",
    "other-page": "This request came from another page.",
    "old-page": "This request did not come from the open page. Reload it.",
}


def refusal(code: str, **values: object) -> str:
    """State why the page cannot fulfill a request, and what can be done."""
    return _REFUSALS[code].format(**values)
