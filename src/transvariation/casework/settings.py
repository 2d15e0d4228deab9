"""The settings of a case, as plain data: Python, the command line and the page build them alike.

Roles of columns, methods, reductions and case fields are listed here (the roles in `tables.settings`) and nowhere else.
Nothing heavy is imported, so that ``--help`` is fast. A new option is one field here, and its use.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from transvariation.tables.options import ROLES, Option, mapping, options_in
from transvariation.tables.settings import Settings, SettingsError, TableSettings, document, nearest

__all__ = [
    "CASE_FIELDS",
    "METHODS",
    "REDUCTIONS",
    "ROLES",
    "TABLES_OF_CASE",
    "CaseSettings",
    "SettingsError",
    "TableSettings",
    "ValidationSettings",
]

TABLES_OF_CASE = ("control", "recovered", "background", "foreign")
METHODS = {
    "neighbor": "distances to the nearest control fragments",
    "tocc": "share of control fragments farther from the center",
    "pam": "the same around several centers",
    "mixture": "a mixture of normal distributions",
    "projections": "an average over many planes",
    "ddsimca": "distances within and from principal components, DD-SIMCA",
}
REDUCTIONS = {
    "minor": "the combinations that vary least in the control",
    "vip": "the most important variables in projection",
    "varsel": "the variables that a mixture selects",
}
WORDS = {"case": "fragments and their source", "sample": "samples, authentic or not"}
CONTROLS = {"each": "compare with each by itself", "together": "take all of them as one class"}
LEADS = {
    "exclusion": "excluded or not, by the p-value",
    "ratio": "the strength of support by the likelihood ratio, where there is one",
}
GROUPS = {"yes": "form sets", "no": "judge each by itself"}
MISSING = {"error": "report them", "drop": "leave the row out", "impute": "fill them in"}
CASE_FIELDS = {
    "case_number": "Case number",
    "client": "Client",
    "items": "Items",
    "integrity": "Item integrity",
    "laboratory": "Laboratory",
    "sop": "Procedure",
    "instrument": "Instrument",
    "quality_control": "Quality-control glass",
    "received": "Items received",
    "examined": "Examined",
    "examiner": "Examiner",
    "reviewer": "Reviewer",
    "first_proposition": "First proposition",
    "second_proposition": "Second proposition",
    "conditions": "Conditioning information",
    "would_change": "Would change if",
}
reading, variables, comparing, reporting = map(options_in, ("tables", "variables", "comparison", "report"))


def _tables(value: object, given: Option) -> dict[str, TableSettings]:
    found: dict[str, TableSettings] = {}
    problems = []
    for which, own in mapping(value, "the names of tables to their settings").items():
        if which not in TABLES_OF_CASE:
            raise ValueError(f" has no table {which!r}; {nearest(which, TABLES_OF_CASE)}")
        try:
            settings = own if isinstance(own, TableSettings) else TableSettings.from_dict(own)
            found |= {which: settings} if settings != TableSettings() else {}
        except SettingsError as error:
            problems += [(f"{which}-{name}", text, problem) for name, text, problem in error.problems]
    if problems:
        raise SettingsError(problems)
    return found


def _steps(value: object, given: Option) -> str | None:
    """Return the steps of a preprocessing as one string, such as "snv,sg1"."""
    if not value:
        return None
    if not isinstance(value, Sequence):
        raise ValueError(f"={value!r} must be a text or a list of steps")
    steps = value if isinstance(value, str) else ",".join(map(str, value))
    from transvariation.casework.variables import check_preprocess  # needs scikit-learn

    return check_preprocess(steps)


def _case(value: object, given: Option) -> dict[str, str]:
    case = mapping(value, "case fields to texts")
    for name, text in case.items():
        if name not in CASE_FIELDS:
            raise ValueError(f" has no field {name!r}; choose from {', '.join(CASE_FIELDS)}")
        if not isinstance(text, str):
            raise ValueError(f": {name} must be a text, not {text!r}")
    return {name: text for name, text in case.items() if text}


@dataclass(frozen=True, kw_only=True)
class CaseSettings(TableSettings):
    """How a case is judged. Settings of tables hold for every table; `tables` has what differs for one of them.

    Wrong values are all named at once, in a `SettingsError`.

    See Also
    --------
    transvariation.casework.judge : Judge a case.
    """

    missing: str = reading("error", "choice", "Missing and below-detection values", choices=MISSING)
    tables: Mapping[str, TableSettings] = reading(
        {}, "tables", "Settings of one table only, by its name", check=_tables
    )

    features: Sequence[str] | None = variables(
        None, "names", "The variables to use", absent="all columns of numbers that the tables share"
    )
    ranges: Sequence[tuple[float, float]] | None = variables(
        None,
        "ranges",
        "Use the variables whose names are numbers (wavelengths) from a low to a high one",
        flag="--range",
        example="800-1200",
    )
    without: Sequence[str] | None = variables(None, "names", "Variables to leave out", example='"Ba,Fe"')
    log: bool = variables(False, "flag", "Take logarithms (base 10) of the measurements first")
    logged: bool = variables(False, "flag", "The tables already hold logarithms (base 10)")
    preprocess: str | Sequence[str] | None = variables(
        None,
        "steps",
        "Preprocess spectra first, by steps separated by commas, such as snv,sg1: snv, msc, emsc (scatter "
        "correction), detrend, als (baseline), area, peak, length (normalization), regions (scaling), sg, sg1, sg2 "
        "(smoothing, first and second derivative; sg1:15:2 has a window of 15 positions and degree 2)",
        example="snv,sg1",
        check=_steps,
    )

    method: str = comparing(
        "neighbor", "choice", "How to compare with the control", choices=METHODS, label="Compare by"
    )
    reduce: str | None = comparing(
        None, "choice", "Reduce the variables first", choices=REDUCTIONS, absent="no reduction"
    )
    reduce_to: int = comparing(
        2,
        "whole",
        "The number of variables or combinations that a reduction leaves",
        least=1,
        label="number of variables",
    )
    sensitivity: float = comparing(
        0.9, "share", "The share of fragments of the control's own source that should not be excluded"
    )
    lead: str = comparing(
        "ratio", "choice", "What the conclusion on a fragment is", choices=LEADS, label="The conclusion is"
    )
    family_wise: bool = comparing(
        False,
        "flag",
        "Let the sensitivity hold for all recovered fragments together: if all came from the control's source, none "
        "would be excluded with this probability",
        label="the sensitivity holds for all recovered fragments together",
    )
    astm: bool = comparing(
        False,
        "flag",
        "Compute the 4 s interval although the measurements are not element concentrations by LA-ICP-MS, which alone "
        "ASTM E2927 covers",
        label="compute the 4 s interval of ASTM E2927 for other measurements, too",
    )
    multiplier: float = comparing(
        4.0, "number", "The multiplier of the ASTM E2927 criterion", label="Multiplier of the ASTM E2927 criterion"
    )
    min_rsd: float = comparing(
        0.03,
        "number",
        "The smallest relative standard deviation of the ASTM E2927 criterion",
        label="its smallest relative standard deviation",
    )
    within: float = comparing(
        0.0,
        "number",
        "The standard deviation of measurements of one source, for a background with one value per source (a survey of "
        "one variable); 0 takes it from the control and the recovered fragment",
        label="Standard deviation within a source, for a survey of one value per source",
    )
    seed: int = comparing(0, "whole", "Seed of all random numbers", label="Seed of random numbers")

    controls: str | None = comparing(
        None,
        "choice",
        "Several sources in the control table",
        choices=CONTROLS,
        absent="each where the table names their fragments",
        label="Several control sources",
    )
    group: str | None = comparing(
        None,
        "choice",
        "Recovered fragments that cannot be distinguished from each other",
        choices=GROUPS,
        absent="no for the words sample",
        label="Fragments that cannot be distinguished",
    )
    words: str | None = reporting(
        None,
        "choice",
        "The words of report and screen",
        choices=WORDS,
        absent="sample where the variables are a spectrum, otherwise case",
    )
    case: Mapping[str, str] = reporting(
        {}, "case", f"Case details for the report: {', '.join(CASE_FIELDS)}", check=_case
    )

    def _conflicts(self) -> list[tuple[str, str, Option | None]]:
        if self.log and self.logged:
            words = " and logged exclude each other: logged states that the tables already hold logarithms"
            return [("log", words, None)]
        return []

    def of_table(self, which: str) -> TableSettings:
        """Return how one table is read: its own settings before those of all tables.

        Parameters
        ----------
        which : {"control", "recovered", "background", "foreign"}
            The table.

        Returns
        -------
        TableSettings
        """
        own, plain = self.tables.get(which, TableSettings()), TableSettings()
        names = [each.name for each in fields(TableSettings)]
        merged = {name: getattr(self if getattr(own, name) == getattr(plain, name) else own, name) for name in names}
        ignored = dict.fromkeys(self.without or (), "ignore")
        return replace(plain, **merged | {"roles": {**self.roles, **own.roles, **ignored}})

    @property
    def steps(self) -> str | None:
        """The preprocessing as one string."""
        return None if self.preprocess is None else str(self.preprocess)


document(CaseSettings)


def words_for(settings: CaseSettings, spectral: bool) -> str:
    """Return the vocabulary of what is shown, "case" or "sample": as asked for, otherwise samples for spectra."""
    return settings.words or ("sample" if spectral else "case")


def groups_for(settings: CaseSettings, spectral: bool) -> bool:
    """Return whether recovered fragments that belong together are judged as a set."""
    return settings.group == "yes" or (settings.group is None and words_for(settings, spectral) == "case")


@dataclass(frozen=True, kw_only=True)
class ValidationSettings(Settings):
    """What is compared in a validation, and how often."""

    designs: Sequence[str] = comparing(
        ("1x1", "3x1"),
        "names",
        "Known fragments x replicates of each, such as 3x5; one questioned fragment has as many replicates.",
        flag="--design",
    )
    sensitivities: Sequence[float] = comparing(
        (0.9,), "shares", "The shares of same-source fragments that should not be excluded.", flag="--sensitivity"
    )
    features: Sequence[str] | None = variables(None, "names", "The variables to use", absent="all")
    linear: bool = variables(
        False, "flag", "Take no logarithms (base 10) of a database that does not hold them already."
    )
    missing: str = variables(
        "error",
        "choice",
        "Measurements with missing or below-detection values",
        choices={"error": "report them", "drop": "leave them out"},
    )
    n_comparisons: int = comparing(
        2000,
        "whole",
        "Comparisons of the same source, and as many of different sources, in each design.",
        flag="--comparisons",
        least=1,
    )
    n_folds: int = comparing(5, "whole", "How many folds of sources are left out in turn.", least=2)
    rates_only: bool = comparing(
        False, "flag", "Measure no likelihood ratios and no other methods, in a fraction of the time."
    )
    stability: bool = comparing(
        True, "flag", "Repeat some folds with other seeds and with a part of the sources, in the first design."
    )
    seed: int = comparing(0, "whole", "Of the choice of fragments.")


document(ValidationSettings)
