"""The sentences of every front end, from the codes and fields of results and errors."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from transvariation.casework.errors import CaseError, Caution
from transvariation.casework.settings import CaseSettings
from transvariation.tables.problems import Problem, TableError, printable
from transvariation.tables.settings import Option, SettingsError, flag_of

if TYPE_CHECKING:  # a wrong option is refused before scikit-learn is imported
    from transvariation.casework import CaseResult, Conclusion
    from transvariation.casework.checks import Check
    from transvariation.casework.decision import Disagreement, Model, Reason

MAX_NAMES_LISTED = 20  # names in a sentence
LOWEST_ADVISED = 0.9  # sensitivity: no one is advised to exclude more than a tenth of fragments of the same source
MANY_FRAGMENTS = 10  # recovered fragments: of as many, the number that would be excluded by design is stated
ALONE = "differs by itself in"  # the column of variables that exclude by themselves, corrected for their number
QUESTION = "Could the recovered fragments come from the same source as the control fragments?"
PROPOSITIONS = (
    "The recovered fragment comes from the source of the control fragments.",
    "The recovered fragment comes from another source.",
)
# The question that each answers; by whether the fragment is excluded.
WHY_RATIO_DISAGREES = {
    True: "Both can hold: fragments of the control's source seldom differ so much, which excludes, but fragments of "
    "other sources are even less often so near, which the likelihood ratio weighs.",
    False: "Both can hold: fragments of the control's source often enough differ so much, which does not exclude, but "
    "fragments of other sources are so near more often, which the likelihood ratio weighs.",
}
WHY_INTERVAL_DISAGREES = (
    "The criterion compares each element by itself, with an interval that is not set by an error rate."
)
LEAD_WORDS = {
    "exclusion": "By the policy of this report the conclusion is whether a fragment is excluded; the likelihood "
    "ratio is evidence beneath it.",
    "ratio": "By the policy of this report the conclusion is the likelihood ratio; whether a fragment would be "
    "excluded is evidence beneath it.",
}
WOULD_CHANGE_HEADING = "The conclusions would change if"
WOULD_CHANGE = (
    "the control fragments did not all come from one source",
    "control and recovered fragments had not been collected, kept apart and measured alike",
    "further fragments or variables were measured that point elsewhere",
)
WOULD_CHANGE_POPULATION = "another kind of source than that of the background were the relevant alternative"
LIMITATIONS = (
    "An excluded fragment differs from the control more than fragments of one source usually differ from each other. "
    "This does not say where it comes from.",
    "A fragment that is not excluded cannot be distinguished from the control by these measurements. Other sources may "
    "be indistinguishable, too; only a background shows how many.",
    "A p-value is the share of fragments of the control's own source that would differ as much or more. It is not the "
    "probability that the fragment comes from that source.",
    "Error rates hold for fragments that were collected and measured as the control and the background were.",
    "The results relate only to the items that were examined.",
)
METHODS = {
    "neighbor": "A fragment is compared with the control fragments nearest to it. Its transvariation probability (tp) "
    "is the share of control fragments that are at least as far from their own nearest ones, multiplied over several "
    "scalings of the variables.",
    "tocc": "The transvariation probability (tp) of a fragment is the share of control fragments that lie farther from "
    "the centre, in its direction and in every variable at once.",
    "pam": "The control fragments are grouped around typical ones. The transvariation probability (tp) of a fragment "
    "is the share of the closest group that lies farther from its centre, in every variable at once.",
    "mixture": "The control fragments are described by a mixture of normal distributions. The transvariation "
    "probability (tp) of a fragment is the share of the mixture that lies farther from the centre, in its direction.",
    "ddsimca": "The control fragments are described by principal components, as many as Procrustes cross-validation "
    "supports. The score of a fragment is its full distance within and from the components (DD-SIMCA), with a limit "
    "that is calibrated by control fragments left out.",
    "projections": "The control fragments are projected onto many planes in which they lie close together; the score "
    "of a fragment is averaged over the planes.",
}
REDUCTIONS = {
    "minor": "the combinations of variables in which the control varies least",
    "vip": "the most important variables in projection",
    "varsel": "the variables that a mixture model selects",
}
BY_SURVEY = (
    "Likelihood ratio of one variable (Evett, 1986): how probable the difference between the means of the control and "
    "of the recovered fragment is within one source, divided by the density of the recovered mean among {n:,} surveyed "
    "sources (kernel density). The standard deviation within a source is {within:.2g}, {origin}. A survey of {n:,} "
    "sources supports ratios from 1/{highest:,} to {highest:,}."
)
BY_BACKGROUND = (
    "The mean of the recovered fragment is compared with the mean of the control fragments. Differences between "
    "fragments of one source, taken from every background source in the same design, form the class of same-source "
    "differences. The transvariation probability (tp) of the case's difference is the share of them that lie at least "
    "as far from their nearest ones, after whitening by the within-source covariance. Every variable is first "
    "transformed so that fragments of one source vary equally at every level."
)
GUARANTEES = {
    "control": "Approximate: every control fragment was scored without itself; a further fragment of the control's "
    "source is not excluded about as often as the sensitivity states. This was checked on many kinds of data; it is "
    "not a proof.",
    "background": "Approximate: every background source counts once and was scored without itself. If the source of "
    "the control is like the background sources and was measured alike, a fragment of it is excluded with a "
    "probability of about 1 - sensitivity. This was measured on glass and on simulated panes; it is not proved.",
}
TABLE_NAMES = {
    "control": "Control",
    "recovered": "Recovered",
    "background": "Background",
    "foreign": "Known foreign samples",
}
ROLE_NAMES = {"order": "order of measurement", "id": "name of the row", "ignore": "not used"}
DECIMAL_MARKS = {"": "recognised", ",": "comma: 1,518", ".": "point: 1.518"}
CRITERIA_NAMES = {
    "false_exclusion_excess": "false exclusions beyond the promised share",
    "false_inclusion": "false inclusions",
    "cllr": "cost of the likelihood ratios, Cllr",
    "misleading_100": "strongly misleading likelihood ratios (beyond 100)",
}
COMPARED_METHODS = {
    "transvariation": "same-source differences by tp; likelihood ratio of a three-level model and tp",
    "mahalanobis": "Mahalanobis distance within sources, calibrated by held-out sources",
    "astm": "4 s interval of ASTM E2927, standard deviations of the measurements",
    "lir": "lir's two-level model on fragment means, calibrated by held-out sources",
}
UNITS = {"control": "control fragment", "background": "background source"}
SYSTEMS = {"three_level": "three-level model combined with tp", "survey": "continuous ratio by a survey"}
SCALE_NAME = "ENFSI Guideline for Evaluative Reporting in Forensic Science (2015)"
# Upper ends of the verbal scale of the European Network of Forensic Science Institutes.
SCALE = (
    (2, "no support for either proposition"),
    (10, "weak support"),
    (100, "moderate support"),
    (1_000, "moderately strong support"),
    (10_000, "strong support"),
    (1_000_000, "very strong support"),
    (math.inf, "extremely strong support"),
)


def format_p(p: float | None) -> str:
    """Write a p-value with two significant digits, or as below 0.001; a dash for none.

    Examples
    --------
    >>> format_p(0.0471), format_p(0.1), format_p(1.0), format_p(1e-9), format_p(None)
    ('0.047', '0.10', '1.0', '< 0.001', '–')
    """
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:#.2g}"


def p_equals(p: float) -> str:
    """Write a p-value for a sentence.

    Examples
    --------
    >>> p_equals(0.0471), p_equals(1e-9)
    ('p = 0.047', 'p < 0.001')
    """
    return f"p {format_p(p)}" if p < 0.001 else f"p = {format_p(p)}"


def in_words(log10_lr: float) -> str:
    """Put a likelihood ratio on the verbal scale.

    Examples
    --------
    >>> in_words(2.5), in_words(-0.1)
    ('moderately strong support for a common source', 'no support for either proposition')
    """
    words = next(words for end, words in SCALE if 10 ** min(abs(log10_lr), 300.0) <= end)
    if words == SCALE[0][1]:
        return words
    return f"{words} for {'a common source' if log10_lr > 0 else 'different sources'}"


def plural(n: int, unit: str) -> str:
    """Write a number of units.

    Examples
    --------
    >>> plural(1, "row"), plural(3, "row")
    ('1 row', '3 rows')
    """
    return f"{n} {unit}" if n == 1 else f"{n} {unit}s"


def listed(names: Any, shown: int = MAX_NAMES_LISTED) -> str:
    """List names, at most `shown` of them."""
    names = [printable(str(name)) for name in names]
    more = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def headline(result: "CaseResult") -> str:
    """State the conclusions in one sentence."""
    n, model = len(result.conclusions) // max(len(result.cases), 1), result.model
    if not result.cases and all(c.leads == "ratio" for c in result.conclusions):
        common, different = (sum(c.supports is which for c in result.conclusions) for which in (True, False))
        neither = n - common - different
        return (
            f"The likelihood ratio supports a common source with the control for {common} of "
            f"{plural(n, 'recovered fragment')}"
            + (
                f", different sources for {different}, and neither for {neither}."
                if neither
                else f" and different sources for {different}."
            )
        )
    if not model.conclusive:
        few = math.isfinite(model.need)
        why = "too few control fragments and no background" if few else "nothing supports a sensitivity of 1"
        return f"No conclusion: {why} ({plural(n, 'recovered fragment')})."
    if result.joint is not None:
        n = len(result.joint.conclusions)
        excluded = sum(each.accepted is False for each in result.joint.conclusions)
        return f"{excluded} of {plural(n, 'recovered fragment')} excluded from all {len(result.cases)} control sources."
    return f"{len(result.excluded)} of {plural(n, 'recovered fragment')} excluded. {_by_design(n, model)}"


def _by_design(n: int, model: "Model") -> str:
    """State how many fragments of the control's own source would be excluded."""
    level = 1 - model.sensitivity_used
    if model.together > 1:
        return (
            f"If all {n} came from the control's source, one or more would be excluded with a probability of at most "
            f"{min(n * level, 1.0):.2g} by design."
        )
    if n < MANY_FRAGMENTS:
        return f"A fragment of the control's own source is excluded with a probability of {level:.2g} by design."
    return f"If all {n} came from the control's source, about {n * level:.2g} would be excluded by design."


def outcome_words(result: "CaseResult") -> tuple[str, str]:
    """Name the two kinds of conclusions in a figure: those not against the control's source, and those against it."""
    if any(c.leads == "ratio" for c in result.conclusions):
        return "no support for different sources", "support for different sources"
    if not result.model.conclusive:
        return "not different from all control fragments", "different from all control fragments"
    return "not excluded", "excluded"


def verdict(conclusion: "Conclusion") -> str:
    """Name the conclusion in a few words."""
    if conclusion.leads == "ratio":
        return in_words(next(iter(conclusion.log10_lr.values())))
    return {None: "no conclusion", True: "not excluded", False: "excluded"}[conclusion.accepted]


def match_word(conclusion: "Conclusion") -> str:
    """Name the outcome of the ASTM criterion."""
    return {True: "match", False: "no match", None: "–"}[conclusion.match]


def statement(conclusion: "Conclusion", result: "CaseResult") -> str:
    """State in a sentence whether a fragment is excluded; empty if only the likelihood ratio tells anything."""
    if conclusion.leads == "ratio" and conclusion.accepted is None:
        return ""
    if conclusion.p_value is None:
        return "No conclusion: one control fragment does not show how much fragments of its source differ."
    p = p_equals(conclusion.p_value)
    if conclusion.leads == "ratio":
        would = "would not exclude" if conclusion.accepted else "would exclude"
        return f"By itself the comparison with the control {would} the fragment ({p})."
    if conclusion.accepted is None:
        where = "beyond all differences" if conclusion.differs else "within the differences"
        return (
            f"No conclusion: {conclusion.n} {UNITS[conclusion.basis]}s do not support a sensitivity of "
            f"{result.model.sensitivity:g}. The fragment lies {where} between them ({p})."
        )
    if conclusion.basis == "background":
        p += f", by {kind_of_background(result)}"
    if conclusion.accepted:
        return f"Not excluded: the fragment cannot be distinguished from the control ({p})."
    return f"Excluded: the fragment differs from the control more than fragments of one source do ({p})."


def kind_of_background(result: "CaseResult") -> str:
    """Name the sources of the background and their number."""
    table, n = result.inputs.background or {}, result.model.bases["background"].n
    population = f" ({printable(table['population'])})" if table.get("population") else ""
    return f"{plural(n, 'source')} of {printable(PurePath(table['file']).name)}{population}"


def another_source(result: "CaseResult") -> str:
    """Name the alternative: another source of the kind that the background represents."""
    table, survey = result.inputs.background, result.model.survey
    if table is None:
        return "another source"
    n = plural(survey.n if survey else result.model.bases["background"].n, "source")
    file = printable(PurePath(table["file"]).name)
    if population := table.get("population"):
        return f"another source of the kind {printable(population)} ({file}, {n})"
    return f"another source of the kind in {file} ({n})"


def disagreement(conclusion: "Conclusion") -> str:
    """Name the evidence that points the other way; empty if there is none."""
    found = conclusion.disagreements
    if not found:
        return ""
    words = f"The evidence disagrees: {'; '.join(map(_against, found))}."
    if any(each.kind == ("ratio" if conclusion.leads == "exclusion" else conclusion.basis) for each in found):
        words += f" {WHY_RATIO_DISAGREES[conclusion.accepted is False]}"
    elif any(each.kind == "astm" for each in found):
        words += f" {WHY_INTERVAL_DISAGREES}"
    return words


def _against(found: "Disagreement") -> str:
    would = "not be excluded" if found.accepted else "be excluded"
    if found.kind == "astm":
        return f"by the criterion of ± 4 standard deviations it would {would}"
    if found.kind == "ratio":
        return f"the likelihood ratio gives {in_words(found.value or 0.0)}"
    who = "control fragments" if found.kind == "control" else "background"
    return f"calibrated by the {who} the fragment would {would} ({p_equals(found.value or 0.0)})"


def side_text(reason: "Reason") -> str:
    """Say where the value of a variable lies, and whether it differs by itself."""
    side = "equal to the control" if reason.side == "at" else f"{reason.side} the control"
    return f"{side}; differs by itself" if reason.evidence else side


def reason_notes(conclusion: "Conclusion", shown: int, n: int) -> list[str]:
    """Say what to know of the evidence by variable: of `n` variables or regions `shown` are listed."""
    if conclusion.regions is None:
        notes = ["The p-value of a variable is that of a comparison by this variable only, corrected for the number of "
            "variables."]  # fmt: skip
        more = [f"{n - shown} further variables are weaker evidence; the saved JSON file has their values."]
    elif not n:
        end = "; the combination of wavelengths excludes the fragment" if conclusion.outcome is False else ""
        notes, more = [f"The spectrum stays within the band of the control{end}."], []
    else:
        notes, more = [], [f"{n - shown} further regions are weaker evidence; the saved JSON file lists them."]
    return notes + more if n > shown else notes


def table_title(which: str, summary: dict[str, Any], rows: int, variables: tuple[int, int]) -> str:
    """Describe a table that was read, of which some rows and some of its variables are shown."""
    objects, fragments = summary["objects"], summary["fragments"]
    are_replicates = fragments is not None and fragments < objects
    count = f"{fragments} fragments, {objects} rows" if are_replicates else f"{objects} rows, each a fragment"
    sources = f", {plural(summary['sources'], 'source')}" if summary["sources"] else ""
    shown, n = variables
    part = [f"{rows} rows"] if objects > rows else []
    part += [f"{shown} of {n} variables"] if shown < n else []
    words = f" ({', '.join(part)} shown)" if part else ""
    return f"{TABLE_NAMES[which]}: {summary['file']}, {count}{sources}{words}"


def method_words(settings: CaseSettings) -> str:
    """Describe in plain words how fragments are compared with the control."""
    words = METHODS[settings.method]
    if settings.reduce is not None:
        done = f"The variables were reduced to {settings.reduce_to}, {REDUCTIONS[settings.reduce]}"
        words = f"{done}, in every fold of the calibration. {words}"
    if settings.steps is not None:
        from transvariation.preprocessing import make_preprocessing
        from transvariation.preprocessing.steps import STEPS

        steps = [STEPS[step.split(":")[0]].words for step in settings.steps.split(",")]
        learns = any(step.learns for _, step in make_preprocessing(settings.steps).steps)
        how = "learned again in every fold of the calibration" if learns else "spectrum by spectrum"
        words = f"The measurements were preprocessed ({settings.steps}), {how}: {', then '.join(steps)}. {words}"
    return words


def description(result: "CaseResult") -> str:
    """Describe in plain words what the conclusions rest on."""
    return BY_BACKGROUND if result.model.basis == "background" else method_words(result.settings)


def guarantee(result: "CaseResult") -> str:
    """State what the error rate is based on."""
    n = result.model.calibrating.n
    if n == 0:
        return "None: the method was not used."
    return "None: one fragment does not show how fragments differ." if n == 1 else GUARANTEES[result.model.basis]


def warning_texts(result: "CaseResult") -> list[str]:
    """List what to know before relying on the conclusions."""
    return [caution_text(caution, result.settings) for caution in result.warnings]


def caution_text(caution: Caution, settings: CaseSettings) -> str:
    """Put a caution in words."""
    if caution.code == "check":
        from transvariation.casework.checks import Check

        return check_text(Check(**caution.values))
    found = _CAUTIONS[caution.code]
    if isinstance(found, str):
        return found.format(**{name: _shown(value) for name, value in caution.values.items()})
    return found(caution.values, settings)


def _shown(value: Any) -> Any:
    return listed(value) if isinstance(value, list | tuple) else printable(value) if isinstance(value, str) else value


def _few_units(values: dict[str, Any], settings: CaseSettings) -> str:
    n, unit, sensitivity = values["n"], UNITS[values["basis"]], values["sensitivity"]
    there = f"there {'is' if n == 1 else 'are'} {n}"
    together = f" for {values['together']} fragments together" if values.get("together", 1) > 1 else ""
    words = f"A sensitivity of {sensitivity:g}{together} needs at least {values['need']} {unit}s; {there}"
    given = " with several fragments of each source" if values.get("ratio") else ""
    remedies = [f"give a background{given if values['basis'] == 'control' else ' with more sources'}"]
    if values["need"] is None:
        words, remedies = f"No number of {unit}s supports a sensitivity of 1; {there}", []
    if values["conclusive"]:
        used = n / (n + 1)
        words += (
            f". {used:.3g} is used instead, so that {1 - used:.0%} of fragments of the same source would be excluded"
        )
    elif values.get("ratio"):
        words += ", so that no fragment is excluded; the likelihood ratio is the conclusion"
    else:
        words += ", and no conclusion is drawn"
    if values["supported"] >= LOWEST_ADVISED and not together:
        remedies.append(f"use a sensitivity of at most {values['supported']:g}")
    return f"{words}: {', or '.join(remedies)}."


def _excludes_nothing(values: dict[str, Any], settings: CaseSettings) -> str:
    return (
        f"The method {settings.method} can exclude nothing here: no p-value is below {format_p(values['smallest'])}, "
        "however different a fragment is. Use the method neighbor, or fewer variables."
    )


_SIGNS = {  # in which respects a case is unlike its background
    "outside": "the control lies outside its sources",
    "varies-less": "the measurements vary less within a source, so that fragments of other sources escape exclusion "
    "more often than stated",
    "varies-more": "the measurements vary more within a source, so that fragments of the control's source are excluded "
    "more often than stated",
    "pattern": "the replicates vary in other variables",
}


def _measured_otherwise(values: dict[str, Any], settings: CaseSettings) -> str:
    reasons = "; ".join(_SIGNS[sign] for sign in values["signs"]) or "location and variation together are unusual"
    where = f" (in {listed(values['variables'], 8)} beyond all of them)" if values["variables"] else ""
    return (
        f"this case is unlike {printable(values['background'])}: {reasons}{where}. "
        f"{100 * values['share']:.2g}% of its sources are as unlike the others. Check "
        "that both are in the same units and on the same scale, and use a "
        "background of the same laboratory."
    )


def _surely_otherwise(values: dict[str, Any], settings: CaseSettings) -> str:
    return (
        "No likelihood ratios, and the error rates measured on the background do not hold: "
        f"{_measured_otherwise(values, settings)}"
    )


def _perhaps_otherwise(values: dict[str, Any], settings: CaseSettings) -> str:
    return f"The error rates measured on the background may not hold: {_measured_otherwise(values, settings)}"


def _pairs(pairs: Sequence[Sequence[str]], shown: int = 5) -> str:
    words = ", ".join(f"{printable(one)} = {printable(other)}" for one, other in pairs[:shown])
    return words + (f" and {len(pairs) - shown} more" if len(pairs) > shown else "")


def _copies(values: dict[str, Any], settings: CaseSettings) -> str:
    return (
        f"{values['n']} of {values['of']} control fragments equal another one in every variable "
        f"({_pairs(values['pairs'])}). If they are copies of the same measurements, remove them: with copies more "
        "fragments of the same source than stated are excluded."
    )


def _copies_of_recovered(values: dict[str, Any], settings: CaseSettings) -> str:
    return (
        f"{values['n']} of {values['of']} recovered fragments equal another one in every variable "
        f"({_pairs(values['pairs'])}). If they are copies of the same measurements, remove them: one fragment is "
        "counted several times."
    )


def _rows_of_control(values: dict[str, Any], settings: CaseSettings) -> str:
    role = values["role"]
    return (
        f"{values['n']} of {values['of']} {role} rows equal a control row in every variable ({role} = control: "
        f"{_pairs(values['pairs'])}). If they are the same measurements, remove them from the control: not excluding "
        "them has no meaning."
    )


def _much_filled(values: dict[str, Any], settings: CaseSettings) -> str:
    shares = ", ".join(f"{printable(name)} ({share:.0%})" for name, share in values["shares"].items())
    return (
        f"Missing values of {printable(values['table'])} were filled in to a large part: {shares}. A value that was "
        "filled in is no measurement; leave such variables out if the conclusion depends on them."
    )


# By code: a sentence with the values of the caution, or how to make one.
_CAUTIONS: dict[str, str | Callable[[dict[str, Any], CaseSettings], str]] = {
    "survey": "{table} has one value for each of {n} sources: a survey. It shows how sources differ, not how much "
    "fragments of one source do, so that no error rates can be measured on it.",
    "few-units": _few_units,
    "excludes-nothing": _excludes_nothing,
    "background-alone": "The conclusions rest on the background alone, because the method cannot be used with this "
    "control: {reason}.",
    "classifier": "{message}",
    "looks-logged": "The ASTM E2927 criterion was not applied: some measurements are negative, so they are not "
    "concentrations. If they are logarithms (base 10), judge again with --logged (in Python logged=True; on the "
    "page, Measurements); the criterion is then applied to the concentrations.",
    "few-measurements": "The standard deviations of {name} come from {n} measurements of the control; the standard "
    "asks for at least {need}, from at least three fragments.",
    "fewer-replicates-in-background": "Fragments of the case were measured up to {own} times, those of the background "
    "{background} times at most. Only as many replicates of each fragment are compared with the background, the first "
    "ones, because means of more vary less. A background with as many replicates would distinguish more.",
    "measured-otherwise": _surely_otherwise,
    "perhaps-measured-otherwise": _perhaps_otherwise,
    "few-sources-for-ratios": "No likelihood ratios: the background has {n} sources with two or more fragments; at "
    "least {need} are needed.",
    "much-filled": _much_filled,
    "one-control-fragment": "The control is one fragment, {fragment}, measured {replicates} times: replicates do not "
    "show how much fragments of its source differ.",
    "unequal-replicates": "The {role} fragments have {fewest} to {most} replicates; their means are not equally "
    "precise.",
    "copies": _copies,
    "copies-of-recovered": _copies_of_recovered,
    "same-labels": "The {role} table has rows with the same fragment and replicate ({n}, the first: replicate {first})."
    " If they are copies, remove them: replicates are counted several times.",
    "same-tables": "The control and the {role} table are the same: the control is compared with itself. Of a workbook "
    "with several sheets, choose one for each table.",
    "rows-of-control": _rows_of_control,
    "components": "Comparisons with the background use {n} principal components of its {variables} variables "
    "({explained:.1%} of their variance) and the size of the rest.",
    "replicates-as-fragments": "The sources of {table} have one fragment each, so their replicates are used as "
    "fragments. Fragments of one source may differ more than replicates: then more of them than stated are excluded.",
    "constant-in-background": "Comparisons with the background leave out {variables}: fragments of one source of "
    "{table} do not differ there, so that nothing is known of how much they may.",
}

_CHECKS = {  # by name and outcome
    ("replicates", False): "No sign that the replicates of the case vary more than those of the background ({p}).",
    ("replicates", True): "The replicates of the case vary more than those of the background ({p}): check that both "
    "were measured alike. If not, more fragments of the same source than stated are excluded.",
    ("outlying replicate", False): "No control replicate is outlying ({p}).",
    ("outlying replicate", True): "The control replicate {replicate} is outlying in {variable} ({p}); check it.",
    ("drift", False): "No drift of the control measurements over their order ({p}).",
    ("drift", True): "The control measurements drift over their order, most in {variable} ({p}).",
}


def check_text(check: "Check") -> str:
    """State the outcome of a check of the control."""
    p = p_equals(check.p_value)
    if check.name == "homogeneity":
        return _homogeneity(check, p)
    shown = {name: printable(str(value)) for name, value in check.values.items()}
    return _CHECKS[check.name, check.significant].format(p=p, **shown)


def _homogeneity(check: "Check", p: str) -> str:
    words = {
        "background": "differ from each other more than fragments of one background source do",
        "replicates": "differ from each other more than replicates of one fragment do",
        "groups": "fall into two groups",
    }[check.values["against"]]
    ratio, apart = check.values["ratio"], check.values["apart"]
    if ratio is not None:
        words = f"differ from each other {ratio:.1f} times as much as replicates of one fragment do"
        if not check.significant:
            return f"The control fragments {words} ({p}), as fragments of one source may."
    if not check.significant:
        return f"No sign that the control fragments {words} ({p})."
    text = f"The control fragments {words} ({p}): check that they all come from one source."
    if apart:
        names = ", ".join(map(printable, apart[:6])) + (" and others" if len(apart) > 6 else "")
        text += f" The clearest division separates {names} from the rest."
    return text


# What can be done about a problem, in the terms of the command line and of the page. Python's own terms are beside the
# messages, in `tables.problems` and `casework.errors`: an exception says everything by itself.
_CHOOSE_MARK = "if it is the decimal mark, choose the {mark!s} under “Decimal mark”"
_ANY_LENGTH = "the command “transvariation score” takes tables of any length"
_REMEDIES = {
    "within": ("give the standard deviation of measurements of one source (--within), or replicates",
        "give the standard deviation of measurements of one source under “Method”, or replicates"),
    "drop-or-impute": ("choose --missing drop or --missing impute",
        "choose under “Missing values” to leave the row out or to fill in"),
    "drop": ("choose --missing drop", "choose under “Missing values” to leave the row out"),
    "impute": ("try --missing impute", "choose under “Missing values” to fill in"),
    "drop-summary-rows": ("choose --drop-summary-rows", "choose “leave out summary rows”"),
    "fragment-column": ("for replicates of one object give --fragment-column {column}",
        "for replicates of one object choose “fragment” as the role of this column"),
    "give-role": ("give its role, such as --role {column}=fragment, =replicate, =ignore or =measurement",
        "choose its role under “Roles of the columns”"),
    "give-decimal": ("if the {mark!s} is the decimal mark, give --decimal {mark!s}", _CHOOSE_MARK),
    "give-decimal-control": ("if the {mark!s} is the decimal mark, give --control-decimal {mark!s}", _CHOOSE_MARK),
    "give-decimal-recovered": ("if the {mark!s} is the decimal mark, give --recovered-decimal {mark!s}", _CHOOSE_MARK),
    "name-sheet": ("name the sheet to read (--sheet, or --control-sheet, --recovered-sheet, --background-sheet,"
        " --foreign-sheet), or move it to the front", "choose one under “Sheet”"),
    "name-encoding": ("save the file as UTF-8, or name its encoding (--encoding)", "save the file as UTF-8"),
    "read-chunks": (_ANY_LENGTH, _ANY_LENGTH),
    "header-row": ("give --header-row {row!s}", "give it under “Header row”"),
    "numbered-names": ("give --numbered-names replicates or --numbered-names fragments",
        "choose one under “Numbered names”"),
    "install": ("pip install {extra}", "pip install {extra}"),
    "other-method": ("use --method neighbor, fewer variables (--features) or no --reduce",
        "choose the method neighbor, untick variables, or choose no reduction"),
    "background": ("use --method neighbor without --reduce, and give a --background: control fragments are few",
        "choose the method neighbor without a reduction, and give a background: control fragments are few"),
    "no-log": ("leave the variable out (--without), or judge without --log",
        "untick the variable, or judge without logarithms"),
    "log": ("if they are contents, take logarithms (--log without --logged)", "if they are contents, take logarithms"),
    "source-column": ("name the column of the sources (--source-column)",
        "set the role of the column that names the sources"),
    "features": ("name the variables to use (--features)", "untick the variables that the background lacks"),
    "leave-out": ("leave these variables out (--features)", "untick these variables"),
    "no-zeros": ("leave variables with zeros out (--features), or use --linear",
        "untick variables with zeros, or judge without logarithms"),
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


def _option_of_cli(name: str, given: Option | None) -> str:
    return name if given is None else flag_of(name, given)


def _control_of_page(name: str, given: Option | None) -> str:
    return name.replace("_", " ")


_CALLED = {"cli": _option_of_cli, "page": _control_of_page}


def error_text(error: BaseException, front_end: str) -> str:
    """Write an error in the terms of a front end.

    Parameters
    ----------
    error : BaseException
    front_end : {"cli", "page"}

    Returns
    -------
    str
    """
    if isinstance(error, SettingsError):
        return error.text(_CALLED[front_end])
    if isinstance(error, TableError | CaseError):
        return error.text(REMEDIES[front_end])
    return str(error)


def problem_text(problem: Problem, front_end: str) -> str:
    """Write a problem of a table, without its place, in the terms of a front end."""
    return problem.text(REMEDIES[front_end])


def located_text(problem: Problem, front_end: str) -> str:
    """Write a problem or note after its row and column, where the table is known."""
    return replace(problem, table="").located(REMEDIES[front_end])
