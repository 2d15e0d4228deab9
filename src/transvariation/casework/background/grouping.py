"""How often recovered fragments are grouped wrongly, measured on a background."""

from collections.abc import Sequence

import numpy as np

from transvariation._typing import Floats
from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Design, Source
from transvariation.casework.background.rates import measure_rate
from transvariation.casework.background.same_source import MIN_SOURCES_TO_CALIBRATE
from transvariation.casework.evidence import GroupingRates, group_fragments

MOST_IN_A_SET = 10  # fragments; more are rarely grouped, and rarely found in a background
N_SETS_GROUPED = 300  # sets of each kind


def measure_grouping(
    sources: Sequence[Source], n_fragments: int, replicates: int, seed: int = 0
) -> GroupingRates | None:
    """Group fragments of known origin; each half of the sources is grouped by what the other half teaches.

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
    divided: list[tuple[bool, int]] = []
    mixed: list[tuple[bool, int, int]] = []
    for part in (0, 1):
        background = Background([usable[i] for i in order[part::2]], seed)
        others = [int(i) for i in order[1 - part :: 2] if len(usable[i]) >= size]
        if len(others) < 2:
            continue

        drawn: list[tuple[Floats, list[int]]] = []
        for k in range(N_SETS_GROUPED // 2):
            one = others[k % len(others)]
            other = int(rng.choice([i for i in others if i != one]))
            for taken in ([(one, size)], [(one, (size + 1) // 2), (other, size // 2)]):
                at = [(i, int(f)) for i, n in taken for f in rng.permutation(len(usable[i]))[:n]]
                means = background.means([usable[i][f][:replicates] for i, f in at])
                drawn.append((means, [i for i, _ in at]))
        for owner, groups in zip(*_grouped(background, drawn, replicates), strict=True):
            whole = len(groups) == 1 and len(groups[0]) == len(owner)
            if len(set(owner)) == 1:
                divided.append((not whole, owner[0]))
            else:
                mixed.append((any(len({owner[i] for i in group}) > 1 for group in groups), owner[0], owner[-1]))
    if not divided:
        return None
    rates = (measure_rate(*map(np.array, zip(*sets, strict=True))) for sets in (divided, mixed))
    return GroupingRates(size, *rates)


def _grouped(
    background: Background, drawn: Sequence[tuple[Floats, list[int]]], replicates: int
) -> tuple[list[list[int]], list[tuple[tuple[int, ...], ...]]]:
    """Group the fragments of every set; all pairs are compared in one call."""
    pairs = [np.triu_indices(len(means), 1) for means, _ in drawn]
    differences = [(means[a] - means[b]) / np.sqrt(2) for (means, _), (a, b) in zip(drawn, pairs, strict=True)]
    model = background.differences(Design(1, 1, replicates, replicates))
    p_values = np.split(model.p_values(np.concatenate(differences)), np.cumsum([len(a) for a, _ in pairs])[:-1])
    groups = []
    for (means, _), (a, b), p in zip(drawn, pairs, p_values, strict=True):
        square = np.ones((len(means), len(means)))
        square[a, b] = square[b, a] = p
        groups.append(group_fragments(square))
    return [owner for _, owner in drawn], groups
