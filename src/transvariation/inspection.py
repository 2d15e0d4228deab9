"""Why an object was rejected: the fewest variables that suffice, and the nearest values that would be accepted."""

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from transvariation.calibrated import CalibratedOCC, detector_scores, score_sign
from transvariation.conformal import margin
from transvariation.depth.median import spatial_median
from transvariation.projection_ensemble import ProjectionEnsemble
from transvariation.tocc import TOCC
from transvariation.transvariation_classifier import TransvariationClassifier

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Rule = TransvariationClassifier | ProjectionEnsemble  # rules that keep their target objects and can explain

_EXHAUSTIVE = 4096  # sets of variables tried together; beyond, variables are dropped one at a time
_FINE = 1e-6  # of a standard deviation: how closely the edge of what is accepted is sought
_NEIGHBOURS = 8  # target objects towards which an accepted point is sought


def explain_rejections(rule: Any, Z: ArrayLike, X: ArrayLike | None = None) -> "pd.DataFrame":
    """Extend `rule.explain(Z)` by what it took to reject each object and what would have been accepted.

    Parameters
    ----------
    rule : TOCC, PAMTOCC, DensityTOCC, KernelTOCC, ProjectionEnsemble, or any detector or pipeline, fitted
        All verdicts are its own. Where it has no `explain`, the objects are counted in the variables as they are, and
        a variable alone would reject as large a share of the target objects as the rule does.
    Z : array-like of shape (q, p)
    X : array-like of shape (n, p), optional
        The target objects, without gaps, for a rule that does not keep them: a pipeline, a `CalibratedOCC` around
        one, a detector.

    Returns
    -------
    DataFrame
        The table of `explain`, one row per object and variable, with three columns more. ``accepted``: the verdict.
        ``needed``: for a rejected object, whether the variable belongs to the smallest set that rejects it even if all
        other variables had the centre's values. ``accepted_at``: for a rejected object, the nearest values found at
        which it would be accepted, where a variable's distance is measured in standard deviations of the target.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass, explain_rejections
    >>> glass = load_glass()
    >>> rule = TOCC().fit(glass.control[["K", "Mg"]])
    >>> table = explain_rejections(rule, glass.recovered[["K", "Mg"]].iloc[:1])
    >>> table[["variable", "value", "needed", "accepted_at"]].round(2).to_dict("list")
    {'variable': ['K', 'Mg'], 'value': [1.68, 2.68], 'needed': [True, False], 'accepted_at': [0.56, 2.71]}
    """
    rule = _explaining(rule, X)
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


class _Counting(TOCC):
    """Explains by counting among the target objects what another rule decides."""

    def __init__(self, rule: Any):
        super().__init__()
        self.rule = rule

    def _score(self, X: Floats) -> Floats:
        import pandas as pd

        names = getattr(self, "feature_names_in_", None)  # steps of a pipeline may choose columns by name
        table = X if names is None else pd.DataFrame(X, columns=names)
        return detector_scores(self.rule, table, "decision_function", sign=self._sign)

    def explains(self, X: ArrayLike) -> Self:
        self._sign = score_sign(self.rule, X, "decision_function")
        self.fit(X)
        self._sensitivity = max(float((self._calibration.scores >= 0).mean()), 1 / len(self._X))
        self.thresholds_ = np.zeros(1)
        return self


def _explaining(rule: Any, X: ArrayLike | None) -> Rule:
    """Give the rule itself if it can explain, else one that explains its verdicts."""
    check_is_fitted(rule)
    if isinstance(rule, Rule):
        return rule
    if X is None and isinstance(rule, CalibratedOCC) and isinstance(rule.estimator_, Rule):
        X = rule.estimator_._X
        if hasattr(rule, "feature_names_in_"):
            import pandas as pd

            X = pd.DataFrame(X, columns=rule.feature_names_in_)
    if X is None:
        raise TypeError(
            f"{type(rule).__name__} does not keep its target objects in the variables as they are, and reasons need "
            "them: give them too, as in explain_rejections(rule, Z, X). TOCC and its relatives keep them"
        )
    return _Counting(rule).explains(X)


def smallest_rejected_set(rule: Rule, z: Floats, centre: Floats, scale: Floats) -> NDArray[np.bool_]:
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


def nearest_accepted(rule: Rule, z: Floats, centre: Floats, scale: Floats) -> Floats:
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


def describe_rejections(table: "pd.DataFrame") -> str:
    """Put a table of :func:`reasons` into words, one line per object.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass, explain_rejections
    >>> glass = load_glass()
    >>> rule = TOCC().fit(glass.control[["K", "Mg"]])
    >>> print(describe_rejections(explain_rejections(rule, glass.recovered[["K", "Mg"]].iloc[:1])))
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


def _margin(rule: Rule, X: Floats) -> Floats:
    strata = rule._stratum(X)
    return margin(rule._score(X), rule.thresholds_[0 if strata is None else strata])


def _accepts(rule: Rule, X: Floats) -> NDArray[np.bool_]:
    return _margin(rule, X) >= 0


def _centre(rule: Rule, z: Floats) -> Floats:
    """The centre that the object is compared with: with several clusters that of its own."""
    if hasattr(rule, "centers_"):
        strata = rule._stratum(z[None])
        return np.asarray(rule.centers_[0 if strata is None else strata[0]])
    return np.asarray(rule.center_ if hasattr(rule, "center_") else spatial_median(rule._X))


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


def _dropped(rule: Rule, z: Floats, centre: Floats, scale: Floats) -> NDArray[np.bool_]:
    kept = np.ones(len(z), dtype=bool)
    while kept.sum() > 1:
        inside = np.flatnonzero(kept)
        fewer = np.array([kept & (np.arange(len(z)) != u) for u in inside])
        margin = _margin(rule, np.where(fewer, z, centre))
        if margin.min() >= 0:
            break
        kept = fewer[_clearest(margin, fewer, z, centre, scale)]
    return kept


def _first_accepted(rule: Rule, z: Floats, goals: Floats, scale: Floats) -> Floats:
    """On the way from the object to each accepted goal, the point nearest the object that is accepted."""
    return _towards(rule, goals, np.tile(z, (len(goals), 1)), scale)


def _towards(rule: Rule, inside: Floats, outside: Floats, scale: Floats) -> Floats:
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
