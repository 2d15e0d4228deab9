"""Backgrounds that were measured in another way, and sources like the control."""

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import make_glass, told

from transvariation.casework import judge
from transvariation.casework.background.model import Background
from transvariation.casework.background.transfer import TransferCheck
from transvariation.datasets import load_nfi_glass


@pytest.fixture(scope="module")
def case():
    table = make_glass(45, 4, 3, np.random.default_rng(0))
    own = table["pane"] == "P0"
    last = table["fragment"].astype(str) == "4"
    return table[own & ~last], table[last & table["pane"].isin(["P0", "P1"])], table[~own]


def test_a_background_of_the_same_laboratory_is_used(case):
    control, recovered, background = case
    result = judge(control, recovered, background=background, log=True)
    assert not result.cautions
    assert all(conclusion.log10_lr for conclusion in result.conclusions)


def test_a_background_that_varies_more_gives_no_ratios(case):
    control, recovered, background = case
    rng = np.random.default_rng(1)
    elements = list(background.columns[3:])
    noise = np.exp(rng.normal(0, 0.1, (len(background), len(elements))))
    noisy = background.assign(**dict(zip(elements, (background[elements] * noise).to_numpy().T, strict=True)))
    result = judge(control, recovered, background=noisy, log=True)
    (caution,) = (each for each in result.cautions if each.code == "measured-otherwise")
    assert caution.values["signs"] == ["varies-less"]
    assert any("do not hold" in line for line in told(result)[:3])
    assert not any(conclusion.log10_lr for conclusion in result.conclusions)


def test_a_case_with_more_replicates_is_compared_by_as_many_as_the_background_has(case):
    control, recovered, background = case
    single = background[background["Rep"] == background["Rep"].min()]
    result = judge(control, recovered, background=single, log=True)
    assert "fewer-replicates-in-background" in {caution.code for caution in result.cautions}
    first = [table.groupby(["pane", "fragment"], sort=False).head(1) for table in (control, recovered)]
    alone = judge(*first, background=single, log=True)
    found, expected = ([c.p_values["background"] for c in each.conclusions] for each in (result, alone))
    assert found == expected


def test_sources_like_the_control_are_counted_and_named(case):
    control, recovered, background = case
    alike = make_glass(45, 4, 3, np.random.default_rng(0))
    alike = alike[alike["pane"] == "P0"]
    elements = list(alike.columns[3:])
    rng = np.random.default_rng(2)
    alike = alike.assign(pane="alike", **{e: alike[e] * np.exp(rng.normal(0, 0.01, len(alike))) for e in elements})
    result = judge(control, recovered, background=pd.concat([background, alike], ignore_index=True), log=True)
    names, share = result.model.bases["background"].indistinguishable(0.9)
    assert names == ("alike",)
    assert share.share == pytest.approx(1 / 45)
    assert any("1 of 45 background sources cannot be distinguished" in line for line in told(result))


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


def test_the_packaged_background_is_called_another_laboratorys_first():
    glass = load_nfi_glass()
    names, source = ["K39", "Ti49", "Sr88"], glass.frame["source"]
    one, two = (glass.frame.loc[source == i, names] for i in source.unique()[:2])
    result = judge(one.iloc[:2] + 1e-4, two.iloc[:1], background="nfi", features=names)  # measured anew
    assert "Netherlands Forensic Institute" in told(result)[1]
