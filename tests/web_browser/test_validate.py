"""A validation in the browser."""

import numpy as np
import pytest
from tests.casework.conftest import make_glass

from transvariation.casework import Database

pytestmark = pytest.mark.browser


def test_a_database_is_validated_and_the_report_saved(page, screenshot, tmp_path):
    table = make_glass(20, 3, 2, np.random.default_rng(0))
    Database.build(table, name="panes", source_column="pane").write(tmp_path / "panes.csv")
    page.get_by_role("link", name="Validate").click()
    page.get_by_role("button", name="Validate").click()
    page.get_by_text("Choose the table of the database.").wait_for()
    page.set_input_files("input[name=table]", tmp_path / "panes.csv")
    page.set_input_files("input[name=description]", tmp_path / "panes.json")
    page.fill("input[name=designs]", "1x1")
    page.fill("input[name=n_comparisons]", "20")
    page.check("input[name=rates_only]")
    page.get_by_role("button", name="Validate").click()
    page.get_by_text("acceptance criteria are met").first.wait_for()
    assert page.locator("#shown img").first.evaluate("image => image.naturalWidth") > 100
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the report").click()
    assert "Purpose and population" in saved.value.path().read_text(encoding="utf-8")
    screenshot(page, "validate")


def test_a_long_validation_says_how_long_it_will_take(page, tmp_path):
    make_glass(20, 3, 2, np.random.default_rng(0)).to_csv(tmp_path / "panes.csv", index=False)
    seconds = iter([40, *[50] * 1000])  # the next step takes as long as the last one
    half = {"state": "running", "done": 0.5, "step": "comparing"}
    page.get_by_role("link", name="Validate").click()
    page.route("**/api/cases/*", lambda route: route.fulfill(json=half | {"seconds": next(seconds)}))
    page.set_input_files("input[name=table]", tmp_path / "panes.csv")
    page.fill("input[name=designs]", "1x1")
    page.get_by_role("button", name="Validate").click()
    page.get_by_text("comparing, 50 s, about 30 s left").wait_for()
    page.unroute("**/api/cases/*")
