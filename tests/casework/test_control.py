"""The comparison with the control: its calibration, its pairs, its p-values by variable."""

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import spectra

from transvariation import NeighborTOCC
from transvariation.casework import CaseSettings, judge
from transvariation.casework.control import (
    _control_pair_p_values,
    make_classifier,
)
from transvariation.preprocessing import MSC, make_preprocessing


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return spectra(20, rng, prefix="k"), pd.concat([spectra(4, rng), spectra(4, rng, 12.0, prefix="f")])


@pytest.mark.parametrize("steps", ["snv,sg1", ["SNV", "sg1"]])
def test_own_calibration_of_neighbor_is_that_of_the_preprocessed_table(tables, steps):
    known, new = tables
    preprocessing = make_preprocessing("snv,sg1").fit(known.to_numpy())
    by_hand = NeighborTOCC().fit(preprocessing.transform(known.to_numpy()))
    expected = by_hand.p_values(preprocessing.transform(new.to_numpy()))
    found = judge(known, new, preprocess=steps)
    assert [c.p_value for c in found.conclusions] == pytest.approx(expected.tolist(), abs=1e-12)


def test_what_learns_is_learned_again_in_every_fold(tables, monkeypatch):
    sizes, recipe = [], CaseSettings(preprocess="msc")
    learn = MSC._learn

    def recorded(self, X):
        sizes.append(len(X))
        learn(self, X)

    monkeypatch.setattr(MSC, "_learn", recorded)
    make_classifier(recipe, 0.9, list(tables[0].columns)).fit(tables[0])
    assert sorted(sizes) == [18] * 10 + [20]


@pytest.mark.parametrize(("n", "p"), [(10, 5), (60, 18), (20, 200)])
def test_pairs_of_one_source_are_separated_rarely_and_those_of_two_sources_often(n, p):
    rng = np.random.default_rng(3)

    def fragments(n):
        return rng.normal(size=(n, p)) + rng.normal(size=(n, 1))

    same, other = [], []
    for _ in range(30):
        recovered = np.concatenate([fragments(3), fragments(3) + 4 * rng.normal(size=p)])
        separated = _control_pair_p_values(fragments(n), recovered) <= 0.1
        same += [separated[i, j] for i, j in ((0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5))]
        other += separated[:3, 3:].ravel().tolist()
    assert np.mean(same) <= 0.13
    assert np.mean(other) >= (0.4 if n == 10 else 0.9)


def test_pairs_are_compared_with_a_bounded_number_of_control_fragments_in_any_order():
    rng = np.random.default_rng(5)
    control, recovered = rng.normal(size=(50_000, 3)), rng.normal(size=(4, 3))
    p = _control_pair_p_values(control, recovered)  # all pairs would take 10 GB
    assert p[~np.eye(4, dtype=bool)].min() >= 1 / 501
    np.testing.assert_allclose(_control_pair_p_values(control[::-1], recovered), p)
