"""The match criterion of ASTM E2927: the mean of a questioned fragment within an interval around the known mean."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transvariation.casework.errors import Caution
from transvariation.casework.fragments import Floats
from transvariation.casework.reading import CaseTables

MIN_FRAGMENTS = 3
MULTIPLIER = 4.0
MIN_RSD = 0.03
N_OTHERS = 10  # other sources that each known set is compared with


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
class MatchInterval:
    """The interval of one element.

    Attributes
    ----------
    element : str
    mean : float
        Of the questioned fragment.
    low, high : float
        Known mean minus and plus `multiplier` times the larger of the known standard deviation and the minimum
        relative standard deviation.
    inside : bool
    """

    element: str
    mean: float
    low: float
    high: float
    inside: bool


def match_interval(known: Floats, multiplier: float = MULTIPLIER, min_rsd: float = MIN_RSD) -> tuple[Floats, Floats]:
    """Compute the match interval of every element from known fragment means, not on a log scale.

    Parameters
    ----------
    known : ndarray of shape (fragments, p)
    multiplier : float, default=4
    min_rsd : float, default=0.03
        The smallest relative standard deviation to assume.

    Examples
    --------
    >>> low, high = match_interval(np.array([[10.0], [10.0], [10.0]]))
    >>> low.round(2), high.round(2)
    (array([8.8]), array([11.2]))
    """
    mean = known.mean(axis=0)
    half = multiplier * np.maximum(known.std(axis=0, ddof=1), min_rsd * mean)
    return mean - half, mean + half


def applies(known: Floats) -> bool:
    """Return whether the criterion applies: at least three known fragments, measured as positive contents."""
    return bool(len(known) >= MIN_FRAGMENTS and (known >= 0).all() and (known.mean(axis=0) > 0).all())


def error_rates(
    sources: Sequence[Floats], n_known: int, multiplier: float, min_rsd: float, rng: np.random.Generator
) -> tuple[float | None, float | None]:
    """Measure false exclusion and false inclusion of the criterion.

    Parameters
    ----------
    sources : sequence of ndarray of shape (fragments, p)
        Fragment means of each source. Those with fewer than four fragments are not used.
    n_known : int
        How many fragments are known; a source with fewer gives all but the questioned one.

    Returns
    -------
    false_exclusion, false_inclusion : float or None
        None where the criterion does not apply.
    """
    usable = [means for means in sources if len(means) > MIN_FRAGMENTS and applies(means)]
    if n_known < MIN_FRAGMENTS or len(usable) < 2:
        return None, None
    excluded, included = [], []
    for i, means in enumerate(usable):
        for questioned in range(len(means)):
            known = rng.permutation(np.delete(means, questioned, axis=0))[:n_known]
            low, high = match_interval(known, multiplier, min_rsd)
            others = (i + rng.integers(1, len(usable), size=N_OTHERS)) % len(usable)
            foreign = np.array([usable[j][0] for j in others])
            excluded.append(not ((means[questioned] >= low) & (means[questioned] <= high)).all())
            included.append(float(((foreign >= low) & (foreign <= high)).all(axis=1).mean()))
    return float(np.mean(excluded)), float(np.mean(included))


def compare_by_astm(
    tables: CaseTables, multiplier: float, min_rsd: float, seed: int
) -> tuple[Criterion, list[tuple[bool | None, tuple[MatchInterval, ...]]], list[Caution]]:
    """Apply the criterion to the mean of every recovered fragment, and measure it on the background.

    Returns
    -------
    criterion : Criterion
    matches : list of (bool or None, intervals)
        One per recovered fragment; None if the criterion does not apply.
    cautions : list of Caution
    """
    if tables.contents is None or not applies(tables.contents[0]):
        expected = tables.background or len(tables.control.X) > len(tables.control.names)
        cautions = [Caution.of("looks-logged")] if tables.contents is None and tables.axis is None and expected else []
        return Criterion(multiplier, min_rsd, None, None), [(None, ())] * len(tables.recovered.names), cautions
    control, recovered = tables.contents
    low, high = match_interval(control, multiplier, min_rsd)
    found: list[tuple[bool | None, tuple[MatchInterval, ...]]] = []
    for mean in recovered:
        inside = (mean >= low) & (mean <= high)
        values = zip(tables.features, mean.tolist(), low.tolist(), high.tolist(), inside.tolist(), strict=True)
        found.append((bool(inside.all()), tuple(MatchInterval(*each) for each in values)))
    sources = [tables.linear_means(source) for source in tables.background]
    rates = error_rates(sources, len(control), multiplier, min_rsd, np.random.default_rng(seed))
    return Criterion(multiplier, min_rsd, *rates), found, []
