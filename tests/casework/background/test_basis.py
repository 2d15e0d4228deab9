"""Cases compared by a background: of the same laboratory, of another one, with sources like the control."""

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import make_glass, told

from transvariation.casework import judge
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


@pytest.mark.slow
def test_the_packaged_background_is_called_another_laboratorys_first():
    glass = load_nfi_glass()
    names, source = ["K39", "Ti49", "Sr88"], glass.frame["source"]
    one, two = (glass.frame.loc[source == i, names] for i in source.unique()[:2])
    result = judge(one.iloc[:2] + 1e-4, two.iloc[:1], background="nfi", features=names)  # another measurement
    assert "Netherlands Forensic Institute" in told(result)[1]
