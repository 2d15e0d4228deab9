"""How much more probable the measurements are if both sets share a source: likelihood ratios, given a background.

Two systems side by side. The two-level model of the forensic literature (normal within sources, kernel density
between them), as the Netherlands Forensic Institute's `lir` computes it. And a score-based one: the difference
between the two sets, seen among the differences that one source shows with itself, has a transvariation probability;
pairs from the background turn its logarithm into a likelihood ratio. Both are bounded by what the background supports.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from transvariation.density.covariance import tied, varying

Floats = NDArray[np.float64]

# Upper ends of the verbal scale of the European Network of Forensic Science Institutes (ENFSI, 2015).
SCALE = (
    (2, "no support for either proposition"),
    (10, "weak support"),
    (100, "moderate support"),
    (1_000, "moderately strong support"),
    (10_000, "strong support"),
    (1_000_000, "very strong support"),
    (np.inf, "extremely strong support"),
)
TIED = 1e-6  # of its spread: covariances square it, and far less would be lost in their sixteen digits
MIN_SOURCES = 30  # fewer background sources say too little about how sources differ


@dataclass(frozen=True)
class LikelihoodRatio:
    """The weight of the evidence for one recovered object, on the log10 scale, within what the background supports."""

    id: str
    two_level: float
    score_based: float
    two_level_words: str
    score_based_words: str


def in_words(log10_lr: float) -> str:
    """Put a likelihood ratio on the verbal scale.

    Examples
    --------
    >>> in_words(2.5), in_words(-0.1)
    ('moderately strong support for a common source', 'no support for either proposition')
    """
    words = next(words for end, words in SCALE if 10 ** min(abs(log10_lr), 300.0) <= end)
    if words.startswith("no support"):
        return words
    return f"{words} for {'a common source' if log10_lr > 0 else 'different sources'}"


@dataclass(frozen=True)
class Pairs:
    """Pairs of sets of measurements: one set each of shape (replicates, p); `same` says which share a source."""

    first: list[Floats]
    second: list[Floats]
    same: NDArray[np.bool_]


def make_pairs(
    sets: dict[Any, Floats], others: dict[Any, Floats] | None = None, *, n_pairs: int = 4_000, seed: int = 0
) -> Pairs:
    """Pair every source with itself and, `n_pairs` times, two different sources.

    Parameters
    ----------
    sets : dict
        The measurements of each source. Without `others` its replicates are divided in two.
    others : dict, optional
        Other measurements of the same sources, to pair the first with.
    """
    if others is None:
        sets, others = {k: x[: len(x) // 2] for k, x in sets.items()}, {k: x[len(x) // 2 :] for k, x in sets.items()}
    names = list(sets)
    rng = np.random.default_rng(seed)
    one = rng.integers(len(names), size=n_pairs)
    two = (one + rng.integers(1, len(names), size=n_pairs)) % len(names)
    first = [sets[name] for name in names] + [sets[names[i]] for i in one]
    second = [others[name] for name in names] + [others[names[j]] for j in two]
    return Pairs(first, second, np.arange(len(first)) < len(names))


class TwoLevel:
    """The two-level model: normal within sources, kernel density between them (Bolck et al., 2009)."""

    def fit(self, X: Floats, sources: NDArray) -> "TwoLevel":
        """Learn from replicates of many sources."""
        self.model_ = _lir("lir.lrsystems.two_level").TwoLevelModelNormalKDE().fit_on_unpaired_instances(X, sources)
        return self

    def log10_lr(self, first: list[Floats], second: list[Floats]) -> Floats:
        """Compute log10 likelihood ratios of pairs of sets."""
        with np.errstate(under="ignore"):
            pairs = zip(first, second, strict=True)
            return np.array([float(self.model_.transform(a[None], b[None])[0]) for a, b in pairs])


class ScoreBased:
    """The transvariation probability of a difference among differences within sources, calibrated on pairs.

    Differences are transformed so that those within sources are independent and of unit variance; then tp is the
    product of univariate ones. Logistic regression on pairs from the background makes its logarithm a ratio.
    """

    def fit(self, X: Floats, sources: NDArray, pairs: Pairs) -> "ScoreBased":
        """Learn the within-source covariance, then what the score means."""
        residuals = _residuals(by_source(X, sources))
        freedom = len(X) - len(np.unique(sources))
        self.whiten_ = _whitener(residuals.T @ residuals / freedom)
        calibrator = _lir("lir.algorithms.logistic_regression").LogitCalibrator()
        scores = self.scores(pairs.first, pairs.second)
        # Scores of different sources run to minus thousands; beyond this they all say the same.
        self.floor_ = float(scores[pairs.same].min()) * 10
        self.calibrator_ = calibrator.fit(np.maximum(scores, self.floor_), pairs.same.astype(int))
        return self

    def scores(self, first: list[Floats], second: list[Floats]) -> Floats:
        """Compute log10 tp of every pair's difference of means."""
        scale = np.array([np.sqrt(1 / len(a) + 1 / len(b)) for a, b in zip(first, second, strict=True)])
        difference = np.array([a.mean(axis=0) - b.mean(axis=0) for a, b in zip(first, second, strict=True)])
        z = np.abs(difference @ self.whiten_) / scale[:, None]
        return (np.log(2.0) + log_ndtr(-z)).sum(axis=1) / np.log(10)

    def log10_lr(self, first: list[Floats], second: list[Floats]) -> Floats:
        """Compute log10 likelihood ratios of pairs of sets."""
        return np.asarray(self.calibrator_.transform(np.maximum(self.scores(first, second), self.floor_))).ravel()


def _residuals(sets: dict[Any, Floats]) -> Floats:
    return np.concatenate([x - x.mean(axis=0) for x in sets.values()])


def _whitener(covariance: Floats) -> Floats:
    """Make variables independent and of unit variance by the symmetric root: the same in any order and any units."""
    scale = np.sqrt(np.diag(covariance))
    values, axes = np.linalg.eigh(covariance / np.outer(scale, scale))
    return (axes / np.sqrt(values)) @ axes.T / scale[:, None]


class LikelihoodSystem:
    """Both systems, fitted on a background population and bounded by what it supports.

    Parameters
    ----------
    seed : int
        For the drawing of pairs.
    n_pairs : int
        Pairs of different sources drawn to calibrate and to bound.
    names : sequence of str, optional
        What the variables are called, for messages.

    Attributes
    ----------
    kept_ : ndarray of bool
        The variables that ratios are computed from: those with replicates that differ in either half of the sources.
        Without that nothing is known of how much they may differ.
    bounds_ : dict
        For each system the lowest and the highest log10 ratio that the background supports (empirical lower and upper
        bound, Vergeer et al. 2016), from pairs of sources that the model had not seen.
    """

    SYSTEMS = ("two_level", "score_based")

    def __init__(self, seed: int = 0, n_pairs: int = 4_000, names: Sequence[str] | None = None):
        self.seed = seed
        self.n_pairs = n_pairs
        self.names = names

    def fit(self, X: Floats, sources: NDArray) -> "LikelihoodSystem":
        """Learn from a background: replicates (rows of `X`) of many sources."""
        sets = dict(sorted(by_source(X, sources).items()))  # the lots drawn below know no order of rows
        repeated = {name: x for name, x in sets.items() if len(x) > 1}
        if len(repeated) < MIN_SOURCES:
            raise ValueError(
                f"the background has {len(repeated)} sources with replicates; a likelihood ratio needs at least "
                f"{MIN_SOURCES}, each measured twice or more"
            )
        names = np.array(list(repeated), dtype=object)
        order = np.random.default_rng(self.seed).permutation(len(names))
        halves = [names[order[::2]], names[order[1::2]]]
        self.kept_ = np.all([np.any([varying(repeated[name]) for name in half], axis=0) for half in halves], axis=0)
        if not self.kept_.any():
            raise ValueError("in no variable do the background's replicates of one source differ; give them unrounded")
        repeated = {name: x[:, self.kept_] for name, x in repeated.items()}
        seen: dict[str, list[Floats]] = {system: [] for system in self.SYSTEMS}
        labels = []
        for train, test in (halves, halves[::-1]):
            fitted = self._systems({name: repeated[name] for name in train})
            pairs = make_pairs({name: repeated[name] for name in test}, n_pairs=self.n_pairs, seed=self.seed)
            labels.append(pairs.same)
            for system, model in fitted.items():
                seen[system].append(model.log10_lr(pairs.first, pairs.second))
        same = np.concatenate(labels).astype(int)
        bounder = _lir("lir.algorithms.bayeserror").ELUBBounder
        self.bounds_ = {
            name: tuple(map(float, bounder().calculate_bounds(np.concatenate(llrs), same)))
            for name, llrs in seen.items()
        }
        self.systems_ = self._systems(repeated)
        return self

    def _systems(self, sets: dict[Any, Floats]) -> dict[str, Any]:
        self._check_within(sets)
        X = np.concatenate(list(sets.values()))
        sources = np.repeat(np.arange(len(sets)), [len(x) for x in sets.values()])
        pairs = make_pairs(sets, n_pairs=self.n_pairs, seed=self.seed)
        return {"two_level": TwoLevel().fit(X, sources), "score_based": ScoreBased().fit(X, sources, pairs)}

    def _check_within(self, sets: dict[Any, Floats]) -> None:
        """Say why the covariance within these sources has no inverse, and what to do."""
        residuals, p = _residuals(sets), int(self.kept_.sum())
        freedom = len(residuals) - len(sets)
        if freedom < p:
            raise ValueError(
                f"half of the background has {freedom} replicates beyond the first of each source, too few for {p} "
                "variables; give more sources, or fewer variables (features, --features)"
            )
        if columns := tied(residuals, TIED):
            named = self._named(np.flatnonzero(self.kept_)[columns])
            raise ValueError(
                f"within the sources of the background {', '.join(named)} determine each other, as duplicates do or "
                "shares of one sum, so that no likelihood ratio can be computed; leave one of them out (features, "
                "--features)"
            )

    def _named(self, columns: NDArray[np.intp]) -> list[str]:
        return [f"x{u}" if self.names is None else self.names[u] for u in columns]

    @property
    def left_out_(self) -> list[str]:
        """The variables that ratios say nothing about."""
        return self._named(np.flatnonzero(~self.kept_))

    def log10_lr(self, first: list[Floats], second: list[Floats]) -> dict[str, Floats]:
        """Compute bounded log10 likelihood ratios of pairs of sets, by either system."""
        first, second = ([x[:, self.kept_] for x in sets] for sets in (first, second))
        ratios = {}
        for name, model in self.systems_.items():
            low, high = self.bounds_[name]
            ratios[name] = np.clip(model.log10_lr(first, second), low, high)
        return ratios

    def weigh(self, control: Floats, recovered: dict[str, Floats]) -> tuple[LikelihoodRatio, ...]:
        """Weigh every recovered object against the control, taken as one source."""
        names = list(recovered)
        ratios = self.log10_lr([recovered[name] for name in names], [control] * len(names))
        return tuple(
            LikelihoodRatio(name, float(a), float(b), in_words(a), in_words(b))
            for name, a, b in zip(names, ratios["two_level"], ratios["score_based"], strict=True)
        )


def by_source(X: Floats, sources: ArrayLike) -> dict[Any, Floats]:
    """Divide rows by the source that they were measured on, in order of appearance."""
    # As objects: names in an array of strings would not be Python's own.
    index, names = pd.factorize(np.asarray(sources, dtype=object), use_na_sentinel=False)
    return {name: X[index == i] for i, name in enumerate(names)}


def cllr(log10_lr: Floats, same: NDArray[np.bool_]) -> float:
    """Compute the log-likelihood-ratio cost: 0 is perfect, 1 is worthless (Brümmer and du Preez, 2006)."""
    models = _lir("lir.data.models")
    data = models.LLRData(features=np.asarray(log10_lr)[:, None], labels=np.asarray(same, dtype=int))
    return float(_lir("lir.metrics").cllr(data))


def _lir(module: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError("likelihood ratios need lir: pip install 'transvariation[lr]'") from error
