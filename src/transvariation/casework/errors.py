"""Failures and cautions of a case, as codes and fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from transvariation.tables.problems import phrase

# The message of each kind of failure. Values are shown quoted and escaped, with !s only escaped.
MESSAGES = {
    # tables
    "no-logarithm": "{table!s}, row {row}: {variable!s} is {value:g}, which has no logarithm",
    "not-a-logarithm": "{table!s}, row {row}: {variable!s} is {value:g}, which is no logarithm (base 10)",
    "not-a-measurement": "{table!s}, row {row}: {variable!s} is {value:g}, which is no measurement",
    "no-source-column": "{table!s} has no column that names the source of each row",
    "background-and-foreign": "a background shows how often other sources are not excluded; leave out the foreign"
    " table",
    "settings-of-no-table": "what is given of the {table!s} ({given!s}) needs a {table!s} table",
    "few-sources": "{table!s} has {n} sources with two or more fragments or replicates; at least {need} are needed",
    "constant-sources": "in no variable do fragments of one source of {table!s} differ",
    "lacks-variables": "{table!s} has no variable {lacking!s}; it has {there!s}",
    "one-row": "{table!s} has one row; a class needs at least 2, and 9 for a sensitivity of 0.9",
    # variables and comparison
    "few-positions": "preprocess={steps} needs at least {need} variables; there are {n}",
    "empty-ranges": "ranges: no variable lies in {ranges!s}; the names that are numbers go from {low:g} to {high:g}",
    "ranges-without-numbers": "ranges: no variable lies in {ranges!s}; no name is a number",
    "no-variable-to-leave-out": "without: there is no variable {name}; there are {there!s}",
    "large-reduction": "reduce_to={reduce_to} exceeds the {n} variables",
    "method": "the method cannot be used with this control: {reason!s}",
    # a database
    "no-tables": "a database needs at least one table",
    "database-logged": "the database {database!s} holds logarithms, the tables of the case do not",
    "database-file": "{file!s} is missing; a database is a CSV file with a JSON file of the same name beside it",
    "database-name": "{file!s} must end in .csv; its description is a .json file of the same name",
    "database-json": "{file!s} is not JSON: {reason!s}",
    "database-schema": "{file!s} does not describe a database ({schema!s}); build one from {table!s}",
    "database-damaged": "{file!s} is damaged ({reason!r}); build the database again",
    "database-changed": "{table!s} was changed after {file!s} was written; build the database again",
    "database-menu": "{table!s} lacks {lacking!s}, which {first!s} has; a database has one menu of variables",
    "database-units": "{first!s} and {table!s} state different units for {variables!s}; convert one of them",
    "no-within": "the measurements of {table!s} and of a recovered fragment do not show how much those of one source"
    " vary, which a survey of single values does not show either",
    # a validation
    "criteria-file": "{file!s} cannot be read as acceptance criteria: {reason!s}",
    "no-criterion": "{name} is no acceptance criterion; choose from {there!s}",
    "no-criteria": "{file!s} holds no acceptance criterion; choose from {there!s}",
    "criterion-limit": "the limit of {name!s} must be a number that is not negative, not {limit}",
    "design": "the design {design} must have the form 3x5: known fragments x replicates of each",
    "sensitivity": "the sensitivity {sensitivity!s} must lie between 0 and 1, such as 0.9",
    "missing-values": "values of {variables!s} are missing",
    "not-positive": "values of {variables!s} are zero or negative and have no logarithm",
    "small-database": "too few sources ({n}, at least {need} are needed) have {fragments} fragments with {replicates}"
    " or more replicates each, which the design {design!s} needs; choose a smaller design",
    # a procedure, and many cases
    "procedure-file": "{file!s} is no procedure in TOML: {reason!s}",
    "procedure-setting": "{file!s} has {name}, which is no setting; the settings are {there!s}",
    "procedure-background": "{file!s} names the background {background!s}, which does not exist",
    "procedure-changed": "{background!s} is not what the procedure {file!s} fixes by its background_sha256; ask who is"
    " responsible for the procedure",
    "fixed-setting": "the procedure {file!s} fixes {name!s} to {value!s}; leave it out, or judge without the procedure",
    "empty-batch": "{file!s} holds no cases",
    "same-case": "the cases {one} and {other} would have files of the same name; rename one",
    "batch-folder": "{folder!s} has {n} tables called {role!s}; each case is a folder with one table control and one"
    " table recovered",
    "batch-table": "{file!s} lacks the column {lacking!s}; a table of cases has the columns case, control and"
    " recovered, and may have those of case details",
    "batch-row": "{file!s}, row {row}: {column!s} is empty",
    # files
    "not-a-fitted-model": "{file} does not name the table and the settings that it was fitted with ({reason!s}); only"
    " models that `fit` wrote can be verified",
    "not-a-case": "{file!s} is not a case that this version wrote: {reason!s}",
    "log-of-model": "log: a model is fitted to the values as given; take logarithms in the tables first",
    "not-a-model": "{file} exists and holds no model; give another name, or delete it first",
    "no-p-values": "{file} holds a {kind!s}, which has no p-values; fit and save a classifier of transvariation, or"
    " CalibratedOCC around a pipeline",
    "no-names": "the classifier in {file} was fitted without column names; fit it to a table that has them",
}

# What a Python user can do about it. `transvariation.report.wording` has the same for the command line and the page.
REMEDIES = {
    "within": "give the standard deviation of measurements of one source (within=), or replicates",
    "other-method": 'use method="neighbor", fewer variables (features=) or no reduction (reduce=None)',
    "background": 'use method="neighbor" without a reduction, and give a background (background=): control fragments'
    " are few",
    "no-log": "leave the variable out (without=), or judge without log=True (with logged=True if they are logarithms)",
    "log": "if they are concentrations, take logarithms (log=True without logged)",
    "source-column": "name the column of the sources (source_column=)",
    "features": "name the variables to use (features=)",
    "leave-out": "leave these variables out (features=), or these measurements (missing='drop')",
    "no-zeros": "leave these variables out (features=), or take no logarithms (linear=True)",
    "preprocess": 'use steps such as preprocess="snv,sg1", or preprocess=None',
    "ranges": "give pairs of numbers such as ranges=[(800, 1200)]",
    "without": 'name variables of the tables, such as without=["Ba", "Fe"]',
    "reduce-to": "use another reduce_to=, or no reduction (reduce=None)",
    "more-sources": "give a background with more sources, or none (background=None)",
}


@dataclass(frozen=True)
class Caution:
    """Something to know before relying on a conclusion; `transvariation.report.wording` puts it in words.

    Attributes
    ----------
    code : str
        What it is about.
    values : dict
        What it names.
    """

    code: str
    values: dict[str, Any]

    @classmethod
    def of(cls, code: str, **values: Any) -> "Caution":
        """Make a caution of a code and the values that it names."""
        return cls(code, values)


class CaseError(ValueError):
    """A case that cannot be judged.

    Parameters
    ----------
    code : str
        What is wrong, a key of `MESSAGES`.
    remedy : str
        What can be done, a key of `REMEDIES`; empty if the message includes it.
    **values
        What the message names.

    Examples
    --------
    >>> from transvariation.casework import CaseError
    >>> at = {"table": "control", "row": 3, "variable": "Fe", "value": 0}
    >>> print(str(CaseError("no-logarithm", remedy="no-log", **at)).split(";")[0])
    control, row 3: Fe is 0, which has no logarithm
    """

    def __init__(self, code: str, *, remedy: str = "", **values: Any):
        super().__init__(code, remedy, values)
        self.code, self.remedy, self.values = code, remedy, values

    def __str__(self) -> str:
        return worded(self)

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), self.code, remedy=self.remedy, **self.values), ()


class MethodError(CaseError):
    """A method that cannot be used with the control fragments of a case."""


def worded(error: CaseError, remedies: Mapping[str, str] = REMEDIES) -> str:
    """Phrase what is wrong with a case, and what can be done in the terms of a front end."""
    said = phrase(MESSAGES[error.code], error.values)
    return f"{said}; {remedies[error.remedy]}" if error.remedy else said
