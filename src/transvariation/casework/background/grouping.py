"""How often recovered fragments are grouped wrongly, measured on a background."""

from collections.abc import Sequence

import numpy as np

from transvariation.casework.background.model import Background
from transvariation.casework.background.pairs import Source
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

        def grouped(*taken: tuple[int, int], background: Background = background) -> list[set[int]]:
            """Group some fragments of some sources; return the owners that each group has."""
            fragments, owner = [], []
            for source, n in taken:
                for at in rng.permutation(len(usable[source]))[:n]:
                    fragments.append(usable[source][at][:replicates])
                    owner.append(source)
            groups = group_fragments(background.pair_p_values(background.means(fragments), replicates))
            loose = set(range(len(owner))).difference(*map(set, groups)) if groups else set(range(len(owner)))
            return [{owner[i] for i in group} for group in (*groups, *((i,) for i in loose))]

        for k in range(N_SETS_GROUPED // 2):
            one = others[k % len(others)]
            other = int(rng.choice([i for i in others if i != one]))
            divided.append((len(grouped((one, size))) > 1, one))
            both = grouped((one, (size + 1) // 2), (other, size // 2))
            mixed.append((any(len(owners) > 1 for owners in both), one, other))
    if not divided:
        return None
    rates = (measure_rate(*map(np.array, zip(*sets, strict=True))) for sets in (divided, mixed))
    return GroupingRates(size, *rates)
