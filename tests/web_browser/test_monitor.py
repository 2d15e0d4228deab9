"""Two runs of a process on the page: charts, alarms and a report to save."""

import pytest

from transvariation.datasets import make_plant

pytestmark = pytest.mark.browser


def test_charts_of_two_runs(page, screenshot, tmp_path):
    make_plant(300, random_state=0).to_csv(tmp_path / "normal.csv", index_label="time")
    make_plant(200, fault=8, onset=100, random_state=1).to_csv(tmp_path / "new.csv", index_label="time")
    page.get_by_role("link", name="Monitor a process").click()
    page.get_by_role("button", name="Draw the charts").click()
    page.get_by_text("Choose the table of the normal run.").wait_for()
    for which in ("normal", "new"):
        page.set_input_files(f"input[name={which}]", tmp_path / f"{which}.csv")
    page.get_by_role("button", name="Draw the charts").click()
    page.get_by_text("200 new rows").wait_for()
    assert page.locator("#shown img").first.evaluate("image => image.naturalWidth") > 100
    assert page.locator("#shown tbody tr").count() >= 1
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the report").click()
    assert "Hotelling" in saved.value.path().read_text(encoding="utf-8")
    screenshot(page, "monitor")
