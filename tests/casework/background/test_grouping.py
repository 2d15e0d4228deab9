"""The error rates of grouping recovered fragments."""

import numpy as np
import pytest
from tests.casework.conftest import make_glass, sources_of

from transvariation.casework import CaseResult, judge
from transvariation.casework.background import basis
from transvariation.casework.background.grouping import measure_grouping
from transvariation.report.case_text import group_lines


def test_pairs_are_divided_as_often_as_the_sensitivity_of_grouping_states():
    sources = sources_of(make_glass(60, 6, 2, np.random.default_rng(0), between=0.03))
    pairs, sets = (measure_grouping(sources, n, 2) for n in (2, 4))
    assert pairs.fragments == 2
    assert pairs.divided.low <= 0.1 <= pairs.divided.high
    assert sets.divided.share > pairs.divided.share  # one pair that differs divides a set


def test_sources_far_apart_are_never_mixed_and_equal_ones_nearly_always():
    rng = np.random.default_rng(1)
    apart, equal = (sources_of(make_glass(30, 4, 2, rng, between=b)) for b in (1.0, 0.0))
    assert measure_grouping(apart, 4, 2).mixed.share == 0
    assert measure_grouping(equal, 4, 2).mixed.share > 0.8


def test_few_sources_measure_nothing():
    assert measure_grouping(sources_of(make_glass(12, 3, 1, np.random.default_rng(2))), 2, 1) is None


def test_a_case_with_groups_states_how_often_they_are_wrong():
    table = make_glass(26, 4, 2, np.random.default_rng(7))
    known = table[(table["pane"] == "P0") & (table["fragment"] < "3")]
    questioned = table[table["pane"] == "P1"]
    result = judge(known, questioned, background=table[~table["pane"].isin(["P0", "P1"])], log=True)
    assert len(result.groups) >= 1
    assert "of sets of 4 fragments of one source are divided" in group_lines(result)[-1]
    assert CaseResult.from_dict(result.to_dict()).grouping == result.grouping
    assert judge(known, questioned, log=True, sensitivity=0.5, group="no").grouping is None


def test_a_case_without_groups_does_not_compute_them(monkeypatch):
    table = make_glass(26, 4, 2, np.random.default_rng(7))
    known, questioned = (table[table["pane"] == pane] for pane in ("P0", "P1"))
    monkeypatch.setattr(basis, "measure_grouping", None)  # a call would fail
    result = judge(known, questioned, background=table[~table["pane"].isin(["P0", "P1"])], log=True, group="no")
    assert result.groups == ()


@pytest.mark.parametrize("n_fragments", [2, 4])
def test_sets_of_one_source_stay_together_in_nine_of_ten_whatever_their_size(n_fragments):
    sources = sources_of(make_glass(120, 6, 2, np.random.default_rng(3), between=0.1))
    rates = measure_grouping(sources, n_fragments, 2)
    assert rates.divided.low <= 0.1 <= rates.divided.high
    assert rates.divided.share < 0.17
