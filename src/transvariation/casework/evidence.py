"""The evidence on the recovered fragments: frozen records of numbers, by basis, by fragment and by group."""

from dataclasses import dataclass, field

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from transvariation._typing import Floats
from transvariation.baselines.ddsimca import outlier_distance
from transvariation.casework.astm import MatchInterval
from transvariation.casework.background.performance import Performance
from transvariation.casework.background.rates import Rate, measure_rate
from transvariation.casework.errors import Caution
from transvariation.casework.foreign import Foreign
from transvariation.conformal import conformal_threshold, is_accepted

RatiosBySystem = dict[str, tuple[float, str]]  # log10 likelihood ratio and bound by system

GROUPING_SENSITIVITY = 0.9  # the share of sets of one source that should stay together; without a background, of pairs
MAX_FRAGMENTS_GROUPED = 60  # recovered fragments; of more, no groups are formed


@dataclass(frozen=True)
class GroupingRates:
    """How often sets of fragments are grouped wrongly.

    Attributes
    ----------
    fragments : int
        In each set.
    divided : Rate
        The share of sets of one source that do not form a single group.
    mixed : Rate
        The share of sets of two sources, half of each, in which fragments of both share a group.
    level : float
        Two fragments with a p-value of at most this are separate.
    """

    fragments: int
    divided: Rate
    mixed: Rate
    level: float = 1 - GROUPING_SENSITIVITY


@dataclass(frozen=True, kw_only=True)
class Distances:
    """Distances by DD-SIMCA, relative to their means over the control fragments, for the acceptance plot.

    Attributes
    ----------
    n_components : int
        Number of principal components.
    degrees_of_freedom : tuple of float
        Of the score distance and of the orthogonal distance: their weights in the full distance.
    held_out : tuple of float
        Full distance of each control fragment from a model without it.
    control, recovered, foreign : tuple of tuple of float
        Score distance and orthogonal distance of each fragment.
    """

    n_components: int
    degrees_of_freedom: tuple[float, ...]
    held_out: tuple[float, ...]
    control: tuple[tuple[float, ...], ...]
    recovered: tuple[tuple[float, ...], ...]
    foreign: tuple[tuple[float, ...], ...] = ()

    def limits(self, sensitivity: float) -> tuple[float, float]:
        """Compute the full distances beyond which fragments are excluded, and beyond which they are outliers."""
        extreme = float(-conformal_threshold(-np.array(self.held_out), sensitivity, held_out=True))
        return extreme, outlier_distance(extreme, sum(self.degrees_of_freedom), len(self.held_out), sensitivity)


@dataclass(frozen=True)
class Basis:
    """What calibrates one kind of evidence.

    Attributes
    ----------
    n : int
        The number of calibrating units: control fragments or background sources; 0 if the method could not be used.
    smallest_p_value : float
        The smallest p-value that can occur.
    rates : dict
        Measured on a background, as lists: ``sensitivity``, ``false_exclusion`` (share of same-source comparisons that
        are excluded) and ``false_inclusion`` (share of different-source comparisons that are not), with the ends of
        their 95% intervals (``_low``, ``_high``) and numbers of comparisons (``_n``). Empty without one.
    source_p_values : dict
        By background source: the median p-value of its fragments, compared with the control as if they were questioned;
        those above 0.01.
    monte_carlo_error : float
        The largest standard error of the p-values of the fragments, from the draws of background fragments.
    ratio_error : float
        The same of their log10 likelihood ratios.
    n_compared : int
        The number of background sources that the control was compared with: also those with too few fragments for the
        design of the case, which do not calibrate.
    """

    n: int
    smallest_p_value: float
    rates: dict[str, tuple[float, ...]] = field(default_factory=dict)
    source_p_values: dict[str, float] = field(default_factory=dict)
    monte_carlo_error: float = 0.0
    ratio_error: float = 0.0
    n_compared: int = 0

    def indistinguishable(self, sensitivity: float) -> tuple[tuple[str, ...], Rate] | None:
        """Return the background sources that cannot be distinguished from the control, and their share."""
        if not self.rates:
            return None
        found = sorted((name for name, p in self.source_p_values.items() if is_accepted(p, sensitivity)), key=str)
        numbers = np.arange(self.n_compared or self.n)
        return tuple(found), measure_rate(numbers < len(found), numbers)

    def measured_rates(self, sensitivity: float) -> tuple[Rate, Rate] | tuple[None, None]:
        """Return false exclusion and false inclusion at a sensitivity, with n and intervals; None without any."""
        if not self.rates:
            return None, None
        levels = self.rates["sensitivity"]

        def rate(name: str) -> Rate:
            found = (self.rates[name + suffix] for suffix in ("", "_n", "_low", "_high"))
            share, n, low, high = (float(np.interp(sensitivity, levels, values)) for values in found)
            return Rate(share, int(n), low, high)

        return rate("false_exclusion"), rate("false_inclusion")


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Evidence on q recovered fragments in p variables from one basis."""

    basis: Basis
    p_values: Floats  # of each fragment; NaN where there is no evidence
    # P-values of comparisons by one variable, of shape (q, p), corrected for their number; NaN where there is no
    # evidence. None if components are compared.
    univariate: Floats | None
    groups: tuple[tuple[int, ...], ...] = ()  # recovered fragments that cannot be distinguished from each other
    group_p_values: tuple[float, ...] = ()  # the joint p-value of each group
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class ControlEvidence(Evidence):
    """Evidence by the control fragments, with what only their classifier gives."""

    variables: Variables  # those that the classifier uses
    tp: Floats | None = None  # of each fragment
    foreign: Foreign | None = None  # the evidence on known foreign fragments
    distances: Distances | None = None  # by DD-SIMCA


@dataclass(frozen=True, kw_only=True, eq=False)
class BackgroundEvidence(Evidence):
    """Evidence by a background, with what only a background gives."""

    ratios: tuple[RatiosBySystem, ...]  # of each fragment
    group_ratios: tuple[RatiosBySystem, ...] = ()
    likelihood: dict[str, Performance] = field(default_factory=dict)  # of each likelihood-ratio system
    homogeneity_p_value: float | None = None  # of the control fragments, compared with those of one source
    replicate_p_value: float | None = None  # of all replicates, compared with those of the background
    grouping: GroupingRates | None = None  # how often fragments of the background are grouped wrongly


@dataclass(frozen=True, kw_only=True)
class VariableEvidence:
    """How one variable of a recovered fragment compares with the control; `Reason` describes the fields."""

    variable: str
    value: float
    control: float
    side: str
    deviation: float
    p_values: dict[str, float]

    def p_value(self, basis: str) -> float | None:
        """Return the p-value of this variable alone by a basis, or by the control.

        Returns
        -------
        float or None
            None if there is none.
        """
        return self.p_values.get(basis, self.p_values.get("control"))


@dataclass(frozen=True, kw_only=True)
class FragmentEvidence:
    """The evidence on one recovered fragment, before anything is decided; see `Conclusion`."""

    fragment: str
    source: str | None
    p_values: dict[str, float]
    log10_lr: dict[str, float]
    bound: dict[str, str]
    match: bool | None
    intervals: tuple[MatchInterval, ...]
    reasons: tuple[VariableEvidence, ...]
    measurements: dict[str, tuple[float, ...]]
    tp: float | None
    spectrum: tuple[float, ...] = ()
    t_test: float | None = None
    control: str | None = None


@dataclass(frozen=True, kw_only=True)
class GroupEvidence:
    """The joint evidence on recovered fragments that cannot be distinguished from each other; see `Group`."""

    fragments: tuple[str, ...]
    p_values: dict[str, float]
    log10_lr: dict[str, float]
    bound: dict[str, str]


def group_fragments(pair_p_values: Floats, level: float = 1 - GROUPING_SENSITIVITY) -> tuple[tuple[int, ...], ...]:
    """Find sets of two or more fragments of which every pair is indistinguishable (complete linkage)."""
    accepted = is_accepted(pair_p_values, 1 - level)
    distances = squareform(np.where(accepted, 1 - pair_p_values, 2.0), checks=False)
    labels = fcluster(linkage(distances, "complete"), 1.0, "distance")
    groups = (np.flatnonzero(labels == label).tolist() for label in np.unique(labels))
    return tuple(tuple(group) for group in groups if len(group) > 1)
