"""Two tables of one case: columns matched by name, problems of both reported together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from transvariation._typing import Fields
from transvariation.tables.axis import covered, interpolated, missing_bands, positions
from transvariation.tables.grid import Limits
from transvariation.tables.headers import locate, same_unit, similar
from transvariation.tables.opening import TableSource
from transvariation.tables.problems import Problem, TableError
from transvariation.tables.reading import read_table
from transvariation.tables.settings import TableSettings
from transvariation.tables.table import Table, apply_policy


class Pair(NamedTuple):
    """Control and recovered samples measured by the same variables in the same order.

    Attributes
    ----------
    control, recovered : Table
        The two tables with the common variables only.
    """

    control: Table
    recovered: Table

    @property
    def features(self) -> tuple[str, ...]:
        """The common variables, in the control table's order or in the order wanted."""
        return self.control.features

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

    Returns
    -------
    Pair
        Both tables with the same variables, and what was not used.

    See Also
    --------
    transvariation.tables.read_pair : Read and align two tables.

    Examples
    --------
    >>> from transvariation.tables import align, read_table
    >>> control = read_table(b"Na,Mg,Fe\\n1,2,0\\n3,4,0\\n", name="control")
    >>> pair = align(control, read_table(b"Mg,Na\\n5,6\\n", name="recovered"))
    >>> pair.features, pair.recovered.X.tolist()
    (('Na', 'Mg'), [[6.0, 5.0]])
    """
    problems: list[Problem] = []
    theirs = _matched(control, recovered)
    common = list(theirs)
    if features is not None:
        ours, there = control.lookup(features), recovered.lookup(features, control.units)
        lacking = [(control, name) for name in features if name not in ours]
        lacking += [(recovered, name) for name in features if name not in there and ours.get(name) not in theirs]
        problems += [Problem("no-such-variable", table.name, params={"name": name}) for table, name in lacking]
        twice = [control.headers[name] for name, n in Counter(ours.values()).items() if n > 1]
        problems += [Problem("column-twice", control.name, params={"name": name}) for name in twice]
        common = [name for name in ours.values() if name in theirs]
    elif not common:
        some = {"here": list(recovered.features[:8]), "there": list(control.features[:8]), "other": control.name}
        problems.append(Problem("nothing-in-common", recovered.name, params=some))
    first = control.select(common, _absent(theirs, control, recovered))
    second = recovered.select({name: theirs[name] for name in common}, _absent(theirs.values(), recovered, control))
    problems += unit_problems(control.units, control.name, second, common)
    problems += [*_type_problems(control, recovered), *_type_problems(recovered, control)]
    if not problems:
        (known, problems), (new, found) = (_attempt(apply_policy, table, missing, first) for table in (first, second))
        problems += found
    if problems or known is None or new is None:
        raise TableError(problems)
    return Pair(known, new)


def _type_problems(here: Table, there: Table) -> list[Problem]:
    """List the columns that were set aside here as empty or text, although the other table measures by them."""
    set_aside = [note for note in here.notes if note.code in ("unused-text", "unused-empty") and note.column]
    places = locate([str(note.column) for note in set_aside], [there.headers[name] for name in there.features])
    problems = []
    for note, at in zip(set_aside, places, strict=True):
        if at is not None:
            code = "other-type" if note.code == "unused-text" else "other-type-empty"
            params = dict(note.params) | {"other": there.name}
            problems.append(Problem(code, here.name, note.row, note.column, params))
    return problems


def _matched(control: Table, recovered: Table) -> dict[str, str]:
    """Return what the recovered table calls the control's variables; of two for one column, the one in its unit."""
    found = recovered.lookup(control.features, control.units)
    times = Counter(found.values())
    units = {name: (control.units.get(name, ""), recovered.units.get(own, "")) for name, own in found.items()}
    return {name: own for name, own in found.items() if times[own] == 1 or same_unit(*units[name])}


def unit_problems(units: Mapping[str, str], there: str, table: Table, features: Sequence[str]) -> list[Problem]:
    """List the features of a table whose units differ from those stated elsewhere; missing units are not compared."""
    problems = []
    for name in features:
        one, other = units.get(name, ""), table.units.get(name, "")
        if one and other and not same_unit(one, other):
            params = {"unit": other, "other": one, "there": there}
            problems.append(Problem("other-unit", table.name, 1, table.headers[name], params))
    return problems


def read_pair(
    control: TableSource,
    recovered: TableSource,
    settings: TableSettings | tuple[TableSettings, TableSettings] = TableSettings(),  # noqa: B008  # frozen
    *,
    names: tuple[str | None, str | None] = (None, None),
    features: Sequence[str] | None = None,
    missing: str = "error",
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> Pair:
    """Read the control and the recovered table of a case; every problem of both is reported at once.

    Parameters
    ----------
    control, recovered : path, bytes, binary file or DataFrame
        The two tables; see :func:`read_table`.
    settings : TableSettings or pair of TableSettings
        How both tables are read, or each of them.
    names : pair of str or None
        What messages call the tables.
    features : sequence of str, default=None
        The variables to use; None uses every column of numbers that both tables have.
    missing : {"error", "drop", "impute"}, default="error"
        How missing and below-detection values are handled.
    limits : Limits
        How large a table may be.

    Returns
    -------
    Pair

    See Also
    --------
    transvariation.tables.read_table : One table.
    transvariation.tables.align : Two tables that were read before.

    Examples
    --------
    >>> from transvariation.tables import read_pair
    >>> control, recovered = b"Na,Mg\\n1,2\\n3,x\\n4,5\\n", b"Mg,Na\\n5,\\n"
    >>> read_pair(control, recovered, names=("control.csv", "recovered.csv"))
    Traceback (most recent call last):
    transvariation.tables.problems.TableError: 2 problems in the tables:
      control.csv, row 3, column 'Mg': 'x' is not a number
      recovered.csv, row 2, column 'Na': the value is missing; fill it in, or choose missing="drop" or missing="impute"
    """
    own = settings if isinstance(settings, tuple) else (settings, settings)
    common: Fields = {"features": features, "missing": "keep", "limits": limits}
    first, found = _attempt(read_table, control, name=names[0], settings=own[0], **common)
    if first is not None:
        # A recovered table may be one row: what the control measured is a variable there too, whatever its cell holds.
        common |= {"expect": (*first.features, *first.headers.values()), "units": first.units}
    second, found_too = _attempt(read_table, recovered, name=names[1], settings=own[1], **common)
    problems = _advised(found, found_too)
    if first is not None and second is not None:
        classes = [str(note.column) for note in first.notes if note.code == "unused-class"]
        second = without_classes(second, [name for name in classes if name not in own[1].column_roles])
        if any(note.code == "coarser" for note in second.notes):
            first = _at_positions_of(second, first)
        if not problems:
            return align(first, second, features=features, missing=missing)
        theirs = _matched(first, second)
        for table in (first.select(list(theirs)), second.select(theirs)):
            problems += _attempt(apply_policy, table, missing)[1]
    raise TableError(problems)


def without_classes(table: Table, classes: Collection[str]) -> Table:
    """Take a column for classes where the other table's column of that name holds classes, not samples measured again.

    A table of a few spectra does not tell by itself.
    """
    for name, role in table.roles.items():
        if name in classes and role in ("source", "fragment"):
            params = {"n": len(set(getattr(table, role))), "rows": len(table)}
            others = [note for note in table.notes if (note.code, note.column) != ("role", name)]
            notes = (*others, Problem("unused-class", table.name, None, name, params))
            label: Fields = {role: None, "roles": {**table.roles, name: "ignore"}}
            table = replace(table, notes=notes, **label)
    return table


def _at_positions_of(coarse: Table, table: Table) -> Table:
    """Interpolate the spectra of a table to the positions of another within their range; keep its other variables."""
    own, there = positions(table.features), positions(coarse.features)
    at = np.array(list(there.values()))
    inside = covered(np.sort(list(own.values())), at)
    names = (*(name for name in table.features if name not in own), *np.array(list(there))[inside].tolist())
    return replace(
        table,
        features=names,
        X=interpolated(table.X, table.features, names),
        below=None,
        units={name: table.units[name] for name in names if name in table.units},
        headers={name: table.headers.get(name, name) for name in names},
    )


def _attempt(step: Callable[..., Table], *args: object, **options: object) -> tuple[Table | None, list[Problem]]:
    """Call a function; return what it could read, and the problems that it raised."""
    try:
        return step(*args, **options), []
    except TableError as error:
        return error.partial, error.problems


def _advised(control: list[Problem], recovered: list[Problem]) -> list[Problem]:
    """Combine the problems of both tables.

    Where only one table needs another decimal mark or header row, the remedy is for that one. A label column that only
    one table has is no problem: the recovered fragments often name no source.
    """
    combined = []
    for table, own, others in (("control", control, recovered), ("recovered", recovered, control)):
        needs = {_setting(problem) for problem in others}
        labels = {problem.params["name"] for problem in others if is_label(problem)}
        for problem in own:
            if problem.remedy in ("give-decimal", "header-row") and _setting(problem) not in needs:
                combined.append(replace(problem, remedy=f"{problem.remedy}-{table}"))
            elif not is_label(problem) or problem.params["name"] in labels:
                combined.append(problem)
    return combined


def _setting(problem: Problem) -> tuple[str, object]:
    """Return which setting would remedy a problem, and its value."""
    return problem.remedy, problem.row if problem.remedy == "header-row" else problem.params.get("mark")


def is_label(problem: Problem) -> bool:
    """Return whether a problem is that a column of labels is not there."""
    return problem.code in ("no-such-column", "similar-column") and problem.params["role"] != "measurement"


def _absent(used: Collection[str], here: Table, there: Table) -> list[Problem]:
    """Note the variables that are not used because the other table lacks them; bands of a spectrum in one note."""
    notes, lacking = [], [name for name in here.features if name not in used]
    if bands := missing_bands(here.features, set(lacking)):
        notes.append(Problem("missing-bands", there.name, params=bands))
        axis = positions(here.features)
        lacking = [name for name in lacking if name not in axis]
    for name in lacking:
        others = [other for other in there.features if other != name]  # of the same name, but in another unit
        close = similar(name, others, 0.8) if len(here.features) <= 200 else ""
        params = {"other": there.name, "similar": close}
        notes.append(
            Problem("unused-similar" if close else "unused-absent", here.name, None, here.headers[name], params)
        )
    return notes
