"""A result moves to another sensitivity and survives JSON and pickle."""

import itertools
import json
import pickle

import pytest

from transvariation import load_glass
from transvariation.casework import CaseResult, judge


@pytest.fixture(scope="module")
def tables():
    glass = load_glass()
    return glass.control[["K", "Mg", "Al"]], glass.recovered[["K", "Mg", "Al"]].iloc[::6]


@pytest.fixture(scope="module")
def result(tables):
    return judge(*tables)


def test_a_case_moved_to_a_sensitivity_equals_one_judged_at_it(glass, usual):
    known, questioned, background = glass
    pytest.importorskip("lir")
    judged = [judge(known, questioned, background=background, log=True, sensitivity=s) for s in (0.6, 0.99)]
    for one, other in itertools.permutations([usual, *judged], 2):
        assert one.at(other.model.sensitivity) == other
    assert not judged[1].model.conclusive or judged[1].model.sensitivity_used < 0.99


def test_the_result_survives_json_and_pickle(result, few):
    for found in (result, few):
        content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert CaseResult.from_dict(content) == found
        assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(ValueError, match="not a case"):
        CaseResult.from_dict(content | {"schema": "other"})
