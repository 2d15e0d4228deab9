"""Many samples at once: false discoveries, and the number of anomalies in a batch.

A *discovery* is a sample declared foreign to the target class; it is false if the sample is a target after all.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import betabinom, false_discovery_control

from transvariation._typing import Bools, Floats
from transvariation.certificate import check_confidence
from transvariation.conformal import check_p_values, rank_sum_p_value
from transvariation.conformal_calibration import ConformalCalibration
from transvariation.exceptions import TooFewToDiscover, warn_user

_ROUNDING_ERROR = 1e-12
_ENVELOPE_RANKS, _ENVELOPE_RUNS = 60, 1_999
_MIN_DISTINCT = 5  # p-values that are whole multiples of the smallest show the number of calibration samples


def benjamini_hochberg(
    p_values: ArrayLike, level: float = 0.1, *, calibration: ConformalCalibration | None = None
) -> Bools:
    """Select samples such that the expected share of targets among those selected is at most `level`.

    A single target is rejected with probability 1 - sensitivity, so that among a hundred targets ten are rejected.
    This procedure controls the share of false rejections among all rejections instead, the false discovery rate.
    Conformal p-values from one calibration depend on one another in a way that the procedure allows (Bates et al.,
    2023).
    The rate is an average over batches; :func:`false_discovery_bound` holds for this batch.

    Parameters
    ----------
    p_values : array-like of shape (q,)
        The p-values of all samples that are judged.
    level : float in (0, 1), default=0.1
        The false discovery rate.
    calibration : ConformalCalibration, optional
        The calibration behind the p-values (``classifier.calibration_``), for the warning. By default the number of
        its samples is read off the p-values where these show it.

    Returns
    -------
    ndarray of bool
        True where the sample is selected as foreign to the target class.

    Warns
    -----
    TooFewToDiscover
        If nothing is selected and no single sample could have been: n calibration samples give no p-value below
        ``1 / (n + 1)``, and one sample of q is selected from ``level / q`` on.

    See Also
    --------
    scipy.stats.false_discovery_control : The adjusted p-values.

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. JRSS B 57, 289-300.

    Bates, S. et al. (2023). Testing for outliers with conformal p-values. Annals of Statistics 51, 149-178.

    Examples
    --------
    >>> from transvariation import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.50], level=0.1)
    array([ True,  True,  True, False])
    """
    if not 0 < level < 1:
        raise ValueError(f"level={level} must lie in (0, 1); 0.1 allows one false rejection in ten rejections")
    p, _ = check_p_values(p_values), _n_exchangeable(calibration)
    selected = false_discovery_control(p) <= level + _ROUNDING_ERROR
    if not selected.any():
        _warn_if_none_can_be_selected(p, level, calibration)
    return selected


def _warn_if_none_can_be_selected(p: Floats, level: float, calibration: ConformalCalibration | None) -> None:
    m, n = len(p), round(1 / p.min()) - 1 if calibration is None else round(float(calibration.sizes.max()))
    ranks = p * (n + 1)
    shown = len(np.unique(p)) >= _MIN_DISTINCT and np.allclose(ranks, np.round(ranks), atol=1e-6)
    if (n + 1) * level >= m - _ROUNDING_ERROR or (calibration is None and not shown):
        return
    warn_user(
        f"no sample is declared, and with {n:,} calibration samples no single one of {m:,} could be: the smallest "
        f"p-value is 1 / {n + 1:,}, and one discovery at level {level:g} needs {level:g} / {m:,}. It takes "
        f'{math.ceil(m / level) - 1:,} calibration samples (calibration="split" uses half of all known samples), or at '
        f"least {math.ceil(m / (level * (n + 1)) - 1e-9):,} samples with the smallest p-value, a higher level or a "
        "smaller batch",
        TooFewToDiscover,
    )


def false_discovery_bound(
    p_values: ArrayLike,
    selected: ArrayLike | None = None,
    confidence: float = 0.95,
    *,
    calibration: ConformalCalibration | None = None,
) -> int:
    """Bound the number of targets among selected samples, however they were selected.

    With the stated confidence the bound holds for all selections at once, so that samples may be selected after looking
    at the p-values or at the samples themselves.

    With a `calibration` of one threshold without groups, and a confidence of at most 0.9995, the bound follows from the
    joint distribution of conformal p-values, which is then known: how many of m targets have a p-value up to t is
    bounded for all t at once (Gazin, Blanchard and Roquain, 2024), at the same level for each t. Otherwise it is that
    of closed testing with Simes' test (Goeman and Solari, 2011), which is higher. Simes' test is valid for conformal
    p-values of one calibration without replicates (Bates et al., 2023). Both are as exact as the p-values are.

    Parameters
    ----------
    p_values : array-like of shape (q,)
        The p-values of all samples that were judged, selected or not.
    selected : array-like of bool of shape (q,), or of indices, optional
        The selected samples; by default all.
    confidence : float in (0, 1), default=0.95
        The probability that the bound holds.
    calibration : ConformalCalibration, optional
        The calibration behind the p-values (``classifier.calibration_``), if these are not weighted.

    Returns
    -------
    int
        At most so many of the selected samples are targets.

    See Also
    --------
    transvariation.benjamini_hochberg : Choose samples at a false discovery rate.
    transvariation.count_anomalies : How many anomalies there are at least.

    References
    ----------
    Goeman, J. J. and Solari, A. (2011). Multiple testing for exploratory research. Statistical Science 26, 584-597.

    Goeman, J. J., Meijer, R. J., Krebs, T. J. P. and Solari, A. (2019). Simultaneous control of all false discovery
    proportions in large-scale multiple hypothesis testing. Biometrika 106, 841-856.

    Bates, S. et al. (2023). Testing for outliers with conformal p-values. Annals of Statistics 51, 149-178.

    Gazin, U., Blanchard, G. and Roquain, E. (2024). Transductive conformal inference with adaptive scores. AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import ConformalCalibration, false_discovery_bound
    >>> p = np.r_[np.full(30, 0.001), np.linspace(0.01, 1, 100)]
    >>> int((p <= 0.05).sum()), false_discovery_bound(p, p <= 0.05)
    (35, 7)
    >>> calibration = ConformalCalibration(np.arange(999))
    >>> false_discovery_bound(p, p <= 0.05, calibration=calibration)
    7
    """
    p, alpha = check_p_values(p_values), 1 - check_confidence(confidence)
    chosen = np.sort(p if selected is None else p[_selection(selected, len(p))])
    if not len(chosen):
        return 0
    n = _n_exchangeable(calibration)
    if n is not None and alpha * (_ENVELOPE_RUNS + 1) >= 1:
        ranks, at_most = _envelope(n, len(p), alpha)
        beyond = len(chosen) - np.searchsorted(chosen, ranks / (n + 1) + _ROUNDING_ERROR, side="right")
        return int(min(len(chosen), (at_most + beyond).min()))
    largest = _largest_unrejected(np.sort(p), alpha)
    steps = np.maximum(np.ceil(largest * chosen / alpha - _ROUNDING_ERROR), 1)
    true = int(max(0, (np.arange(1, len(chosen) + 1) + 1 - steps).max()))
    return len(chosen) - true


def _n_exchangeable(calibration: ConformalCalibration | None) -> int | None:
    if calibration is not None and not isinstance(calibration, ConformalCalibration):
        raise TypeError(f"calibration is a {type(calibration).__name__}; pass classifier.calibration_")
    return None if calibration is None else calibration.n_exchangeable


@lru_cache(maxsize=16)
def _envelope(n: int, m: int, alpha: float) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Bound how many of m targets have a p-value of at most rank / (n + 1), for several ranks at once.

    The number of targets at or below the k-th of n calibration scores is beta-binomial. At each rank the same
    probability is left out; how much was determined by simulation, with a fixed seed.
    """
    ranks = np.unique(np.round(np.geomspace(1, max(n // 2, 1), _ENVELOPE_RANKS)).astype(int))
    upper = np.array([betabinom.pmf(np.arange(m + 1), m, k, n + 1 - k)[::-1].cumsum()[::-1] for k in ranks])
    rng = np.random.default_rng(0)
    spacings = rng.dirichlet(np.diff(ranks, prepend=0, append=n + 1), size=_ENVELOPE_RUNS)
    counts = rng.multinomial(m, spacings)[:, :-1].cumsum(axis=1)
    lowest = upper[np.arange(len(ranks)), counts].min(axis=1)
    level = np.sort(lowest)[int(alpha * (_ENVELOPE_RUNS + 1) + _ROUNDING_ERROR) - 1]
    return ranks, (upper >= level).sum(axis=1) - 1


def _selection(selected: ArrayLike, n: int) -> NDArray:
    chosen = np.asarray(selected)
    if not chosen.size:
        return np.array([], dtype=int)
    is_index = chosen.dtype.kind in "iu" and len(np.unique(chosen)) == chosen.size and np.isin(chosen, range(n)).all()
    if is_index or (chosen.dtype == bool and chosen.shape == (n,)):
        return chosen
    raise ValueError(
        f"selected must be {n} values True or False, one for each p-value, or different indices from 0 to {n - 1}; got "
        f"shape {chosen.shape} of type {chosen.dtype}"
    )


def _largest_unrejected(ordered: Floats, alpha: float) -> int:
    """Find the size of the largest set of p-values that Simes' test does not reject.

    Sets of one size are compared by their largest p-values; whether they are rejected is monotone in the size.
    """

    def rejected(k: int) -> bool:
        return bool((k * ordered[-k:] <= np.arange(1, k + 1) * alpha * (1 + _ROUNDING_ERROR)).any())

    return bisect_left(range(1, len(ordered) + 1), True, key=rejected)


@dataclass(frozen=True)
class AnomalyCount:
    """The number of anomalies in a batch.

    Attributes
    ----------
    n : int
        The number of samples in the batch.
    at_least : int
        A lower bound of the number of anomalies. There is no upper bound: an anomaly may look like a target.
    estimate : int
        Storey's estimate, from the share of p-values above one half; never below the bound.
    confidence : float
        The probability that the bound holds.

    See Also
    --------
    transvariation.count_anomalies : Compute it.

    Examples
    --------
    >>> from transvariation import count_anomalies
    >>> print(count_anomalies([0.001, 0.001, 0.002, 0.4, 0.6, 0.7, 0.8, 0.9]))
    with 95% confidence at least 3 of 8 samples are anomalies; the estimate is 3
    """

    n: int
    at_least: int
    estimate: int
    confidence: float

    def __str__(self) -> str:
        return (
            f"with {100 * self.confidence:g}% confidence at least {self.at_least} of {self.n} samples are anomalies; "
            f"the estimate is {self.estimate}"
        )


def count_anomalies(
    p_values: ArrayLike,
    confidence: float = 0.95,
    *,
    test: str = "simes",
    calibration: ConformalCalibration | None = None,
) -> AnomalyCount:
    """Bound and estimate the number of anomalies in a batch, without saying which samples they are.

    Closed testing: the bound is the smallest number of samples after whose removal the others could all be targets.

    Parameters
    ----------
    p_values : array-like of shape (q,)
        The p-values of all samples of the batch.
    confidence : float in (0, 1), default=0.95
        The probability that the bound holds.
    test : {"simes", "rank_sum"}, default="simes"
        How a set of samples is tested. ``"simes"`` (or, with `calibration`, the bound of
        :func:`false_discovery_bound`) finds a few clear anomalies, ``"rank_sum"`` (Wilcoxon, Mann and
        Whitney) many weak ones; decide before looking at the p-values. ``"rank_sum"`` needs a `calibration` of one
        threshold without groups.
    calibration : ConformalCalibration, optional
        The calibration behind the p-values (``classifier.calibration_``), if these are not weighted.

    Returns
    -------
    AnomalyCount

    See Also
    --------
    transvariation.false_discovery_bound : How many of the chosen samples are no anomalies, at most.
    transvariation.benjamini_hochberg : Choose samples at a false discovery rate.

    References
    ----------
    Goeman, J. J. and Solari, A. (2011). Multiple testing for exploratory research. Statistical Science 26, 584-597.

    Magnani, C. G., Sesia, M. and Solari, A. (2024). Collective outlier detection and enumeration with conformalized
    closed testing. arXiv:2308.05534.

    Storey, J. D. (2002). A direct approach to false discovery rates. JRSS B 64, 479-498.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import NeighborTOCC, count_anomalies
    >>> rng = np.random.default_rng(0)
    >>> classifier = NeighborTOCC().fit(rng.normal(size=(400, 3)))
    >>> own, foreign = rng.normal(size=(80, 3)), rng.normal(4, 1, size=(20, 3))
    >>> batch = np.concatenate([own, foreign])
    >>> count_anomalies(classifier.p_values(batch)).at_least
    16
    """
    p = check_p_values(p_values)
    if test == "simes":
        at_least = len(p) - false_discovery_bound(p, confidence=confidence, calibration=calibration)
    elif test == "rank_sum":
        at_least = _count_by_rank_sum(np.sort(p), 1 - check_confidence(confidence), calibration)
    else:
        raise ValueError(f"test={test!r} is unknown; choose 'simes' or 'rank_sum'")
    targets = 2 * (1 + np.count_nonzero(p > 0.5))
    return AnomalyCount(len(p), at_least, int(max(at_least, round(len(p) - targets))), float(confidence))


def _count_by_rank_sum(ordered: Floats, alpha: float, calibration: ConformalCalibration | None) -> int:
    n = _n_exchangeable(calibration)
    if n is None:
        raise ValueError(
            "test='rank_sum' needs calibration=classifier.calibration_ of held-out samples, with one threshold and "
            "without groups; use test='simes'"
        )
    counts = np.round(ordered * (n + 1) - 1)
    if np.abs(counts - (ordered * (n + 1) - 1)).max() > 1e-6:
        raise ValueError(
            f"the p-values are not multiples of 1 / {n + 1}; test='rank_sum' needs those of one calibration of {n} "
            "samples without groups and weights"
        )
    sums = np.cumsum(counts[::-1])[::-1]  # of the most typical samples
    for removed in range(len(ordered)):
        if rank_sum_p_value(int(sums[removed]), n, len(ordered) - removed) > alpha:
            return removed
    return len(ordered)
