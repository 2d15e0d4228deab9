"""State conclusions and evidence, and describe methods, guarantees and tables."""

import math
from pathlib import PurePath
from typing import TYPE_CHECKING

from transvariation.casework.settings import CaseSettings
from transvariation.report.wording.cautions import UNITS
from transvariation.report.wording.numbers import in_words, p_equals, plural
from transvariation.tables.problems import printable

if TYPE_CHECKING:
    from transvariation._typing import Fields
    from transvariation.casework import CaseResult, Conclusion
    from transvariation.casework.decision import Disagreement, Model, Reason

MANY_FRAGMENTS = 10  # recovered fragments: of as many, the number that would be excluded by design is stated
ALONE = "differs by itself in"  # the column of variables that exclude by themselves, corrected for their number
QUESTION = "Could the recovered fragments come from the same source as the control fragments?"
PROPOSITIONS = (
    "The recovered fragment comes from the source of the control fragments.",
    "The recovered fragment comes from another source.",
)
# The question that each answers; by whether the fragment is excluded.
WHY_RATIO_DISAGREES = {
    True: "Both can be true: fragments of the control's source seldom differ this much, and exclusion considers only "
    "that; fragments of other sources are this close even more rarely, and the likelihood ratio weighs the two.",
    False: "Both can be true: fragments of the control's source differ this much often enough not to be excluded; "
    "fragments of other sources are this close more often still, and the likelihood ratio weighs the two.",
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
    "measurements of further fragments or variables pointed elsewhere",
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
METHOD_TEXTS = {
    "neighbor": "A fragment is compared with the control fragments nearest to it. Its transvariation probability (tp) "
    "is the share of control fragments that are at least as far from their own nearest ones, multiplied over several "
    "scalings of the variables.",
    "tocc": "The transvariation probability (tp) of a fragment is the share of control fragments that lie farther from "
    "the center, in its direction and in every variable at once.",
    "pam": "The control fragments are grouped around typical ones. The transvariation probability (tp) of a fragment "
    "is the share of the closest group that lies farther from its center, in every variable at once.",
    "mixture": "The control fragments are described by a mixture of normal distributions. The transvariation "
    "probability (tp) of a fragment is the share of the mixture that lies farther from the center, in its direction.",
    "ddsimca": "The control fragments are described by principal components, as many as Procrustes cross-validation "
    "supports. The score of a fragment is its full distance within and from the components (DD-SIMCA), with a limit "
    "that is calibrated by control fragments left out.",
    "projections": "The control fragments are projected onto many planes in which they lie close together; the score "
    "of a fragment is averaged over the planes.",
}
REDUCTION_TEXTS = {
    "minor": "the combinations of variables in which the control varies least",
    "vip": "the most important variables in projection",
    "varsel": "the variables that a mixture model selects",
}
BY_SURVEY = (
    "Likelihood ratio of one variable (Evett, 1986): how probable the difference between the means of the control and "
    "of the recovered fragment is within one source, divided by the density of the recovered mean among {n:,} surveyed "
    "sources (kernel density). The standard deviation within a source is {within}, {origin}. A survey of {n:,} "
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
DECIMAL_MARKS = {",": "comma: 1,518", ".": "point: 1.518"}
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
FIGURE_WORDS = {
    "distances": "Acceptance plot of DD-SIMCA: distance within the components (score) and from them (orthogonal), "
    "relative to the means of the control fragments. Fragments beyond the solid line are excluded and named; outliers "
    "lie beyond the dotted line. The limits are calibrated by control fragments left out; those drawn are closer, "
    "because the model was fitted to them.",
    "acceptance": "Acceptance plot: p-values of the recovered fragments. Regular fragments, above the line, are not "
    "excluded. Extreme fragments are excluded although at least one control fragment or background source is as "
    "unusual. Outliers are more unusual than all of these.",
    "extremes": "Extremes plot: how many recovered fragments have a p-value of at most each level, against the number "
    "expected if all came from the control's source. Points above the band: more differ than chance explains.",
    "foreign": "Sensitivity and specificity over the threshold: the share of control fragments, each compared with the "
    "others, that are not excluded, and the share of known foreign fragments that are excluded.",
    "aliens": "Aliens plot of DD-SIMCA: how many known foreign fragments lie within each full distance, against the "
    "number that a noncentral chi-square distribution expects. Fragments too far away for it are left out.",
    "selectivity": "Selectivity of DD-SIMCA: the type II error that this distribution expects at each sensitivity of "
    "the published limits.",
    "type_ii": "Type II error of each foreign class or degree of adulteration: the share that is not excluded, with a "
    "95% interval.",
    "spectra": "Recovered fragments over the band of the control{after}. A spectrum of the control's own source stays "
    "in the band at every position with a probability of {share}; regions outside it are shaded.",
    "importance": "Which positions make fragments foreign: the share of the {n} excluded fragments that leave the band "
    "of the control.",
    "fragments": "Control and recovered fragments by {names}{dots}.",
}
SYSTEMS = {"three_level": "three-level model combined with tp", "survey": "continuous ratio by a survey"}


def headline(result: "CaseResult") -> str:
    """State the conclusions in one sentence."""
    n, model = len(result.conclusions) // max(len(result.cases), 1), result.model
    if not result.cases and all(c.leads == "ratio" for c in result.conclusions):
        kinds = {True: "a common source with the control", False: "different sources", None: "neither proposition"}
        counts = {words: sum(c.supports is which for c in result.conclusions) for which, words in kinds.items()}
        first, *more = [(words, count) for words, count in counts.items() if count]
        parts = [f"{first[0]} for {first[1]} of {plural(n, 'recovered fragment')}", *(f"{w} for {k}" for w, k in more)]
        supported = parts[0] if n > 1 else f"{first[0]} for the recovered fragment"
        if more:
            supported = f"{', '.join(parts[:-1])} and {parts[-1]}"
        return f"The likelihood ratio supports {supported}. The alternative is {another_source(result)}."
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
        return f"By itself, the comparison with the control {would} the fragment ({p})."
    if conclusion.accepted is None:
        where = "beyond all differences" if conclusion.differs else "within the differences"
        return (
            f"No conclusion: {conclusion.n} {UNITS[conclusion.basis]}s do not support a sensitivity of "
            f"{result.model.sensitivity:g}. The fragment lies {where} between them ({p})."
        )
    if conclusion.basis == "background":
        name, population = _background(result)
        n = plural(result.model.bases["background"].n, "source")
        p += f", by {n} of {name}{f' ({population})' if population else ''}"
    if conclusion.accepted:
        return f"Not excluded: the fragment cannot be distinguished from the control ({p})."
    return f"Excluded: the fragment differs from the control more than fragments of one source do ({p})."


def another_source(result: "CaseResult") -> str:
    """Name the alternative: another source of the kind that the background represents."""
    if result.inputs.background is None:
        return "another source"
    calibrating = result.model.survey or result.model.bases["background"]
    n = plural(getattr(calibrating, "n_compared", 0) or calibrating.n, "source")
    name, population = _background(result)
    return f"another source of the kind in {name} ({f'{population}, ' if population else ''}{n})"


def _background(result: "CaseResult") -> tuple[str, str]:
    """Return the name and the population of the background."""
    table = result.inputs.background or {}
    return printable(PurePath(table["file"]).name), printable(table.get("population") or "")


def disagreement(conclusion: "Conclusion") -> list[str]:
    """Name the evidence that points the other way, and then the reason; empty if there is none."""
    found = conclusion.disagreements
    if not found:
        return []
    words = [f"The evidence disagrees: {'; '.join(map(_against, found))}."]
    if any(each.kind == ("ratio" if conclusion.leads == "exclusion" else conclusion.basis) for each in found):
        words.append(WHY_RATIO_DISAGREES[conclusion.accepted is False])
    elif any(each.kind == "astm" for each in found):
        words.append(WHY_INTERVAL_DISAGREES)
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


def table_title(which: str, summary: "Fields", rows: int, variables: tuple[int, int]) -> str:
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
    words = METHOD_TEXTS[settings.method]
    if settings.reduce is not None:
        done = f"The variables were reduced to {settings.reduce_to}, {REDUCTION_TEXTS[settings.reduce]}"
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
    if result.model.basis == "background":
        return BY_BACKGROUND
    number = "" if result.distances is None else f" Number of components: {result.distances.n_components}."
    return method_words(result.settings) + number


def guarantee(result: "CaseResult") -> str:
    """State what the error rate is based on."""
    n = result.model.calibrating.n
    if n == 0:
        return "None: the method was not used."
    return "None: one fragment does not show how fragments differ." if n == 1 else GUARANTEES[result.model.basis]
