"""Put steps of a computation, findings in a database and differences between two computations in words."""

from transvariation.casework.audit import Difference
from transvariation.casework.database import Finding
from transvariation.casework.progress import ProgressStep
from transvariation.report.wording.numbers import listed

_STEPS = {
    "reading": "reading the tables",
    "background": "comparing with the background, fragment {fragment} of {of}",
    "control": "comparing {recovered} recovered with {control} control fragments",
    "checks": "checking the control",
    "validation": "comparing sources that were left out",
}
_FINDINGS = {
    "duplicates": "{n} rows repeat the measurements of another row exactly",
    "replicates": "{n} rows share source, fragment and replicate with another row",
    "outlying replicate": "measurements more than {far:g} robust standard deviations from the others: {variables}",
    "outlying source": "sources more than {far:g} robust standard deviations from the others: {variables}",
    "units": "the medians of the tables differ by more than a factor of {factor:g}: {variables}; check the units",
    "drift": "values change with the order of measurement: {variables}",
    "missing": "values are missing or below detection: {variables}",
}


def step_text(step: ProgressStep) -> str:
    """Name a step of a computation, after the case and the control source that it belongs to.

    Examples
    --------
    >>> step_text(ProgressStep("control", {"recovered": 3, "control": 40}, within=("2026/117",)))
    '2026/117: comparing 3 recovered with 40 control fragments'
    """
    return ": ".join([*step.within, _STEPS[step.code].format(**step.values)])


def finding_text(finding: Finding) -> str:
    """State what a check of a database found, and some of the sources concerned."""
    counts = {"missing": " ({:.1%})"}.get(finding.check, " {}")
    by_variable = finding.values.get("by_variable", {})
    variables = [name + (counts.format(by_variable[name]) if by_variable else "") for name in finding.variables]
    text = _FINDINGS[finding.check].format(**finding.values, variables=", ".join(variables))
    return f"{text} ({listed(finding.sources, 5)})" if finding.sources else text


def difference_text(found: Difference) -> str:
    """State in what a saved and a recomputed value differ."""
    place = found.place.removeprefix(".")
    if found.saved is None or found.recomputed is None:
        return f"{place}: only in what was {'recomputed' if found.saved is None else 'saved'}"
    values = f"{found.saved} saved, {found.recomputed} recomputed"
    if found.of == 1:
        return f"{place}: {values}"
    return f"{place}: {found.n} of {found.of} values differ; the first: {values}"
