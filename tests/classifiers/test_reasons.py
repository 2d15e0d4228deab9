"""Reasons: sets that are really the smallest, values that are really accepted."""

from itertools import combinations

import numpy as np
import pytest

from transvariation import PAMTOCC, TOCC, KernelTOCC, load_glass, reasons, tell_reasons

GLASS = load_glass()
FEATURES = ["RI", "Mg", "Al", "K"]
RULES = [TOCC(), PAMTOCC(n_clusters=3), KernelTOCC(calibration="paper"), KernelTOCC(calibration="split")]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_needed_sets_are_the_smallest_and_nearest_values_are_accepted(rule):
    rule.fit(GLASS.control[FEATURES])
    recovered = GLASS.recovered[FEATURES].iloc[:5]
    table = reasons(rule, recovered)
    accepted = rule.predict(recovered) == 1
    np.testing.assert_array_equal(table["accepted"].to_numpy().reshape(-1, 4)[:, 0], accepted)
    needed = table["needed"].to_numpy().reshape(-1, 4)
    nearest = table["accepted_at"].to_numpy().reshape(-1, 4)
    assert not needed[accepted].any()
    np.testing.assert_array_equal(nearest[accepted], recovered[accepted])
    assert (rule.predict(_frame(nearest)) == 1).all()
    for i in np.flatnonzero(~accepted)[:2]:
        z = recovered.to_numpy()[i]
        centre = rule.centers_[rule._stratum(z[None])[0]] if hasattr(rule, "centers_") else rule.center_
        smaller = [np.isin(range(4), c) for size in range(1, needed[i].sum()) for c in combinations(range(4), size)]
        assert all(rule.predict(_frame(np.where(s, z, centre)[None]))[0] == 1 for s in smaller)


def _frame(rows):
    return GLASS.control[FEATURES].iloc[:0].reindex(range(len(rows))).assign(**dict(zip(FEATURES, rows.T, strict=True)))


def test_many_variables_are_dropped_one_at_a_time():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 14))
    z = np.zeros((1, 14))
    z[0, [3, 7]] = 9.0
    rule = KernelTOCC(calibration="paper", crowding=0.0).fit(X)
    table = reasons(rule, z)
    needed = np.flatnonzero(table["needed"])
    assert set(needed) <= {3, 7}
    assert len(needed) >= 1


def test_words():
    rule = TOCC().fit(GLASS.control[["K", "Mg"]])
    text = tell_reasons(reasons(rule, GLASS.recovered[["K", "Mg"]]))
    assert len(text.splitlines()) == 51
    assert all(" rejected: " in line for line in text.splitlines())
    inside = tell_reasons(reasons(rule, GLASS.control[["K", "Mg"]].iloc[:1]))
    assert inside == "1 accepted" or "rejected" in inside


def test_of_equally_clear_variables_the_farthest_is_named():
    """Beyond the sample tp is 0 in every variable: the reader expects the one that is farthest out."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    table = reasons(TOCC().fit(X), [[3.5, 9.0, 4.0]])
    assert table["needed"].tolist() == [False, True, False]


@pytest.mark.parametrize("far", [10.0, 1e4, 1e6, 1e9])
def test_of_a_far_object_only_what_is_far_has_to_change(far):
    X = np.random.default_rng(0).normal(size=(80, 2))
    nearest = reasons(TOCC().fit(X), [[far, 0.1]])["accepted_at"].to_numpy()
    np.testing.assert_allclose(nearest, [1.822, 0.1], atol=1e-3)
    kernel = reasons(KernelTOCC(calibration="paper").fit(X), [[far, 0.1], [1e3, 0.1]])["accepted_at"].to_numpy()
    np.testing.assert_allclose(kernel[:2], kernel[2:], atol=0.2)
