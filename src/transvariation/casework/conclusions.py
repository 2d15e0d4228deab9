"""How fragments were compared, and what is concluded on each of them.

Everything is decided here and nowhere else, by the methods `at`: what calibrates, which fragments are excluded, which
evidence disagrees.
"""

import math
from dataclasses import dataclass, field, replace

from transvariation.casework.astm import Criterion, MatchInterval
from transvariation.casework.background.likelihood_ratio import Performance, in_words
from transvariation.casework.checks import format_p, p_equals
from transvariation.casework.spectra import Region, Spectra
from transvariation.certificate import required_n

ROUNDING = 1e-9
ENOUGH = 30  # control fragments; with fewer, a background includes fewer fragments of other sources


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
    # Decided by `at`:
    sensitivity_used: float = 0.0
    basis: str = "control"
    conclusive: bool = False
    false_exclusion: float | None = None
    false_inclusion: float | None = None

    def at(self, sensitivity: float) -> "Model":
        """Decide what calibrates at a sensitivity, and at which one it can."""
        asked = replace(self, sensitivity=float(sensitivity))
        basis, conclusive = _choose_basis(self.calibrations, asked.need)
        calibration = self.calibrations[basis]
        used = min(sensitivity, calibration.n / (calibration.n + 1))
        exclusion, inclusion = calibration.error_rates(used) if conclusive else (None, None)
        return replace(
            asked,
            sensitivity_used=used,
            basis=basis,
            conclusive=conclusive,
            false_exclusion=exclusion,
            false_inclusion=inclusion,
        )

    @property
    def unit(self) -> str:
        """What calibrates the conclusions, in the singular."""
        return {"control": "control fragment", "background": "background source"}[self.basis]

    @property
    def need(self) -> float:
        """How many calibrating units the sensitivity needs."""
        return required_n(self.sensitivity)

    @property
    def alpha(self) -> float:
        """The largest p-value that excludes a fragment, up to rounding: 1 - 0.9 is slightly less than 0.1."""
        return 1 - self.sensitivity_used + ROUNDING

    def warnings(self) -> list[str]:
        """List what limits the conclusions at this sensitivity."""
        need, calibration, found = self.need, self.calibrations[self.basis], []
        n = calibration.n
        if n < need:
            there = f"there {'is' if n == 1 else 'are'} {n}"
            words = f"A sensitivity of {self.sensitivity:g} needs at least {need:.0f} {self.unit}s; {there}"
            remedies = ["give a background" if self.basis == "control" else "give a background with more sources"]
            if not math.isfinite(need):
                words, remedies = f"No number of {self.unit}s supports a sensitivity of 1; {there}", []
            if self.conclusive:
                words += (
                    f". {self.sensitivity_used:.3g} is used instead, so that {1 - self.sensitivity_used:.0%} of "
                    "fragments of the same source would be excluded"
                )
            else:
                words += ", and no conclusion is drawn"
            if n > 1:
                remedies.append(
                    f"use a sensitivity of at most {math.floor(1000 * self.sensitivity_used + 1e-9) / 1000:g}"
                )
            found.append(f"{words}: {', or '.join(remedies)}.")
        elif calibration.smallest_p_value > 1 - self.sensitivity + ROUNDING:
            found.append(
                f"The method {self.method} can exclude nothing here: no p-value is below "
                f"{format_p(calibration.smallest_p_value)}, however different a fragment is. Use the method neighbor, "
                "or fewer variables."
            )
        return found


def _choose_basis(calibrations: dict[str, Calibration], need: float) -> tuple[str, bool]:
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
    # Decided by `at`:
    regions: tuple[Region, ...] | None = None
    accepted: bool = True
    p_value: float = 1.0
    basis: str = "control"
    n: int = 0
    statement: str = ""
    disagreement: str = ""

    def at(self, model: Model, spectra: Spectra | None) -> "Conclusion":
        """Decide whether the fragment is excluded, and by which evidence, at the sensitivity of a model.

        Parameters
        ----------
        model : Model
            At that sensitivity.
        spectra : Spectra or None
            The control spectra.
        """
        p = self.p_values[model.basis]
        reasons = (replace(r, evidence=r.p_values[model.basis] <= model.alpha) for r in self.reasons)
        decided = replace(
            self,
            accepted=p > model.alpha,
            p_value=p,
            basis=model.basis,
            n=model.calibrations[model.basis].n,
            reasons=tuple(sorted(reasons, key=lambda r: (r.p_values[model.basis], -abs(r.deviation), r.variable))),
            regions=None if spectra is None else spectra.regions(self.spectrum, model.sensitivity_used),
        )
        return replace(decided, statement=_statement(decided, model), disagreement=_disagreement(decided, model))

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


def _statement(conclusion: Conclusion, model: Model) -> str:
    p = p_equals(conclusion.p_value)
    if not model.conclusive and conclusion.n < 2:
        return "No conclusion: one control fragment does not show how much fragments of its source differ."
    if not model.conclusive:
        where = "within the differences" if conclusion.accepted else "beyond all differences"
        return (
            f"No conclusion: {conclusion.n} {model.unit}s do not support a sensitivity of {model.sensitivity:g}. "
            f"The fragment lies {where} between them ({p})."
        )
    if conclusion.accepted:
        return f"Not excluded: the fragment cannot be distinguished from the control ({p})."
    return f"Excluded: the fragment differs from the control more than fragments of one source do ({p})."


def _disagreement(conclusion: Conclusion, model: Model) -> str:
    """Name the evidence that points the other way."""
    if not model.conclusive:
        return ""
    against, need = [], model.need
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

    def at(self, model: Model) -> "Group":
        """Decide whether the group is excluded at the sensitivity of a model."""
        return replace(self, accepted=self.p_values[model.basis] > model.alpha)
