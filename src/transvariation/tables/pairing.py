"""Two tables of one case: columns matched by name, problems of both reported together."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transvariation.tables.columns import by_unit, same_unit, similar
from transvariation.tables.opening import Source
from transvariation.tables.problems import Problem, TableError
from transvariation.tables.reading import read_table
from transvariation.tables.table import Table, apply_policy


@dataclass(frozen=True)
class Pair:
    """Control and recovered objects measured by the same variables in the same order.

    Attributes
    ----------
    control, recovered : Table
        The two tables with the common variables only.
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
        How missing values in the common columns are handled. Both tables are filled from the control table.

    Examples
    --------
    >>> control = read_table(b"Na,Mg,Fe\\n1,2,0\\n3,4,0\\n", name="control")
    >>> pair = align(control, read_table(b"Mg,Na\\n5,6\\n", name="recovered"))
    >>> pair.features, pair.recovered.X.tolist(), pair.only_control
    (('Na', 'Mg'), [[6.0, 5.0]], ('Fe',))
    """
    problems: list[Problem] = []
    recovered = _named_alike(recovered, control)
    in_control, in_recovered = set(control.features), set(recovered.features)
    common = [name for name in control.features if name in in_recovered]
    only_control = tuple(name for name in control.features if name not in in_recovered)
    only_recovered = tuple(name for name in recovered.features if name not in in_control)
    if features is not None:
        for table in (control, recovered):
            lacking = (name for name, found in zip(features, table.lookup(features), strict=True) if found is None)
            problems += [Problem("no-such-variable", table.name, params={"name": name}) for name in lacking]
        common = control.found(features)
        twice = [control.headers[name] for name, times in Counter(common).items() if times > 1]
        problems += [Problem("column-twice", control.name, params={"name": name}) for name in twice]
    elif not common:
        some = {"here": list(recovered.features[:8]), "there": list(control.features[:8]), "other": control.name}
        problems.append(Problem("nothing-in-common", recovered.name, params=some))
    problems += unit_problems(control.units, control.name, recovered, common)
    if problems:
        raise TableError(problems)
    notes_control = tuple(_absent(name, control, recovered) for name in only_control)
    notes_recovered = tuple(_absent(name, recovered, control) for name in only_recovered)
    first, second = control.select(common, notes_control), recovered.select(common, notes_recovered)
    (known, found), (new, found_too) = (_attempt(apply_policy, table, missing, first) for table in (first, second))
    if found or found_too:
        raise TableError(found + found_too)
    return Pair(known, new, tuple(common), only_control, only_recovered)


def _named_alike(table: Table, control: Table) -> Table:
    """Rename features as in the control: "Na (ppm)" has its unit in the name only if "Na (wt%)" exists as well."""
    theirs = by_unit([table.headers[name] for name in table.features])
    ours = by_unit([control.headers[name] for name in control.features])
    pairs = ((table.features[theirs[each]], control.features[i]) for each, i in ours.items() if each in theirs)
    names = {own: name for own, name in pairs if own != name}
    # a feature without a unit that already has this name is renamed
    taken = {name: f"{name} (no unit)" for name in names.values() if name in table.features and name not in names}
    return table.rename(taken | names) if names else table


def unit_problems(units: Mapping[str, str], there: str, table: Table, features: Sequence[str]) -> list[Problem]:
    """List the features of a table whose units differ from those stated elsewhere; missing units are not compared.

    Parameters
    ----------
    units : mapping of str to str
        The units stated elsewhere, by feature.
    there : str
        Where they are stated, for the message.
    table : Table
        The table to compare.
    features : sequence of str
        The features to compare.
    """
    problems = []
    for name in features:
        one, other = units.get(name, ""), table.units.get(name, "")
        if one and other and not same_unit(one, other):
            params = {"unit": other, "other": one, "there": there}
            problems.append(Problem("other-unit", table.name, 1, table.headers[name], params))
    return problems


def read_pair(
    control: Source, recovered: Source, *, features: Sequence[str] | None = None, missing: str = "error", **options: Any
) -> Pair:
    """Read the control and the recovered table of a case; every problem of both is reported at once.

    Parameters
    ----------
    control, recovered : path, bytes, binary file or DataFrame
        The two tables; see :func:`read_table`.
    features : sequence of str, default=None
        The variables to use; None uses every column of numbers that both tables have.
    missing : {"error", "drop", "impute"}, default="error"
        How missing and below-detection values are handled.
    **options
        Further options of :func:`read_table`, for both tables. ``names``, ``sheets`` and ``decimals`` are pairs with
        one value for each table: names for messages, Excel sheets, decimal marks. ``roles`` may be such a pair, too.

    Examples
    --------
    >>> read_pair(b"Na,Mg\\n1,2\\n3,x\\n4,5\\n", b"Mg,Na\\n5,\\n", names=("control.csv", "recovered.csv"))
    Traceback (most recent call last):
    transvariation.tables.problems.TableError: 2 problems in the tables:
      control.csv, row 3, column 'Mg': 'x' is not a number
      recovered.csv, row 2, column 'Na': the value is missing; fill it in, or choose missing="drop" or missing="impute"
    """
    own: list[dict[str, Any]] = [{}, {}]
    roles = options.pop("roles", None)
    options["all_roles"] = (roles, roles) if roles is None or isinstance(roles, Mapping) else roles
    for option, pair in (("name", "names"), ("sheet", "sheets"), ("decimal", "decimals"), ("roles", "all_roles")):
        both = options.pop(option, None)
        for each, value in zip(own, options.pop(pair, (None, None)), strict=True):
            each[option] = both if value is None else value
    common = {**options, "features": features, "missing": "keep"}
    first, found = _attempt(read_table, control, **own[0], **common)
    if first is not None:
        # A recovered table may be one row: what the control measured is a variable there too, whatever its cell holds.
        common |= {"expect": (*first.features, *first.headers.values()), "units": first.units}
    second, found_too = _attempt(read_table, recovered, **own[1], **common)
    problems = _advised(found, found_too)
    if not problems and first is not None and second is not None:
        return align(first, second, features=features, missing=missing)
    if first is not None and second is not None:
        second = _named_alike(second, first)
        there = set(second.features)
        used = [name for name in first.features if name in there]
        for table in (first, second):
            problems += _attempt(apply_policy, table.select(used), missing)[1]
    raise TableError(problems)


def _attempt(step: Callable[..., Table], *args: Any, **options: Any) -> tuple[Any, list[Problem]]:
    """Call a function; return what it could read, and the problems that it raised."""
    try:
        return step(*args, **options), []
    except TableError as error:
        return error.partial, error.problems


def _advised(control: list[Problem], recovered: list[Problem]) -> list[Problem]:
    """Combine the problems of both tables.

    Where only one table needs another decimal mark, the remedy is for that one. A label column that only one table has
    is no problem: the recovered fragments often name no source.
    """
    combined = []
    for table, own, others in (("control", control, recovered), ("recovered", recovered, control)):
        common = set(map(_request, others))
        for problem in own:
            request = _request(problem)
            if request is None or request in common:
                combined.append(problem)
            elif problem.remedy == "give-decimal":
                combined.append(replace(problem, params={**problem.params, "of": table}))
    return combined


def _request(problem: Problem) -> tuple[str, str] | None:
    """Return what a problem asks for that may concern one table only: a decimal mark or a column of labels."""
    if problem.remedy == "give-decimal":
        return "mark", problem.params["mark"]
    if problem.code in ("no-such-column", "similar-column") and problem.params["role"] != "measurement":
        return "column", problem.params["name"]
    return None


def _absent(name: str, here: Table, there: Table) -> Problem:
    close = similar(name, there.features, 0.8) if len(here.features) <= 200 else ""
    params = {"other": there.name, "similar": close}
    return Problem("unused-similar" if close else "unused-absent", here.name, None, here.headers[name], params)
