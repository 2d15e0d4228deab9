"""The match criterion of ASTM E2927."""

import warnings

import numpy as np
import pandas as pd
import pytest

from transvariation.casework import judge
from transvariation.casework.astm import applies, error_rates, match_interval


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
    tight = [[np.array([[v]])] * 4 for v in (10.0, 100.0)]
    exclusion, inclusion = error_rates(tight, 3, 4, 0.03, np.random.default_rng(0))
    assert (exclusion.share, exclusion.n, inclusion.share, inclusion.n) == (0.0, 8, 0.0, 80)
    assert exclusion.high == pytest.approx(1 - 0.05 ** (1 / 2))  # by source
    alike = [[np.array([[x]]) for x in (v, v, v, 2 * v)] for v in (10.0, 10.1)]
    exclusion, inclusion = error_rates(alike, 3, 4, 0.03, np.random.default_rng(0))
    assert exclusion.share == 0.25  # the odd fragment against three equal ones; the others see it in their sd
    assert error_rates(tight, 2, 4, 0.03, np.random.default_rng(0)) is None
    small = [source[:3] for source in tight]  # two known measurements: too few, so these sources are questioned only
    exclusion, inclusion = error_rates([*tight, *small], 3, 4, 0.03, np.random.default_rng(0))
    assert (exclusion.n, inclusion.n) == (8, 80)


def test_the_standard_deviation_is_that_of_the_measurements():
    # Three fragments with equal means, whose replicates differ: the means have no spread, the measurements have.
    source = [np.array([[90.0], [110.0]])] * 3
    frame = pd.DataFrame(
        [
            {"fragment": f"{i}", **dict.fromkeys(("Sr", "Zr", "Ti"), float(x))}
            for i, f in enumerate(source)
            for x in f[:, 0]
        ]
    )
    questioned = pd.DataFrame([{"fragment": "Q", "Sr": 130.0, "Zr": 130.0, "Ti": 130.0}])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = judge(frame, questioned)
    assert result.conclusions[0].match is True
    assert result.model.criterion.name == "ASTM E2927"
    assert result.model.criterion.n_measurements == 6
    interval = result.conclusions[0].intervals[0]
    assert interval.high == pytest.approx(100 + 4 * np.std([90, 110] * 3, ddof=1))


def test_the_standard_is_not_applied_to_a_refractive_index_unless_asked_for():
    control = pd.DataFrame({"fragment": list("abc"), "ri": [1.5198, 1.5199, 1.5198]})
    questioned = pd.DataFrame({"fragment": ["Q"], "ri": [1.5230]})
    assert judge(control, questioned).conclusions[0].match is None
    asked = judge(control, questioned, astm=True)
    assert asked.conclusions[0].match is True
    assert asked.model.criterion.name == "4 s interval"
