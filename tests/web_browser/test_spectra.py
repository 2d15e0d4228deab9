"""Spectra on the page: ranges and preprocessing instead of boxes, bands and regions instead of variables."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from tests.web_browser.actions import choose_third, is_too_wide, press_judge, read, show_reasons, shown, slide

from transvariation.casework import judge
from transvariation.report.case import write_report
from transvariation.report.case_text import verdict
from transvariation.report.vocabulary import replaced

pytestmark = pytest.mark.browser

POSITIONS = 1841


@pytest.fixture(scope="module")
def spectra():
    """Control and recovered spectra; a third peak makes the last ten foreign."""
    rng, axis = np.random.default_rng(0), np.linspace(1000, 1000 + POSITIONS - 1, POSITIONS)

    def drawn(n):
        heights = 1 + 0.05 * rng.normal(size=(n, 2, 1))
        peaks = np.exp(-((axis - np.array([[1400.0], [2200.0]])) ** 2) / 5000)
        return (heights * peaks).sum(axis=1) + 0.002 * rng.normal(size=(n, POSITIONS))

    control, recovered = drawn(15), drawn(45)
    recovered[35:] += 0.2 * np.exp(-((axis - 1800) ** 2) / 800)
    names = [f"{x:g}" for x in axis]
    return [
        pd.DataFrame(X, columns=names, index=[f"S{i}" for i in range(len(X))])
        .round(5)
        .to_csv(index_label="id")
        .encode()
        for X in (control, recovered)
    ]


def settled(page, kept):
    page.get_by_text(f"{kept} of {POSITIONS} variables.").wait_for()


def nodes(page):
    return page.evaluate("document.querySelectorAll('*').length")


def test_wide_table_needs_few_nodes_and_bytes(page, spectra):
    with page.expect_response("**/api/tables") as answer, page.expect_response("**/preview") as preview:
        read(page, *spectra)
    settled(page, POSITIONS)
    assert nodes(page) < 1000
    assert len(answer.value.body()) < 10_000
    assert len(preview.value.body()) < 150_000
    assert page.locator("#features input[type=checkbox]").count() == 0
    with page.expect_response("**/view") as view:
        press_judge(page)
    page.wait_for_selector("#overview path.line")
    assert nodes(page) < 2000
    assert len(view.value.body()) < 30_000


def test_ranges_and_preprocessing_are_previewed_and_judged(page, spectra):
    read(page, *spectra)
    settled(page, POSITIONS)
    assert page.is_hidden("#after-figure")
    page.get_by_label("from", exact=True).fill("1700")
    page.get_by_label("to", exact=True).fill("1900")
    settled(page, 201)
    page.get_by_role("button", name="Add a range").click()
    page.get_by_label("from", exact=True).nth(1).fill("2700")  # to the end of the axis
    settled(page, 342)
    assert page.locator("#before .shaded").count() == 2
    page.get_by_label("Baseline").select_option("detrend")
    page.get_by_label("Scatter correction").select_option("snv")
    page.get_by_label("Savitzky-Golay filter").select_option("sg")
    page.get_by_label("Window").fill("15")
    page.wait_for_selector("#after path.line")
    settled(page, 342)
    press_judge(page)
    result = judge(*spectra, ranges=[(1700, 1900), (2700, 2840)], preprocess="detrend,snv,sg:15")
    assert shown(page) == {c.fragment: replaced(verdict(c)) for c in result.conclusions}
    assert "after detrend,snv,sg:15" in page.inner_text("#summary")


def test_the_page_speaks_of_samples_before_and_after_judging(page, spectra):
    def texts():
        return page.evaluate("document.querySelector('header').innerText + document.querySelector('main').innerText")

    assert "fragment" in texts()
    read(page, *spectra)
    page.wait_for_selector("#before .line", state="attached")
    assert page.inner_text("h1") == "Are these samples authentic?"
    assert page.inner_text(".drop .role >> nth=0") == "Known"
    page.get_by_text("Roles of the columns").first.click()
    assert "class" in page.get_by_label("role of").first.inner_text()
    assert not re.search("fragment|recovered(?!.csv)|excluded", texts())
    page.click("#advanced > summary")
    page.select_option("#words", "case")
    assert page.inner_text("h1") == "Could these fragments come from the same source?"
    page.select_option("#words", "")
    assert page.inner_text("h1") == "Are these samples authentic?"
    press_judge(page)
    assert not re.search("fragment|recovered(?!.csv)|excluded", texts())
    for line in ("#overview .line", "#importance .line"):  # drawn in a color, whatever the words
        page.wait_for_selector(line, state="attached")
        assert page.eval_on_selector(line, "line => getComputedStyle(line).stroke") != "none"


def test_regions_are_scaled_to_the_same_variance(page, spectra):
    read(page, *spectra)
    page.fill(".range input >> nth=1", "1600")
    page.click("#add-range")
    page.fill(".range input >> nth=2", "2000")
    page.select_option("#regions", "regions")
    page.wait_for_selector("#after .line", state="attached")
    press_judge(page)
    known, new = (pd.read_csv(io.BytesIO(table)) for table in spectra)
    expected = judge(known, new, preprocess="regions", ranges=[(1000, 1600), (2000, 2840)])
    shown_p = page.evaluate("fetch(document.querySelector('a[data-kind=json]').href).then((r) => r.json())")
    assert shown_p["settings"]["preprocess"] == "regions"
    assert [c["p_value"] for c in shown_p["conclusions"]] == [c.p_value for c in expected.conclusions]


def test_few_positions_are_chosen_one_by_one(page, spectra):
    tables = [pd.read_csv(io.BytesIO(table), index_col=0).iloc[:, 600:1000:16] for table in spectra]
    read(page, *tables)
    page.get_by_text("25 of 25 variables.").wait_for()
    page.locator("#features input").first.uncheck()
    page.get_by_text("24 of 25 variables.").wait_for()
    page.get_by_label("Scatter correction").select_option("snv")
    page.wait_for_selector("#after path.line")
    press_judge(page)
    result = judge(*tables, features=list(tables[0])[1:], preprocess="snv")
    assert shown(page) == {c.fragment: replaced(verdict(c)) for c in result.conclusions}


def test_impossible_choices_are_explained(page, spectra):
    read(page, *spectra)
    page.get_by_label("from", exact=True).fill("1")
    page.get_by_label("to", exact=True).fill("2")
    page.get_by_text("no variable lies in 1 to 2").wait_for()
    page.get_by_role("button", name="remove this range").click()
    settled(page, POSITIONS)
    assert page.inner_text("#spectra-problems") == ""


def test_foreign_regions_are_shaded_and_listed(page, spectra):
    read(page, *spectra)
    press_judge(page)
    result = judge(*spectra)
    page.wait_for_selector("#overview path.line")
    assert page.is_hidden("#plane")
    assert page.is_visible("#importance")
    foreign = result.conclusions[-1]
    assert foreign.regions
    show_reasons(page, foreign.fragment)
    assert page.locator("#reasons .shaded").count() == len(foreign.regions)
    assert page.locator("#reasons tbody th").all_inner_texts() == [str(region) for region in foreign.regions]
    before = page.locator("#reasons svg text").all_text_contents()
    slide(page, 0.6)
    count = len(result.at(0.6).conclusions[-1].regions)
    page.wait_for_function("n => document.querySelectorAll('#reasons .shaded').length === n", arg=count)
    assert page.locator("#reasons svg text").all_text_contents() == before  # the axes stay


def test_acceptance_and_extremes_plots_are_shown_and_saved(page, spectra):
    read(page, *spectra)
    press_judge(page)
    page.get_by_text("Acceptance, extremes and error plots").click()
    for kind in ("acceptance", "extremes"):
        image = page.locator(f"#{kind} img")
        image.wait_for()
        page.wait_for_function("kind => document.querySelector(`#${kind} img`).naturalWidth > 100", arg=kind)
        with page.expect_download() as download:
            page.locator(f"#{kind} a").click()
        assert download.value.suggested_filename == f"transvariation-case-{kind}.svg"


@pytest.mark.parametrize("width", ["phone", "wide"])
def test_known_foreign_samples_show_error_rates(open_page, spectra, screenshot, width):
    page = open_page("light", width)
    choose_third(page, "foreign", spectra[1])
    read(page, *spectra)
    assert "Known foreign samples: foreign.csv, 45 rows" in page.inner_text("#previews")
    press_judge(page)
    page.get_by_text("Acceptance, extremes and error plots").click()
    page.locator("#type_ii img").wait_for()
    assert "Sensitivity and specificity" in page.locator("#foreign img").get_attribute("alt")
    assert not is_too_wide(page)
    screenshot(page, f"foreign-{width}")


def test_the_report_prints_on_five_pages(chromium, spectra, tmp_path):
    result = judge(*spectra, preprocess="snv,sg1")
    write_report(result, tmp_path / "report.html")
    page = chromium.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    printed = page.pdf(format="A4")
    page.close()
    assert 3 <= len(re.findall(rb"/Type /Page\b", printed)) <= 5
    assert (tmp_path / "report.html").stat().st_size < 2_000_000


@pytest.mark.parametrize(("scheme", "width"), [("light", "phone"), ("dark", "phone"), ("dark", "wide")])
def test_spectra_fit_the_window(open_page, spectra, screenshot, scheme, width):
    page = open_page(scheme, width)
    read(page, *spectra)
    page.get_by_label("Scatter correction").select_option("msc")
    page.wait_for_selector("#after path.line")
    assert not is_too_wide(page)
    screenshot(page, f"spectra-check-{width}-{scheme}")
    press_judge(page)
    show_reasons(page, "S44")
    page.get_by_text("Acceptance, extremes and error plots").click()
    page.locator("#extremes img").wait_for()
    assert not is_too_wide(page)
    screenshot(page, f"spectra-{width}-{scheme}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violations_with_spectra(open_page, spectra, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(scheme, bypass_csp=True)  # the page's policy refuses the script of the test tool
    read(page, *spectra)
    page.get_by_label("Scatter correction").select_option("snv")
    page.wait_for_selector("#after path.line")
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()
    press_judge(page)
    show_reasons(page, "S44")
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.locator("#extremes img").wait_for()
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()
