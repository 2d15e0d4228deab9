"""A control table with several sources."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.casework.conftest import three_windows

from transvariation.casework import CaseResult, judge
from transvariation.casework.background.rates import measure_rate
from transvariation.casework.controls import join
from transvariation.casework.decision import is_accepted

WINDOWS = ["P0", "P1", "P2"]


@pytest.fixture(scope="module")
def windows():
    return three_windows()


@pytest.fixture(scope="module")
def result(windows):
    known, questioned, background = windows
    return judge(known, questioned, background=background, log=True)


def test_there_is_a_conclusion_per_fragment_and_source(result):
    found = {(c.source, c.control): c.accepted for c in result.conclusions}
    assert found == {(pane, window): pane == window for pane in ("P0", "P1", "P3") for window in WINDOWS}


def test_each_source_is_judged_as_if_it_were_alone(windows, result):
    known, questioned, background = windows
    alone = judge(known[known["pane"] == "P1"], questioned, background=background, log=True)
    assert [c.p_values for c in result.cases[1].conclusions] == [c.p_values for c in alone.conclusions]
    assert result.cases[1].model.calibrating == alone.model.calibrating


def test_any_of_these_is_excluded_only_if_every_source_excludes(result):
    joint = result.joint
    assert joint.sources == ("P0", "P1", "P2")
    assert [(each.accepted, each.sources) for each in joint.conclusions] == [
        (True, ("P0",)),
        (True, ("P1",)),
        (False, ()),
    ]
    for i, each in enumerate(joint.conclusions):
        assert each.p_value == max(case.conclusions[i].p_value for case in result.cases)
    assert joint.false_exclusion == pytest.approx(0.1)


def test_the_false_inclusion_of_any_counts_background_sources_once(result):
    alike = {
        name
        for case in result.cases
        for name, p in case.model.calibrating.source_p_values.items()
        if is_accepted(p, 0.9)
    }
    n = result.cases[0].model.calibrating.n
    assert result.joint.false_inclusion == measure_rate(np.arange(n) < len(alike), np.arange(n))


def test_sources_with_too_few_fragments_to_calibrate_count_among_those_compared(result):
    models = [case.model for case in result.cases]
    few = [
        replace(model, bases=model.bases | {"background": replace(model.calibrating, n=10, n_compared=20)})
        for model in models
    ]
    joint = join(WINDOWS, [case.conclusions for case in result.cases], few)
    assert joint.false_inclusion.n == few[0].calibrating.indistinguishable(0.9)[1].n == 20


def test_the_result_survives_json_and_another_sensitivity(result):
    assert CaseResult.from_dict(json.loads(result.to_json())) == result
    strict = result.at(0.5)
    assert strict.joint.false_exclusion == pytest.approx(0.5)
    assert len(strict.excluded) >= len(result.excluded)
    assert strict.at(0.9) == result


def test_all_sources_can_be_one_class(windows):
    known, questioned, _ = windows
    found = judge(known, questioned, log=True, sensitivity=0.8, controls="together")
    assert found.cases == ()
    assert len(found.conclusions) == 3
    unlabeled = known.drop(columns=["fragment", "Rep"])
    assert judge(unlabeled, questioned, log=True, sensitivity=0.5).cases == ()
    assert len(judge(unlabeled, questioned, log=True, sensitivity=0.5, controls="each").cases) == 3


def test_a_source_without_a_conclusion_leaves_the_joint_question_open(windows):
    known, questioned, _ = windows
    few = judge(known, questioned, log=True)  # three fragments each, and no background
    assert not few.model.conclusive
    assert all(each.accepted is None for each in few.joint.conclusions)
    assert few.joint.false_inclusion is None
