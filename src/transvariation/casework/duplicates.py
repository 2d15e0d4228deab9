"""Recovered objects that stand in the control table as well: they would be judged by themselves."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom

from transvariation.tables import Pair
from transvariation.tables.problems import printable

NAMED = 5  # pairs of twins
SURE = 0.01  # so many or more equal rows would come about by themselves at most so often


def same_objects(pair: Pair) -> list[str]:
    """Warn of recovered objects that were judged by themselves."""
    twins, q = _twins(pair), len(pair.recovered.X)
    n = len(twins)
    if not n:
        return []
    listed = ", ".join(f"{printable(theirs)} = {printable(own)}" for theirs, own in twins[:NAMED])
    more = f" and {n - NAMED} more" if n > NAMED else ""
    stand = "object stands" if q == 1 else f"objects stand{'s' * (n == 1)}"
    return [
        f"{n} of {q} recovered {stand} in the control table too, with the same values (recovered = control: {listed}"
        f"{more}). If these are the same measurements, they helped to describe what they were judged by, and "
        "'accepted' says little: take them out of the control table. A table with both groups has to be split "
        "into two first."
    ]


def _twins(pair: Pair) -> list[tuple[str, str]]:
    """Name the recovered objects with a twin in the control, and the twin, where there are more than rounding makes.

    How many it makes the control shows itself: how many of its objects have a twin, how many pairs are twins, and how
    many pairs are equal in each variable.
    """
    n, q = len(pair.control.X), len(pair.recovered.X)
    number = _numbered(np.concatenate([pair.control.X, pair.recovered.X]))
    own, theirs = number[:n], number[n:]
    times = np.bincount(own, minlength=len(number))
    found = int((times[theirs] > 0).sum())
    place = {name: i for i, name in enumerate(pair.control.ids)}
    named = sum(own[place[name]] == theirs[i] for i, name in enumerate(pair.recovered.ids) if name in place)
    equal = [_pairs(np.unique(column, return_counts=True)[1]) for column in pair.control.X.T]
    by_chance = float(np.prod((np.array(equal) + 1) / (_pairs(n) + 1)))  # one pair more: few objects cannot exclude it
    often = max(_at_most(int((times[own] > 1).sum()), n), min(n * by_chance, 1.0))
    as_often = max(_at_most(_pairs(times), _pairs(n)), by_chance)
    odd = found and binom.sf(found - 1, q, often) <= SURE
    if not odd and not (named and binom.sf(named - 1, q, as_often) <= SURE):
        return []
    first = {number: name for number, name in zip(own[::-1].tolist(), pair.control.ids[::-1], strict=True)}
    return [(name, first[k]) for name, k in zip(pair.recovered.ids, theirs.tolist(), strict=True) if k in first]


def _pairs(n: int | NDArray[np.intp]) -> float:
    return float(np.sum(n * (n - 1) / 2))


def _at_most(count: float, n: float) -> float:
    """A share, and two standard errors for not knowing it."""
    share = count / n
    return min(share + 2 * np.sqrt(share * (1 - share) / n), 1.0)


def _numbered(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give rows with the same values the same number."""
    return np.asarray(pd.DataFrame(X + 0.0).groupby(list(range(X.shape[1])), sort=False).ngroup(), dtype=np.intp)
