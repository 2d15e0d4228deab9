"""Gather rows into fragments, the units that are judged, and check the control before it is used."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from scipy.stats import t as student

from transvariation.casework.same_source import Source
from transvariation.scalings import WhiteningScaling

Floats = NDArray[np.float64]

SIGNIFICANT = 0.01  # a check below this is reported as a warning
N_PERMUTATIONS = 999
N_SIMULATIONS = 199
MIN_GROUPED = 8  # fragments needed to distinguish two groups from one without replicates or a background


@dataclass(frozen=True)
class Fragments:
    """Fragments of one table.

    Attributes
    ----------
    names : tuple of str
    sources : tuple of str or None
        The source of each fragment, where the table names it.
    rows : tuple of ndarray of int
        The rows of each fragment: its replicates.
    X : ndarray of shape (n, p)
        The measurements on the scale on which fragments are judged.
    replicates : list of ndarray
        The measurements of each fragment.
    means : ndarray of shape (fragments, p)
        The mean of each fragment.
    """

    names: tuple[str, ...]
    sources: tuple[str, ...] | None
    rows: tuple[NDArray[np.intp], ...]
    X: Floats
    replicates: list[Floats]
    means: Floats

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_replicates(self) -> int:
        """The usual number of replicates: the median over fragments."""
        return int(np.median([len(rows) for rows in self.rows]))

    def by_source(self) -> list[Source]:
        """List the fragments of each source; if every source has a single fragment, its replicates."""
        sources: dict[str, list[Floats]] = {}
        for name, x in zip(self.sources or self.names, self.replicates, strict=True):
            sources.setdefault(name, []).append(x)
        if all(len(fragments) == 1 for fragments in sources.values()):
            return [list(fragments[0][:, None, :]) for fragments in sources.values()]
        return list(sources.values())


def gather_fragments(X: Floats, keys: Sequence[str], sources: Sequence[str] | None = None) -> Fragments:
    """Collect the rows of each fragment, in order of appearance.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    keys : sequence of str
        The fragment of each row.
    sources : sequence of str, optional
        The source of each row.
    """
    found: dict[str, list[int]] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, []).append(i)
    owners = None if sources is None else tuple(sources[at[0]] for at in found.values())
    rows = tuple(np.array(at, dtype=np.intp) for at in found.values())
    replicates = [X[at] for at in rows]
    return Fragments(tuple(found), owners, rows, X, replicates, np.array([x.mean(axis=0) for x in replicates]))


@dataclass(frozen=True)
class Check:
    """The outcome of one check of the control.

    Attributes
    ----------
    name : {"homogeneity", "outlying replicate", "drift"}
    p_value : float
    statement : str
    significant : bool
    """

    name: str
    p_value: float
    statement: str
    significant: bool


def check_homogeneity(control: Fragments, rng: np.random.Generator) -> Check | None:
    """Test whether the control fragments could come from one source.

    With replicates, fragments are compared with the differences between replicates of a fragment (a permutation test).
    Without, the fragments are tested for falling into two groups (against a normal distribution, by simulation). None
    where neither is possible.
    """
    replicated = len(control) > 1 and sum(len(rows) - 1 for rows in control.rows) >= len(control)
    if replicated:
        p = _permutation_p_value(control, rng)
        words = "differ from each other more than replicates of one fragment do"
    elif len(control) >= MIN_GROUPED:
        p = _two_groups_p_value(control.means, rng)
        words = "fall into two groups"
    else:
        return None
    return homogeneity_check(control, p, words)


def homogeneity_check(control: Fragments, p: float, words: str, level: float = SIGNIFICANT) -> Check:
    """State the outcome of a test of homogeneity; `words` describe what it means if significant."""
    if p >= level:
        return Check("homogeneity", p, f"No sign that the control fragments {words} ({format_p(p)}).", False)
    statement = f"The control fragments {words} ({format_p(p)}): check that they all come from one source."
    if len(control) > 3:
        statement += f" {_named_groups(control)}"
    return Check("homogeneity", p, statement, True)


def check_replicates(control: Fragments, row_names: Sequence[str], features: Sequence[str]) -> Check | None:
    """Test whether the most outlying replicate of the control fits its fragment (Bonferroni-adjusted)."""
    several = [rows for rows in control.rows if len(rows) > 1]
    freedom = sum(len(rows) - 1 for rows in several) - 1
    if freedom < 3:
        return None
    at = np.concatenate(several)
    residuals = np.concatenate([(control.X[r] - control.X[r].mean(axis=0)) / np.sqrt(1 - 1 / len(r)) for r in several])
    share = np.repeat([1 - 1 / len(rows) for rows in several], [len(rows) for rows in several])[:, None]
    total = (share * residuals**2).sum(axis=0)
    rest = np.maximum(total - residuals**2, 1e-12 * total + 1e-300)
    t = np.abs(residuals) / np.sqrt(rest / freedom)
    i, j = divmod(int(np.argmax(t)), t.shape[1])
    p = float(min(1.0, 2 * student.sf(t[i, j], freedom) * t.size))
    if p >= SIGNIFICANT:
        return Check("outlying replicate", p, f"No control replicate is outlying ({format_p(p)}).", False)
    words = f"The control replicate {row_names[at[i]]} is outlying in {features[j]} ({format_p(p)}); check it."
    return Check("outlying replicate", p, words, True)


def check_drift(control: Fragments, order: Floats | None, features: Sequence[str]) -> Check | None:
    """Test whether measurements of the control drift with their order (Spearman, Bonferroni-adjusted)."""
    if order is None or len(np.unique(order)) < 6:
        return None
    values = control.X.copy()
    for rows in control.rows:
        if len(rows) > 1:
            values[rows] -= values[rows].mean(axis=0)
    varying = np.flatnonzero(np.ptp(values, axis=0) > 0)
    if not len(varying):
        return None
    p_values = np.array([float(spearmanr(order, values[:, j]).pvalue) for j in varying])
    worst = int(np.argmin(p_values))
    p = float(min(1.0, p_values[worst] * len(varying)))
    name = features[varying[worst]]
    words = f"The control measurements drift over their order, most in {name}"
    if p >= SIGNIFICANT:
        words = "No drift of the control measurements over their order"
    return Check("drift", p, f"{words} ({format_p(p)}).", p < SIGNIFICANT)


def format_p(p: float) -> str:
    """Write a p-value with two significant digits, or as below 0.001.

    Examples
    --------
    >>> format_p(0.0471), format_p(1e-9)
    ('p = 0.047', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def _permutation_p_value(control: Fragments, rng: np.random.Generator) -> float:
    """Permute replicates over fragments; the statistic is the sum over variables of between by within squares."""
    sizes = np.array([len(rows) for rows in control.rows])
    X = np.concatenate(control.replicates)
    X = X - X.mean(axis=0)
    spread = np.sqrt((X**2).sum(axis=0))
    X = X[:, spread > 0] / spread[spread > 0]
    starts = np.append(0, np.cumsum(sizes)[:-1])

    def statistic(rows: Floats) -> float:
        between = (np.add.reduceat(rows, starts) ** 2 / sizes[:, None]).sum(axis=0)
        return float((between / np.maximum(1 - between, 1e-12)).sum())

    observed = statistic(X)
    count = sum(statistic(X[rng.permutation(len(X))]) >= observed - 1e-12 for _ in range(N_PERMUTATIONS))
    return (1 + count) / (N_PERMUTATIONS + 1)


def _two_groups_p_value(X: Floats, rng: np.random.Generator) -> float:
    """Compare the best split in two along the first principal component with splits of normal samples."""
    spread = X.std(axis=0)
    X = (X[:, spread > 0] - X[:, spread > 0].mean(axis=0)) / spread[spread > 0]
    if not X.shape[1]:
        return 1.0
    shrunk = WhiteningScaling().fit(X)
    inside, outside = 1 / (shrunk.inside_ + shrunk.outside_), 1 / shrunk.outside_
    n, rest = len(X), X.shape[1] - len(inside)
    observed = _split_ratio(X)
    count = 0
    for _ in range(N_SIMULATIONS):
        # A sample of the shrunk covariance in the coordinates of its eigenvectors. Of the other directions, all with
        # one variance, only the inner products of the rows matter: n columns are enough (Bartlett's decomposition).
        others = rng.standard_normal((n, min(n, rest)))
        if rest > n:
            others = np.tril(others, -1) + np.diag(np.sqrt(rng.chisquare(rest - np.arange(n))))
        sample = np.hstack([rng.standard_normal((n, len(inside))) * inside, others * outside])
        count += _split_ratio(sample) >= observed - 1e-12
    return (1 + count) / (N_SIMULATIONS + 1)


def _split_ratio(X: Floats) -> float:
    """Compute the largest share of variance along the first principal component that a split in two explains."""
    X = X - X.mean(axis=0)
    scores = np.sort(X @ np.linalg.svd(X, full_matrices=False)[2][0])
    return float(_explained(scores)[1:-1].max() / (scores**2).sum())  # one fragment apart is an outlier, not a group


def _explained(scores: Floats) -> Floats:
    """Compute the sum of squares that each split of sorted, centred scores explains."""
    n, sums = np.arange(1, len(scores)), np.cumsum(scores)[:-1]
    return np.asarray(sums**2 / n + sums**2 / (len(scores) - n))


def _named_groups(control: Fragments) -> str:
    X = control.means
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    scores = X @ np.linalg.svd(X, full_matrices=False)[2][0]
    order = np.argsort(scores)
    split = 2 + int(np.argmax(_explained(scores[order])[1:-1]))
    smaller = min((order[:split], order[split:]), key=len)
    names = ", ".join(control.names[i] for i in sorted(smaller)[:6])
    return f"The clearest division separates {names}{' and others' if len(smaller) > 6 else ''} from the rest."
