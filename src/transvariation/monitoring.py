"""Monitor a process: charts of the score, Hotelling's T2 and Q over time, with calibrated limits and contributions."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import f, norm
from sklearn.base import BaseEstimator, clone

from transvariation._typing import Bools, Fields, Floats
from transvariation.exceptions import OrderedScores
from transvariation.explanation import as_frame
from transvariation.neighbor_tocc import NeighborTOCC
from transvariation.ordered import block_folds, correlation_time
from transvariation.preprocessing import LaggedVariables
from transvariation.validation import check_count

__all__ = ["Alarm", "Chart", "MonitoringResult", "monitor"]


CHARTS = ("score", "T2", "Q")
_EXPLAINED_SHARE = 0.9  # share of the variance that the components explain if n_components=None
_GAP_SHARE = 20  # the gap around a block is at most one in so many rows
_FILLING_ROUNDS = 20  # rounds of reconstruction that fill missing values


@dataclass(frozen=True)
class Chart:
    """One statistic over time; large values are unusual.

    Attributes
    ----------
    name : str
        ``"score"`` (the negative score of the classifier), ``"T2"`` (Hotelling's) or ``"Q"`` (squared
        prediction error).
    normal : tuple of float
        Values of the normal rows, each by a model fitted without its block of the run.
    new : tuple of float
        Values of the new rows.
    limit : float
        Rows beyond it are flagged.
    textbook_limit : float or None
        The limit for independent normal rows that textbooks give, at the same level; for comparison only.
    """

    name: str
    normal: tuple[float, ...]
    new: tuple[float, ...]
    limit: float
    textbook_limit: float | None = None


@dataclass(frozen=True)
class Alarm:
    """A stretch of flagged rows.

    Attributes
    ----------
    first, last : int
        The first and the last flagged row of the new run.
    raised : int
        The row at which the alarm is raised.
    charts : tuple of str
        The charts that flag one or more of its rows.
    contributions : dict of str to float
        Share of each feature in the deviation, the largest first.
    """

    first: int
    last: int
    raised: int
    charts: tuple[str, ...]
    contributions: dict[str, float]


@dataclass(frozen=True)
class MonitoringResult:
    """Charts of a new run of a process against a normal run, made by :func:`monitor`.

    Attributes
    ----------
    features : tuple of str
        Names of the variables.
    labels, normal_labels : tuple of str
        Times or numbers of the new and of the normal rows.
    charts : tuple of Chart
    alarms : tuple of Alarm
    normal_alarms : int
        Number of alarms in the normal run, by models fitted without the block of each row: what to expect in a normal
        run of this length.
    false_alarm : float
        Share of normal rows that one or more charts should flag.
    n_independent : float
        How many independent rows the normal run is worth: its length by the correlation time of the charts.
    run : int
        Number of successive flagged rows that raise an alarm.
    lags : int
        Number of earlier rows that each row is judged with.
    n_components : int
        Number of principal components.
    explained : float
        Share of the variance of the normal rows that they explain.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    normal_labels: tuple[str, ...]
    charts: tuple[Chart, ...]
    alarms: tuple[Alarm, ...]
    normal_alarms: int
    false_alarm: float
    n_independent: float
    run: int
    lags: int
    n_components: int
    explained: float

    @property
    def supported_false_alarm(self) -> float:
        """The share of normal rows to expect beyond a limit: more than `false_alarm` if the normal run is too short."""
        return max(self.false_alarm, 1 / (self.n_independent + 1))

    @property
    def flagged(self) -> Bools:
        """Whether one or more charts flag each new row."""
        return np.any([np.array(chart.new) > chart.limit for chart in self.charts], axis=0)

    @property
    def flagged_normal(self) -> Bools:
        """The same for the normal rows, by models fitted without their block."""
        return np.any([np.array(chart.normal) > chart.limit for chart in self.charts], axis=0)

    def chart(self, name: str) -> Chart:
        """Return a chart by its name.

        Parameters
        ----------
        name : {"score", "T2", "Q"}

        Returns
        -------
        Chart
        """
        found = {chart.name: chart for chart in self.charts}
        if name not in found:
            raise ValueError(f"chart {name!r} is unknown; choose one of {', '.join(found)}")
        return found[name]

    def to_dict(self) -> Fields:
        """Return the result as a dictionary that JSON holds.

        Returns
        -------
        dict
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Fields) -> Self:
        """Make a result from the dictionary of :meth:`to_dict`.

        Parameters
        ----------
        content : dict

        Returns
        -------
        MonitoringResult
        """
        charts = [
            Chart(**chart | {"normal": tuple(chart["normal"]), "new": tuple(chart["new"])})
            for chart in content["charts"]
        ]
        alarms = [Alarm(**alarm | {"charts": tuple(alarm["charts"])}) for alarm in content["alarms"]]
        names = {name: tuple(content[name]) for name in ("features", "labels", "normal_labels")}
        return cls(**content | names | {"charts": tuple(charts), "alarms": tuple(alarms)})


def monitor(
    normal: ArrayLike,
    new: ArrayLike,
    *,
    classifier: BaseEstimator | None = None,
    n_components: int | None = None,
    lags: int = 0,
    false_alarm: float = 0.01,
    run: int = 2,
) -> MonitoringResult:
    """Chart a new run of a process against a normal run, and raise alarms.

    Three statistics are computed for every row, on variables scaled by the normal run: the score of a one-class
    classifier, Hotelling's T2 within the principal components, and Q, the squared distance to them. Their limits come
    from the normal run itself: it is divided into ten contiguous blocks, and the rows of each are measured by models
    fitted without the block and its neighborhood. The limits are set jointly, so that a share `false_alarm` of new
    normal rows exceeds one or more of them; successive rows that resemble each other count as one, as in
    ``calibration="blocks"``. A normal run that is too short for this gives its largest values as limits, and
    `supported_false_alarm` says what to expect.

    Parameters
    ----------
    normal : array-like of shape (n_normal, n_features)
        Rows of normal operation, in time order. Missing values (NaN) are filled by the components and are no evidence.
    new : array-like of shape (n_new, n_features)
        The rows to judge, in time order.
    classifier : estimator, optional
        With `fit` and `score_samples`, high = typical; by default :class:`transvariation.NeighborTOCC`.
    n_components : int, optional
        Number of principal components; by default as many as explain 90% of the variance.
    lags : int, default=0
        Judge each row together with this many earlier rows (dynamic PCA). The first `lags` rows of each run are left
        out.
    false_alarm : float in (0, 1), default=0.01
        Share of normal rows that one or more charts should flag.
    run : int, default=2
        Number of successive flagged rows that raise an alarm.

    Returns
    -------
    MonitoringResult

    See Also
    --------
    transvariation.DriftAlarm : One alarm for the whole process.

    Notes
    -----
    Successive rows of a plant are correlated, and normal operation differs from week to week. The normal run must show
    what is normal: with a short one the limits are those of that week. Contributions are reconstruction-based: how much
    of the deviation disappears if one variable is replaced by its best fit.

    References
    ----------
    Alcala, C. F. and Qin, S. J. (2009). Reconstruction-based contribution for process monitoring. Automatica 45,
    1593-1600.

    Jackson, J. E. and Mudholkar, G. S. (1979). Control procedures for residuals associated with principal component
    analysis. Technometrics 21, 341-349.

    Examples
    --------
    >>> from transvariation.datasets import make_plant
    >>> from transvariation.monitoring import monitor
    >>> normal = make_plant(500, random_state=0)
    >>> new = make_plant(300, fault=2, onset=160, random_state=1)
    >>> result = monitor(normal, new)
    >>> alarm = result.alarms[0]
    >>> alarm.raised, next(iter(alarm.contributions))
    (161, 'cooling water temperature')
    """
    known, rows = as_frame(normal), as_frame(new)
    if list(known.columns) != list(rows.columns):
        differ = sorted(set(map(str, known.columns)) ^ set(map(str, rows.columns)))
        raise ValueError(
            f"the variables of the two runs differ: {', '.join(differ) or 'their order'}; give the same columns in the "
            "same order"
        )
    if not 0 < false_alarm < 1:
        raise ValueError(f"false_alarm={false_alarm} must lie in (0, 1), such as 0.01")
    check_count("run", run)
    if lags >= min(len(known), len(rows)):
        raise ValueError(f"lags={lags} needs more rows than that in each run; there are {len(known)} and {len(rows)}")
    X, Z = (LaggedVariables(lags).fit_transform(frame.to_numpy(dtype=float))[lags:] for frame in (known, rows))
    if false_alarm * (len(X) + 1) < 1 - 1e-9:
        need = math.ceil(1 / false_alarm - 1e-9) - 1 + lags
        raise ValueError(
            f"false_alarm={false_alarm} needs at least {need} normal rows; there are {len(known)}: give more, or use a "
            "larger false_alarm"
        )
    names = tuple(map(str, known.columns))
    _check_measured(X, names)
    model = _Model.fit(X, n_components, classifier)
    statistics = model.statistics(Z)
    held_out = _held_out(X, n_components, classifier, model)
    time = max(correlation_time(values) for values in held_out.T)
    # The new row counts as well, and rows that resemble each other count as one.
    most = (false_alarm * (len(X) / time + 1) - 1) * time
    limits = _joint_limits(held_out, max(math.floor(most + 1e-9), 0))
    textbook = (None, *model.textbook_limits(len(X), false_alarm))
    charts = tuple(
        Chart(name, tuple(map(float, before)), tuple(map(float, now)), float(limit), usual)
        for name, before, now, limit, usual in zip(CHARTS, held_out.T, statistics.T, limits, textbook, strict=True)
    )
    beyond, beyond_normal = statistics > limits, held_out > limits
    flagged = np.any(beyond, axis=1)
    alarms = []
    for first, last in _runs(flagged, run):
        inside = slice(first, last + 1)
        shares = model.contributions(Z[inside], statistics[inside], limits).reshape(lags + 1, -1).sum(axis=0)
        order = np.argsort(-shares, kind="stable")
        alarms.append(
            Alarm(
                *(first, last, first + run - 1),
                tuple(name for c, name in enumerate(CHARTS) if beyond[inside, c].any()),
                {names[j]: round(float(shares[j]), 4) for j in order if shares[j] >= 0.00005},
            )
        )
    return MonitoringResult(
        features=names,
        labels=tuple(map(str, rows.index[lags:])),
        normal_labels=tuple(map(str, known.index[lags:])),
        charts=charts,
        alarms=tuple(alarms),
        normal_alarms=len(list(_runs(np.any(beyond_normal, axis=1), run))),
        false_alarm=false_alarm,
        n_independent=len(X) / time,
        run=run,
        lags=lags,
        n_components=len(model.variances),
        explained=model.explained,
    )


@dataclass(frozen=True, eq=False)
class _Model:
    """Principal components and a classifier of the scaled normal rows."""

    center: Floats
    scale: Floats
    loadings: Floats  # one component per row
    variances: Floats
    left_over: Floats  # variances of the other components
    classifier: BaseEstimator

    @classmethod
    def fit(cls, X: Floats, n_components: int | None, classifier: BaseEstimator) -> _Model:
        measured = np.isfinite(X)
        center, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0, ddof=1)
        scale[scale == 0] = 1.0
        rows = np.where(measured, (X - center) / scale, 0.0)
        k = n_components
        for _ in range(1 if measured.all() else _FILLING_ROUNDS):
            _, singular, loadings = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
            variances = singular**2 / (len(rows) - 1)
            if k is None:
                k = int(np.searchsorted(np.cumsum(variances), _EXPLAINED_SHARE * variances.sum())) + 1
            kept = loadings[: check_count("n_components", k, len(variances))]
            rows = np.where(measured, rows, rows @ kept.T @ kept)
        learner = clone(NeighborTOCC() if classifier is None else classifier)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrderedScores)  # the limits come from blocks, not from its calibration
            learner.fit(rows)
        return cls(center, scale, kept, variances[: len(kept)], variances[len(kept) :], learner)

    @property
    def explained(self) -> float:
        """Share of the variance that the components explain."""
        return float(self.variances.sum() / (self.variances.sum() + self.left_over.sum()))

    def scaled(self, X: Floats) -> Floats:
        """Scale rows; missing values are filled by their reconstruction."""
        measured = np.isfinite(X)
        rows = np.where(measured, (X - self.center) / self.scale, 0.0)
        for _ in range(0 if measured.all() else _FILLING_ROUNDS):
            rows = np.where(measured, rows, rows @ self.loadings.T @ self.loadings)
        return rows

    def statistics(self, X: Floats) -> Floats:
        """Compute the negative score, T2 and Q of each row."""
        rows = self.scaled(X)
        t = rows @ self.loadings.T
        q = ((rows - t @ self.loadings) ** 2).sum(axis=1)
        return np.column_stack([-self.classifier.score_samples(rows), (t**2 / self.variances).sum(axis=1), q])

    def contributions(self, X: Floats, statistics: Floats, limits: Floats) -> Floats:
        """Compute the mean share of each variable in the deviation of rows, in the chart that flags them.

        For a score, T2 and Q are added in units of their limits.
        """
        rows = self.scaled(X)
        t = rows @ self.loadings.T
        within = (t / self.variances) @ self.loadings
        outside = rows - t @ self.loadings
        weight_within = (self.loadings**2 / self.variances[:, None]).sum(axis=0)
        weight_outside = np.maximum(1 - (self.loadings**2).sum(axis=0), 1e-9)
        on_t2, on_q = (statistics[:, 1:] > limits[1:]).T.astype(float)
        neither = (on_t2 + on_q == 0).astype(float)  # the score alone
        a, b = ((own + neither) / limit for own, limit in ((on_t2, limits[1]), (on_q, limits[2])))
        gradient = a[:, None] * within + b[:, None] * outside
        curvature = a[:, None] * weight_within + b[:, None] * weight_outside
        # A variable without variance gains nothing within the components.
        gained = np.divide(gradient**2, curvature, out=np.zeros_like(gradient), where=curvature > 0)
        return (gained / gained.sum(axis=1, keepdims=True)).mean(axis=0)

    def textbook_limits(self, n: int, level: float) -> tuple[float, float]:
        """Compute the limits of T2 (F distribution) and Q (Jackson and Mudholkar) for independent normal rows."""
        k = len(self.variances)
        t2 = k * (n**2 - 1) / (n * (n - k)) * f.ppf(1 - level, k, n - k) if n > k else math.inf
        theta = [float((self.left_over**power).sum()) for power in (1, 2, 3)]
        if theta[0] == 0:
            return float(t2), 0.0
        h = 1 - 2 * theta[0] * theta[2] / (3 * theta[1] ** 2)
        root = norm.ppf(1 - level) * math.sqrt(2 * theta[1] * h**2) / theta[0]
        return float(t2), theta[0] * (root + 1 + theta[1] * h * (h - 1) / theta[0] ** 2) ** (1 / h)


def _check_measured(X: Floats, names: Sequence[str]) -> None:
    """Refuse a variable that is not measured outside one of the blocks; with lags, the names repeat."""
    for train, test in block_folds(len(X), len(X) // _GAP_SHARE):
        count = np.isfinite(X[train]).sum(axis=0)
        if (count < 2).any():
            raise ValueError(
                f"variable {names[int(np.argmin(count)) % len(names)]!r} has fewer than 2 values outside rows "
                f"{test[0] + 1} to {test[-1] + 1} of the normal run; drop it"
            )


def _held_out(X: Floats, n_components: int | None, classifier: BaseEstimator, model: _Model) -> Floats:
    """Compute the statistics of the normal rows by models fitted without their block and its neighborhood."""
    times = [correlation_time(values) for values in model.statistics(X).T[1:]]
    gap = min(math.ceil(max(times)), len(X) // _GAP_SHARE)
    held_out = np.empty((len(X), len(CHARTS)))
    for train, test in block_folds(len(X), gap):
        held_out[test] = _Model.fit(X[train], n_components, classifier).statistics(X[test])
    return held_out


def _joint_limits(held_out: Floats, most: int) -> Floats:
    """Compute the lowest limits, of equal rank in each chart, that at most `most` rows exceed in one or more charts."""
    ordered = -np.sort(-held_out, axis=0)

    def too_many(rank: int) -> bool:
        return bool((held_out > ordered[rank]).any(axis=1).sum() > most)

    return ordered[bisect_left(range(1, min(most + 1, len(held_out))), True, key=too_many)]


def _runs(flagged: Bools, length: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last row of each stretch of at least `length` flagged rows."""
    for own, rows in groupby(range(len(flagged)), key=lambda i: bool(flagged[i])):
        stretch = list(rows)
        if own and len(stretch) >= length:
            yield stretch[0], stretch[-1]
