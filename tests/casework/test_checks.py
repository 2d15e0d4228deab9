"""Fragments of a table, the checks of the control, and the ASTM criterion."""

import numpy as np
import pytest
from benchmarks.panes import make_panes
from tests.casework.conftest import ELEMENTS, make_glass

from transvariation.casework.astm import applies, error_rates, match_interval
from transvariation.casework.checks import check_drift, check_homogeneity, check_replicates
from transvariation.casework.fragments import gather_fragments
from transvariation.report.wording import check_text


def _fragments(table):
    keys = (table["pane"] + "/" + table["fragment"]).tolist()
    return gather_fragments(np.log10(table[ELEMENTS].to_numpy()), keys, table["pane"].tolist())


def test_rows_become_fragments_in_order_of_appearance():
    X = np.array([[1.0], [2.0], [3.0], [5.0]])
    found = gather_fragments(X, ["b", "a", "b", "a"], ["s", "s", "s", "s"])
    assert found.names == ("b", "a")
    assert found.means.ravel().tolist() == [2.0, 3.5]
    assert found.sources == ("s", "s")
    assert [len(source) for source in found.by_source()] == [2]


def test_unequal_replicates_count_by_their_precision():
    def n_replicates(*counts):
        keys = [str(i) for i, r in enumerate(counts) for _ in range(r)]
        return gather_fragments(np.zeros((len(keys), 1)), keys).n_replicates

    assert n_replicates(3, 3, 3) == 3
    assert n_replicates(1, 5, 5) == 2  # 3 / (1 + 1/5 + 1/5) = 2.1
    assert n_replicates(1, 1, 5) == 1  # 1.4


def test_replicates_replace_fragments_if_each_source_has_only_one():
    found = gather_fragments(np.arange(4.0)[:, None], ["a", "a", "b", "b"], ["a", "a", "b", "b"])
    assert [[x.shape for x in source] for source in found.by_source()] == [[(1, 1)] * 2] * 2


@pytest.mark.parametrize("replicates", [3, 1])
def test_two_panes_in_the_control_are_noticed(replicates, rng):
    mixed = _fragments(make_glass(2, 6, replicates, rng))
    check = check_homogeneity(mixed, rng)
    assert check.significant
    assert "one source" in check_text(check)
    named = check_text(check).split("separates ")[1].split(" from")[0].split(", ")
    assert set(named) in ({f"P0/{i}" for i in range(1, 7)}, {f"P1/{i}" for i in range(1, 7)})


def test_homogeneous_controls_are_not_reported():
    rng = np.random.default_rng(0)
    p = []
    for n_replicates in [1] * 30 + [3] * 30:
        control = _fragments(make_glass(1, 9, n_replicates, rng, fragment=0.0 if n_replicates > 1 else 0.01))
        p.append(check_homogeneity(control, rng).p_value)
    assert np.mean(np.array(p) < 0.05) <= 0.12


def test_few_fragments_without_replicates_cannot_be_checked(rng):
    assert check_homogeneity(_fragments(make_glass(1, 4, 1, rng)), rng) is None


def test_an_outlying_replicate_is_named(rng):
    table = make_glass(1, 4, 3, rng)
    names = [f"row {i}" for i in range(12)]
    assert not check_replicates(_fragments(table), names, ELEMENTS).significant
    table.loc[7, "K"] *= 2
    check = check_replicates(_fragments(table), names, ELEMENTS)
    assert check.significant
    assert "row 7 is outlying in K" in check_text(check)


def test_drift_is_noticed(rng):
    table = make_glass(1, 4, 3, rng)
    order = rng.permutation(12).astype(float)
    assert not check_drift(_fragments(table), order, ELEMENTS, rng).significant
    table["Ca"] *= 10 ** (0.02 * order)
    check = check_drift(_fragments(table), order, ELEMENTS, rng)
    assert check.significant
    assert "most in Ca" in check_text(check)
    assert check_drift(_fragments(table), None, ELEMENTS, rng) is None


@pytest.mark.parametrize(
    ("n_fragments", "n_replicates", "p", "unequal"), [(3, 3, 5, False), (6, 3, 18, False), (5, 5, 10, True)]
)
def test_checks_of_simulated_controls_warn_as_often_as_stated(n_fragments, n_replicates, p, unequal):
    """Heavy tails, and fragments that differ as much as replicates do: 1 % of the controls may be reported."""
    rng = np.random.default_rng(5)
    warned = {"homogeneity": 0, "outlying replicate": 0, "drift": 0}
    for _ in range(60):
        pane = make_panes(1, p, rng, n_fragments=n_fragments, n_replicates=n_replicates)[0][0]
        sizes = rng.integers(1, n_replicates + 1, n_fragments) if unequal else [n_replicates] * n_fragments
        X = np.concatenate([x[:r] for x, r in zip(pane, sizes, strict=True)])
        control = gather_fragments(X, [f"F{i}" for i, r in enumerate(sizes) for _ in range(r)])
        names = [f"v{j}" for j in range(p)]
        for check in (
            check_homogeneity(control, rng),
            check_replicates(control, [str(i) for i in range(len(X))], names),
            check_drift(control, np.arange(len(X)), names, rng),
        ):
            if check is not None:
                warned[check.name] += check.significant
    assert all(count <= 3 for count in warned.values()), warned


def test_the_match_interval_by_hand():
    known = np.array([[10.0, 100.0], [11.0, 100.0], [12.0, 100.0]])
    low, high = match_interval(known)
    assert low.tolist() == [7.0, 88.0]  # 11 ± 4 sd of 1; 100 ± 4 times 3 %
    assert high.tolist() == [15.0, 112.0]
    low, _ = match_interval(known, multiplier=2, min_rsd=0.01)
    assert low.tolist() == [9.0, 98.0]
    assert applies(known)
    assert not applies(known[:2])
    assert not applies(-known)


def test_error_rates_of_the_criterion_by_hand():
    tight = [np.array([[v], [v], [v], [v]]) for v in (10.0, 100.0)]
    assert error_rates(tight, 3, 4, 0.03, np.random.default_rng(0)) == (0.0, 0.0)
    alike = [np.array([[v], [v], [v], [2 * v]]) for v in (10.0, 10.1)]
    exclusion, inclusion = error_rates(alike, 3, 4, 0.03, np.random.default_rng(0))
    assert exclusion == 0.25  # the odd fragment against three equal ones; the others see it in their sd
    assert inclusion == 1.0
    assert error_rates(tight, 2, 4, 0.03, np.random.default_rng(0)) == (None, None)
