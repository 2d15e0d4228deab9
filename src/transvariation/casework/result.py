"""The result of a case: inputs, model, conclusions and provenance, frozen and serialisable as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from transvariation._typing import Fields
from transvariation.casework.checks import Check
from transvariation.casework.controls import Joint, join
from transvariation.casework.decision import Conclusion, Group, Model, conclude, conclude_group
from transvariation.casework.errors import Caution
from transvariation.casework.evidence import Distances, GroupingRates
from transvariation.casework.foreign import Foreign
from transvariation.casework.settings import CaseSettings
from transvariation.casework.spectra import Spectra
from transvariation.casework.variables import MANY_VARIABLES

SCHEMA = "transvariation-case/3"


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
    control, recovered, background, foreign : dict or None
        What was read from each table: file, SHA-256, numbers of rows, fragments and sources, roles of the columns, rows
        left out, and notes.
    features : tuple of str
        All variables compared.
    units : dict
        By variable, where the tables state them.
    known : tuple of Measured
        The control fragments.
    checks : tuple of Check
        Checks of the control.
    """

    control: Fields
    recovered: Fields
    background: Fields | None
    features: tuple[str, ...]
    units: dict[str, str]
    known: tuple[Measured, ...]
    checks: tuple[Check, ...]
    foreign: Fields | None = None


@dataclass(frozen=True)
class CaseResult:
    """A judged case.

    Attributes
    ----------
    settings : CaseSettings
        How it was asked to be judged.
    inputs : Inputs
        What was compared.
    model : Model
        How it was compared.
    conclusions : tuple of Conclusion
        One per recovered fragment.
    groups : tuple of Group
        Sets of two or more recovered fragments that belong together.
    cautions : tuple of Caution
        What to know before relying on the conclusions, at every sensitivity; `warnings` has those of this one as well.
    provenance : dict
        Command, seed and versions.
    spectra : Spectra or None
        The control spectra, if the variables are a spectrum.
    foreign : Foreign or None
        The evidence on known foreign fragments, if some were given.
    grouping : GroupingRates or None
        How often fragments of background sources are grouped wrongly; None without groups or a background.
    cases : tuple of CaseResult
        If the control has several sources, the case of each; `conclusions` then has one per source and fragment,
        `cautions` those that hold for all sources, and `model` is that of the source with the fewest calibrating units.
    joint : Joint or None
        Whether fragments could come from any of several control sources.
    distances : Distances or None
        Score and orthogonal distances, if the method is DD-SIMCA.

    See Also
    --------
    transvariation.casework.judge : Judge a case.
    transvariation.displays.LikelihoodRatioDisplay : Draw its likelihood ratios.
    transvariation.report.case.write_report : Write its report.
    """

    settings: CaseSettings
    inputs: Inputs
    model: Model
    conclusions: tuple[Conclusion, ...]
    groups: tuple[Group, ...]
    cautions: tuple[Caution, ...]
    provenance: dict[str, str]
    spectra: Spectra | None = None
    foreign: Foreign | None = None
    grouping: GroupingRates | None = None
    cases: tuple["CaseResult", ...] = ()
    joint: Joint | None = None
    distances: Distances | None = None

    @property
    def excluded(self) -> tuple[Conclusion, ...]:
        """The conclusions that exclude a fragment."""
        return tuple(conclusion for conclusion in self.conclusions if conclusion.accepted is False)

    @property
    def concludes(self) -> bool:
        """Whether any conclusion is drawn: fragments are excluded or not, or a likelihood ratio leads."""
        return self.model.conclusive or any(conclusion.leads == "ratio" for conclusion in self.conclusions)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What to know before relying on the conclusions, at this sensitivity."""
        return (*self.model.cautions(), *self.cautions)

    def at(self, sensitivity: float) -> "CaseResult":
        """Return the same case at another sensitivity, as `judge` would conclude at that one.

        Parameters
        ----------
        sensitivity : float in (0, 1]
            The share of fragments of the control's own source that should not be excluded.

        Returns
        -------
        CaseResult
            The case with the conclusions at that sensitivity.
        """
        if self.cases:
            return joined(self.inputs, [case.at(sensitivity) for case in self.cases])
        model = self.model.at(sensitivity)
        return replace(
            self,
            settings=replace(self.settings, sensitivity=float(sensitivity)),
            model=model,
            conclusions=tuple(conclude(conclusion, model, self.spectra) for conclusion in self.conclusions),
            groups=tuple(conclude_group(group, model) for group in self.groups),
        )

    def to_dict(self) -> Fields:
        """Return everything as JSON values; the key ``schema`` names the format.

        Returns
        -------
        dict
            Numbers, strings, lists and dictionaries only.
        """
        warnings = [asdict(caution) for caution in self.warnings]
        cases = [case.to_dict() for case in self.cases]
        own = asdict(replace(self, cases=()))
        return {"schema": SCHEMA} | own | {"settings": self.settings.to_dict(), "warnings": warnings, "cases": cases}

    def to_json(self) -> str:
        """Write `to_dict` as JSON, on one line if there are many variables, which halves its length.

        Returns
        -------
        str
            The text of the JSON file.
        """
        indent = 1 if len(self.inputs.features) <= MANY_VARIABLES else None
        return json.dumps(self.to_dict(), indent=indent) + "\n"

    @classmethod
    def from_dict(cls, content: Fields) -> "CaseResult":
        """Build a result from `to_dict` or from the JSON file of a case.

        Parameters
        ----------
        content : dict
            What `to_dict` returned, or what ``json.load`` returned for the file.

        Returns
        -------
        CaseResult
            The case that was kept.
        """
        values = {name: value for name, value in content.items() if name != "warnings"}  # they follow from the others
        if values.pop("schema", None) != SCHEMA:
            raise ValueError(f"not a case of this program: the key 'schema' should be {SCHEMA!r}")
        return _built(cls, values)


def joined(inputs: Inputs, cases: Sequence[CaseResult]) -> CaseResult:
    """Put together the cases of several control sources, whose conclusions name them, on all inputs."""
    first, models = cases[0], [case.model for case in cases]
    conclusions = [case.conclusions for case in cases]
    return CaseResult(
        settings=first.settings,
        inputs=inputs,
        model=min(models, key=lambda model: (model.conclusive, model.sensitivity_used)),
        conclusions=tuple(conclusion for found in conclusions for conclusion in found),
        groups=(),
        cautions=tuple(each for each in first.cautions if all(each in case.cautions for case in cases)),
        provenance=first.provenance,
        cases=tuple(cases),
        joint=join([str(found[0].control) for found in conclusions], conclusions, models),
    )


def _built(kind: Any, value: Any) -> Any:  # noqa: ANN401  # an annotation, and parsed JSON
    """Build a value of an annotated type from JSON values."""
    if kind is CaseSettings:
        return CaseSettings.from_dict(value)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(
            **{f.name: _built(hints[f.name], value[f.name]) for f in fields(kind) if f.init and f.name in value}
        )
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return value if value is None else _built(arguments[0], value)
    if origin is tuple:
        return tuple(_built(arguments[0], item) for item in value)
    if origin is dict and value is not None:
        return {key: _built(arguments[1], item) for key, item in value.items()}
    if kind in (bool, int, float, str) and not isinstance(value, int | float | None if kind is float else kind):
        raise TypeError(f"{value!r} is not of the type {kind.__name__}")
    return value
