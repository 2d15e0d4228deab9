"""The result of a validation: frozen records that serialize as JSON."""

from dataclasses import asdict, dataclass, field

from transvariation._typing import Fields
from transvariation.casework.background.rates import Rate
from transvariation.casework.database import Finding
from transvariation.casework.validation.criteria import Verdict

SCHEMA = "transvariation-validation/1"


@dataclass(frozen=True)
class Misleading:
    """How often likelihood ratios mislead, beyond a strength."""

    strength: int
    same_source: Rate
    different_sources: Rate


@dataclass(frozen=True)
class Ratios:
    """The performance of likelihood ratios on comparisons of known origin.

    Attributes
    ----------
    cllr, cllr_min, dev_pav : float
        The cost, the cost after the best monotone recalibration, and the mean distance between both on the log10 scale.
    cllr_interval : tuple of float
        The 95% interval of the cost, by source.
    bounds : tuple of float
        The smallest and the largest log10 ratio, over the folds.
    refused : int
        Comparisons for which no ratio is stated, as in casework; the others are measured.
    misleading : tuple of Misleading
    tippett_same, tippett_different : tuple of float
        Quantiles of the log10 ratios.
    ece : dict
        Empirical cross-entropy by prior odds.
    """

    cllr: float
    cllr_interval: tuple[float, float]
    cllr_min: float
    dev_pav: float
    bounds: tuple[float, float]
    refused: int
    misleading: tuple[Misleading, ...]
    tippett_same: tuple[float, ...]
    tippett_different: tuple[float, ...]
    ece: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class Rates:
    """Error rates at one sensitivity.

    Attributes
    ----------
    sensitivity : float or None
        None for a criterion without one.
    false_exclusion, false_inclusion : Rate
    same_stratum : Rate or None
        False inclusions among sources of one stratum, such as a maker.
    """

    sensitivity: float | None
    false_exclusion: Rate
    false_inclusion: Rate
    same_stratum: Rate | None = None


@dataclass(frozen=True)
class HardPair:
    """Two sources that are hard to tell apart, or two parts of one that look different."""

    known: str
    questioned: str
    p_value: float
    log10_lr: float | None


@dataclass(frozen=True)
class DesignResult:
    """What was measured in one design of comparison.

    Attributes
    ----------
    design : str
        Known fragments x replicates, such as ``"3x5"``.
    n_sources, n_same, n_different : int
        Sources that have enough fragments, and comparisons.
    rates : dict
        Rates by method, one for each sensitivity.
    ratios : dict
        Likelihood ratios by method.
    hard_same, hard_different : tuple of HardPair
        The same-source comparisons with the smallest p-values, and the different-source ones with the largest; of each
        pair of sources the hardest.
    """

    design: str
    n_sources: int
    n_same: int
    n_different: int
    rates: dict[str, tuple[Rates, ...]]
    ratios: dict[str, Ratios]
    hard_same: tuple[HardPair, ...]
    hard_different: tuple[HardPair, ...]


@dataclass(frozen=True)
class ValidationResult:
    """The validation of the method on a database.

    Attributes
    ----------
    database : dict
        What :meth:`Database.describe` returns.
    findings : tuple of Finding
        What the checks of the database found.
    settings : dict
        How the validation was made.
    designs : tuple of DesignResult
        What was measured in each design.
    stability : dict
        Largest differences of p-values and log10 ratios between seeds, and the share of conclusions that change.
    learning : tuple of dict
        Error rates and Cllr with a part of the sources.
    verdicts : tuple of Verdict
        Whether each acceptance criterion is met.
    provenance : dict
        Versions and seed.
    """

    database: Fields
    findings: tuple[Finding, ...]
    settings: Fields
    designs: tuple[DesignResult, ...]
    stability: dict[str, float]
    learning: tuple[dict[str, float], ...]
    verdicts: tuple[Verdict, ...]
    provenance: Fields = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every acceptance criterion is met."""
        return all(verdict.met for verdict in self.verdicts)

    def to_dict(self) -> Fields:
        """Return the result as JSON values.

        Returns
        -------
        dict
        """
        verdicts = [asdict(v) | {"met": v.met, "shown": v.shown} for v in self.verdicts]
        return {"schema": SCHEMA, **asdict(self), "verdicts": verdicts, "passed": self.passed}
