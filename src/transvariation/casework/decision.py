"""Decide what calibrates, which fragments are excluded, and which evidence disagrees.

Figures, reports and the page ask this module; `transvariation.conformal.is_accepted` makes the comparison.
"""

import math
from dataclasses import dataclass, field, fields, replace

from transvariation._typing import Fields
from transvariation.casework.astm import Criterion
from transvariation.casework.background.performance import Performance
from transvariation.casework.background.rates import Rate
from transvariation.casework.background.survey import Survey
from transvariation.casework.errors import Caution
from transvariation.casework.evidence import Basis, FragmentEvidence, GroupEvidence, VariableEvidence, Variables
from transvariation.casework.spectra import Region, Spectra
from transvariation.certificate import required_n
from transvariation.conformal import ROUNDING_ERROR, is_accepted

MIN_CONTROL_TO_CALIBRATE_ALONE = 30  # with fewer, a background includes fewer fragments of other sources


@dataclass(frozen=True, kw_only=True)
class Model:
    """How the fragments were compared, and what calibrates the conclusions at a sensitivity.

    Attributes
    ----------
    variables : Variables
    bases : dict
        The available kinds of evidence: ``"control"``, and ``"background"`` if there is one.
    criterion : Criterion
    likelihood : dict
        Performance of each likelihood-ratio system on the background.
    sensitivity : float
        As requested.
    sensitivity_used : float
        The same, or the largest that the calibrating units support.
    basis : {"control", "background"}
        What calibrates the conclusions.
    lead : {"exclusion", "ratio"}
        What the conclusion on a fragment is: whether it is excluded, or its likelihood ratio where it has one.
    survey : Survey or None
        The survey that gives the likelihood ratios, if the background has one value per source.
    together : int
        The number of fragments for which the sensitivity holds together; 1 if it holds for each.
    conclusive : bool
        False if neither the control nor a background supports the requested sensitivity.
    exclusion, inclusion : Rate or None
        False exclusions and false inclusions measured on the background at the sensitivity used; None if the control
        calibrates.
    """

    variables: Variables
    bases: dict[str, Basis]
    criterion: Criterion
    likelihood: dict[str, Performance]
    sensitivity: float
    sensitivity_used: float = field(init=False)
    basis: str = field(init=False)
    conclusive: bool = field(init=False)
    exclusion: Rate | None = field(init=False)
    inclusion: Rate | None = field(init=False)
    lead: str = "exclusion"
    together: int = 1
    survey: Survey | None = None

    def __post_init__(self) -> None:
        """Decide what calibrates at the sensitivity, and at which one it can."""
        basis, conclusive = _choose_basis(self.bases, self.need)
        n = self.bases[basis].n
        used = min(self.of_each, n / (n + 1))
        exclusion, inclusion = self.bases[basis].measured_rates(used) if conclusive else (None, None)
        self.__dict__.update(
            sensitivity_used=used, basis=basis, conclusive=conclusive, exclusion=exclusion, inclusion=inclusion
        )

    @property
    def of_each(self) -> float:
        """The sensitivity for each fragment: as requested, or so high that it holds for several together."""
        # The share that may be excluded is divided among them (Bonferroni).
        return self.sensitivity if self.together == 1 else 1 - (1 - self.sensitivity) / self.together

    @property
    def need(self) -> float:
        """How many calibrating units the sensitivity needs."""
        return required_n(self.of_each)

    @property
    def calibrating(self) -> Basis:
        """What calibrates the conclusions."""
        return self.bases[self.basis]

    def at(self, sensitivity: float) -> "Model":
        """Decide what calibrates at another sensitivity."""
        return replace(self, sensitivity=float(sensitivity))

    def cautions(self) -> list[Caution]:
        """List what limits the conclusions at this sensitivity."""
        n, smallest = self.calibrating.n, self.calibrating.smallest_p_value
        if n < self.need:
            need = None if math.isinf(self.need) else int(self.need)
            supported = math.floor(1000 * self.sensitivity_used + ROUNDING_ERROR) / 1000
            return [
                Caution.of(
                    "few-units",
                    basis=self.basis,
                    n=n,
                    need=need,
                    sensitivity=self.sensitivity,
                    together=self.together,
                    supported=supported,
                    conclusive=self.conclusive,
                    ratio=bool(self.likelihood) or self.survey is not None,
                )
            ]
        if is_accepted(smallest, self.of_each):
            return [Caution.of("excludes-nothing", smallest=smallest)]
        return []


def _choose_basis(bases: dict[str, Basis], need: float) -> tuple[str, bool]:
    """Choose what calibrates the conclusions, and return whether it has as many units as the sensitivity needs.

    The background, if it supports the sensitivity and the control has few fragments; else the control fragments, if
    they support it. Without either, the conclusions are not conclusive.
    """
    few = bases["control"].n < max(need, MIN_CONTROL_TO_CALIBRATE_ALONE)
    if "background" in bases and few and bases["background"].n >= need:
        return "background", True
    if bases["control"].n >= need:
        return "control", True
    if "background" in bases:
        return "background", math.isfinite(need)
    return "control", False


@dataclass(frozen=True, kw_only=True)
class Reason(VariableEvidence):
    """How one variable of a recovered fragment compares with the control, at a sensitivity.

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
        By basis: the p-value of a comparison by this variable only, corrected for the number of variables; of more than
        100 variables by the control only. Empty if the variable is no evidence because its values were filled in.
    evidence : bool
        Whether the fragment is excluded and this variable by itself would do so at the same sensitivity.
    """

    evidence: bool


@dataclass(frozen=True, kw_only=True)
class Disagreement:
    """Evidence that points the other way.

    Attributes
    ----------
    kind : {"control", "background", "astm", "ratio"}
        The other basis, the ASTM E2927 criterion, or a likelihood ratio.
    accepted : bool
        What it points to.
    value : float or None
        The p-value by the other basis, or the log10 likelihood ratio.
    """

    kind: str
    accepted: bool
    value: float | None


@dataclass(frozen=True, kw_only=True)
class Conclusion(FragmentEvidence):
    """The conclusion on one recovered fragment, and the evidence for it.

    Attributes
    ----------
    fragment, source : str
        The name of the fragment, and that of its source if the table has one.
    control : str or None
        The control source that it was compared with, where the control table has several.
    accepted : bool or None
        Whether the fragment is not excluded; None if no conclusion is drawn.
    differs : bool or None
        Whether its p-value is at most 1 - `sensitivity_used`, conclusive or not; None without a p-value.
    p_value : float or None
        The share of fragments of the control's own source that would differ as much or more; None if there is nothing
        to tell it, as with a single control fragment and no background.
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
    disagreements : tuple of Disagreement
        Evidence that points the other way.
    leads : {"exclusion", "ratio"}
        What the conclusion is; a fragment without a likelihood ratio is excluded or not, and where nothing can be
        excluded the ratio leads.
    t_test : float or None
        The p-value of Student's t-test against the control, if the background is a survey of one variable.
    supports : bool or None
        Whether the likelihood ratio supports a common source (above 2) or different sources (below 1/2); None if it
        supports neither, or if there is none.
    spectrum : tuple of float
        The fragment as in `CaseResult.spectra`; empty if the variables are not a spectrum.
    regions : tuple of Region or None
        Where its spectrum leaves the band of the control at this sensitivity, the largest deviation first; None if
        there is no band.
    measurements : dict
        Replicates by variable, as given.
    p_values : dict
        The p-values of every basis that has one.
    tp : float or None
        Transvariation probability by the method, where it has one.

    See Also
    --------
    transvariation.casework.CaseResult : The case.
    """

    reasons: tuple[Reason, ...]
    accepted: bool | None
    differs: bool | None
    p_value: float | None
    basis: str
    n: int
    regions: tuple[Region, ...] | None
    disagreements: tuple[Disagreement, ...]
    leads: str = "exclusion"
    supports: bool | None = None

    @property
    def outcome(self) -> bool | None:
        """Whether the conclusion is for the control's source (True), against it (False) or neither."""
        return self.supports if self.leads == "ratio" else self.accepted

    @property
    def evidence(self) -> tuple[str, ...]:
        """The variables in which an excluded fragment differs by itself, strongest first; of spectra the regions."""
        if self.accepted is not False:
            return ()
        if self.regions is not None:
            return tuple(map(str, self.regions))
        return tuple(reason.variable for reason in self.reasons if reason.evidence)


def conclude(found: FragmentEvidence, model: Model, spectra: Spectra | None) -> Conclusion:
    """Decide whether a fragment is excluded, and by which evidence, at the sensitivity of a model.

    A conclusion at another sensitivity is evidence, too.
    """
    p = found.p_values.get(model.basis)
    differs = None if p is None else not is_accepted(p, model.sensitivity_used)
    accepted = not differs if model.conclusive and differs is not None else None
    leads = "ratio" if found.log10_lr and (model.lead == "ratio" or accepted is None) else "exclusion"
    supports = _supports(found)
    reasons = [(each.p_value(model.basis), _reason(each, model, accepted)) for each in found.reasons]
    reasons.sort(key=lambda each: (1.0 if each[0] is None else each[0], -abs(each[1].deviation), each[1].variable))
    outcome = supports if leads == "ratio" else accepted
    return Conclusion(
        **_fields(found, FragmentEvidence) | {"reasons": tuple(reason for _, reason in reasons)},
        accepted=accepted,
        differs=differs,
        p_value=p,
        basis=model.basis,
        n=model.calibrating.n,
        regions=None if spectra is None else spectra.regions(found.spectrum, model.sensitivity_used),
        disagreements=() if outcome is None else tuple(_disagreements(found, outcome, leads, model)),
        leads=leads,
        supports=supports,
    )


def _fields(record: object, kind: type) -> Fields:
    return {each.name: getattr(record, each.name) for each in fields(kind)}


def _reason(found: VariableEvidence, model: Model, accepted: bool | None) -> Reason:
    p = found.p_value(model.basis)
    evidence = accepted is False and p is not None and not is_accepted(p, model.sensitivity_used)
    return Reason(**_fields(found, VariableEvidence), evidence=evidence)


def _supports(found: FragmentEvidence) -> bool | None:
    """Return which proposition a likelihood ratio supports; None for neither."""
    values = [value for value in found.log10_lr.values() if abs(value) > math.log10(2)]
    return values[0] > 0 if values else None


def _disagreements(found: FragmentEvidence, outcome: bool, leads: str, model: Model) -> list[Disagreement]:
    """List the evidence that points the other way than the conclusion."""
    against = []
    for basis, p in found.p_values.items():
        if (
            (leads == "ratio" or basis != model.basis)
            and model.bases[basis].n >= model.need
            and is_accepted(p, model.of_each) != outcome
        ):
            against.append(Disagreement(kind=basis, accepted=not outcome, value=p))
    if found.match is not None and found.match != outcome:
        against.append(Disagreement(kind="astm", accepted=found.match, value=None))
    for value in found.log10_lr.values():
        if _supports(found) == (not outcome):  # never if the ratio leads
            against.append(Disagreement(kind="ratio", accepted=value > 0, value=value))
    return against


@dataclass(frozen=True, kw_only=True)
class Group(GroupEvidence):
    """Recovered fragments that cannot be distinguished from each other, and their joint evidence.

    Groups are formed so that nine of ten sets of one source stay together, whatever the sensitivity of the conclusions;
    without a background, nine of ten pairs.

    Attributes
    ----------
    fragments : tuple of str
    p_values : dict
        Of all of them together, by basis.
    log10_lr, bound : dict
        Their joint likelihood ratios by system, and "at least" or "at most" for those at a bound.
    accepted : bool or None
        Whether the group is not excluded; None if no conclusion is drawn.
    """

    accepted: bool | None


def conclude_group(found: GroupEvidence, model: Model) -> Group:
    """Decide whether a group is excluded at the sensitivity of a model."""
    p = found.p_values.get(model.basis)
    accepted = is_accepted(p, model.sensitivity_used) if model.conclusive and p is not None else None
    return Group(**_fields(found, GroupEvidence), accepted=accepted)
