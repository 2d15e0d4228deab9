"""How often recovered fragments are grouped wrongly, measured on a background."""

from collections.abc import Sequence

import numpy as np

from transvariation._typing import Floats
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Source
from transvariation.casework.background.rates import measure_rate
from transvariation.casework.background.same_source import MIN_SOURCES_TO_CALIBRATE
from transvariation.casework.evidence import GROUPING_SENSITIVITY, GroupingRates, group_fragments
from transvariation.conformal import ROUNDING_ERROR

MOST_IN_A_SET = 10  # fragments; more are rarely grouped, and rarely found in a background
N_SETS_GROUPED = 300  # sets of each kind


def measure_grouping(
    sources: Sequence[Source], n_fragments: int, replicates: int, seed: int = 0
) -> GroupingRates | None:
    """Group fragments of known origin; each half of the sources is grouped by what the other half teaches.

    The level at which two fragments are separate is such that a set of one source stays together in nine of ten
    cases: with a tenth for every pair, more fragments would be divided more often.

    Parameters
    ----------
    sources : sequence of sources
        The background.
    n_fragments : int
        In a set: as many as were recovered, or as half of the sources have.
    replicates : int
        Of each fragment.
    seed : int
        Of what is drawn at random.

    Returns
    -------
    GroupingRates or None
        None if there are too few sources.
    """
    usable = [source for source in sources if len(source) > 1]
    if len(usable) < 2 * MIN_SOURCES_TO_CALIBRATE:
        return None
    half = int(np.median([len(source) for source in usable]))
    size = max(2, min(n_fragments, half, MOST_IN_A_SET))
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(usable))
    parts = []
    for part in (0, 1):
        background = Background([usable[i] for i in order[part::2]], seed)
        others = [int(i) for i in order[1 - part :: 2] if len(usable[i]) >= size]
        if len(others) < 2:
            return None
        drawn: list[tuple[Floats, list[int]]] = []
        for k in range(N_SETS_GROUPED // 2):
            one = others[k % len(others)]
            other = int(rng.choice([i for i in others if i != one]))
            for taken in ([(one, size)], [(one, (size + 1) // 2), (other, size // 2)]):
                at = [(i, int(f)) for i, n in taken for f in rng.permutation(len(usable[i]))[:n]]
                means = background.means([usable[i][f][:replicates] for i, f in at])
                drawn.append((means, [i for i, _ in at]))
        parts.append(_compared(background, drawn, replicates))
    smallest = 1 / (len(usable) // 2 + 1)
    levels = [_level(sets, smallest) for sets in parts]
    divided: list[tuple[bool, int]] = []
    mixed: list[tuple[bool, int, int]] = []
    for sets, level in zip(parts, levels[::-1], strict=True):  # each half by the level of the other
        for p_values, owner in sets:
            groups = group_fragments(p_values, level)
            if len(set(owner)) == 1:
                divided.append((not groups or len(groups[0]) < len(owner), owner[0]))
            else:
                mixed.append((any(len({owner[i] for i in group}) > 1 for group in groups), owner[0], owner[-1]))
    of_one, of_two = (measure_rate(*map(np.array, zip(*events, strict=True))) for events in (divided, mixed))
    return GroupingRates(size, of_one, of_two, _level(parts[0] + parts[1], smallest))


def _level(sets: Sequence[tuple[Floats, list[int]]], smallest: float) -> float:
    """Compute the p-value of a pair below which the smallest one lies in a tenth of the sets of one source."""
    of_one = [float(p_values.min()) for p_values, owner in sets if len(set(owner)) == 1]
    return max(float(np.quantile(of_one, 1 - GROUPING_SENSITIVITY, method="lower")) - ROUNDING_ERROR, smallest)


def _compared(
    background: Background, drawn: Sequence[tuple[Floats, list[int]]], replicates: int
) -> list[tuple[Floats, list[int]]]:
    """Compute the p-values of all pairs of fragments of every set, in one call."""
    pairs = [np.triu_indices(len(means), 1) for means, _ in drawn]
    differences = [(means[a] - means[b]) / np.sqrt(2) for (means, _), (a, b) in zip(drawn, pairs, strict=True)]
    model = background.pair_differences(replicates)
    p_values = np.split(model.p_values(np.concatenate(differences)), np.cumsum([len(a) for a, _ in pairs])[:-1])
    found = []
    for (means, owner), (a, b), p in zip(drawn, pairs, p_values, strict=True):
        square = np.ones((len(means), len(means)))
        square[a, b] = square[b, a] = p
        found.append((square, owner))
    return found
