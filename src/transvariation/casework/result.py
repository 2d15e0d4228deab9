"""What a case came to: everything that the screen, the JSON file and the report say, and nothing that they compute."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from transvariation.calibration import CoverageReport
from transvariation.casework.likelihood_ratio import LikelihoodRatio
from transvariation.casework.selected_features import Say
from transvariation.conformal import check_sensitivity, required_n

SCHEMA = "transvariation-case/1"
ROUNDING = 1e-9  # 1 - 0.9 is a hair less than 0.1


@dataclass(frozen=True)
class Reason:
    """How one variable of one recovered object compares with the control objects."""

    variable: str
    value: float
    median: float  # of the control objects
    side: str  # below, at or above the median
    tp: float  # in this variable alone
    p_value: float  # judged by this variable alone, by the method kernel
    rejected_alone: bool  # whether this variable alone would have rejected the object


@dataclass(frozen=True)
class Verdict:
    """The answer for one recovered object."""

    id: str
    source: str | None
    accepted: bool  # could come from the control's source, at the sensitivity asked for
    p_value: float
    tp: float | None  # None where the method has no tp of its own
    score: float  # the rule's rating, whatever the threshold
    reasons: tuple[Reason, ...]  # most telling first

    @property
    def deciding(self) -> tuple[str, ...]:
        """The variables that speak against the object, most telling first."""
        return tuple(reason.variable for reason in self.reasons if reason.rejected_alone)


@dataclass(frozen=True)
class Caution:
    """A warning that holds at every sensitivity above some value."""

    above: float
    words: str

    def holds(self, sensitivity: float) -> bool:
        """Say whether the warning is due."""
        return sensitivity > self.above + ROUNDING


@dataclass(frozen=True)
class Pooling:
    """What a rule with several thresholds says as long as the same parts of the control share one.

    Attributes
    ----------
    up_to : how many control objects the promise of a sensitivity may need for this to hold; beyond the last, too
    p_values : one per recovered object
    coverage, selected, combined_p_value, cautions : as in `CaseResult`
    """

    up_to: int
    p_values: tuple[float, ...]
    coverage: CoverageReport
    selected: tuple[str, ...]
    combined_p_value: float
    cautions: tuple[Caution, ...]

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "Pooling":
        """Build it from its JSON values."""
        lists = {name: tuple(content[name]) for name in ("p_values", "selected")}
        return cls(**{**content, **lists, "coverage": _coverage(content["coverage"]), "cautions": _cautions(content)})


@dataclass(frozen=True)
class CaseResult:
    """A judged case.

    Attributes
    ----------
    question, propositions : the question put and the two answers weighed, in words
    control, recovered : what was read from each table, with the SHA-256 of its bytes
    features, no_say : the variables that have a say in the verdicts, and those that a selection left without
    combinations : into how many combinations the features were mixed; 0 if they were used as they are
    values : the control objects' measurements, one list per variable: what the figures show
    method, method_words : the rule by name, and in plain words
    sensitivity : the operating point asked for
    sensitivity_used : the same, or the largest that so few control objects support; an object is accepted if its
        p-value exceeds 1 - sensitivity_used
    coverage : what the rule promises and on what grounds
    verdicts : one per recovered object
    false_discovery_rate, selected : the ids that can be called foreign with at most this expected share of errors
    combined_p_value : of all recovered objects together, if they are said to come from one source
    warnings : what the reader must know before relying on this, at this sensitivity
    cautions : those of the warnings that come and go with the sensitivity
    limitations : what the method does not say
    made_by : versions, seed and command
    background : what was read from the table of other sources, where one was given
    likelihood_ratios : one per recovered source, where a background population was given
    likelihood_bounds : the lowest and highest log10 ratio that the background supports, per system
    poolings : where the p-values depend on the sensitivity, all that they can be
    smallest_alone : the smallest p-value that one variable alone can give; see `_cut`
    """

    question: str
    propositions: tuple[str, str]
    control: dict[str, Any]
    recovered: dict[str, Any]
    features: tuple[str, ...]
    units: dict[str, str]
    values: dict[str, tuple[float, ...]]
    recovered_values: dict[str, tuple[float, ...]]
    method: str
    method_words: str
    sensitivity: float
    coverage: CoverageReport
    verdicts: tuple[Verdict, ...]
    false_discovery_rate: float
    selected: tuple[str, ...]
    combined_p_value: float
    warnings: tuple[str, ...]
    limitations: tuple[str, ...]
    made_by: dict[str, str]
    likelihood_ratios: tuple[LikelihoodRatio, ...] = ()
    likelihood_bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
    sensitivity_used: float = 0.0
    cautions: tuple[Caution, ...] = ()
    background: dict[str, Any] | None = None
    poolings: tuple[Pooling, ...] = ()
    no_say: tuple[str, ...] = ()
    combinations: int = 0
    smallest_alone: float = 0.0

    @property
    def say(self) -> Say:
        """The variables judged by."""
        return Say(self.features, self.no_say, self.combinations)

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """What was read, by the part that each table plays."""
        both = {"control": self.control, "recovered": self.recovered}
        return both if self.background is None else both | {"background": self.background}

    @property
    def rejected(self) -> tuple[Verdict, ...]:
        """The recovered objects that do not look like the control."""
        return tuple(verdict for verdict in self.verdicts if not verdict.accepted)

    def at(self, sensitivity: float) -> "CaseResult":
        """Give the same case at another sensitivity, as `judge` would at that one. Nothing is refitted: the line moves.

        The p-values stay, but for rules with several thresholds, where it depends on the sensitivity which parts of the
        control share one. Where the control objects are too few for it, the largest sensitivity that they support is
        used, as by the rule.
        """
        need = required_n(sensitivity)
        for pooling in self.poolings:
            if need <= pooling.up_to or pooling is self.poolings[-1]:
                return self._pooled(pooling)._cut(sensitivity)
        return self._cut(sensitivity)

    def _pooled(self, pooling: Pooling) -> "CaseResult":
        verdicts = zip(self.verdicts, pooling.p_values, strict=True)
        return replace(
            self,
            verdicts=tuple(replace(verdict, p_value=p_value) for verdict, p_value in verdicts),
            coverage=pooling.coverage,
            selected=pooling.selected,
            combined_p_value=pooling.combined_p_value,
            cautions=pooling.cautions,
        )

    def _cut(self, sensitivity: float) -> "CaseResult":
        used = min(check_sensitivity(sensitivity), largest_sensitivity(self.coverage))
        alpha = 1 - used + ROUNDING
        # One variable is judged by a lot of 2000 at most, which may be too few for the sensitivity of the rule. As
        # where a rule has too few, rejected is then what looks more foreign than all of them.
        alone = max(alpha, self.smallest_alone + ROUNDING)
        verdicts = tuple(
            replace(
                verdict,
                accepted=verdict.p_value > alpha,
                reasons=tuple(replace(reason, rejected_alone=reason.p_value <= alone) for reason in verdict.reasons),
            )
            for verdict in self.verdicts
        )
        return replace(
            self,
            sensitivity=sensitivity,
            sensitivity_used=used,
            verdicts=verdicts,
            coverage=replace(self.coverage, sensitivity=float(sensitivity)),
            warnings=self._warnings_at(sensitivity),
        )

    def _warnings_at(self, sensitivity: float) -> tuple[str, ...]:
        all_of_them = [self.cautions, *(pooling.cautions for pooling in self.poolings)]
        passing = {caution.words for cautions in all_of_them for caution in cautions}
        holding = [caution.words for caution in self.cautions if caution.holds(sensitivity)]
        return (*(warning for warning in self.warnings if warning not in passing), *holding)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "CaseResult":
        """Build a result from what `to_dict` gave, or from the JSON file of a case."""
        values = dict(content)
        if values.pop("schema", None) != SCHEMA:
            raise ValueError(f"this is not a case of this program: the key 'schema' should say {SCHEMA!r}")
        verdicts = [
            Verdict(**{**verdict, "reasons": tuple(Reason(**reason) for reason in verdict["reasons"])})
            for verdict in values["verdicts"]
        ]
        for name in ("propositions", "features", "selected", "warnings", "limitations"):
            values[name] = tuple(values[name])
        values["no_say"] = tuple(values.get("no_say", ()))
        for name in ("values", "recovered_values"):
            values[name] = {variable: tuple(column) for variable, column in values[name].items()}
        values["likelihood_ratios"] = tuple(LikelihoodRatio(**ratio) for ratio in values["likelihood_ratios"])
        values["cautions"] = _cautions(values)
        values["poolings"] = tuple(Pooling.from_dict(pooling) for pooling in values.get("poolings", ()))
        values["likelihood_bounds"] = {name: tuple(ends) for name, ends in values["likelihood_bounds"].items()}
        return cls(**{**values, "coverage": _coverage(values["coverage"]), "verdicts": tuple(verdicts)})

    def to_dict(self) -> dict[str, Any]:
        """Give everything as JSON values; the key ``schema`` names the format."""
        return {"schema": SCHEMA} | asdict(self)


def _coverage(content: dict[str, Any]) -> CoverageReport:
    lists = {"n_per_stratum", "smallest_per_stratum"} & set(content)
    return CoverageReport(**{**content, **{name: tuple(content[name]) for name in lists}})


def _cautions(content: dict[str, Any]) -> tuple[Caution, ...]:
    return tuple(Caution(**caution) for caution in content.get("cautions", ()))


def largest_sensitivity(coverage: CoverageReport) -> float:
    """Give the largest sensitivity that the control objects support, those of the smallest part if there are several.

    Above it the rule rejects what is rated lower than all of them: see :func:`transvariation.conformal.cut`.
    """
    fewest = min(coverage.n_per_stratum)
    return fewest / (fewest + 1)
