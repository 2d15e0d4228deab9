"""The checks of the control."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.panes import make_panes
from tests.casework.conftest import ELEMENTS, make_glass

from transvariation.casework import judge
from transvariation.casework.checks import check_drift, check_homogeneity, check_replicates
from transvariation.casework.fragments import gather_fragments
from transvariation.report.wording.cautions import check_text


def _fragments(table):
    keys = (table["pane"] + "/" + table["fragment"]).tolist()
    return gather_fragments(np.log10(table[ELEMENTS].to_numpy()), keys, table["pane"].tolist())


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_fragments", "n_replicates", "p", "unequal"), [(3, 3, 5, False), (6, 3, 18, False), (5, 5, 10, True)]
)
def test_checks_of_simulated_controls_warn_as_often_as_stated(n_fragments, n_replicates, p, unequal):
    """Heavy tails, and fragments that differ as much as replicates do: 1 % of the controls may be reported."""
    rng = np.random.default_rng(5)
    warned = {"homogeneity": 0, "outlying replicate": 0, "drift": 0}
    for _ in range(40):
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
    assert all(count <= 2 for count in warned.values()), warned


def test_rows_twice_under_one_label_and_equal_recovered_fragments_are_reported():
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=(12, 3)), 6)
    labels = {"fragment": [f"F{i // 2}" for i in range(12)], "Rep": [1, 2] * 6}
    control = pd.DataFrame(labels | {name: values[:, j] for j, name in enumerate(("Na", "Mg", "Ca"))})
    twice = pd.concat([control, control.iloc[[3]]], ignore_index=True)
    recovered = control.iloc[:4].assign(Na=control["Na"] + 0.01, fragment=["Q1", "Q1", "Q2", "Q2"])
    recovered.iloc[2:, 2:] = recovered.iloc[:2, 2:].to_numpy()
    said = {caution.code: caution.values for caution in judge(twice, recovered).cautions}
    first = {"fragment": "F1", "replicate": "2", "rows": [5, 14]}
    assert said["same-labels"] == {"role": "control", "n": 1} | first
    assert said["copies-of-recovered"]["pairs"] == [["Q2", "Q1"]]
    assert "same-labels" not in {caution.code for caution in judge(control, recovered.iloc[:2]).cautions}
