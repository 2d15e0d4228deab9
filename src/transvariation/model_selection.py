"""Choosing between rules without a single outlier: the one that accepts the least beside the target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from sklearn.model_selection import RepeatedKFold
from sklearn.utils.validation import check_array

from transvariation.calibrated import detector_scores, fit_detector, score_sign
from transvariation.conformal import check_sensitivity, conformal_threshold
from transvariation.parallel import run_in_processes

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

_MARGIN = 0.25  # of the range of each variable, by which the reference box extends to either side
_STRETCH = 3.0  # of the principal components, if there are more features than samples
_LOW_DIMENSION = 4  # above this, nearly all of a box is far from everything


@dataclass(frozen=True)
class Choice:
    """How candidate rules rank, and how sure the ranking is.

    Attributes
    ----------
    table : DataFrame
        One row per candidate, the best first: ``accepted`` (share of the reference points accepted when a share
        `sensitivity` of held-out targets is), ``behind`` (how much more than the best), ``error`` (the standard error
        of that) and ``sure`` (the probability, by a corrected t-test, that the best is better than this one).
    best : str
        The name of the first.
    sure : float
        How sure it is that the best is better than the second: 0.5 is a coin, 1 is certain.
    reference : str
        What the reference points are.

    Examples
    --------
    >>> from transvariation import compare_classifiers, load_glass, TOCC
    >>> compare_classifiers([TOCC()], load_glass().control[["K", "Mg"]], n_repeats=1).sure
    1.0
    """

    table: "pd.DataFrame"
    best: str
    sure: float
    reference: str

    def __str__(self) -> str:
        return f"{self.best} ranks first, {self.sure:.0%} sure\n\n{self.table.round(3).to_string()}"


def compare_classifiers(
    estimators: Mapping[str, Any] | Sequence[Any],
    X: ArrayLike,
    *,
    sensitivity: float = 0.9,
    n_folds: int = 5,
    n_repeats: int = 4,
    n_reference: int = 2000,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Choice:
    """Rank one-class rules, numbers of clusters, reductions, from target objects alone.

    Among rules that accept the same share of held-out targets, the one that accepts the least of everything else is
    the sharpest. "Everything else" is drawn: in up to four variables uniformly in a box around the data, so that the
    share accepted is a volume; in more, by permuting each variable among the objects, which keeps the margins and
    breaks what ties the variables together; with at least as many variables as objects (spectra), by drawing each
    principal component independently and multiplying it by three. Foreign objects may be of neither kind: the ranking
    says which description is tightest, not which outliers will come.

    Parameters
    ----------
    estimators : dict of name to estimator, or list of estimators
        Anything with `fit` and `score_samples` (or `decision_function`), pipelines included. Their own thresholds
        are not used.
    X : array-like of shape (n, p)
        Target objects only.
    sensitivity : float in (0, 1], default=0.9
        The share of held-out targets to accept.
    n_folds, n_repeats : int
        Every object is held out once in each repeat.
    n_reference : int, default=2000
        The number of reference points, the same for every candidate.
    random_state : int or Generator, default=0
    n_jobs : int, optional
        The number of processes; the result is the same for every number.

    Returns
    -------
    Choice

    References
    ----------
    Tax, D. M. J. and Duin, R. P. W. (2001). Uniform object generation for optimizing one-class classifiers. JMLR 2.
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52, 239-281.

    Examples
    --------
    >>> from transvariation import CalibratedOCC, PAMTOCC, TOCC, compare_classifiers, make_scenario
    >>> from sklearn.covariance import EllipticEnvelope
    >>> target, _ = make_scenario("i", random_state=0)
    >>> compare_classifiers({"ellipse": EllipticEnvelope(), "counting": TOCC()}, target, n_repeats=1).best
    'ellipse'
    """
    import pandas as pd

    named = _named(estimators)
    rows = check_array(X, dtype=np.float64, ensure_min_samples=2 * n_folds, ensure_all_finite="allow-nan")
    table = X if isinstance(X, pd.DataFrame) else rows
    check_sensitivity(sensitivity)
    rng = np.random.default_rng(random_state)
    reference, kind = _reference(rows, n_reference, rng)
    folds = list(
        RepeatedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=int(rng.integers(2**31))).split(rows)
    )
    pieces = [(estimator, table, reference, *fold) for estimator in named.values() for fold in folds]
    rated = run_in_processes(_rate, pieces, n_jobs)
    accepted = np.array(
        [_accepted(rated[e * len(folds) : (e + 1) * len(folds)], n_folds, sensitivity) for e in range(len(named))]
    )
    return _ranked(list(named), accepted, 1 / (n_folds - 1), kind)


def _named(estimators: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    if hasattr(estimators, "fit"):  # a pipeline has a length too, and its steps would be compared
        raise TypeError(f"{type(estimators).__name__} is one estimator; give a list or dict of them, such as [rule]")
    if not len(estimators):
        raise ValueError("there is nothing to choose from; give at least one estimator")
    if isinstance(estimators, Mapping):
        return dict(estimators)
    names = [" ".join(repr(estimator).split()) for estimator in estimators]
    if len(set(names)) < len(names):
        raise ValueError("two candidates look the same; give a dict that names them")
    return dict(zip(names, estimators, strict=True))


def _reference(X: Floats, n: int, rng: np.random.Generator) -> tuple[Floats, str]:
    if X.shape[1] <= _LOW_DIMENSION:
        low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
        margin = _MARGIN * (high - low)
        return rng.uniform(low - margin, high + margin, size=(n, X.shape[1])), "uniform in a box around the data"
    if X.shape[1] >= len(X) and not np.isnan(X).any():
        # Permuted features would be noise that every classifier rejects; blends of the samples stay spectra.
        center = X.mean(axis=0)
        left, singular, loadings = np.linalg.svd(X - center, full_matrices=False)
        scores = [_STRETCH * rng.choice(component, size=n) for component in (left * singular).T]
        return center + np.column_stack(scores) @ loadings, "principal components drawn independently, times 3"
    rows = [rng.choice(column, size=n) for column in X.T]
    return np.column_stack(rows), "each variable drawn on its own"


def _rate(estimator: Any, X: Any, reference: Floats, train: NDArray, test: NDArray) -> tuple[Floats, Floats]:
    """Rate held-out targets and reference points by a rule that saw neither."""
    frame = hasattr(X, "iloc")
    known = X.iloc[train] if frame else X[train]
    rule = fit_detector(estimator, known)
    sign = score_sign(rule, known)
    points = type(X)(reference, columns=X.columns) if frame else reference
    return (
        detector_scores(rule, X.iloc[test] if frame else X[test], sign=sign),
        detector_scores(rule, points, sign=sign),
    )


def _accepted(rated: list[tuple[Floats, Floats]], n_folds: int, sensitivity: float) -> Floats:
    """The share of reference points accepted in each fold, at one cut for all folds of a repeat."""
    shares = []
    for first in range(0, len(rated), n_folds):
        repeat = rated[first : first + n_folds]
        # One cut from all held-out targets together: a fold alone has too few to place it well.
        threshold = conformal_threshold(np.concatenate([held_out for held_out, _ in repeat]), sensitivity)
        shares += [np.mean(points >= threshold) for _, points in repeat]
    return np.array(shares)


def _ranked(names: list[str], accepted: Floats, test_to_train: float, kind: str) -> Choice:
    import pandas as pd

    order = np.argsort(accepted.mean(axis=1), kind="stable")
    behind = accepted[order] - accepted[order[0]]
    n = accepted.shape[1]
    # Folds share most of their objects, so that their differences vary less than fresh ones would.
    error = behind.std(axis=1, ddof=1) * np.sqrt(1 / n + test_to_train)
    gap = behind.mean(axis=1)
    ratio = np.divide(gap, error, out=np.where(gap > 0, np.inf, 0.0), where=error > 0)
    sure = student.cdf(ratio, n - 1)
    table = pd.DataFrame(
        {"accepted": accepted[order].mean(axis=1), "behind": gap, "error": error, "sure": sure},
        index=pd.Index([names[e] for e in order], name="candidate"),
    )
    table.iloc[0, 3] = 1.0 if len(names) == 1 else sure[1]
    return Choice(table=table, best=str(table.index[0]), sure=float(table["sure"].iloc[0]), reference=kind)
