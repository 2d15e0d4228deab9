"""Check the tables of a case before they are relied on: homogeneity, outlying replicates, drift, equal rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, rankdata
from scipy.stats import t as student

from transvariation.casework.fragments import Floats, Fragments
from transvariation.casework.reading import CaseTables
from transvariation.scalings import WhiteningScaling
from transvariation.tables import Table
from transvariation.tables.problems import printable

SIGNIFICANT = 0.01  # a check below this is reported as a warning
N_PERMUTATIONS = 999
N_SIMULATIONS = 199
SEVERAL = 3.0  # times as much as replicates: fragments of one source hardly differ more
HEAVY_TAILS = 4  # degrees of freedom of the t-distribution of replicates
MIN_GROUPED = 8  # fragments needed to distinguish two groups from one without replicates or a background
MUCH_FILLED = 0.2  # with more, there is a caution
SHOWN = 5  # pairs of equal rows
COPIED = 0.1  # of the control fragments: fewer copies hardly change a threshold at a sensitivity of 0.9


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


def check_case(
    tables: CaseTables, by_background: Sequence[Check], rng: np.random.Generator
) -> tuple[tuple[Check, ...], list[str]]:
    """Check the control, after the checks against a background if any; return these and what to be warned of."""
    control, table = tables.checked_control, tables.control_table
    compared = any(check.name == "homogeneity" for check in by_background)
    found = (
        None if compared else check_homogeneity(control, rng),
        *by_background,
        check_replicates(control, table.ids, table.features),
        check_drift(control, table.order, table.features, rng),
    )
    checks = tuple(check for check in found if check is not None)
    cautions = [check.statement for check in checks if check.significant]
    cautions += duplicate_warnings(table, tables.recovered_table)
    if tables.foreign_table is not None:
        cautions += duplicate_warnings(table, tables.foreign_table, "foreign")
    cautions += _copy_cautions(tables.control)
    cautions += [*_replicate_cautions(tables.control, "control"), *_replicate_cautions(tables.recovered, "recovered")]
    cautions += [
        *_filling_cautions(table),
        *_filling_cautions(tables.recovered_table),
    ]
    return checks, [*cautions, *tables.cautions]


def check_homogeneity(control: Fragments, rng: np.random.Generator) -> Check | None:
    """Test whether the control fragments could come from one source.

    With replicates, fragments are compared with the differences between replicates of a fragment (a permutation test).
    Fragments of one source may differ more than replicates, so that this is reported only if they differ several times
    as much. Without replicates, the fragments are tested for falling into two groups (against a normal distribution, by
    simulation). None where neither is possible.
    """
    n = len(control.names)
    replicated = n > 1 and sum(len(rows) - 1 for rows in control.rows) >= n
    if replicated:
        p, ratio = _permutation_p_value(control, rng), _fragments_by_replicates(control)
        words = f"differ from each other {ratio:.1f} times as much as replicates of one fragment do"
        if p < SIGNIFICANT and ratio < SEVERAL:
            statement = f"The control fragments {words} ({p_equals(p)}), as fragments of one source may."
            return Check("homogeneity", p, statement, False)
        if p >= SIGNIFICANT:
            words = "differ from each other more than replicates of one fragment do"
    elif n >= MIN_GROUPED:
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
    if len(control.names) > 3:
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


def _filling_cautions(table: Table) -> list[str]:
    """Warn of variables that were filled in to a large part."""
    if table.filled is None:
        return []
    shares = zip(table.features, table.filled.mean(axis=0), strict=True)
    listed = ", ".join(f"{name} ({share:.0%})" for name, share in shares if share > MUCH_FILLED)
    if not listed:
        return []
    return [
        f"Missing values of {table.name} were filled in to a large part: {listed}. A value that was filled in is no "
        "measurement; leave such variables out if the conclusion depends on them."
    ]


def _replicate_cautions(fragments: Fragments, role: str) -> list[str]:
    cautions = []
    counts = sorted({len(rows) for rows in fragments.rows})
    if len(fragments.names) == 1 and counts[0] > 1 and role == "control":
        cautions.append(
            f"The control is one fragment, {fragments.names[0]}, measured {counts[0]} times: replicates do not show "
            "how much fragments of its source differ."
        )
    if len(counts) > 1:
        cautions.append(
            f"The {role} fragments have {counts[0]} to {counts[-1]} replicates; their means are not equally precise."
        )
    return cautions


def _copy_cautions(control: Fragments) -> list[str]:
    """Warn of control fragments that equal others, if they are many and several times as many as rounding makes.

    How often two fragments agree in each variable shows how many pairs would agree in all by chance.
    """
    n, number = len(control.names), _row_numbers(control.means)
    times = np.bincount(number)
    n_copies = n - len(times)
    if n_copies < max(2, COPIED * n):
        return []
    shares = [_n_pairs(np.unique(column, return_counts=True)[1]) / _n_pairs(n) for column in control.means.T]
    if len(times) > 1 and _n_pairs(times) < SEVERAL * _n_pairs(n) * np.prod(shares):
        return []
    first = {k: i for i, k in reversed(list(enumerate(number)))}
    pairs = [(control.names[i], control.names[first[k]]) for i, k in enumerate(number) if first[k] != i]
    listed = ", ".join(f"{printable(copy)} = {printable(own)}" for copy, own in pairs[:SHOWN])
    more = f" and {n_copies - SHOWN} more" if n_copies > SHOWN else ""
    return [
        f"{n_copies} of {n} control fragments equal another one in every variable ({listed}{more}). If they are copies "
        "of the same measurements, remove them: with copies more fragments of the same source than stated are excluded."
    ]


def duplicate_warnings(control: Table, other: Table, role: str = "recovered") -> list[str]:
    """Warn of recovered or foreign rows that are also control rows, and so are compared with themselves."""
    if control.ids == other.ids and np.array_equal(control.X, other.X):
        return [
            f"The control and the {role} table are the same: the control is compared with itself. Of a workbook with "
            "several sheets, choose one for each table."
        ]
    equal, q = _equal_rows(control, other), len(other.X)
    if not equal:
        return []
    listed = ", ".join(f"{printable(new)} = {printable(own)}" for new, own in equal[:SHOWN])
    more = f" and {len(equal) - SHOWN} more" if len(equal) > SHOWN else ""
    return [
        f"{len(equal)} of {q} {role} rows equal a control row in every variable ({role} = control: {listed}"
        f"{more}). If they are the same measurements, remove them from the control: not excluding them has no meaning."
    ]


def _equal_rows(control: Table, recovered: Table) -> list[tuple[str, str]]:
    """Name the recovered rows that equal a control row, if they are more than rounding explains.

    The control itself shows how many rounding makes: how many of its rows equal another one, and how many pairs are
    equal in each variable.
    """
    n, q = len(control.X), len(recovered.X)
    number = _row_numbers(np.concatenate([control.X, recovered.X]))
    own, new = number[:n], number[n:]
    times = np.bincount(own, minlength=len(number))
    found = int((times[new] > 0).sum())
    place = {name: i for i, name in enumerate(control.ids)}
    same_id = sum(own[place[name]] == new[i] for i, name in enumerate(recovered.ids) if name in place)
    equal = [_n_pairs(np.unique(column, return_counts=True)[1]) for column in control.X.T]
    by_chance = float(np.prod((np.array(equal) + 1) / (_n_pairs(n) + 1)))  # one pair more: a few rows cannot exclude it
    any_row = max(_upper_share(int((times[own] > 1).sum()), n), min(n * by_chance, 1.0))
    given_row = max(_upper_share(_n_pairs(times), _n_pairs(n)), by_chance)
    unlikely = found and binom.sf(found - 1, q, any_row) <= SIGNIFICANT
    if not unlikely and not (same_id and binom.sf(same_id - 1, q, given_row) <= SIGNIFICANT):
        return []
    first = {k: name for k, name in zip(own[::-1].tolist(), control.ids[::-1], strict=True)}
    return [(name, first[k]) for name, k in zip(recovered.ids, new.tolist(), strict=True) if k in first]


def _n_pairs(n: int | NDArray[np.intp]) -> float:
    return float(np.sum(n * (n - 1) / 2))


def _upper_share(count: float, n: float) -> float:
    """Compute a share plus two standard errors; 0 of nothing."""
    share = count / max(n, 1)
    return min(share + 2 * np.sqrt(share * (1 - share) / max(n, 1)), 1.0)


def _row_numbers(X: NDArray[np.float64]) -> NDArray[np.intp]:
    """Number the rows so that equal rows have equal numbers."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in X + 0.0], dtype=np.intp)
