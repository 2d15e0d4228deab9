"""The match criterion of ASTM E2927: the mean of a questioned fragment within an interval around the known mean.

The standard covers element concentrations by LA-ICP-MS. For other measurements the same interval is computed only if it
is asked for, and is then called the 4 s interval.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from transvariation._typing import Floats
from transvariation.casework.background.pairs import Source, subsample_rows
from transvariation.casework.background.rates import Rate, measure_rate
from transvariation.casework.errors import Caution
from transvariation.casework.reading import CaseTables

MIN_FRAGMENTS = 3
MIN_MEASUREMENTS = 9  # of the known, that the standard asks for
STANDARD, INTERVAL = "ASTM E2927", "4 s interval"
_TRACE = "Li Ti Mn Rb Sr Zr La Ce Nd Hf Pb Sn Co Cr Cs Th U Y Ga Eu Er"
_OTHERS = "Na Mg Al K Ca Fe Ba P As Sb B Zn Cu Ni V Se Ag W Mo Bi Pr Sm Gd Dy Yb Nb"
TRACE_ELEMENTS = frozenset(_TRACE.split())
ELEMENTS = TRACE_ELEMENTS.union(_OTHERS.split())
INTERVAL_MULTIPLIER = 4.0
MIN_RSD = 0.03
N_OTHERS = 10  # other sources that each known set is compared with


@dataclass(frozen=True)
class Criterion:
    """The criterion as used.

    Attributes
    ----------
    multiplier, min_rsd : float
        Half the width of an interval in standard deviations, and the smallest relative standard deviation.
    exclusion, inclusion : Rate or None
        Its false exclusions and false inclusions as measured on the background; None without one.
    name : str
        "ASTM E2927", or "4 s interval" for measurements that the standard does not cover.
    n_measurements : int
        Of the known, from which the standard deviations come; the standard asks for nine.
    """

    multiplier: float
    min_rsd: float
    exclusion: Rate | None = None
    inclusion: Rate | None = None
    name: str = STANDARD
    n_measurements: int = 0


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


def match_interval(
    known: Floats, multiplier: float = INTERVAL_MULTIPLIER, min_rsd: float = MIN_RSD
) -> tuple[Floats, Floats]:
    """Compute the match interval of every element from the measurements of the known, not on a log scale.

    Parameters
    ----------
    known : ndarray of shape (measurements, p)
        All replicates of all known fragments.
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
    """Return whether an interval can be computed: at least three measurements of the known, positive contents."""
    return bool(len(known) >= MIN_FRAGMENTS and (known >= 0).all() and (known.mean(axis=0) > 0).all())


def is_covered(features: Sequence[str]) -> bool:
    """Return whether variables look like element concentrations by LA-ICP-MS, by their names.

    All are elements, at least two of them trace elements, or isotopes, and silicon, the internal standard, is none of
    them. Oxides, ratios and refractive indices are not covered.

    Examples
    --------
    >>> is_covered(["Li7", "Sr88 (ppm)", "49Ti", "Zr"]), is_covered(["RI", "Na", "Mg"]), is_covered(["SiO", "CaO"])
    (True, False, False)
    """
    names = [re.split(r"[ (\[_]", name.strip())[0] for name in features]
    symbols = {re.sub(r"[^A-Za-z]", "", name) for name in names}
    isotopes = all(any(letter.isdigit() for letter in name) for name in names)
    return symbols <= ELEMENTS and (isotopes or len(symbols & TRACE_ELEMENTS) >= 2)


def error_rates(
    sources: Sequence[Source],
    n_known: int,
    multiplier: float,
    min_rsd: float,
    rng: np.random.Generator,
    replicates: tuple[int, int] = (10**6, 10**6),
) -> tuple[Rate, Rate] | None:
    """Measure false exclusion and false inclusion of the criterion.

    Parameters
    ----------
    sources : sequence of sources
        Each a sequence of fragments, arrays of shape (replicates, p), not on a log scale.
    n_known : int
        How many fragments are known; a source with fewer gives all but the questioned one, if the criterion applies.
    replicates : tuple of int
        How many replicates a known and a questioned fragment have, at most.

    Returns
    -------
    false_exclusion, false_inclusion : Rate, or None where the criterion does not apply
    """
    usable = [source for source in sources if len(source) > 1 and applies(np.concatenate(source))]
    if len(usable) < 2:
        return None
    excluded, included = [], []
    for i, source in enumerate(usable):
        for q in range(len(source)):
            rest = rng.permutation(np.delete(np.arange(len(source)), q))[:n_known]
            known = np.concatenate([subsample_rows(source[j], replicates[0], rng) for j in rest])
            if not applies(known):
                continue
            low, high = match_interval(known, multiplier, min_rsd)
            own = subsample_rows(source[q], replicates[1], rng).mean(axis=0)
            excluded.append((not ((own >= low) & (own <= high)).all(), i))
            for j in (i + rng.integers(1, len(usable), size=N_OTHERS)) % len(usable):
                other = usable[j][rng.integers(len(usable[j]))]
                mean = subsample_rows(other, replicates[1], rng).mean(axis=0)
                included.append((bool(((mean >= low) & (mean <= high)).all()), i, int(j)))
    if not excluded:
        return None
    of_same, of_different = np.array(excluded), np.array(included)
    return measure_rate(of_same[:, 0], of_same[:, 1]), measure_rate(*of_different.T)


def compare_by_astm(
    tables: CaseTables, multiplier: float, min_rsd: float, seed: int, asked: bool = False
) -> tuple[Criterion, list[tuple[bool | None, tuple[MatchInterval, ...]]], list[Caution]]:
    """Apply the criterion to the mean of every recovered fragment, and measure it on the background.

    Returns
    -------
    criterion : Criterion
    matches : list of (bool or None, intervals)
        One per recovered fragment; None if the criterion does not apply.
    cautions : list of Caution
    """
    covered = is_covered(tables.features)
    found: list[tuple[bool | None, tuple[MatchInterval, ...]]] = []
    if tables.contents is None or not (covered or asked) or not applies(tables.linear(tables.control.replicates)):
        expected = asked or (covered and (tables.background or len(tables.control.X) > len(tables.control.names)))
        cautions = [Caution.of("looks-logged")] if tables.contents is None and tables.axis is None and expected else []
        return Criterion(multiplier, min_rsd), [(None, ())] * len(tables.recovered.names), cautions
    known, recovered = tables.linear(tables.control.replicates), tables.contents
    low, high = match_interval(known, multiplier, min_rsd)
    for mean in recovered:
        inside = (mean >= low) & (mean <= high)
        values = zip(tables.features, mean.tolist(), low.tolist(), high.tolist(), inside.tolist(), strict=True)
        found.append((bool(inside.all()), tuple(MatchInterval(*each) for each in values)))
    counts = sorted(len(rows) for rows in tables.recovered.rows)
    replicates = tables.control.n_replicates, counts[len(counts) // 2]
    sources = [[tables.linear([x]) for x in source] for source in tables.background]
    rng = np.random.default_rng(seed)
    rates = error_rates(sources, len(tables.control.names), multiplier, min_rsd, rng, replicates)
    exclusion, inclusion = rates or (None, None)
    name = STANDARD if covered else INTERVAL
    criterion = Criterion(multiplier, min_rsd, exclusion, inclusion, name, len(known))
    few = len(known) < MIN_MEASUREMENTS
    cautions = [Caution.of("few-measurements", name=criterion.name, n=len(known), need=MIN_MEASUREMENTS)] if few else []
    return criterion, found, cautions
