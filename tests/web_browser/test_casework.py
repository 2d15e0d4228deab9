"""Cases with few control fragments on the page: questions about names, measured rates, and what leads."""

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import make_glass
from tests.web_browser.actions import choose_third, judge_tables, press_judge, read, show_reasons

from transvariation.casework import judge
from transvariation.report.case_text import sentences
from transvariation.report.wording.statements import headline

pytestmark = pytest.mark.browser


def test_names_with_a_replicate_number_are_asked_about(page):
    rng = np.random.default_rng(0)
    names = [f"K{i}-{j}" for i in range(1, 4) for j in range(1, 6)]
    control = pd.DataFrame(rng.normal(10, 1, size=(15, 2)).round(3), columns=["Na", "Mg"], index=names)
    read(page, control, control.iloc[:5].set_axis([f"Q1-{j}" for j in range(1, 6)]) + 0.01)
    said = page.inner_text("main")
    assert "replicate" in said
    assert "K1-1" in said


def test_the_ratio_leads_and_rates_have_n_and_interval(page, screenshot, tmp_path):
    pytest.importorskip("lir")
    table = make_glass(36, 4, 2, np.random.default_rng(4))
    pane, fragment = table["pane"], table["fragment"]
    known = (pane == "P0") & (fragment <= "3")
    parts = {"known": known, "new": pane.isin(["P0", "P1"]) & (fragment == "4"), "panes": ~pane.isin(["P0", "P1"])}
    paths = [tmp_path / f"{name}.csv" for name in parts]
    for path, chosen in zip(paths, parts.values(), strict=True):
        table[chosen].to_csv(path, index=False)
    choose_third(page, "background", paths[2])
    judge_tables(page, *paths[:2])
    expected = judge(*paths[:2], background=paths[2])
    assert page.inner_text("#headline") == headline(expected)
    trust = page.inner_text("#trust")
    assert "95% interval" in trust
    assert " of " in trust or "n = " in trust
    assert "support for different sources only" in page.inner_text("#conclusion")
    show_reasons(page)
    words = sentences(expected.conclusions[0], expected)
    assert page.locator("#reasons p").all_inner_texts()[: len(words)] == words
    screenshot(page, "ratio_leads")
    page.click("#understood-step > summary")
    page.click("#advanced > summary")
    page.select_option("#lead", "exclusion")
    press_judge(page)
    page.wait_for_function("document.getElementById('headline').textContent.includes('fragments excluded.')")
