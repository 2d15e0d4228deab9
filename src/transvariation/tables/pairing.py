"""Two tables of one case: columns matched by name, problems of both reported together."""

import difflib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transvariation.tables.cells import MARKS, to_say
from transvariation.tables.columns import in_unit, same_unit, split_unit
from transvariation.tables.missing import apply_policy, check_policy, filling, gaps
from transvariation.tables.opening import Source
from transvariation.tables.problems import Problem, TableError, quoted
from transvariation.tables.reading import read_table
from transvariation.tables.table import Table


@dataclass(frozen=True)
class Pair:
    """Control and recovered objects measured by the same variables in the same order.

    Attributes
    ----------
    control, recovered : Table
    features : tuple of str
        The common variables, in the control table's order.
    only_control, only_recovered : tuple of str
        Variables that one table has and the other lacks: not used.
    """

    control: Table
    recovered: Table
    features: tuple[str, ...]
    only_control: tuple[str, ...]
    only_recovered: tuple[str, ...]

    @property
    def notes(self) -> tuple[Problem, ...]:
        """What was understood, set aside, dropped or filled in, in both tables."""
        return self.control.notes + self.recovered.notes


def align(control: Table, recovered: Table, *, features: Sequence[str] | None = None, missing: str = "keep") -> Pair:
    """Match the columns of two tables by name, whatever their order.

    Parameters
    ----------
    control, recovered : Table
        Best read with ``missing="keep"``, so that a gap in a column the other table lacks does not matter.
    features : sequence of str, default=None
        The variables to use; both tables must have them. None uses all that both have.
    missing : {"error", "drop", "impute", "keep"}, default="keep"
        What becomes of missing values in the common columns. Both tables are filled from the control table.

    Examples
    --------
    >>> control = read_table(b"Na,Mg,Fe\\n1,2,0\\n3,4,0\\n", name="control")
    >>> pair = align(control, read_table(b"Mg,Na\\n5,6\\n", name="recovered"))
    >>> pair.features, pair.recovered.X.tolist(), pair.only_control
    (('Na', 'Mg'), [[6.0, 5.0]], ('Fe',))
    """
    check_policy(missing)
    problems: list[Problem] = []
    recovered = _named_alike(recovered, control)
    in_control, in_recovered = set(control.features), set(recovered.features)
    common = [name for name in control.features if name in in_recovered]
    only_control = tuple(name for name in control.features if name not in in_recovered)
    only_recovered = tuple(name for name in recovered.features if name not in in_control)
    if features is not None:
        common = _wanted(features, control, recovered, problems)
    elif not common:
        message = (
            f"no variable in common: {_some(recovered.features)} here, {_some(control.features)} in {control.name}"
        )
        problems.append(Problem(message, recovered.name))
    problems += unit_problems(control.units, control.name, recovered, common)
    if problems:
        raise TableError(problems)
    notes_control = tuple(_absent(name, control, recovered) for name in only_control)
    notes_recovered = tuple(_absent(name, recovered, control) for name in only_recovered)
    first = replace(control.select(common), notes=control.notes + notes_control)
    second = replace(recovered.select(common), notes=recovered.notes + notes_recovered)
    fill = filling(first)
    results = _each(lambda: apply_policy(first, missing, fill), lambda: apply_policy(second, missing, fill))
    return Pair(results[0], results[1], tuple(common), only_control, only_recovered)


def _named_alike(table: Table, control: Table) -> Table:
    """Call features as the control does: "Na (ppm)" is called so only where "Na (wt%)" stands beside it."""
    headers = [table.header(name) for name in table.features]
    names: dict[str, str] = {}
    for feature in control.features:
        at = in_unit(split_unit(control.header(feature))[0], control.units.get(feature, ""), headers)
        if at is not None and table.features[at] != feature:
            names[table.features[at]] = feature
    # what was called so without a unit must make room
    taken = {name: f"{name} (no unit)" for name in names.values() if name in table.features and name not in names}
    return table.rename(taken | names)


def unit_problems(units: Mapping[str, str], there: str, table: Table, features: Sequence[str]) -> list[Problem]:
    """List the features of a table that are in other units than those stated `there`; silence is no statement."""
    problems = []
    for name in features:
        one, other = units.get(name, ""), table.units.get(name, "")
        if one and other and not same_unit(one, other):
            message = f"the unit is {quoted(other)} here but {quoted(one)} in {there}; convert one of them"
            problems.append(Problem(message, table.name, 1, table.header(name)))
    return problems


def read_pair(
    control: Source,
    recovered: Source,
    *,
    features: Sequence[str] | None = None,
    missing: str = "error",
    **options: Any,
) -> Pair:
    """Read the control and the recovered table of a case; every problem of both is reported at once.

    Parameters
    ----------
    control, recovered : path, bytes, binary file or DataFrame
    features : sequence of str, default=None
        The variables to use; None uses every column of numbers that both tables have.
    missing : {"error", "drop", "impute"}, default="error"
        What becomes of missing and below-detection values.
    **options
        Further options of :func:`read_table`, for both tables; ``names`` is a pair of names for messages, ``decimals``
        one of decimal marks (None where `decimal` holds),
        ``sheets`` a pair of Excel sheets.

    Examples
    --------
    >>> read_pair(b"Na,Mg\\n1,2\\n3,x\\n4,5\\n", b"Mg,Na\\n5,\\n", names=("control.csv", "recovered.csv"))
    Traceback (most recent call last):
    transvariation.tables.problems.TableError: 2 problems in the tables:
      control.csv, row 3, column 'Mg': 'x' is not a number
      recovered.csv, row 2, column 'Na': the value is missing; fill it in, or choose missing="drop" or missing="impute"
    """
    check_policy(missing)
    names = options.pop("names", (None, None))
    sheet = options.pop("sheet", None)
    sheets = options.pop("sheets", (sheet, sheet))
    decimal = options.pop("decimal", None)
    marks = [own or decimal for own in options.pop("decimals", (None, None))]
    common = {**options, "features": features, "missing": "keep"}
    first, found = _attempt(control, name=names[0], sheet=sheets[0], decimal=marks[0], **common)
    if first is not None:
        # A recovered table may be one row: what the control measured is a variable there too, whatever its cell holds.
        common |= {"expect": (*first.features, *map(first.header, first.features)), "units": first.units}
    second, found_too = _attempt(recovered, name=names[1], sheet=sheets[1], decimal=marks[1], **common)
    problems = _advised(found, found_too)
    if not problems and first is not None and second is not None:
        return align(first, second, features=features, missing=missing)
    if first is not None and second is not None:
        second = _named_alike(second, first)
        there = set(second.features)
        used = [name for name in first.features if name in there]
        problems += gaps(first.select(used), missing) + gaps(second.select(used), missing)
    raise TableError(problems)


def say_one(mark: str, role: str) -> str:
    """Tell how a person gives the decimal mark of one table of a pair.

    >>> say_one(",", "recovered")
    'say decimals=(None, ",") (--recovered-decimal comma)'
    """
    one = f'"{mark}", None' if role == "control" else f'None, "{mark}"'
    return f"say decimals=({one}) (--{role}-decimal {MARKS[mark]})"


def _advised(control: list[Problem], recovered: list[Problem]) -> list[Problem]:
    """Where only one table wants another decimal mark, advise to say it of that one: the other was understood."""
    found = {"control": control, "recovered": recovered}
    for mark in MARKS:
        asking = [role for role, problems in found.items() if any(to_say(mark) in p.message for p in problems)]
        if len(asking) == 1:
            (role,) = asking
            found[role] = [
                replace(p, message=p.message.replace(to_say(mark), say_one(mark, role))) for p in found[role]
            ]
    return found["control"] + found["recovered"]


def _attempt(source: Source, **options: Any) -> tuple[Table | None, list[Problem]]:
    try:
        return read_table(source, **options), []
    except TableError as error:
        return error.partial, error.problems


def _each(*steps: Callable[[], Table]) -> list[Table]:
    """Run every step, then raise what any of them had to report."""
    results, problems = [], []
    for step in steps:
        try:
            results.append(step())
        except TableError as error:
            problems += error.problems
    if problems:
        raise TableError(problems)
    return results


def _wanted(features: Sequence[str], control: Table, recovered: Table, problems: list[Problem]) -> list[str]:
    for table in (control, recovered):
        for feature, found in zip(features, table.lookup(features), strict=True):
            if found is None:
                problems.append(Problem(f"there is no variable {quoted(feature)}", table.name))
    common = control.found(features)
    problems += [
        Problem(f"the column {quoted(control.header(name))} is named twice among the features", control.name)
        for name, times in Counter(common).items()
        if times > 1
    ]
    return common


def _absent(name: str, here: Table, there: Table) -> Problem:
    # near misses are sought among a few short names: comparing is slow work
    lower = {other.casefold(): other for other in there.features[:200] if len(other) <= 60}
    few = len(here.features) <= 200
    close = difflib.get_close_matches(name[:60].casefold(), lower, 1, cutoff=0.8) if few else []
    hint = f"; is it {quoted(lower[close[0]])} there? Then give both the same name" if close else ""
    return Problem(f"not used: {there.name} has no such column{hint}", here.name, None, here.header(name))


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names[:8])) + (", …" if len(names) > 8 else "")
