"""Check the tables of a case before they are relied on: homogeneity, outlying replicates, drift, equal rows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy.stats import binom, rankdata
from scipy.stats import t as student

from transvariation._typing import Fields, Floats, Indices
from transvariation.casework.errors import Caution
from transvariation.casework.evidence import BackgroundEvidence
from transvariation.casework.fragments import Fragments
from transvariation.casework.reading import CaseTables
from transvariation.exchangeability import MIN_SAMPLES as MIN_EXCHANGEABLE
from transvariation.exchangeability import exchangeability_test
from transvariation.scalings import WhiteningScaling
from transvariation.tables import Table

SIGNIFICANCE_LEVEL = 0.01  # a check below this is reported as a warning
SIGNIFICANT_AGAINST_BACKGROUND = 0.05  # few sources give no smaller p-values than this level
N_PERMUTATIONS = 999
N_SIMULATIONS = 199
MIN_RATIO_OF_FRAGMENTS_TO_REPLICATES = 3.0  # fragments of one source hardly differ more
MIN_RATIO_OF_COPIES_TO_CHANCE = 3.0  # pairs of equal fragments
HEAVY_TAILS = 4  # degrees of freedom of the t-distribution of replicates
MIN_GROUPED = 8  # fragments needed to distinguish two groups from one without replicates or a background
MUCH_FILLED = 0.2  # with more, there is a caution
MANY_COPIED = 0.1  # of the control fragments: fewer copies hardly change a threshold at a sensitivity of 0.9


@dataclass(frozen=True)
class Check:
    """The outcome of one check of the control.

    Attributes
    ----------
    name : {"homogeneity", "replicates", "outlying replicate", "drift"}
    p_value : float
    significant : bool
    values : dict
        What was found: for homogeneity how it was tested (``against``), how many times as much fragments differ as
        replicates (``ratio``) and the clearest division (``apart``); the outlying replicate; the variable.
    """

    name: str
    p_value: float
    significant: bool
    values: Fields


def check_case(
    tables: CaseTables, background: BackgroundEvidence | None, rng: np.random.Generator, *, of_one_source: bool = True
) -> tuple[tuple[Check, ...], list[Caution]]:
    """Check the tables of a case; return the checks of the control and what to be warned of.

    Samples of a class differ more than replicates of a sample; those of one source should not.
    """
    control, table = tables.checked_control, tables.control_table
    found = (
        _check_homogeneity(control, background, rng, of_one_source),
        _check_replicates_by_background(background),
        check_replicates(control, table.ids, table.features),
        check_drift(control, table.order, table.features, rng),
    )
    checks = tuple(check for check in found if check is not None)
    cautions = [Caution("check", asdict(check)) for check in checks if check.significant]
    cautions += duplicate_cautions(table, tables.recovered_table)
    if tables.foreign_table is not None:
        cautions += duplicate_cautions(table, tables.foreign_table, "foreign")
    if tables.background_table is not None and (equal := _equal_rows(tables.background_table, table)):
        pairs = [list(pair) for pair in equal]
        cautions.append(Caution.of("control-in-background", n=len(equal), of=len(table.X), pairs=pairs))
    both = {"control": (table, tables.control), "recovered": (tables.recovered_table, tables.recovered)}
    for role, (read, fragments) in both.items():
        cautions += [*_label_cautions(read, role), *_copy_cautions(fragments, role)]
        cautions += [*_replicate_cautions(fragments, role), *_filling_cautions(read)]
    return checks, [*cautions, *tables.cautions]


def _check_homogeneity(
    control: Fragments, background: BackgroundEvidence | None, rng: np.random.Generator, of_one_source: bool
) -> Check | None:
    if background is None or background.homogeneity_p_value is None:
        return check_homogeneity(control, rng, by_replicates=of_one_source)
    p = background.homogeneity_p_value
    return _homogeneity(control, p, "background", p < SIGNIFICANT_AGAINST_BACKGROUND)


def _check_replicates_by_background(background: BackgroundEvidence | None) -> Check | None:
    if background is None or background.replicate_p_value is None:
        return None
    p = background.replicate_p_value
    return Check("replicates", p, p < SIGNIFICANT_AGAINST_BACKGROUND, {})


def check_homogeneity(control: Fragments, rng: np.random.Generator, *, by_replicates: bool = True) -> Check | None:
    """Test whether the control fragments could come from one source.

    With replicates, fragments are compared with the differences between replicates of a fragment (a permutation test).
    Fragments of one source may differ more than replicates, so that this is reported only if they differ several times
    as much. Without replicates, or not by them, the fragments are tested for falling into two groups (against a normal
    distribution, by simulation). None where neither is possible.
    """
    n = len(control.names)
    if by_replicates and n > 1 and sum(len(rows) - 1 for rows in control.rows) >= n:
        p, ratio = _permutation_p_value(control, rng), _fragments_by_replicates(control)
        significant = p < SIGNIFICANCE_LEVEL and ratio >= MIN_RATIO_OF_FRAGMENTS_TO_REPLICATES
        stated = round(ratio, 3) if p < SIGNIFICANCE_LEVEL and np.isfinite(ratio) else None
        return _homogeneity(control, p, "replicates", significant, stated)
    if n >= MIN_GROUPED:
        p = _two_groups_p_value(control.means, rng)
        return _homogeneity(control, p, "groups", p < SIGNIFICANCE_LEVEL)
    return None


def _homogeneity(control: Fragments, p: float, against: str, significant: bool, ratio: float | None = None) -> Check:
    apart = _divided(control) if significant and len(control.names) > 3 else []
    return Check("homogeneity", p, significant, {"against": against, "ratio": ratio, "apart": apart})


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
    return Check(
        "outlying replicate", p, p < SIGNIFICANCE_LEVEL, {"replicate": row_names[at[i]], "variable": features[j]}
    )


def check_drift(
    control: Fragments, order: Floats | None, features: Sequence[str], rng: np.random.Generator
) -> Check | None:
    """Test whether measurements of the control drift with their order.

    Without replicates, :func:`transvariation.exchangeability_test` decides: trend, autocorrelation and stretches of the
    order. With replicates, only their deviations from the fragment and their order within it count, because fragments
    differ; the statistic is the largest rank correlation over the variables, compared with permutations of the order.
    """
    if order is None or len(np.unique(order)) < 6:
        return None
    several = [rows for rows in control.rows if len(rows) > 1]
    if not several and len(control.X) >= MIN_EXCHANGEABLE:
        result = exchangeability_test(control.X, order=order)
        strongest = min(result.tests, key=lambda test: test.p_value)
        variable = features[int(strongest.feature.removeprefix("x"))]
        return Check("drift", result.p_value, result.p_value < SIGNIFICANCE_LEVEL, {"variable": variable})
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
    return Check("drift", p, p < SIGNIFICANCE_LEVEL, {"variable": features[int(np.argmax(observed))]})


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
    """Compute the sum of squares that each split of sorted, centered scores explains."""
    n, sums = np.arange(1, len(scores)), np.cumsum(scores)[:-1]
    return np.asarray(sums**2 / n + sums**2 / (len(scores) - n))


def _divided(control: Fragments) -> list[str]:
    """Name the smaller of the two groups that the clearest division makes."""
    X = control.means
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    scores = X @ np.linalg.svd(X, full_matrices=False)[2][0]
    order = np.argsort(scores)
    split = 2 + int(np.argmax(_explained(scores[order])[1:-1]))
    smaller = min((order[:split], order[split:]), key=len)
    return [control.names[i] for i in sorted(smaller)]


def _filling_cautions(table: Table) -> list[Caution]:
    """Warn of variables that were filled in to a large part."""
    if table.filled is None:
        return []
    shares = zip(table.features, table.filled.mean(axis=0).tolist(), strict=True)
    much = {name: share for name, share in shares if share > MUCH_FILLED}
    return [Caution.of("much-filled", table=table.name, shares=much)] if much else []


def _replicate_cautions(fragments: Fragments, role: str) -> list[Caution]:
    cautions = []
    counts = sorted({len(rows) for rows in fragments.rows})
    if len(fragments.names) == 1 and counts[0] > 1 and role == "control":
        cautions.append(Caution.of("one-control-fragment", fragment=fragments.names[0], replicates=counts[0]))
    if len(counts) > 1:
        cautions.append(Caution.of("unequal-replicates", role=role, fewest=counts[0], most=counts[-1]))
    return cautions


def _label_cautions(table: Table, role: str) -> list[Caution]:
    """Warn of rows with the fragment and the replicate label of another."""
    if table.replicate is None or table.fragment_names is None:
        return []
    seen: dict[tuple[str, str], list[int]] = {}
    for key, row in zip(zip(table.fragment_names, table.replicate, strict=True), table.rows.tolist(), strict=True):
        seen.setdefault(key, []).append(row)
    twice = [
        {"fragment": fragment, "replicate": replicate, "rows": rows}
        for (fragment, replicate), rows in seen.items()
        if len(rows) > 1
    ]
    return [Caution.of("same-labels", role=role, n=len(twice), **twice[0])] if twice else []


def _copy_cautions(control: Fragments, role: str) -> list[Caution]:
    """Warn of fragments that equal others, if they are several times as many as rounding makes; of the control, many.

    How often two fragments agree in each variable shows how many pairs would agree in all by chance.
    """
    n, number = len(control.names), _row_numbers(control.means)
    times = np.bincount(number)
    n_copies = n - len(times)
    if n_copies < (max(2, MANY_COPIED * n) if role == "control" else 1):
        return []
    shares = [_n_pairs(np.unique(column, return_counts=True)[1]) / _n_pairs(n) for column in control.means.T]
    if len(times) > 1 and _n_pairs(times) < MIN_RATIO_OF_COPIES_TO_CHANCE * _n_pairs(n) * np.prod(shares):
        return []
    first = {k: i for i, k in reversed(list(enumerate(number)))}
    pairs = [(control.names[i], control.names[first[k]]) for i, k in enumerate(number) if first[k] != i]
    code = "copies" if role == "control" else "copies-of-recovered"
    return [Caution.of(code, n=n_copies, of=n, pairs=[list(pair) for pair in pairs])]


def duplicate_cautions(control: Table, other: Table, role: str = "recovered") -> list[Caution]:
    """Warn of recovered or foreign rows that are also control rows, and so are compared with themselves."""
    if control.ids == other.ids and np.array_equal(control.X, other.X):
        return [Caution.of("same-tables", role=role)]
    equal = _equal_rows(control, other)
    pairs = [list(pair) for pair in equal]
    return [Caution.of("rows-of-control", role=role, n=len(equal), of=len(other.X), pairs=pairs)] if equal else []


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
    unlikely = found and binom.sf(found - 1, q, any_row) <= SIGNIFICANCE_LEVEL
    if not unlikely and not (same_id and binom.sf(same_id - 1, q, given_row) <= SIGNIFICANCE_LEVEL):
        return []
    first = {k: name for k, name in zip(own[::-1].tolist(), control.ids[::-1], strict=True)}
    return [(name, first[k]) for name, k in zip(recovered.ids, new.tolist(), strict=True) if k in first]


def _n_pairs(n: int | Indices) -> float:
    return float(np.sum(n * (n - 1) / 2))


def _upper_share(count: float, n: float) -> float:
    """Compute a share plus two standard errors; 0 of nothing."""
    share = count / max(n, 1)
    return min(share + 2 * np.sqrt(share * (1 - share) / max(n, 1)), 1.0)


def _row_numbers(X: Floats) -> Indices:
    """Number the rows so that equal rows have equal numbers."""
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in X + 0.0], dtype=np.intp)
