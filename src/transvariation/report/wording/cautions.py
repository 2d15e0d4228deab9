"""Put in words what a computation reports: its steps, cautions, checks, findings in a database, differences."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from transvariation.casework.errors import Caution
from transvariation.casework.settings import CaseSettings
from transvariation.report.wording.numbers import format_p, listed, p_equals
from transvariation.tables.problems import printable

if TYPE_CHECKING:
    from transvariation._typing import Fields
    from transvariation.casework import CaseResult
    from transvariation.casework.audit import Difference
    from transvariation.casework.checks import Check
    from transvariation.casework.database import Finding
    from transvariation.casework.progress import ProgressStep

LOWEST_ADVISED = 0.9  # sensitivity: no one is advised to exclude more than a tenth of fragments of the same source
UNITS = {"control": "control fragment", "background": "background source"}


def warning_texts(result: "CaseResult") -> list[str]:
    """List what to know before relying on the conclusions; of several control sources, also what holds for some."""
    texts = [caution_text(caution, result.settings) for caution in result.warnings]
    own = zip(() if result.joint is None else result.joint.sources, map(warning_texts, result.cases), strict=True)
    more = {f"{printable(source)}: {text}": None for source, found in own for text in found if text not in texts}
    return [*texts, *more]


def caution_text(caution: Caution, settings: CaseSettings) -> str:
    """Put a caution in words."""
    if caution.code == "check":
        from transvariation.casework.checks import Check

        return check_text(Check(**caution.values))
    found = _CAUTIONS[caution.code]
    if isinstance(found, str):
        return found.format(**{name: _shown(value) for name, value in caution.values.items()})
    return found(caution.values, settings)


def _shown(value: object) -> object:
    if isinstance(value, dict):  # shares
        return ", ".join(f"{printable(name)} ({share:.0%})" for name, share in value.items())
    if isinstance(value, list | tuple):
        are_pairs = value and isinstance(value[0], list | tuple)
        return listed([" = ".join(pair) for pair in value], 5) if are_pairs else listed(value)
    return printable(value) if isinstance(value, str) else value


def _few_units(values: "Fields", settings: CaseSettings) -> str:
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


def _excludes_nothing(values: "Fields", settings: CaseSettings) -> str:
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


def _measured_otherwise(consequence: str, values: "Fields", settings: CaseSettings) -> str:
    reasons = "; ".join(_SIGNS[sign] for sign in values["signs"]) or "location and variation together are unusual"
    where = f" (in {listed(values['variables'], 8)} beyond all of them)" if values["variables"] else ""
    return (
        f"{consequence}: this case is unlike {printable(values['background'])}: {reasons}{where}. "
        f"At most {100 * values['share']:.2g}% of its sources are as unlike the others. Check that both are in the "
        "same units and on the same scale, and use a background of the same laboratory."
    )


# By code: a sentence with the values of the caution, or how to make one.
_CAUTIONS: dict[str, str | Callable[["Fields", CaseSettings], str]] = {
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
    "few-measurements": "{name}: the standard deviations come from {n} measurements of the control; at least {need} "
    "are required, of three or more fragments where possible.",
    "fewer-replicates-in-background": "Fragments of the case have up to {own} replicates, those of the background no "
    "more than {background}. Only as many of each fragment, the first ones, are compared with the background, because "
    "means of more vary less. A background with as many replicates would distinguish more.",
    "measured-otherwise": partial(
        _measured_otherwise, "No likelihood ratios, and the error rates measured on the background do not hold"
    ),
    "perhaps-measured-otherwise": partial(
        _measured_otherwise, "The error rates measured on the background may not hold"
    ),
    "another-laboratory": "The background is a sample of {population}, measured by the Netherlands Forensic Institute "
    "(NFI), once per fragment. Its error rates and likelihood ratios hold for such a population, measured "
    "as there. Panes of one maker are far more alike: more of them than stated are not excluded. "
    "Use a background of your own laboratory.",
    "few-sources-for-ratios": "No likelihood ratios: the background has {n} sources with two or more fragments; at "
    "least {need} are needed.",
    "much-filled": "Missing values of {table} were filled in to a large part: {shares}. A value that was filled in is "
    "no measurement; leave such variables out if the conclusion depends on them.",
    "one-control-fragment": "The control is one fragment, {fragment}, measured {replicates} times: replicates do not "
    "show how much fragments of its source differ.",
    "unequal-replicates": "The {role} fragments have {fewest} to {most} replicates; their means are not equally "
    "precise.",
    "copies": "Equal to another control fragment in every variable: {n} of {of} ({pairs}). If they are copies of the "
    "same measurements, remove them: with copies more fragments of the same source than stated are excluded.",
    "copies-of-recovered": "Equal to another recovered fragment in every variable: {n} of {of} ({pairs}). If they are "
    "copies of the same measurements, remove them: one fragment is counted several times.",
    "same-labels": "The {role} table has rows with the same fragment and replicate ({n}, the first: replicate "
    "{replicate} of {fragment} in rows {rows}). If they are copies, remove them: replicates are counted several times.",
    "same-tables": "The control and the {role} table are the same: the control is compared with itself. Of a workbook "
    "with several sheets, choose one for each table.",
    "rows-of-control": "Equal to a control row in every variable: {n} of {of} {role} rows ({role} = control: {pairs}). "
    "If they are the same measurements, remove them from the control: not excluding them has no meaning.",
    "control-in-background": "Equal to a background row in every variable: {n} of {of} control rows (control = "
    "background: {pairs}). If they are the same measurements, leave their source out of the background: it is no "
    "other source.",
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


_STEPS = {
    "reading": "reading the tables",
    "background": "comparing with the background, fragment {fragment} of {of}",
    "control": "comparing {recovered} recovered with {control} control fragments",
    "checks": "checking the control",
    "validation": "comparing sources that were left out",
}
_FINDINGS = {
    "duplicates": "rows that repeat the measurements of another row exactly: {n}",
    "replicates": "rows that share source, fragment and replicate with another row: {n}",
    "outlying replicate": "measurements more than {far:g} robust standard deviations from the others: {variables}",
    "outlying source": "sources more than {far:g} robust standard deviations from the others: {variables}",
    "units": "the medians of the tables differ by more than a factor of {factor:g}: {variables}; check the units",
    "drift": "values change with the order of measurement: {variables}",
    "missing": "values are missing or below detection: {variables}",
}


def step_text(step: "ProgressStep") -> str:
    """Name a step of a computation, after the case and the control source that it belongs to.

    Examples
    --------
    >>> from transvariation.casework.progress import ProgressStep
    >>> step_text(ProgressStep("control", {"recovered": 3, "control": 40}, within=("2026/117",)))
    '2026/117: comparing 3 recovered with 40 control fragments'
    """
    return ": ".join([*step.within, _STEPS[step.code].format(**step.values)])


def finding_text(finding: "Finding") -> str:
    """State what a check of a database found, and some of the sources concerned."""
    counts = {"missing": " ({:.1%})"}.get(finding.check, " {}")
    by_variable = finding.values.get("by_variable", {})
    variables = [name + (counts.format(by_variable[name]) if by_variable else "") for name in finding.variables]
    text = _FINDINGS[finding.check].format(**finding.values, variables=", ".join(variables))
    return f"{text} ({listed(finding.sources, 5)})" if finding.sources else text


def difference_text(found: "Difference") -> str:
    """State in what a saved and a recomputed value differ."""
    place = found.place.removeprefix(".")
    if found.saved is None or found.recomputed is None:
        return f"{place}: only in what was {'recomputed' if found.saved is None else 'saved'}"
    values = f"{found.saved} saved, {found.recomputed} recomputed"
    if found.of == 1:
        return f"{place}: {values}"
    return f"{place}: {found.n} of {found.of} values differ; the first: {values}"
