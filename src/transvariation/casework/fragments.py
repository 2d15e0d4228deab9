"""Gather rows into fragments, the units that are judged, and check the control before it is used."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from scipy.stats import t as student

from transvariation.casework.same_source import Source
from transvariation.scalings import WhiteningScaling
from transvariation.tables import Table

Floats = NDArray[np.float64]

SIGNIFICANT = 0.01  # a check below this is reported as a warning
N_PERMUTATIONS = 999
N_SIMULATIONS = 199
SEVERAL = 3.0  # times as much as replicates: fragments of one source hardly differ more
HEAVY_TAILS = 4  # degrees of freedom of the t-distribution of replicates
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
        """The number of replicates of every fragment that would make the mean of all as precise, rounded."""
        return round(len(self.rows) / sum(1 / len(rows) for rows in self.rows))

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
    name : {"homogeneity", "replicates", "outlying replicate", "drift"}
    p_value : float
    statement : str
    significant : bool
    """

    name: str
    p_value: float
    statement: str
    significant: bool


def check_control(
    control: Fragments, table: Table, by_background: Sequence[Check], rng: np.random.Generator
) -> tuple[Check, ...]:
    """Check the control: homogeneity, outlying replicates, drift; after the checks against a background, if any."""
    compared = any(check.name == "homogeneity" for check in by_background)
    found = (
        None if compared else check_homogeneity(control, rng),
        *by_background,
        check_replicates(control, table.ids, table.features),
        check_drift(control, table.order, table.features, rng),
    )
    return tuple(check for check in found if check is not None)


def check_homogeneity(control: Fragments, rng: np.random.Generator) -> Check | None:
    """Test whether the control fragments could come from one source.

    With replicates, fragments are compared with the differences between replicates of a fragment (a permutation test).
    Fragments of one source may differ more than replicates, so that this is reported only if they differ several times
    as much. Without replicates, the fragments are tested for falling into two groups (against a normal distribution, by
    simulation). None where neither is possible.
    """
    replicated = len(control) > 1 and sum(len(rows) - 1 for rows in control.rows) >= len(control)
    if replicated:
        p, ratio = _permutation_p_value(control, rng), _fragments_by_replicates(control)
        words = f"differ from each other {ratio:.1f} times as much as replicates of one fragment do"
        if p < SIGNIFICANT and ratio < SEVERAL:
            statement = f"The control fragments {words} ({p_equals(p)}), as fragments of one source may."
            return Check("homogeneity", p, statement, False)
        if p >= SIGNIFICANT:
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
        return Check("homogeneity", p, f"No sign that the control fragments {words} ({p_equals(p)}).", False)
    statement = f"The control fragments {words} ({p_equals(p)}): check that they all come from one source."
    if len(control) > 3:
        statement += f" {_named_groups(control)}"
    return Check("homogeneity", p, statement, True)


def replicate_check(p: float, level: float) -> Check:
    """State the outcome of a comparison of the replicates of the case with those of the background."""
    if p >= level:
        words = "No sign that the replicates of the case vary more than those of the background"
        return Check("replicates", p, f"{words} ({p_equals(p)}).", False)
    return Check(
        "replicates",
        p,
        f"The replicates of the case vary more than those of the background ({p_equals(p)}): check that both were "
        "measured alike. If not, more fragments of the same source than stated are excluded.",
        True,
    )


def check_replicates(control: Fragments, row_names: Sequence[str], features: Sequence[str]) -> Check | None:
    """Test whether the most outlying replicate of the control fits its fragment (Bonferroni-adjusted).

    Measurements have heavier tails than the normal distribution: deviations are taken to follow a t-distribution with
    few degrees of freedom, so that only gross errors are reported.
    """
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
    heavy = np.sqrt(HEAVY_TAILS / (HEAVY_TAILS - 2))  # the standard deviation of that t-distribution
    p = float(min(1.0, 2 * student.sf(t[i, j] * heavy, 1 / (1 / freedom + 1 / HEAVY_TAILS)) * t.size))
    if p >= SIGNIFICANT:
        return Check("outlying replicate", p, f"No control replicate is outlying ({p_equals(p)}).", False)
    words = f"The control replicate {row_names[at[i]]} is outlying in {features[j]} ({p_equals(p)}); check it."
    return Check("outlying replicate", p, words, True)


def check_drift(
    control: Fragments, order: Floats | None, features: Sequence[str], rng: np.random.Generator
) -> Check | None:
    """Test whether measurements of the control drift with their order.

    The statistic is the largest rank correlation over the variables. With replicates, only their deviations from the
    fragment and their order within it count: fragments differ. P-values come from permutations of the order.
    """
    if order is None or len(np.unique(order)) < 6:
        return None
    several = [rows for rows in control.rows if len(rows) > 1]
    blocks = several or [np.arange(len(control.X))]
    at = np.concatenate(blocks)
    values = np.concatenate([control.X[rows] - control.X[rows].mean(axis=0) for rows in blocks])
    ranks, position = rankdata(values, axis=0), rankdata(order[at])
    ranks -= ranks.mean(axis=0)
    ranks /= np.maximum(np.sqrt((ranks**2).sum(axis=0)), 1e-12)
    parts = np.split(position, np.cumsum([len(rows) for rows in blocks])[:-1])
    permuted = [np.concatenate([rng.permutation(part) for part in parts]) for _ in range(N_PERMUTATIONS)]
    observed, by_chance = np.abs(position @ ranks), np.abs(np.array(permuted) @ ranks).max(axis=1)
    p = float((1 + (by_chance >= observed.max() - 1e-9).sum()) / (N_PERMUTATIONS + 1))
    words = f"The control measurements drift over their order, most in {features[int(np.argmax(observed))]}"
    if p >= SIGNIFICANT:
        words = "No drift of the control measurements over their order"
    return Check("drift", p, f"{words} ({p_equals(p)}).", p < SIGNIFICANT)


def format_p(p: float) -> str:
    """Write a p-value with two significant digits, or as below 0.001.

    Examples
    --------
    >>> format_p(0.0471), format_p(0.1), format_p(1.0), format_p(1e-9)
    ('0.047', '0.10', '1.0', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:#.2g}"


def p_equals(p: float) -> str:
    """Write a p-value for a sentence.

    Examples
    --------
    >>> p_equals(0.0471), p_equals(1e-9)
    ('p = 0.047', 'p < 0.001')
    """
    return f"p {format_p(p)}" if p < 0.001 else f"p = {format_p(p)}"


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


def _fragments_by_replicates(control: Fragments) -> float:
    """Estimate the ratio of the standard deviations of fragments and of replicates: the median over variables."""
    sizes = np.array([len(rows) for rows in control.rows])
    X, k = np.concatenate(control.replicates), len(sizes)
    within = sum(((x - x.mean(axis=0)) ** 2).sum(axis=0) for x in control.replicates) / (sizes.sum() - k)
    between = (sizes[:, None] * (control.means - X.mean(axis=0)) ** 2).sum(axis=0) / (k - 1)
    usual = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (k - 1)
    varying = within > 0
    if not varying.any():
        return np.inf
    return float(np.median(np.sqrt(np.maximum(between / within - 1, 0)[varying] / usual)))


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
