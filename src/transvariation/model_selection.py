"""Compare one-class classifiers without outliers: which one describes the target class most tightly?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy.stats import t as student
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.validation import check_array

from transvariation._typing import Fields, Floats, Indices, RandomState, Rows
from transvariation.calibrated import detector_scores, fit_detector, rows_at_once, score_sign
from transvariation.calibration import check_groups, take_rows
from transvariation.certificate import check_sensitivity
from transvariation.conformal import conformal_threshold
from transvariation.validation import column_names

_BOX_MARGIN = 0.25  # of the range of each feature, by which the reference box extends to either side
_COMPONENT_STRETCH = 3.0  # of the principal components, if there are more features than samples
_LOW_DIMENSION = 4  # above this, nearly all of a box is far from everything


@dataclass(frozen=True)
class Comparison:
    """Ranking of classifiers by how tightly they describe the target class.

    The tightest description need not find the most outliers, which may be of another kind than the reference points.

    Attributes
    ----------
    table : DataFrame
        One row per candidate, the tightest first: ``accepted`` (share of the reference points accepted when a share
        `sensitivity` of held-out targets is), ``difference`` (how much more than the first), ``standard_error`` of the
        difference, and ``probability_tighter`` (by a corrected t-test, that the first accepts fewer reference points
        than this one).
    tightest : str
        The name of the first.
    probability_tighter : float
        Probability that the first is tighter than the second: 0.5 means undecided.
    reference : str
        What the reference points are.

    See Also
    --------
    transvariation.compare_classifiers : Compare classifiers.

    Examples
    --------
    >>> from transvariation import TOCC, compare_classifiers, load_glass
    >>> known = load_glass().control[["K", "Mg"]]
    >>> candidates = {"counted": TOCC(), "halved": TOCC(tau_max="half")}
    >>> compare_classifiers(candidates, known, n_repeats=1).tightest
    'counted'
    """

    table: pd.DataFrame
    tightest: str
    probability_tighter: float
    reference: str

    def __str__(self) -> str:
        if len(self.table) == 1:
            return f"{self.tightest} is the only candidate; give at least two\n\n{self.table.round(3).to_string()}"
        return (
            f"{self.tightest} is the tightest (probability {self.probability_tighter:.0%}); this does not tell which "
            f"finds the most outliers\n\n{self.table.round(3).to_string()}"
        )


def compare_classifiers(
    estimators: Mapping[str, BaseEstimator] | Sequence[BaseEstimator],
    X: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    sensitivity: float = 0.9,
    n_folds: int = 5,
    n_repeats: int = 2,
    n_reference: int = 1000,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Rank one-class classifiers, numbers of clusters or reductions by target samples only.

    Of classifiers that accept the same share of held-out targets, the one that accepts the least of everything else is
    the sharpest. "Everything else" is simulated: in up to four features by uniform points in a box around the data, so
    that the share accepted is a volume; in more, by permuting each feature, which keeps the margins and removes the
    dependence between features; with at least as many features as samples (spectra), by drawing each principal
    component independently and multiplying it by three. Foreign samples may be of another kind: the ranking shows which
    description is tightest, not which outliers will come. On ten tasks with known outliers in more than four features
    the tightest of eight candidates found fewer of them than `NeighborTOCC` taken without a choice. Use
    it to compare preprocessing or numbers of components of one kind of classifier, and labeled outliers or the default
    to choose between kinds.

    Parameters
    ----------
    estimators : dict of name to estimator, or list of estimators
        Classifiers of this package, detectors of scikit-learn or PyOD, pipelines included. Their own thresholds are not
        used.
    X : array-like of shape (n_samples, n_features)
        Target samples only.
    groups : array-like of shape (n_samples,), optional
        Labels of items, equal for replicates of one item; replicates are held out together.
    sensitivity : float in (0, 1], default=0.9
        The share of held-out targets to accept.
    n_folds, n_repeats : int
        Every sample is held out once in each repeat.
    n_reference : int, default=1000
        The number of reference points, the same for every candidate.
    random_state : int or Generator, default=0
        Seed of the splits and of the artificial samples.
    n_jobs : int, optional
        The number of processes; the result is the same for every number. joblib reports progress within
        ``joblib.parallel_config(verbose=10)``.

    Returns
    -------
    Comparison

    See Also
    --------
    transvariation.selection_stability : How often each feature is selected.
    transvariation.CalibratedOCC : Calibrate the candidate that was chosen.

    References
    ----------
    Tax, D. M. J. and Duin, R. P. W. (2001). Uniform object generation for optimizing one-class classifiers. JMLR 2.

    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> from transvariation import TOCC, compare_classifiers, make_scenario
    >>> from sklearn.covariance import EllipticEnvelope
    >>> target, _ = make_scenario("i", random_state=0)
    >>> candidates = {"ellipse": EllipticEnvelope(), "counting": TOCC()}
    >>> compare_classifiers(candidates, target, n_repeats=1).tightest
    'ellipse'
    """
    named = _named(estimators)
    check_sensitivity(sensitivity)
    rows = check_array(X, dtype=np.float64, ensure_min_samples=2 * n_folds, ensure_all_finite="allow-nan")
    names = column_names(X)
    table = rows if names is None else pd.DataFrame(rows, columns=names)
    rng = np.random.default_rng(random_state)
    points, kind = _reference(rows, n_reference, rng)
    reference = points if table is rows else pd.DataFrame(points, columns=names)
    folds = _folds(len(rows), check_groups(groups, len(rows)), n_folds, n_repeats, rng)
    pieces = [(estimator, table, reference, *fold) for estimator in named.values() for fold in folds]
    scores = Parallel(n_jobs=n_jobs)(delayed(_score)(*piece) for piece in pieces)
    accepted = [_accepted(scores[i : i + len(folds)], n_folds, sensitivity) for i in range(0, len(scores), len(folds))]
    return _ranked(list(named), np.array(accepted), 1 / (n_folds - 1), kind)


def _folds(
    n: int, groups: Indices | None, n_folds: int, n_repeats: int, rng: np.random.Generator
) -> list[tuple[Indices, Indices]]:
    n_groups = n if groups is None else int(groups.max()) + 1
    if n_groups < n_folds:
        raise ValueError(f"n_folds={n_folds} exceeds the number of groups, {n_groups}; use at most {n_groups} folds")
    folds = []
    for _ in range(n_repeats):
        splitter = (KFold if groups is None else GroupKFold)(
            n_folds, shuffle=True, random_state=int(rng.integers(2**31))
        )
        folds += list(splitter.split(np.empty((n, 1)), groups=groups))
    return folds


def _named(estimators: Mapping[str, BaseEstimator] | Sequence[BaseEstimator]) -> Fields:
    if hasattr(estimators, "fit"):  # a pipeline has a length too, and its steps would be compared
        raise TypeError(
            f"{type(estimators).__name__} is one estimator; give a list or dict of them, such as [first, second]"
        )
    if not len(estimators):
        raise ValueError("estimators is empty; give at least two")
    if isinstance(estimators, Mapping):
        return dict(estimators)
    names = [" ".join(repr(estimator).split()) for estimator in estimators]
    if len(set(names)) < len(names):
        raise ValueError("two candidates have the same parameters; give a dict that names them")
    return dict(zip(names, estimators, strict=True))


def _reference(X: Floats, n: int, rng: np.random.Generator) -> tuple[Floats, str]:
    if X.shape[1] <= _LOW_DIMENSION:
        low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
        margin = _BOX_MARGIN * (high - low)
        return rng.uniform(low - margin, high + margin, size=(n, X.shape[1])), "uniform in a box around the data"
    if X.shape[1] >= len(X) and not np.isnan(X).any():
        # Permuted features would be noise that every classifier rejects; blends of the samples stay spectra.
        center = X.mean(axis=0)
        left, singular, loadings = np.linalg.svd(X - center, full_matrices=False)
        scores = [_COMPONENT_STRETCH * rng.choice(component, size=n) for component in (left * singular).T]
        return center + np.column_stack(scores) @ loadings, "principal components drawn independently, times 3"
    rows = [rng.choice(column, size=n) for column in X.T]
    return np.column_stack(rows), "each feature drawn independently"


def _score(estimator: BaseEstimator, X: Rows, reference: Rows, train: Indices, test: Indices) -> tuple[Floats, Floats]:
    """Score held-out targets and reference points by a detector fitted without them."""
    known = take_rows(X, train)
    detector = fit_detector(estimator, known)
    sign, at_once = score_sign(detector, known), rows_at_once(detector, known)
    held_out, simulated = (
        detector_scores(detector, rows, sign=sign, at_once=at_once) for rows in (take_rows(X, test), reference)
    )
    return held_out, simulated


def _accepted(scores: list[tuple[Floats, Floats]], n_folds: int, sensitivity: float) -> Floats:
    """Compute the share of reference points accepted in each fold, at one threshold for all folds of a repeat."""
    shares = []
    for first in range(0, len(scores), n_folds):
        repeat = scores[first : first + n_folds]
        # One threshold from all held-out targets together: a single fold has too few.
        threshold = conformal_threshold(np.concatenate([held_out for held_out, _ in repeat]), sensitivity)
        shares += [np.mean(points >= threshold) for _, points in repeat]
    return np.array(shares)


def _ranked(names: list[str], accepted: Floats, test_to_train: float, kind: str) -> Comparison:
    order = np.argsort(accepted.mean(axis=1), kind="stable")
    differences = accepted[order] - accepted[order[0]]
    n = accepted.shape[1]
    # Folds share most of their samples, so that their differences vary less than those of new samples would.
    error = differences.std(axis=1, ddof=1) * np.sqrt(1 / n + test_to_train)
    difference = differences.mean(axis=1)
    ratio = np.divide(difference, error, out=np.where(difference > 0, np.inf, 0.0), where=error > 0)
    probability = student.cdf(ratio, n - 1)
    probability[0] = 1.0 if len(names) == 1 else probability[1]
    table = pd.DataFrame(
        {
            "accepted": accepted[order].mean(axis=1),
            "difference": difference,
            "standard_error": error,
            "probability_tighter": probability,
        },
        index=pd.Index([names[e] for e in order], name="candidate"),
    )
    return Comparison(
        table=table, tightest=str(table.index[0]), probability_tighter=float(probability[0]), reference=kind
    )
