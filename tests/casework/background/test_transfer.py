"""Backgrounds that were measured in another way, and sources like the control."""

import numpy as np
import pytest

from transvariation.casework.background.model import Background
from transvariation.casework.background.transfer import TransferCheck


def panes(n, seed, spread=1.0, shift=0.0):
    """Draw panes of four fragments with three replicates of six elements, as arrays."""
    rng = np.random.default_rng(seed)
    center = rng.normal(size=(n, 1, 1, 6)) + shift
    fragments = center + spread * 0.1 * rng.normal(size=(n, 4, 1, 6))
    return [list(x) for x in fragments + spread * 0.1 * rng.normal(size=(n, 4, 3, 6))]


@pytest.mark.parametrize(
    ("other", "least", "most", "sign"),
    [
        ({}, 0.0, 0.06, None),
        ({"spread": 0.5}, 0.9, 1.0, "varies-less"),
        ({"spread": 2.0}, 0.9, 1.0, "varies-more"),
        ({"shift": 3.0}, 0.9, 1.0, "outside"),
    ],
)
def test_cases_of_another_laboratory_are_refused_and_others_are_not(other, least, most, sign):
    check = TransferCheck(Background(panes(100, 0)), 3, 3, 4)
    found = [check.check(pane[:3], pane[3:]) for pane in panes(100, 1, **other)]
    assert least <= np.mean([each.refused for each in found]) <= most
    assert sign is None or np.mean([sign in each.signs for each in found]) > 0.9


def test_one_fragment_measured_once_shows_only_where_it_lies():
    check = TransferCheck(Background(panes(60, 0)), 1, 1, 2)
    found = [check.check([pane[0][:1]], [pane[1][:1]]) for pane in panes(60, 1, spread=0.3)]
    assert np.mean([each.refused for each in found]) < 0.1
    assert all(set(each.signs) <= {"outside"} for each in found)


def test_replicates_show_the_laboratory_where_each_source_is_one_fragment():
    single = [list(np.concatenate(pane[:1])[:, None]) for pane in panes(100, 0)]  # replicates stand for fragments
    check = TransferCheck(Background(single), 1, 1, 2, measured=3)
    own, other = ([check.check(x[:1], x[1:2]) for x in panes(100, 1, spread=s)] for s in (1.0, 0.5))
    assert np.mean([each.cautioned for each in own]) < 0.1
    assert np.mean([each.refused for each in other]) > 0.5
