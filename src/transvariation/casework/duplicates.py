"""Detect rows that appear in both tables."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom

from transvariation.tables import Pair
from transvariation.tables.problems import printable

SHOWN = 5  # pairs of equal rows
SIGNIFICANT = 0.01  # the largest probability of as many equal rows by rounding


def duplicate_warnings(pair: Pair) -> list[str]:
    """Warn of recovered rows that are also control rows, and so are compared with themselves."""
    control, recovered = pair.control, pair.recovered
    if control.ids == recovered.ids and np.array_equal(control.X, recovered.X):
        return [
            "The control and the recovered table are the same: the control is compared with itself. Of a workbook with "
            "several sheets, choose one for each table."
        ]
    equal, q = _equal_rows(pair), len(recovered.X)
    if not equal:
        return []
    listed = ", ".join(f"{printable(new)} = {printable(own)}" for new, own in equal[:SHOWN])
    more = f" and {len(equal) - SHOWN} more" if len(equal) > SHOWN else ""
    return [
        f"{len(equal)} of {q} recovered rows equal a control row in every variable (recovered = control: {listed}"
        f"{more}). If they are the same measurements, remove them from the control: not excluding them has no meaning."
    ]


def _equal_rows(pair: Pair) -> list[tuple[str, str]]:
    """Name the recovered rows that equal a control row, if they are more than rounding explains.

    The control itself shows how many rounding makes: how many of its rows equal another one, and how many pairs are
    equal in each variable.
    """
    n, q = len(pair.control.X), len(pair.recovered.X)
    number = _row_numbers(np.concatenate([pair.control.X, pair.recovered.X]))
    own, new = number[:n], number[n:]
    times = np.bincount(own, minlength=len(number))
    found = int((times[new] > 0).sum())
    place = {name: i for i, name in enumerate(pair.control.ids)}
    same_id = sum(own[place[name]] == new[i] for i, name in enumerate(pair.recovered.ids) if name in place)
    equal = [_n_pairs(np.unique(column, return_counts=True)[1]) for column in pair.control.X.T]
    by_chance = float(np.prod((np.array(equal) + 1) / (_n_pairs(n) + 1)))  # one pair more: a few rows cannot exclude it
    any_row = max(_upper_share(int((times[own] > 1).sum()), n), min(n * by_chance, 1.0))
    given_row = max(_upper_share(_n_pairs(times), _n_pairs(n)), by_chance)
    unlikely = found and binom.sf(found - 1, q, any_row) <= SIGNIFICANT
    if not unlikely and not (same_id and binom.sf(same_id - 1, q, given_row) <= SIGNIFICANT):
        return []
    first = {k: name for k, name in zip(own[::-1].tolist(), pair.control.ids[::-1], strict=True)}
    return [(name, first[k]) for name, k in zip(pair.recovered.ids, new.tolist(), strict=True) if k in first]


def _n_pairs(n: int | NDArray[np.intp]) -> float:
    return float(np.sum(n * (n - 1) / 2))


def _upper_share(count: float, n: float) -> float:
    """A share plus two standard errors."""
    share = count / n
    return min(share + 2 * np.sqrt(share * (1 - share) / n), 1.0)


def _row_numbers(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number the rows so that equal rows have equal numbers."""
    return np.asarray(pd.DataFrame(X + 0.0).groupby(list(range(X.shape[1])), sort=False).ngroup(), dtype=np.intp)
