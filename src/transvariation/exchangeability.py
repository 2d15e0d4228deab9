"""Are samples exchangeable, as every calibration assumes? Tests of order, groups, copies and new batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree
from scipy.stats import chi2, norm, pearson3, skew
from sklearn.utils import check_array

from transvariation._typing import Bools, Floats, Indices
from transvariation.exceptions import DuplicatedSamples, warn_user
from transvariation.ordered import neighbor_correlation, normal_scores
from transvariation.subsample import row_keys
from transvariation.validation import blocks, check_same_columns, column_names

MIN_SAMPLES = 8
_N_BLOCKS = 10
_N_NEIGHBORS = 5
_N_RELABELED = 200  # for the test of neighbors
_MOSTLY_EQUAL = 3.0  # mean fourth power of normal scores, which is less without ties
_N_PERMUTATIONS, _PERMUTED_VALUES = 1_999, 1_000_000
_MAX_NEIGHBOR_SAMPLES = 2_000
_MANY_COPIES = 0.3  # share of copies from which on the error rate suffers
_COPIES = (
    "another one in every feature: copies make held-out samples look more typical than new ones, so that more of these "
    "are rejected than asked for; drop the copies, or pass groups if they are replicates of one item"
)
_KNOWN_SAMPLES = (
    "one that the classifier was fitted to, and look more typical than new samples do: recalibrate with samples that "
    "were not given to fit"
)
_WORDS = {
    "trend": "values rise or fall with the order",
    "autocorrelation": "neighboring samples are alike",
    "blocks": "stretches of the order differ",
    "groups": "samples of one group are alike",
    "location": "the new samples lie elsewhere",
    "spread": "the new samples vary more or less",
    "neighbors": "the nearest samples of new samples are new ones",
}


class FeatureTest(NamedTuple):
    """One test of one feature.

    Attributes
    ----------
    test : str
        The kind of deviation.
    feature : str
        The feature; empty for a test of all together.
    statistic : float
        Standard errors from what exchangeable samples give.
    p_value : float
        Not adjusted for the number of tests.
    """

    test: str
    feature: str
    statistic: float
    p_value: float


@dataclass(frozen=True)
class ExchangeabilityResult:
    """The outcome of :func:`exchangeability_test`.

    Attributes
    ----------
    p_value : float
        The probability of a deviation as strong as the strongest, in any test and feature, if the samples are
        exchangeable (Bonferroni).
    tests : tuple of FeatureTest
        Every test of every feature; ``pandas.DataFrame(result.tests)`` is a table.
    n : int
        The number of samples, or of groups in the tests of order.
    n_duplicates : int
        How many samples equal an earlier one in every feature. Copies are not counted in the p-value: rounded
        measurements may be equal.

    See Also
    --------
    transvariation.exchangeability_test : Test samples.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import exchangeability_test
    >>> walk = np.random.default_rng(0).normal(size=(100, 2)).cumsum(axis=0)
    >>> print(exchangeability_test(walk))
    the samples are not exchangeable (p < 0.001)
      trend            values rise or fall with the order: x1, x0
      autocorrelation  neighboring samples are alike: x1, x0
      blocks           stretches of the order differ: x1, x0
    """

    p_value: float
    tests: tuple[FeatureTest, ...]
    n: int
    n_duplicates: int

    def adjusted(self, test: FeatureTest) -> float:
        """Return the p-value of one test, adjusted for the number of tests.

        Parameters
        ----------
        test : FeatureTest
            One of ``tests``.

        Returns
        -------
        float
            At most 1.
        """
        return min(1.0, test.p_value * len(self.tests))

    def drivers(self, level: float = 0.05) -> dict[str, list[str]]:
        """List, for each kind of deviation found at a level, the features that drive it, the strongest first.

        Parameters
        ----------
        level : float, default=0.05
            Tests with an adjusted p-value up to this are listed.

        Returns
        -------
        dict
            Kind of deviation -> names of features, empty for a test of all features together.
        """
        found: dict[str, list[str]] = {}
        for test in sorted(self.tests, key=lambda each: each.p_value):
            if self.adjusted(test) <= level:
                found.setdefault(test.test, []).extend([test.feature] if test.feature else [])
        return {name: found[name] for name in _WORDS if name in found}

    def __str__(self) -> str:
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.3f}"
        drivers = self.drivers()
        lines = [f"the samples are not exchangeable ({p})" if drivers else f"no sign of a deviation ({p})"]
        for name, features in drivers.items():
            named = f": {', '.join(features[:4])}{', ...' if len(features) > 4 else ''}" if features else ""
            lines.append(f"  {name:<16} {_WORDS[name]}{named}")
        if self.n_duplicates:
            equal = "1 sample equals" if self.n_duplicates == 1 else f"{self.n_duplicates} samples equal"
            lines.append(f"  {equal} an earlier one in every feature")
        return "\n".join(lines)


def exchangeability_test(
    X: ArrayLike,
    *,
    order: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    new: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> ExchangeabilityResult:
    """Test whether samples are exchangeable, and say which features show that they are not.

    Known samples are tested for a trend along their order, for autocorrelation of neighbors and for differences between
    ten stretches of the order; with groups, for differences between groups. A batch of new samples is tested against
    the known ones for location and spread, feature by feature, and for its nearest neighbors, in all features together.
    The tests use normal scores of the ranks, so that they need no distribution, and their exact mean and variance over
    all permutations, or 1,999 random permutations for a feature with mostly equal values; the p-value is adjusted for
    the number of tests and features (Bonferroni).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The known samples; missing values are left out feature by feature, where a table has them.
    order : array-like of shape (n_samples,), optional
        Numbers, dates or texts by which the samples are put in order; by default the order of the rows.
    groups : array-like of shape (n_samples,), optional
        Labels of batches, days or items. The tests of the order then concern the means of the groups.
    new : array-like of shape (n_new, n_features), optional
        A finished batch of new samples. Only the batch is then tested, without `order` and `groups`.
    random_state : int, Generator or None, default=0
        Draws the permutations.

    Returns
    -------
    ExchangeabilityResult

    See Also
    --------
    transvariation.DriftAlarm : Watch for a change, sample by sample.
    transvariation.displays.ExchangeabilityDisplay : Draw the result.

    References
    ----------
    Wald, A. and Wolfowitz, J. (1943). An exact test for randomness in the non-parametric case based on serial
    correlation. Annals of Mathematical Statistics 14, 378-388.

    Schilling, M. F. (1986). Multivariate two-sample tests based on nearest neighbors. JASA 81, 799-806.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import exchangeability_test
    >>> rng = np.random.default_rng(0)
    >>> known, new = rng.normal(size=(200, 3)), rng.normal([0, 0, 1], 1, size=(40, 3))
    >>> print(exchangeability_test(known))
    no sign of a deviation (p = 0.783)
    >>> exchangeability_test(known, new=new).drivers()
    {'location': ['x2'], 'neighbors': []}
    """
    rng = np.random.default_rng(random_state)
    values, names = _values(X, "X")
    duplicates = len(values) - len(np.unique(values, axis=0))
    if new is not None:
        if order is not None or groups is not None:
            raise ValueError("a batch is tested without order and groups; test X for these in a call without new")
        added, _ = _values(new, "new")
        check_same_columns(new, X, "new", "X")
        tests = [*_two_sample_tests(values, added, names, rng), _neighbor_test(values, added, rng)]
    else:
        tests, values = _serial_tests(values, names, order, groups, rng)
    p_value = min((1.0, *(len(tests) * test.p_value for test in tests)))
    return ExchangeabilityResult(p_value, tuple(tests), len(values), duplicates)


def _values(X: ArrayLike, name: str) -> tuple[Floats, list[str]]:
    names = column_names(X)
    options = {"ensure_all_finite": "allow-nan", "ensure_min_samples": MIN_SAMPLES, "input_name": name}
    values = check_array(X, dtype=np.float64, **options)
    if np.isnan(values).all():
        raise ValueError(f"{name} has no values: all of them are missing")
    return values, [f"x{j}" for j in range(values.shape[1])] if names is None else list(map(str, names))


def _labels(values: ArrayLike, n: int, name: str) -> Indices:
    """Number values by their order; missing ones are refused."""
    given = np.asarray(values)
    if given.shape != (n,):
        raise ValueError(f"{name} has shape {given.shape} for {n} samples; give one value for each")
    if (missing := pd.isna(given)).any():
        raise ValueError(f"{name} is missing for {missing.sum()} of {n} samples; fill it, or drop these")
    try:
        return np.unique(given, return_inverse=True)[1]
    except TypeError:
        raise ValueError(f"{name} holds values of several types; give numbers, dates or texts") from None


def _serial_tests(
    values: Floats, names: Sequence[str], order: ArrayLike | None, groups: ArrayLike | None, rng: np.random.Generator
) -> tuple[list[FeatureTest], Floats]:
    n, tests = len(values), []
    arranged = np.arange(n) if order is None else np.argsort(_labels(order, n, "order"), kind="stable")
    values = values[arranged]
    if groups is not None:
        labels = _labels(groups, n, "groups")[arranged]
        if not labels.any():
            raise ValueError("groups holds a single group; leave it out, or give labels that differ")
        for column, name in zip(values.T, names, strict=True):
            known = ~np.isnan(column)
            scores = normal_scores(column[known])
            tests += _tests_of(name, scores, {"groups": _difference(scores, labels[known])}, rng)
        values = pd.DataFrame(values).groupby(labels, sort=False).mean().to_numpy()
    for column, name in zip(values.T, names, strict=True):
        scores = normal_scores(column[~np.isnan(column)])
        if len(scores) >= MIN_SAMPLES:
            tests += _tests_of(name, scores, _order_tests(scores), rng)
    return tests, values


class _Deviation(NamedTuple):
    """A statistic of normal scores, high for samples that are not exchangeable, and its limit law."""

    statistic: Callable[[Floats], Floats]  # of the last axis
    deviation: float
    p_value: float


def _tests_of(
    name: str, scores: Floats, found: Mapping[str, _Deviation | None], rng: np.random.Generator
) -> list[FeatureTest]:
    """Make the tests of one feature; if most of its values are equal, p-values come from permutations."""
    tests = [FeatureTest(test, name, each.deviation, each.p_value) for test, each in found.items() if each]
    if np.mean(scores**4) <= _MOSTLY_EQUAL:
        return tests
    statistics = [each.statistic for each in found.values() if each]
    as_high = np.ones(len(tests))
    for block in blocks(_N_PERMUTATIONS, max(1, _PERMUTED_VALUES // len(scores))):
        permuted = rng.permuted(np.tile(scores, (len(range(*block.indices(_N_PERMUTATIONS))), 1)), axis=1)
        as_high += [np.count_nonzero(f(permuted) >= f(scores) - 1e-9) for f in statistics]
    p_values = (as_high / (_N_PERMUTATIONS + 1)).tolist()
    return [test._replace(p_value=p) for test, p in zip(tests, p_values, strict=True)]


def _order_tests(scores: Floats) -> dict[str, _Deviation | None]:
    n = len(scores)
    position = np.arange(n) - (n - 1) / 2
    trend = float(scores @ position / np.sqrt((position @ position) * n / (n - 1)))
    _, serial = neighbor_correlation(scores)
    return {
        "trend": _Deviation(lambda z: np.abs(z @ position), trend, float(2 * norm.sf(abs(trend)))),
        "autocorrelation": _Deviation(
            lambda z: (z[..., 1:] * z[..., :-1]).sum(axis=-1), serial, float(norm.sf(serial))
        ),
        "blocks": _difference(scores, np.arange(n) * min(_N_BLOCKS, n // 4) // n),
    }


def _difference(scores: Floats, labels: NDArray) -> _Deviation | None:
    """Compute Kruskal and Wallis's test with normal scores."""
    labels = np.unique(labels, return_inverse=True)[1]
    sizes = np.bincount(labels)
    if len(sizes) < 2 or len(scores) < MIN_SAMPLES or not scores.any() or sizes.max() < 2:
        return None
    order, first = np.argsort(labels, kind="stable"), np.cumsum(sizes) - sizes

    def statistic(z: Floats) -> Floats:
        return (np.add.reduceat(z[..., order], first, axis=-1) ** 2 / sizes).sum(axis=-1)

    p = float(chi2.sf(statistic(scores) * (len(scores) - 1) / len(scores), len(sizes) - 1))
    return _Deviation(statistic, float(norm.isf(max(p, 1e-300))), p)


def _two_sample_tests(known: Floats, new: Floats, names: Sequence[str], rng: np.random.Generator) -> list[FeatureTest]:
    tests = []
    for j, name in enumerate(names):
        parts = [each[~np.isnan(each[:, j]), j] for each in (known, new)]
        if min(map(len, parts)) >= 2:
            n, scores = len(parts[0]), normal_scores(np.concatenate(parts))
            found = {"location": _two_sample(scores, n, lambda z: z)}
            found["spread"] = _two_sample(scores, n, lambda z, n=n: _squares(z, n))  # type: ignore[misc]
            tests += _tests_of(name, scores, found, rng)
    return tests


def _two_sample(scores: Floats, n: int, transform: Callable[[Floats], Floats]) -> _Deviation:
    """Compare the mean of the new samples, after n known ones, with that of all."""

    def beyond(values: Floats) -> Floats:
        return values[..., n:].mean(axis=-1) - values.mean(axis=-1)

    values, m = transform(scores), len(scores) - n
    sd = math.sqrt(values.var() * n / (n + m - 1) / m)
    deviation = float(beyond(values) / sd) if sd > 1e-6 else 0.0
    return _Deviation(lambda z: np.abs(beyond(transform(z))), deviation, float(2 * norm.sf(abs(deviation))))


def _squares(z: Floats, n: int) -> Floats:
    """Square the distances from the means of the first n values and of the others."""
    parts = z[..., :n], z[..., n:]
    return np.concatenate([part - part.mean(axis=-1, keepdims=True) for part in parts], axis=-1) ** 2


def _neighbor_test(known: Floats, new: Floats, rng: np.random.Generator) -> FeatureTest:
    """Count the neighbors of new samples that are new, and compare with permuted labels."""
    known, new = (each[rng.permutation(len(each))[:_MAX_NEIGHBOR_SAMPLES]] for each in (known, new))
    shuffled = rng.permutation(len(known) + len(new))  # of equally near samples those found are the first
    both, labels = np.concatenate([known, new])[shuffled], shuffled >= len(known)
    both = both[:, ~np.isnan(both).all(axis=0)]
    filled = np.where(np.isnan(both), np.nanmedian(both, axis=0), both)
    scaled = normal_scores(filled)
    found = KDTree(scaled).query(scaled, min(_N_NEIGHBORS + 1, len(both)))[1][:, 1:]

    def share(own: Bools) -> float:
        return float(own[found[own]].mean())

    observed = share(labels)
    permuted = np.array([share(rng.permutation(labels)) for _ in range(_N_RELABELED)])
    deviation = float((observed - permuted.mean()) / max(permuted.std(), 1e-12))
    # Nearly normal (Schilling, 1986), but skewed if the batch is small.
    return FeatureTest("neighbors", "", deviation, float(pearson3.sf(deviation, max(skew(permuted), 0.0))))


def warn_of_copies(X: object, known: object = None) -> None:
    """Warn if many samples equal others, or known ones, in continuous features too, which is no coincidence."""
    if not isinstance(X, np.ndarray) or X.dtype != np.float64 or X.shape[1] == 1:  # ties of one feature are no copies
        return
    keys = row_keys(X)
    first = np.unique(keys, return_index=True)[1]
    if len(first) < 5 or all(len(np.unique(column)) <= 0.9 * len(first) for column in X[first].T):
        return
    share = np.isin(keys, row_keys(known)).mean() if isinstance(known, np.ndarray) else 1 - len(first) / len(X)
    if share > _MANY_COPIES:
        warn_user(f"{share:.0%} of the samples equal {_COPIES if known is None else _KNOWN_SAMPLES}", DuplicatedSamples)
