"""The result of a case: inputs, model, conclusions and provenance, frozen and serialisable as JSON."""

import json
import math
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from transvariation.casework.astm import MatchInterval
from transvariation.casework.fragments import Check, format_p, p_equals
from transvariation.casework.likelihood_ratio import Performance, in_words
from transvariation.casework.spectra import Region, Spectra
from transvariation.casework.variables import MANY
from transvariation.conformal import required_n

SCHEMA = "transvariation-case/2"
ROUNDING = 1e-9  # 1 - 0.9 is slightly less than 0.1
ENOUGH = 30  # control fragments; with fewer, a background includes fewer fragments of other sources
QUESTION = "Could the recovered fragments come from the same source as the control fragments?"
PROPOSITIONS = (
    "The recovered fragment comes from the source of the control fragments.",
    "The recovered fragment comes from another source.",
)
LIMITATIONS = (
    "An excluded fragment differs from the control more than fragments of one source usually differ from each other. "
    "Where it comes from does not follow.",
    "A fragment that is not excluded cannot be distinguished from the control by these measurements. Other sources may "
    "be indistinguishable, too; only a background shows how many.",
    "A p-value is the share of fragments of the control's own source that would differ as much or more. It is not the "
    "probability that the fragment comes from that source.",
    "Error rates hold for fragments that were collected and measured as the control and the background were.",
)


@dataclass(frozen=True)
class Measured:
    """A control fragment and its measurements, as given.

    Attributes
    ----------
    fragment, source : str
    measurements : dict
        Replicates by variable.
    """

    fragment: str
    source: str | None
    measurements: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Inputs:
    """What was compared.

    Attributes
    ----------
    case : dict
        Case number, items, laboratory, examiner, reviewer and dates, as far as they were given.
    control, recovered, background : dict or None
        What was read from each table: file, SHA-256, numbers of rows, fragments and sources, roles of the columns, rows
        left out, and notes.
    features : tuple of str
        All variables compared.
    units : dict
        By variable, where the tables state them.
    log : bool
        Whether logarithms were taken.
    known : tuple of Measured
        The control fragments.
    checks : tuple of Check
        Checks of the control.
    logged : bool
        Whether the tables already held logarithms.
    """

    case: dict[str, str]
    control: dict[str, Any]
    recovered: dict[str, Any]
    background: dict[str, Any] | None
    features: tuple[str, ...]
    units: dict[str, str]
    log: bool
    known: tuple[Measured, ...]
    checks: tuple[Check, ...]
    logged: bool = False


@dataclass(frozen=True)
class Calibration:
    """How one kind of evidence is calibrated.

    Attributes
    ----------
    n : int
        The number of calibrating units: control fragments or background sources.
    smallest_p_value : float
        The smallest p-value that can occur.
    description : str
        What is computed, in plain words.
    guarantee : str
        What the error rate is based on.
    rates : dict
        Measured on a background, as lists: ``sensitivity``, ``false_exclusion`` (share of same-source comparisons that
        are excluded) and ``false_inclusion`` (share of different-source comparisons that are not). Empty without one.
    """

    n: int
    smallest_p_value: float
    description: str
    guarantee: str
    rates: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def error_rates(self, sensitivity: float) -> tuple[float | None, float | None]:
        """Return the measured false exclusion and false inclusion at a sensitivity; None without a background."""
        if not self.rates:
            return None, None
        at = min(range(len(self.rates["sensitivity"])), key=lambda i: abs(self.rates["sensitivity"][i] - sensitivity))
        return self.rates["false_exclusion"][at], self.rates["false_inclusion"][at]


@dataclass(frozen=True)
class Criterion:
    """The ASTM E2927 criterion as used.

    Attributes
    ----------
    multiplier, min_rsd : float
        Half the width of an interval in standard deviations, and the smallest relative standard deviation.
    false_exclusion, false_inclusion : float or None
        Its error rates as measured on the background; None without one.
    """

    multiplier: float
    min_rsd: float
    false_exclusion: float | None
    false_inclusion: float | None


@dataclass(frozen=True)
class Variables:
    """The variables that the classifier of control fragments uses.

    Attributes
    ----------
    used, unused : tuple of str
        Those used, and those that a reduction left out.
    combinations : int
        How many combinations of the variables a reduction formed; 0 if they are used as they are.
    """

    used: tuple[str, ...]
    unused: tuple[str, ...] = ()
    combinations: int = 0


@dataclass(frozen=True, kw_only=True)
class Model:
    """How the fragments were compared.

    Attributes
    ----------
    method, reduce : str
        The classifier of control fragments, and the reduction before it.
    preprocess : str or None
        The steps of preprocessing before both.
    variables : Variables
    sensitivity : float
        As requested.
    sensitivity_used : float
        The same, or the largest that the calibrating units support.
    basis : {"control", "background"}
        What calibrates the conclusions.
    false_exclusion, false_inclusion : float or None
        Error rates measured on the background at the sensitivity used; None if the control calibrates.
    conclusive : bool
        False if neither the control nor a background supports the requested sensitivity.
    calibrations : dict
        The available kinds of evidence by basis.
    criterion : Criterion
    likelihood : dict
        Performance of each likelihood-ratio system on the background.
    seed : int
    """

    method: str
    reduce: str | None
    variables: Variables
    sensitivity: float
    calibrations: dict[str, Calibration]
    criterion: Criterion
    likelihood: dict[str, Performance]
    seed: int
    preprocess: str | None = None
    # Set by CaseResult.at:
    sensitivity_used: float = 0.0
    basis: str = "control"
    conclusive: bool = False
    false_exclusion: float | None = None
    false_inclusion: float | None = None


@dataclass(frozen=True, kw_only=True)
class Reason:
    """How one variable of a recovered fragment compares with the control.

    Attributes
    ----------
    variable : str
        Its name.
    value, control : float
        The mean of the fragment, and the mean of the control fragments, as given; of spectra after preprocessing
        without derivatives.
    side : {"below", "at", "above"}
        Where the value lies, relative to the control mean.
    deviation : float
        From the control mean, in standard deviations of the control fragments; at most a million.
    p_values : dict
        By basis: the p-value of a comparison by this variable only; of more than 100 variables always by the control.
    evidence : bool
        Whether this variable by itself would exclude the fragment at the same sensitivity.
    """

    variable: str
    value: float
    control: float
    side: str
    p_values: dict[str, float]
    deviation: float = 0.0
    evidence: bool = False


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """The conclusion on one recovered fragment, and the evidence for it.

    Attributes
    ----------
    fragment, source : str
        The name of the fragment, and that of its source if the table has one.
    accepted : bool
        Whether the fragment is not excluded.
    p_value : float
        The share of fragments of the control's own source that would differ as much or more.
    basis : {"control", "background"}
        What calibrates the p-value.
    n : int
        How many units calibrate the p-value.
    log10_lr : dict
        Likelihood ratios by system; empty without a background.
    bound : dict
        "at least" or "at most" for a ratio at the bound of what the background supports.
    match : bool or None
        The ASTM E2927 criterion; None where it does not apply.
    intervals : tuple of MatchInterval
        The criterion by element.
    reasons : tuple of Reason
        The strongest evidence first; of more than 100 variables, the ten most telling variables only.
    spectrum : tuple of float
        The fragment as in `CaseResult.spectra`; empty if the variables are not a spectrum.
    regions : tuple of Region or None
        Where its spectrum leaves the band of the control at this sensitivity, the largest deviation first; None if
        there is no band.
    measurements : dict
        Replicates by variable, as given.
    p_values : dict
        The p-values of every basis.
    tp : float or None
        Transvariation probability by the method, where it has one.
    statement : str
        The conclusion in a sentence.
    disagreement : str
        A sentence on evidence that points the other way; empty if there is none.
    """

    fragment: str
    source: str | None
    log10_lr: dict[str, float]
    bound: dict[str, str]
    match: bool | None
    intervals: tuple[MatchInterval, ...]
    reasons: tuple[Reason, ...]
    measurements: dict[str, tuple[float, ...]]
    p_values: dict[str, float]
    tp: float | None
    spectrum: tuple[float, ...] = ()
    # Set by CaseResult.at:
    regions: tuple[Region, ...] | None = None
    accepted: bool = True
    p_value: float = 1.0
    basis: str = "control"
    n: int = 0
    statement: str = ""
    disagreement: str = ""

    @property
    def evidence(self) -> tuple[str, ...]:
        """The variables that would exclude the fragment by themselves, strongest first; of spectra the regions."""
        if self.regions is not None:
            return tuple(map(str, self.regions))
        return tuple(reason.variable for reason in self.reasons if reason.evidence)

    @property
    def words(self) -> dict[str, str]:
        """The likelihood ratios on the verbal scale."""
        return {system: in_words(value) for system, value in self.log10_lr.items()}


@dataclass(frozen=True)
class Group:
    """Recovered fragments that cannot be distinguished from each other, and their joint evidence.

    Groups are formed at a sensitivity of 0.9, whatever the sensitivity of the conclusions.

    Attributes
    ----------
    fragments : tuple of str
    p_values : dict
        Of all of them together, by basis.
    log10_lr, bound : dict
        Their joint likelihood ratios by system, and "at least" or "at most" for those at a bound.
    accepted : bool
        Whether the group is not excluded.
    """

    fragments: tuple[str, ...]
    p_values: dict[str, float]
    log10_lr: dict[str, float]
    bound: dict[str, str]
    accepted: bool = True


@dataclass(frozen=True)
class CaseResult:
    """A judged case.

    Attributes
    ----------
    inputs : Inputs
        What was compared.
    model : Model
        How it was compared.
    conclusions : tuple of Conclusion
        One per recovered fragment.
    groups : tuple of Group
        Sets of two or more recovered fragments that belong together.
    warnings : tuple of str
        What to know before relying on the conclusions, at this sensitivity.
    cautions : tuple of str
        Those of the warnings that hold at every sensitivity.
    provenance : dict
        Command, seed and versions.
    spectra : Spectra or None
        The control spectra, if the variables are a spectrum.
    """

    inputs: Inputs
    model: Model
    conclusions: tuple[Conclusion, ...]
    groups: tuple[Group, ...]
    warnings: tuple[str, ...]
    cautions: tuple[str, ...]
    provenance: dict[str, str]
    spectra: Spectra | None = None

    @property
    def excluded(self) -> tuple[Conclusion, ...]:
        """The conclusions that exclude a fragment."""
        return tuple(conclusion for conclusion in self.conclusions if not conclusion.accepted)

    @property
    def headline(self) -> str:
        """The conclusions in one sentence."""
        n, excluded = len(self.conclusions), len(self.excluded)
        noun = "fragment" if n == 1 else "fragments"
        if not self.model.conclusive:
            return f"No conclusion: too few control fragments and no background ({n} recovered {noun})."
        return f"{excluded} of {n} recovered {noun} excluded."

    def at(self, sensitivity: float) -> "CaseResult":
        """Return the same case at another sensitivity, as `judge` would conclude at that one.

        Parameters
        ----------
        sensitivity : float in (0, 1]
            The share of fragments of the control's own source that should not be excluded.
        """
        need = required_n(sensitivity)
        basis, conclusive = choose_basis(self.model.calibrations, need)
        calibration = self.model.calibrations[basis]
        used = min(sensitivity, calibration.n / (calibration.n + 1))
        exclusion, inclusion = calibration.error_rates(used)
        model = replace(
            self.model,
            sensitivity=float(sensitivity),
            sensitivity_used=used,
            basis=basis,
            conclusive=conclusive,
            false_exclusion=exclusion,
            false_inclusion=inclusion,
        )
        alpha = 1 - used + ROUNDING
        return replace(
            self,
            model=model,
            conclusions=tuple(_concluded(c, model, need, self.spectra) for c in self.conclusions),
            groups=tuple(replace(g, accepted=g.p_values[basis] > alpha) for g in self.groups),
            warnings=(*_warnings(model, need), *self.cautions),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values; the key ``schema`` names the format."""
        return {"schema": SCHEMA} | asdict(self)

    def to_json(self) -> str:
        """Write `to_dict` as JSON, on one line if there are many variables, which halves its length."""
        indent = 1 if len(self.inputs.features) <= MANY else None
        return json.dumps(self.to_dict(), indent=indent) + "\n"

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "CaseResult":
        """Build a result from `to_dict` or from the JSON file of a case.

        Parameters
        ----------
        content : dict
            What `to_dict` returned, or what ``json.load`` returned for the file.
        """
        values = dict(content)
        if values.pop("schema", None) != SCHEMA:
            raise ValueError(f"not a case of this program: the key 'schema' should be {SCHEMA!r}")
        return _built(cls, values)


def _built(kind: Any, value: Any) -> Any:
    """Build a value of an annotated type from JSON values."""
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(**{f.name: _built(hints[f.name], value[f.name]) for f in fields(kind) if f.name in value})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return value if value is None else _built(arguments[0], value)
    if origin is tuple:
        return tuple(value if arguments[0] is float else (_built(arguments[0], item) for item in value))
    if origin is dict and value is not None:
        return {key: _built(arguments[1], item) for key, item in value.items()}
    return value


def choose_basis(calibrations: dict[str, Calibration], need: float) -> tuple[str, bool]:
    """Choose what calibrates the conclusions, and return whether it has as many units as the sensitivity needs.

    The background, if it supports the sensitivity and the control has few fragments; else the control fragments, if
    they support it. Without either, the conclusions are not conclusive.
    """
    few = calibrations["control"].n < max(need, ENOUGH)
    if "background" in calibrations and few and calibrations["background"].n >= need:
        return "background", True
    if calibrations["control"].n >= need:
        return "control", True
    if "background" in calibrations:
        return "background", math.isfinite(need)
    return "control", False


def _concluded(conclusion: Conclusion, model: Model, need: float, spectra: Spectra | None) -> Conclusion:
    alpha = 1 - model.sensitivity_used + ROUNDING
    p = conclusion.p_values[model.basis]
    reasons = tuple(replace(r, evidence=r.p_values[model.basis] <= alpha) for r in conclusion.reasons)
    reasons = tuple(sorted(reasons, key=lambda r: (r.p_values[model.basis], -abs(r.deviation), r.variable)))
    decided = replace(
        conclusion,
        accepted=p > alpha,
        p_value=p,
        basis=model.basis,
        n=model.calibrations[model.basis].n,
        reasons=reasons,
        regions=None if spectra is None else spectra.regions(conclusion.spectrum, model.sensitivity_used),
    )
    return replace(decided, statement=_statement(decided, model), disagreement=_disagreement(decided, model, need))


def _statement(conclusion: Conclusion, model: Model) -> str:
    p = p_equals(conclusion.p_value)
    if not model.conclusive and conclusion.n < 2:
        return "No conclusion: one control fragment does not show how much fragments of its source differ."
    if not model.conclusive:
        where = "within the differences" if conclusion.accepted else "beyond all differences"
        return (
            f"No conclusion: {conclusion.n} control fragments do not support a sensitivity of {model.sensitivity:g}. "
            f"The fragment lies {where} between them ({p})."
        )
    if conclusion.accepted:
        return f"Not excluded: the fragment cannot be distinguished from the control ({p})."
    return f"Excluded: the fragment differs from the control more than fragments of one source do ({p})."


def _disagreement(conclusion: Conclusion, model: Model, need: float) -> str:
    """Name the evidence that points the other way."""
    if not model.conclusive:
        return ""
    against = []
    for basis, p in conclusion.p_values.items():
        calibration = model.calibrations[basis]
        supported = calibration.n >= need
        if basis != conclusion.basis and supported and (p > 1 - model.sensitivity + ROUNDING) != conclusion.accepted:
            who = "control fragments" if basis == "control" else "background"
            against.append(
                f"calibrated by the {who} the fragment would {_verdict(not conclusion.accepted)} ({p_equals(p)})"
            )
    if conclusion.match is not None and conclusion.match != conclusion.accepted:
        against.append(f"by the ASTM E2927 criterion it would {_verdict(conclusion.match)}")
    for value in conclusion.log10_lr.values():
        if abs(value) > math.log10(2) and (value > 0) != conclusion.accepted:
            against.append(f"the likelihood ratio gives {in_words(value)}")
    return f"The evidence disagrees: {'; '.join(against)}." if against else ""


def _verdict(accepted: bool) -> str:
    return "not be excluded" if accepted else "be excluded"


def _warnings(model: Model, need: float) -> list[str]:
    """List what limits the conclusions at this sensitivity."""
    calibration, found = model.calibrations[model.basis], []
    unit = "control fragments" if model.basis == "control" else "background sources"
    if calibration.n < need:
        remedy = "Give a background" if model.basis == "control" else "Give a background with more sources"
        there = f"there {'is' if calibration.n == 1 else 'are'} {calibration.n}."
        words = f"A sensitivity of {model.sensitivity:g} needs at least {need:.0f} {unit}; {there}"
        if not math.isfinite(need):
            words, remedy = f"No number of {unit} supports a sensitivity of 1; {there}", "Use a lower sensitivity"
        if calibration.n > 1:
            words += (
                f" {model.sensitivity_used:.3g} is used instead, so that {1 - model.sensitivity_used:.0%} of fragments "
                "of the same source would be excluded."
            )
            remedy += ", or use a lower sensitivity" if math.isfinite(need) else ""
        found.append(f"{words} {remedy}.")
    elif calibration.smallest_p_value > 1 - model.sensitivity + ROUNDING:
        found.append(
            f"The method {model.method} can exclude nothing here: no p-value is below "
            f"{format_p(calibration.smallest_p_value)}, however different a fragment is. Use the method neighbor, or "
            "fewer variables."
        )
    return found
