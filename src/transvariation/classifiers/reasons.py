"""Why an object was rejected: the fewest variables that suffice, and the nearest values that would be accepted."""

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation.classifiers.transvariation import TransvariationClassifier

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

_EXHAUSTIVE = 4096  # sets of variables tried together; beyond, variables are dropped one at a time
_FINE = 1e-6  # of a standard deviation: how closely the edge of what is accepted is sought
_NEIGHBOURS = 8  # target objects towards which an accepted point is sought


def reasons(rule: TransvariationClassifier, Z: ArrayLike) -> "pd.DataFrame":
    """Extend `rule.explain(Z)` by what it took to reject each object and what would have been accepted.

    Parameters
    ----------
    rule : TOCC, PAMTOCC, DensityTOCC or KernelTOCC, fitted
    Z : array-like of shape (q, p)

    Returns
    -------
    DataFrame
        The table of `explain`, one row per object and variable, with three columns more. ``accepted``: the verdict.
        ``needed``: for a rejected object, whether the variable belongs to the smallest set that rejects it even if all
        other variables had the centre's values. ``accepted_at``: for a rejected object, the nearest values found at
        which it would be accepted, where a variable's distance is measured in standard deviations of the target.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass, reasons
    >>> glass = load_glass()
    >>> rule = TOCC().fit(glass.control[["K", "Mg"]])
    >>> table = reasons(rule, glass.recovered[["K", "Mg"]].iloc[:1])
    >>> table[["variable", "value", "needed", "accepted_at"]].round(2).to_dict("list")
    {'variable': ['K', 'Mg'], 'value': [1.68, 2.68], 'needed': [True, False], 'accepted_at': [0.56, 2.71]}
    """
    table = rule.explain(Z)
    rows = rule._validated(Z)
    accepted = _accepts(rule, rows)
    spread = rule._X.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    needed, nearest = np.zeros(rows.shape, dtype=bool), rows.copy()
    for i in np.flatnonzero(~accepted):
        centre = _centre(rule, rows[i])
        needed[i] = smallest_rejected_set(rule, rows[i], centre, scale)
        nearest[i] = nearest_accepted(rule, rows[i], centre, scale)
    table["accepted"] = np.repeat(accepted, rows.shape[1])
    table["needed"] = needed.ravel()
    table["accepted_at"] = nearest.ravel()
    return table


def smallest_rejected_set(
    rule: TransvariationClassifier, z: Floats, centre: Floats, scale: Floats
) -> NDArray[np.bool_]:
    """Find the fewest variables whose values reject an object even if all others were the centre's.

    Sets are tried in order of size, all of one size together; of several, the one that is rejected most clearly, and
    of equally clear ones (tp is 0 everywhere beyond the sample) the one whose values lie farthest from the centre. With
    too many variables for that, they are dropped one at a time, each time the one that matters least.
    """
    p = len(z)
    tried = 0
    for size in range(1, p):
        sets = _sets(p, size, _EXHAUSTIVE - tried)
        if sets is None:
            return _dropped(rule, z, centre, scale)
        margin = _margin(rule, np.where(sets, z, centre))
        if margin.min() < 0:
            return sets[_clearest(margin, sets, z, centre, scale)]
        tried += len(sets)
    return np.ones(p, dtype=bool)


def nearest_accepted(rule: TransvariationClassifier, z: Floats, centre: Floats, scale: Floats) -> Floats:
    """Find accepted values near those of a rejected object.

    From the object straight towards the centre and towards the closest accepted target objects, as far as needed; then
    each variable back to the object's own value, as far as possible. A good answer, not certain to be the nearest.
    """
    known = rule._X[_accepts(rule, rule._X)]
    order = np.argsort(np.linalg.norm((known - z) / scale, axis=1), kind="stable")[:_NEIGHBOURS]
    goals = np.vstack([centre, known[order]])
    goals = goals[_accepts(rule, goals)]
    if not len(goals):
        return np.full(len(z), np.nan)
    points = _first_accepted(rule, z, goals, scale)
    for u in np.argsort(-np.abs(points - z).mean(axis=0) / scale):
        home = points.copy()
        home[:, u] = z[u]
        points = _towards(rule, points, home, scale)
    distance, moved = np.linalg.norm((points - z) / scale, axis=1), (points != z).sum(axis=1)
    # Seen from afar all are equally near: then the one that leaves most variables alone.
    farther = distance > distance.min() * (1 + 1e-15) + 2 * _FINE
    return points[np.lexsort((distance, moved, farther))[0]]


def tell_reasons(table: "pd.DataFrame") -> str:
    """Put a table of :func:`reasons` into words, one line per object.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass, reasons
    >>> glass = load_glass()
    >>> rule = TOCC().fit(glass.control[["K", "Mg"]])
    >>> print(tell_reasons(reasons(rule, glass.recovered[["K", "Mg"]].iloc[:1])))
    164 rejected: K = 1.68 (typical 0.56) suffices; accepted with K = 0.56, Mg = 2.71
    """
    return "\n".join(_sentences(table))


def objects_of(table: "pd.DataFrame") -> Iterator[tuple[Any, Any]]:
    """Give each object of the table its name and rows; objects of the same name, such as replicates, stay apart."""
    label = table["object"].factorize()[0]  # missing labels equal nothing, their numbers do
    variable = table["variable"].to_numpy()
    number = ((np.diff(label, prepend=label[:1]) != 0) | (variable == variable[:1])).cumsum()
    return ((rows["object"].iloc[0], rows) for _, rows in table.groupby(number))


def _sentences(table: "pd.DataFrame") -> Iterator[str]:
    for name, rows in objects_of(table):
        if rows["accepted"].iloc[0]:
            yield f"{name} accepted"
            continue
        needed = rows[rows["needed"]]
        causes = " and ".join(
            f"{variable} = {value:.4g} (typical {typical:.4g})"
            for variable, value, typical in zip(needed["variable"], needed["value"], needed["median"], strict=True)
        )
        moved = rows[rows["accepted_at"] != rows["value"]].dropna(subset=["accepted_at"])
        remedy = ", ".join(f"{v} = {a:.4g}" for v, a in zip(moved["variable"], moved["accepted_at"], strict=True))
        verb = "suffices" if len(needed) == 1 else "suffice together"
        yield f"{name} rejected: {causes} {verb}" + (f"; accepted with {remedy}" if remedy else "")


def _margin(rule: TransvariationClassifier, X: Floats) -> Floats:
    return rule._score(X) - rule.thresholds_[rule._stratum(X)]


def _accepts(rule: TransvariationClassifier, X: Floats) -> NDArray[np.bool_]:
    return _margin(rule, X) >= 0


def _centre(rule: TransvariationClassifier, z: Floats) -> Floats:
    """The centre that the object is compared with: with several clusters that of its own."""
    if hasattr(rule, "centers_"):
        return np.asarray(rule.centers_[rule._stratum(z[None])[0]])
    return np.asarray(rule.center_)


def _sets(p: int, size: int, room: int) -> NDArray[np.bool_] | None:
    """All sets of so many variables, one per row; None if there is no room for them."""
    rows: list[NDArray[np.bool_]] = []
    for chosen in combinations(range(p), size):
        if len(rows) == room:
            return None
        rows.append(np.isin(np.arange(p), chosen))
    return np.array(rows)


def _clearest(margin: Floats, sets: NDArray[np.bool_], z: Floats, centre: Floats, scale: Floats) -> int:
    distance = (sets * ((z - centre) / scale) ** 2).sum(axis=1)
    return int(np.lexsort((-distance, margin))[0])


def _dropped(rule: TransvariationClassifier, z: Floats, centre: Floats, scale: Floats) -> NDArray[np.bool_]:
    kept = np.ones(len(z), dtype=bool)
    while kept.sum() > 1:
        inside = np.flatnonzero(kept)
        fewer = np.array([kept & (np.arange(len(z)) != u) for u in inside])
        margin = _margin(rule, np.where(fewer, z, centre))
        if margin.min() >= 0:
            break
        kept = fewer[_clearest(margin, fewer, z, centre, scale)]
    return kept


def _first_accepted(rule: TransvariationClassifier, z: Floats, goals: Floats, scale: Floats) -> Floats:
    """On the way from the object to each accepted goal, the point nearest the object that is accepted."""
    return _towards(rule, goals, np.tile(z, (len(goals), 1)), scale)


def _towards(rule: TransvariationClassifier, inside: Floats, outside: Floats, scale: Floats) -> Floats:
    """Go from accepted points towards others, by bisection, as far as still accepted."""
    reached = _accepts(rule, outside)[:, None]
    near, far = inside, np.where(reached, inside, outside)
    middle = (near + far) / 2
    # The farther the object, the more halvings; and none where no number lies between the two any more.
    while ((np.abs(far - near) > _FINE * scale) & (middle != near) & (middle != far)).any():
        good = _accepts(rule, middle)[:, None]
        near, far = np.where(good, middle, near), np.where(good, far, middle)
        middle = (near + far) / 2
    return np.where(reached, outside, near)
