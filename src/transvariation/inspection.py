"""Explain rejections: a small set of features that suffices, and nearby values that would be accepted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from transvariation._typing import Bools, Floats
from transvariation.base import OneClassClassifier
from transvariation.calibrated import rows_at_once, score_sign
from transvariation.depth.median import spatial_median
from transvariation.exceptions import RejectsNearlyAll
from transvariation.explanation import as_frame
from transvariation.tocc import TOCC
from transvariation.validation import blocks, column_names

Accepts = Callable[[Floats], Bools]

_MAX_EXHAUSTIVE = 64  # sets of features up to which the smallest one is found by trying all
_FEATURES_TRIED = 12  # features that are tried for removal from a larger set
_MAX_CHANGES = 10  # values of a sample beyond which a list of changes explains nothing
_EDGE_PRECISION = 1e-4  # standard deviations to which the edge of the accepted region is located


def explain_rejections(classifier: BaseEstimator, Z: ArrayLike, X: ArrayLike | None = None) -> pd.DataFrame:
    """Extend `classifier.explain(Z)` by the features that suffice for each rejection and by values that are accepted.

    The classifier makes about 50 decisions per rejected sample, however many features there are.

    Parameters
    ----------
    classifier : fitted classifier of this package, detector of scikit-learn or PyOD, or pipeline
        A detector or pipeline without `explain` is explained by the features as they are; a feature then rejects on its
        own if TOCC would reject by it, at the share of `X` that the detector accepts.
    Z : array-like of shape (n_samples, n_features)
        All features must be numeric.
    X : array-like of shape (n_known, n_features), optional
        Target samples without missing values; needed for detectors and pipelines, which do not keep them.

    Returns
    -------
    DataFrame
        The table of `explain`, one row per sample and feature, with three more columns. ``accepted``: the decision.
        ``needed``: for a rejected sample, whether the feature belongs to a small set that leads to rejection even if
        all other features had the center's values. With up to six features it is the smallest such set; with more, no
        feature of it can be left out. ``accepted_at``: for a rejected sample, values at which it would be accepted,
        with few features changed; NaN if none were found with at most ten changes. In 20 and more features,
        classifiers that count samples (:class:`TOCC`, :class:`PAMTOCC`) accept nothing that differs from a rejected
        sample in a few features, because nearly all orthants are empty.

    See Also
    --------
    transvariation.describe_rejections : The result in a sentence.
    transvariation.displays.ContributionDisplay : Draw what each feature contributes.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass, explain_rejections
    >>> glass = load_glass()
    >>> classifier = TOCC().fit(glass.control[["K", "Mg"]])
    >>> fragment = glass.recovered[["K", "Mg"]].iloc[:1]
    >>> table = explain_rejections(classifier, fragment)
    >>> table[["feature", "value", "needed", "accepted_at"]].round(2)
      feature  value  needed  accepted_at
    0       K   1.68    True         0.56
    1      Mg   2.68   False         2.80
    """
    check_is_fitted(classifier)
    known, accepts = _known_samples(classifier, X), _decision(classifier, X)
    if isinstance(classifier, OneClassClassifier):
        table = classifier.explain(Z)
    else:
        share = max(float(accepts(known).mean()), 1 / len(known))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RejectsNearlyAll)  # only its table is used
            table = TOCC(sensitivity=share).fit(known if X is None or isinstance(X, list) else X).explain(Z)
    rows = table["value"].to_numpy().reshape(-1, known.shape[1])
    accepted = accepts(rows)
    needed, accepted_at = np.zeros(rows.shape, dtype=bool), rows.copy()
    if not accepted.all():
        spread = known.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        z = rows[~accepted]
        center = _centers(classifier, known, z)
        needed[~accepted] = sufficient_features(accepts, z, center, scale)
        inside = known[accepts(known)]
        accepted_at[~accepted] = sparse_counterfactual(accepts, z, center, inside, scale)
    table["accepted"] = np.repeat(accepted, rows.shape[1])
    table["needed"], table["accepted_at"] = needed.ravel(), accepted_at.ravel()
    return table


def _known_samples(classifier: BaseEstimator, X: ArrayLike | None) -> Floats:
    if X is None and not isinstance(classifier, OneClassClassifier):
        raise TypeError(
            f"{type(classifier).__name__} does not keep target samples, which explanations refer to: pass them, as in "
            "explain_rejections(classifier, Z, X)"
        )
    rows = classifier.sample_ if X is None else X
    return as_frame(np.asarray(rows) if isinstance(rows, list) else rows).to_numpy(dtype=np.float64)


def _decision(classifier: BaseEstimator, X: ArrayLike | None) -> Accepts:
    """Return a function that decides about rows of numbers."""
    if not hasattr(classifier, "predict"):
        raise TypeError(f"{classifier!r} cannot classify new samples; use novelty=True for LocalOutlierFactor")
    names = column_names(X) or getattr(classifier, "feature_names_in_", None)
    ours = isinstance(classifier, OneClassClassifier)
    accepted_label = 1 if ours or score_sign(classifier, X) == 1 else 0
    at_once = None if ours else rows_at_once(classifier, X)

    def accepts(rows: Floats) -> Bools:
        table = rows if names is None else as_frame(rows, names)
        parts = [table[part] for part in blocks(len(rows), at_once or max(1, len(rows)))]
        return np.concatenate([np.asarray(classifier.predict(part)) for part in parts]) == accepted_label

    return accepts


def _centers(classifier: BaseEstimator, known: Floats, Z: Floats) -> Floats:
    """Return the center that each sample is compared with: the closest of several."""
    if hasattr(classifier, "centers_"):
        distance = np.linalg.norm(Z[:, None] - classifier.centers_, axis=2)
        return np.asarray(classifier.centers_)[distance.argmin(axis=1)]
    center = classifier.center_ if hasattr(classifier, "center_") else spatial_median(known)
    return np.tile(center, (len(Z), 1))


def sufficient_features(accepts: Accepts, Z: Floats, centers: Floats, scale: Floats) -> Bools:
    """Find few features of each rejected sample that lead to its rejection with all others at the center's values.

    Where there are at most 64 sets of features, all are tried in order of size; of several of one size the one whose
    values lie farthest from the center is taken. Otherwise features are added in order of that distance until the
    sample is rejected, and then removed again where this does not matter.
    """
    distance = np.abs(Z - centers) / scale
    if 2 ** Z.shape[1] <= _MAX_EXHAUSTIVE:
        return _smallest_sets(accepts, Z, centers, distance)

    def rejects(sets: Bools) -> Bools:
        return ~accepts(np.where(sets, Z, centers))

    return _remove_superfluous(rejects, _shortest_prefix(rejects, distance), distance)


def _smallest_sets(accepts: Accepts, Z: Floats, centers: Floats, distance: Floats) -> Bools:
    p = Z.shape[1]
    sets = np.array([np.isin(np.arange(p), chosen) for k in range(1, p + 1) for chosen in combinations(range(p), k)])
    points = np.where(sets, Z[:, None], centers[:, None])
    rejected = ~accepts(points.reshape(-1, p)).reshape(points.shape[:2])
    rejected[:, -1] = True  # the sample itself
    size = np.where(rejected, sets.sum(axis=1), p + 1)
    far = (sets * distance[:, None] ** 2).sum(axis=2)
    return sets[[np.lexsort((-far[i], size[i]))[0] for i in range(len(Z))]]


def sparse_counterfactual(accepts: Accepts, Z: Floats, centers: Floats, known: Floats, scale: Floats) -> Floats:
    """Find accepted values for rejected samples that differ from them in few features.

    Values are replaced by those of the center, or of a near accepted known sample, in order of their distance until
    the sample is accepted; where this does not matter they are restored. What is left is moved back towards the
    sample as far as it is accepted. Not certain to be the nearest or the sparsest solution.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        NaN where no solution with at most `_MAX_CHANGES` changes was found.
    """
    goal, possible, changed, far = _towards(accepts, Z, centers, scale)
    for target in (_nearest(known, Z, scale), _enclosed(known, Z, centers)) if len(known) else ():
        other, possible_, changed_, far_ = _towards(accepts, Z, target, scale)
        n, n_ = changed.sum(axis=1), changed_.sum(axis=1)
        better = possible_ & (~possible | (n_ < n) | ((n_ == n) & (far_ < far)))
        goal, changed = np.where(better[:, None], other, goal), np.where(better[:, None], changed_, changed)
        far, possible = np.where(better, far_, far), possible | possible_

    def accepted(sets: Bools) -> Bools:
        return accepts(np.where(sets, goal, Z))

    changed = _remove_superfluous(accepted, changed, np.abs(Z - goal) / scale)
    result = _move_back(accepts, np.where(changed, goal, Z), Z, scale)
    result[~possible | ((result != Z).sum(axis=1) > _MAX_CHANGES)] = np.nan
    return result


def _nearest(known: Floats, Z: Floats, scale: Floats) -> Floats:
    """Find the known sample nearest to each sample in all but the fifth of the features that differ most."""
    kept = max(1, int(0.8 * Z.shape[1]))
    squares = (np.partition(((known - z) / scale) ** 2, kept - 1, axis=1)[:, :kept].sum(axis=1) for z in Z)
    return known[[int(distance.argmin()) for distance in squares]]


def _enclosed(known: Floats, Z: Floats, centers: Floats) -> Floats:
    """Replace the fewest values with which each sample lies between its center and a known sample in every feature.

    A classifier that counts the known samples beyond a sample accepts nothing else.
    """
    goals = Z.copy()
    for goal, center in zip(goals, centers, strict=True):
        outside = ((known - goal) * (goal - center) <= 0) | ((known - center) * (goal - center) <= 0)
        best = int(outside.sum(axis=1).argmin())
        goal[outside[best]] = ((known[best] + center) / 2)[outside[best]]
    return goals


def _towards(accepts: Accepts, Z: Floats, goal: Floats, scale: Floats) -> tuple[Floats, Bools, Bools, Floats]:
    """Replace values by those of a goal: the goal, whether it is accepted, which values are replaced, how far."""
    distance = np.abs(Z - goal) / scale
    changed = _shortest_prefix(lambda sets: accepts(np.where(sets, goal, Z)), distance)
    return goal, accepts(goal), changed, (changed * distance**2).sum(axis=1)


def _shortest_prefix(holds: Callable[[Bools], Bools], distance: Floats) -> Bools:
    """Find, by bisection, the number of most distant features for which a condition holds; it holds for all."""
    n, p = distance.shape
    rank = np.argsort(np.argsort(-distance, axis=1, kind="stable"), axis=1, kind="stable")
    low, high = np.zeros(n, dtype=int), np.full(n, p)
    while (high - low > 1).any():
        middle = (low + high) // 2
        found = holds(rank < middle[:, None])
        low, high = np.where(found, low, middle), np.where(found, middle, high)
    return rank < high[:, None]


def _remove_superfluous(holds: Callable[[Bools], Bools], sets: Bools, distance: Floats) -> Bools:
    """Remove features from sets, least distant first, where the condition still holds without them."""
    sets = sets.copy()
    order = np.argsort(np.where(sets, distance, np.inf), axis=1, kind="stable")
    rows = np.arange(len(sets))
    for trial in range(min(_FEATURES_TRIED, int(sets.sum(axis=1).max()) - 1)):
        fewer = sets.copy()
        fewer[rows, order[:, trial]] = False
        possible = sets[rows, order[:, trial]] & fewer.any(axis=1)
        fewer[~possible] = sets[~possible]
        sets = np.where((possible & holds(fewer))[:, None], fewer, sets)
    return sets


def _move_back(accepts: Accepts, inside: Floats, outside: Floats, scale: Floats) -> Floats:
    """Move from accepted points towards rejected ones, by bisection, as far as they are accepted."""
    near, far = inside.copy(), outside.copy()
    while True:
        middle = (near + far) / 2
        active = ((np.abs(far - near) > _EDGE_PRECISION * scale) & (middle != near) & (middle != far)).any(axis=1)
        if not active.any():
            return near
        good = active.copy()
        good[active] = accepts(middle[active])
        near[good] = middle[good]
        far[active & ~good] = middle[active & ~good]


def describe_rejections(table: pd.DataFrame) -> str:
    """Put a table of :func:`explain_rejections` into words, one line per sample.

    Parameters
    ----------
    table : DataFrame
        From :func:`explain_rejections`.

    Returns
    -------
    str
        One line per sample.

    See Also
    --------
    transvariation.explain_rejections : The table that it describes.

    Examples
    --------
    >>> from transvariation import describe_rejections
    >>> from transvariation import TOCC, load_glass, explain_rejections
    >>> glass = load_glass()
    >>> classifier = TOCC().fit(glass.control[["K", "Mg"]])
    >>> fragment = glass.recovered[["K", "Mg"]].iloc[:1]
    >>> print(describe_rejections(explain_rejections(classifier, fragment)))
    164 rejected: K = 1.68 (typical 0.56) suffices; accepted with K = 0.56, Mg = 2.804
    """
    return "\n".join(_sentences(table))


def samples_of(table: pd.DataFrame) -> Iterator[tuple[object, pd.DataFrame]]:
    """Iterate over the samples of a table: name and rows. Samples of the same name are kept apart."""
    label = table["sample"].factorize()[0]  # a missing label equals nothing, its number equals itself
    feature = table["feature"].to_numpy()
    number = ((np.diff(label, prepend=label[:1]) != 0) | (feature == feature[:1])).cumsum()
    return ((rows["sample"].iloc[0], rows) for _, rows in table.groupby(number))


def _sentences(table: pd.DataFrame) -> Iterator[str]:
    for name, rows in samples_of(table):
        if rows["accepted"].iloc[0]:
            yield f"{name} accepted"
            continue
        needed = rows[rows["needed"]]
        causes = " and ".join(
            f"{feature} = {value:.4g} (typical {typical:.4g})"
            for feature, value, typical in zip(needed["feature"], needed["value"], needed["median"], strict=True)
        )
        moved = rows[rows["accepted_at"] != rows["value"]].dropna(subset=["accepted_at"])
        remedy = ", ".join(f"{v} = {a:.4g}" for v, a in zip(moved["feature"], moved["accepted_at"], strict=True))
        verb = "suffices" if len(needed) == 1 else "suffice together"
        nearest = f"; closest known samples: {rows['nearest'].iloc[0]}" if "nearest" in rows else ""
        outcome = f"accepted with {remedy}" if remedy else "no few changes were found with which it is accepted"
        yield f"{name} rejected: {causes} {verb}; {outcome}{nearest}"
