"""The result of a case: inputs, model, conclusions and provenance, frozen and serialisable as JSON."""

import json
import math
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from transvariation.casework.checks import Check
from transvariation.casework.conclusions import Conclusion, Group, Model
from transvariation.casework.foreign import Foreign
from transvariation.casework.settings import CaseSettings
from transvariation.casework.spectra import Spectra
from transvariation.casework.variables import MANY

SCHEMA = "transvariation-case/3"
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
    control, recovered, background, foreign : dict or None
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
    foreign: dict[str, Any] | None = None


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
    warnings : tuple of str
        What to know before relying on the conclusions, at this sensitivity.
    cautions : tuple of str
        Those of the warnings that hold at every sensitivity.
    provenance : dict
        Command, seed and versions.
    spectra : Spectra or None
        The control spectra, if the variables are a spectrum.
    foreign : Foreign or None
        The evidence on known foreign fragments, if some were given.
    """

    settings: CaseSettings
    inputs: Inputs
    model: Model
    conclusions: tuple[Conclusion, ...]
    groups: tuple[Group, ...]
    warnings: tuple[str, ...]
    cautions: tuple[str, ...]
    provenance: dict[str, str]
    spectra: Spectra | None = None
    foreign: Foreign | None = None

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
            few = math.isfinite(self.model.need)
            why = "too few control fragments and no background" if few else "nothing supports a sensitivity of 1"
            return f"No conclusion: {why} ({n} recovered {noun})."
        return f"{excluded} of {n} recovered {noun} excluded."

    def at(self, sensitivity: float) -> "CaseResult":
        """Return the same case at another sensitivity, as `judge` would conclude at that one.

        Parameters
        ----------
        sensitivity : float in (0, 1]
            The share of fragments of the control's own source that should not be excluded.
        """
        model = self.model.at(sensitivity)
        return replace(
            self,
            settings=replace(self.settings, sensitivity=float(sensitivity)),
            model=model,
            conclusions=tuple(conclusion.at(model, self.spectra) for conclusion in self.conclusions),
            groups=tuple(group.at(model) for group in self.groups),
            warnings=(*model.warnings(), *self.cautions),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values; the key ``schema`` names the format."""
        return {"schema": SCHEMA} | asdict(self) | {"settings": self.settings.to_dict()}

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
    if kind is CaseSettings:
        return CaseSettings.from_dict(value)
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
