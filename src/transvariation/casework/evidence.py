"""The evidence on the recovered fragments: one frozen record of numbers for each basis."""

from dataclasses import dataclass, field

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from transvariation._typing import Floats
from transvariation.casework.background.performance import Performance
from transvariation.casework.background.rates import Rate
from transvariation.casework.decision import Basis, Variables
from transvariation.casework.errors import Caution
from transvariation.casework.foreign import Foreign
from transvariation.conformal import is_accepted

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


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Evidence on q recovered fragments in p variables from one basis.

    Attributes
    ----------
    basis : Basis
    p_values : ndarray of shape (q,)
        NaN where there is no evidence.
    univariate : ndarray of shape (q, p) or None
        P-values of comparisons by one variable, corrected for their number; NaN where there is no evidence; None if
        components are compared.
    groups : tuple of tuple of int
        Recovered fragments that cannot be distinguished from each other.
    group_p_values : tuple of float
        The joint p-value of each group.
    cautions : tuple of Caution
    """

    basis: Basis
    p_values: Floats
    univariate: Floats | None
    groups: tuple[tuple[int, ...], ...] = ()
    group_p_values: tuple[float, ...] = ()
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class ControlEvidence(Evidence):
    """Evidence by the control fragments, with what only their classifier gives.

    Attributes
    ----------
    variables : Variables
        Those that the classifier uses.
    tp : ndarray of shape (q,) or None
    foreign : Foreign or None
        The evidence on known foreign fragments.
    """

    variables: Variables
    tp: Floats | None = None
    foreign: Foreign | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class BackgroundEvidence(Evidence):
    """Evidence by a background, with what only a background gives.

    Attributes
    ----------
    ratios, group_ratios : tuple of dict
        Log10 likelihood ratio and bound by system, for each fragment and each group.
    likelihood : dict
        Performance of each likelihood-ratio system.
    homogeneity_p_value, replicate_p_value : float or None
        Of the control fragments compared with those of one source, and of all replicates with those of the background.
    grouping : GroupingRates or None
        How often fragments of the background are grouped wrongly; None without groups.
    """

    ratios: tuple[RatiosBySystem, ...]
    group_ratios: tuple[RatiosBySystem, ...] = ()
    likelihood: dict[str, Performance] = field(default_factory=dict)
    homogeneity_p_value: float | None = None
    replicate_p_value: float | None = None
    grouping: GroupingRates | None = None


def group_fragments(pair_p_values: Floats, level: float = 1 - GROUPING_SENSITIVITY) -> tuple[tuple[int, ...], ...]:
    """Find sets of two or more fragments of which every pair is indistinguishable (complete linkage)."""
    accepted = is_accepted(pair_p_values, 1 - level)
    distances = squareform(np.where(accepted, 1 - pair_p_values, 2.0), checks=False)
    labels = fcluster(linkage(distances, "complete"), 1.0, "distance")
    groups = (np.flatnonzero(labels == label).tolist() for label in np.unique(labels))
    return tuple(tuple(group) for group in groups if len(group) > 1)
