"""The page as a user sees it, in a real browser."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from tests.web_browser.actions import (
    choose_third,
    column,
    is_too_wide,
    judge_tables,
    misplaced_texts,
    press_judge,
    press_read,
    read,
    select_axis,
    set_option,
    show_reasons,
    shown,
    slide,
)

import transvariation
from transvariation import load_glass, load_nfi_glass
from transvariation.casework import judge
from transvariation.report.case import error_rates
from transvariation.report.demo import demo_tables
from transvariation.report.wording.cautions import warning_texts
from transvariation.report.wording.numbers import format_p
from transvariation.report.wording.statements import headline, statement, verdict

pytestmark = pytest.mark.browser

TWO = ("K", "Mg")
GAP = b"id,K,Mg\nA,0.5,3.5\nB,0.5,3.6\nC,,3.4\n"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Two files of glass fragments in two variables; some recovered fragments are of the control's kind."""
    folder, glass = tmp_path_factory.mktemp("tables"), load_glass()
    control, recovered = glass.control[list(TWO)], glass.recovered[list(TWO)]
    paths = folder / "control.csv", folder / "recovered.csv"
    control.iloc[:60].to_csv(paths[0])
    pd.concat([control.iloc[60:], recovered.iloc[::4]]).to_csv(paths[1])
    return paths


@pytest.fixture(scope="module")
def expected(tables):
    return judge(*tables)


@pytest.fixture(scope="module")
def slow_table():
    """A table that the method `projections` takes long to judge."""
    return pd.DataFrame(np.random.default_rng(0).normal(size=(8000, 8))).add_prefix("v")


def concluded(result):
    return {conclusion.fragment: verdict(conclusion) for conclusion in result.conclusions}


def saved(page, kind, folder, name="transvariation-case"):
    with page.expect_download() as download:
        page.click(f"a[data-kind={kind}]")
    assert download.value.suggested_filename == f"{name}.{kind}"
    download.value.save_as(folder / f"case.{kind}")
    return folder / f"case.{kind}"


def test_conclusions_and_downloads_agree_with_the_library(page, tables, expected, tmp_path):
    read(page, *tables)
    assert page.locator("#features input:checked").count() == 2
    assert "Control: control.csv, 60 rows, each a fragment" in page.inner_text("#previews")
    press_judge(page)
    assert shown(page) == concluded(expected)
    assert column(page, 2) == {c.fragment: format_p(c.p_value) for c in expected.conclusions}
    assert page.inner_text("#headline") == headline(expected)
    assert not page.locator("#load-step").evaluate("step => step.open")
    assert not page.locator("#understood-step").evaluate("step => step.open")
    files = {kind: saved(page, kind, tmp_path) for kind in ("html", "pdf", "json", "csv")}
    result = json.loads(files["json"].read_text())
    assert result["conclusions"] == json.loads(json.dumps(expected.to_dict()))["conclusions"]
    table = pd.read_csv(files["csv"], dtype=str)
    assert dict(zip(table["fragment"], table["conclusion"], strict=True)) == concluded(expected)
    assert headline(expected) in html.unescape(files["html"].read_text())
    assert files["pdf"].read_bytes().startswith(b"%PDF")


def test_slider_agrees_with_the_library(page, tables, expected, tmp_path):
    judge_tables(page, *tables)
    headlines = set()
    for share in (0.5, 0.95, 0.99):
        slide(page, share)
        there = expected.at(share)
        assert shown(page) == concluded(there)
        assert page.inner_text("#headline") == headline(there)
        assert page.locator("#warnings li").all_inner_texts() == warning_texts(there)
        headlines.add(headline(there))
    assert len(headlines) > 1
    assert set(shown(page).values()) == {"no conclusion"}  # 0.99 needs 99 control fragments
    assert "use a sensitivity of at most 0.983" in page.inner_text("#warnings")
    assert page.locator("#plane .dot.r, #conclusions .excluded").count() == 0
    page.click("#zoom-reset")
    assert " ".join(page.inner_text("#plane-result .key").split()) == "control recovered, no conclusion"
    assert json.loads(saved(page, "json", tmp_path).read_text())["model"]["sensitivity"] == 0.99
    slide(page, 0.9)
    assert page.locator("#warnings li").all_inner_texts() == warning_texts(expected)
    assert page.inner_text("#sensitivity-value") == "90%"
    assert page.is_visible("#key-excluded")


def test_axes_stay_while_the_slider_moves(page, tmp_path):
    control = pd.DataFrame(np.random.default_rng(0).normal(size=(99, 3)), columns=list("abc"))
    # At 90% a and b are evidence against more fragments, at 50% c is.
    recovered = pd.DataFrame([[4, 4, 0]] * 3 + [[0, 0, 1.5]] * 6, columns=list("abc"), dtype=float)
    judge_tables(page, control, recovered)
    texts = page.locator("#plane text:not(.label)")
    before = texts.all_text_contents()
    slide(page, 0.5)
    assert texts.all_text_contents() == before
    chosen = [name for name in "abc" if name != page.input_value("#y")][-1]
    select_axis(page, "x", chosen)
    slide(page, 0.9)
    assert page.input_value("#x") == chosen


def test_tables_are_judged_as_they_were_read(page, tables):
    set_option(page, "missing", "drop")
    judge_tables(page, tables[0], GAP)
    page.click("#load-title")
    set_option(page, "missing", "impute")
    page.click("#judge")
    page.wait_for_selector("#conclusion", state="hidden")
    page.wait_for_selector("#conclusion:not([hidden])")
    assert set(shown(page)) == {"A", "B"}
    page.route("**/judge", lambda route: route.fulfill(status=422, json={"problems": [{"message": "It failed."}]}))
    page.click("#judge")
    page.wait_for_selector("#judge-problems li")
    assert page.is_hidden("#conclusion")
    assert page.is_hidden("#take")


def start_slow(page, slow_table):
    read(page, slow_table, slow_table[:99])
    page.locator("#advanced summary").click()
    page.select_option("#method", "projections")
    page.click("#judge")
    page.wait_for_selector("#working:not([hidden])")


def test_other_tables_cancel_a_running_case(page, slow_table, tables, expected):
    start_slow(page, slow_table)
    with page.expect_response("**/cancel") as stopped:
        read(page, *tables)
    assert stopped.value.json()["state"] == "cancelled"
    page.wait_for_selector("#understood:not([hidden])")
    assert page.is_hidden("#working")
    press_judge(page)
    assert shown(page) == concluded(expected)


def test_a_long_fit_can_be_cancelled(page, slow_table, screenshot):
    start_slow(page, slow_table)
    page.get_by_text(re.compile(r"comparing 99 recovered with 8000 control fragments, [1-9]\d* s")).wait_for()
    assert page.locator("#working progress").evaluate("bar => bar.position") == -1  # it moves: the share is not known
    assert page.evaluate("document.activeElement.id") == "cancel"
    screenshot(page, "running", full=False)
    page.click("#cancel")
    page.wait_for_selector("#working", state="hidden")
    assert page.inner_text("#judged") == "Canceled. The tables are still loaded."
    assert page.is_enabled("#judge")
    assert page.evaluate("document.activeElement.id") == "judge"


def test_a_late_response_is_not_shown(page, tables):
    read(page, *tables)
    held = []
    page.route(re.compile(r"/api/cases/[^/]+/judge$"), lambda route: held.append(route))
    page.click("#judge")
    page.wait_for_selector("#working:not([hidden])")
    page.click("#example")
    page.wait_for_selector("#understood:not([hidden])")
    with page.expect_response("**/cancel"):
        held[0].fulfill(status=202, json={"state": "done"})
    assert page.is_hidden("#conclusion")
    assert page.is_enabled("#judge")


def test_sensitivity_stays_when_judged_again_but_not_for_other_tables(page, tables, expected):
    judge_tables(page, *tables)
    slide(page, 0.7)
    page.click("#judge")
    page.wait_for_selector("#conclusion", state="hidden")
    page.wait_for_selector("#conclusion:not([hidden])")
    assert page.inner_text("#sensitivity-value") == "70%"
    assert shown(page) == concluded(expected.at(0.7))
    page.click("#load-title")
    judge_tables(page, *tables)
    assert page.inner_text("#sensitivity-value") == "90%"


def test_evidence_sorting_and_filtering(page, tables, expected):
    judge_tables(page, *tables)
    none = {True: "", False: "no single variable"}
    last = page.locator("#conclusions tbody tr").first.locator("td").count()
    assert column(page, last) == {c.fragment: ", ".join(c.evidence) or none[c.accepted] for c in expected.conclusions}
    page.check("#only-excluded")
    assert set(shown(page)) == {c.fragment for c in expected.excluded}
    page.uncheck("#only-excluded")
    page.click("#conclusions button[data-key=p_value]")
    page.click("#conclusions button[data-key=p_value]")
    p_values = [float(p.strip("< ")) for p in column(page, 2).values()]
    assert p_values == sorted(p_values, reverse=True)
    assert page.get_attribute("#conclusions th:nth-child(3)", "aria-sort") == "descending"
    first = expected.excluded[0]
    show_reasons(page, first.fragment)
    assert page.inner_text("#reasons h3") == f"{first.fragment}: excluded"
    assert page.locator("#reasons p").first.inner_text() == statement(first, expected)
    assert page.locator("#reasons tbody th").all_inner_texts() == [reason.variable for reason in first.reasons]
    assert page.locator("#reasons img.strip").count() == len(TWO)


def test_print_shows_the_conclusions_without_controls(page, tables, screenshot):
    names = "".join(f"R{i},{0.5 + i},3.5\n" for i in range(400))
    judge_tables(page, tables[0], f"id,K,Mg\n{names}".encode())
    page.emulate_media(media="print")
    screenshot(page, "print")
    for hidden in ("#load", "#understood", "#take", "#sensitivity", "#more", "#conclusions thead button >> nth=0"):
        assert page.is_hidden(hidden), hidden
    for visible in ("#headline", "#conclusions", "#plane", "#summary"):
        assert page.is_visible(visible), visible
    words = page.locator("#conclusions thead th:visible").all_inner_texts()
    assert words == ["fragment", "conclusion", "p-value", "differs by itself in"]
    assert "Tables: control control.csv, recovered recovered.csv." in page.inner_text("#summary")
    assert "The first 300 of 400. The saved files hold all." in page.inner_text("#listed")
    assert page.locator(".key i.r").evaluate("mark => getComputedStyle(mark).printColorAdjust") == "exact"
    page.emulate_media(media="screen")
    page.click("#more")
    assert page.locator("#conclusions tbody tr").count() == 400
    assert page.inner_text("#listed") == ""
    page.check("#only-excluded")
    excluded = page.inner_text("#headline").split()[0]
    page.emulate_media(media="print")
    assert f"Listed are only those with the conclusion “excluded”: {excluded} of 400." in page.inner_text("#listed")


def test_figure_names_chooses_zooms_and_moves(page, tables):
    judge_tables(page, *tables)
    page.check("#only-excluded")
    dot = page.locator("#plane .dot.a").last
    dot.hover(force=True)
    assert ": not excluded, p-value" in page.inner_text("#hover")
    dot.click(force=True)
    assert page.inner_text("#reasons h3").endswith(": not excluded")
    page.click("text=Back to the list")  # the fragment is not listed
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Conclusions")
    page.click("#zoom-reset")
    texts = page.locator("#plane text")
    before = texts.all_text_contents()
    for _ in range(3):
        page.click("#zoom-in")
        labels = [text for text in texts.all_text_contents() if re.fullmatch(r"-?\d+(\.\d+)?", text)]
        assert len(labels) >= 6
        assert all(len(label.lstrip("-").replace(".", "")) <= 5 for label in labels)
    assert texts.all_text_contents() != before
    page.focus("#plane")
    for key in ("ArrowLeft", "ArrowUp", "+", "0"):
        page.keyboard.press(key)
    assert texts.all_text_contents() == before
    box = page.locator("#plane").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.wheel(0, -300)
    page.wait_for_function("before => document.querySelector('#plane').textContent !== before", arg="".join(before))


def test_example_replaces_chosen_files(page, tables):
    page.set_input_files("input[name=control]", tables[0])
    page.wait_for_selector("text=Chosen: control.csv")  # said by the script, which may still be loading
    page.click("#example")
    page.wait_for_selector("#understood:not([hidden])")
    assert page.locator(".chosen").first.inner_text() == "Loaded: windows.csv"
    assert page.input_value("input[name=control]") == ""
    assert page.locator("#features input:checked").count() == 9
    for box in page.locator("#features input").all():
        box.set_checked(box.get_attribute("value") in TWO)
    press_judge(page)
    demo = demo_tables()
    assert shown(page) == concluded(judge(demo["windows.csv"], demo["recovered.csv"], features=TWO))


def test_choices_that_are_lacking_are_asked_for(page, tables):
    page.click("text=Read the tables")
    assert "Choose the control table" in page.inner_text("#control-problems")
    assert "Choose the recovered table" in page.inner_text("#recovered-problems")
    assert page.evaluate("document.activeElement.name") == "control"
    page.set_input_files("input[name=control]", tables[0])
    assert page.inner_text("#control-problems") == ""
    read(page, *tables)
    for box in page.locator("#features input").all():
        box.uncheck()
    page.click("#judge")
    assert "Choose at least one variable" in page.inner_text("#judge-problems")


def test_problems_are_shown_below_their_table_and_marked_in_it(page, tables, screenshot):
    read(page, tables[0], b"id,K,Mg\nA,0.5,3.5\nB,oops,3.6\nC,,3.4\n")
    assert page.inner_text("#control-problems") == ""
    words = page.locator("#recovered-problems li").all_inner_texts()
    assert words[0].startswith("row 3, column K:")
    assert "Missing values" in words[1]
    assert "missing=" not in words[1]
    marked = page.locator("#recovered-problems td.marked")
    assert marked.count() == 2
    assert "oops" in marked.first.inner_text()
    screenshot(page, "problems")
    set_option(page, "missing", "drop")
    page.set_input_files("input[name=recovered]", {"name": "recovered.csv", "mimeType": "", "buffer": GAP})
    page.click("text=Read the tables")
    page.wait_for_selector("#understood:not([hidden])")
    assert "'C' left out" in page.inner_text("#previews")


def test_summary_rows_are_left_out_if_chosen(page, tables):
    read(page, tables[0], b"id,K,Mg\nA,0.5,3.5\nB,0.6,3.6\nmean,0.55,3.55\n")
    assert page.is_visible("#options [name=recovered-drop_summary_rows]")  # what the advice names is unfolded
    assert "choose “Leave out summary rows”" in page.inner_text("#recovered-problems")
    page.get_by_label("Leave out summary rows of the recovered table").check()
    page.click("text=Read the tables")
    page.wait_for_selector("#understood:not([hidden])")
    press_judge(page)
    assert set(shown(page)) == {"A", "B"}


def test_role_of_a_column_can_be_changed(page, tables):
    table = pd.read_csv(tables[1], names=["id", *TWO], skiprows=1).head(6)
    table.insert(1, "piece", ["x", "x", "y", "y", "z", "z"])
    read(page, tables[0], table.to_csv(index=False).encode())
    recovered = page.locator(".preview").nth(1)
    assert "3 fragments, 6 rows" in recovered.inner_text()
    for role, words in (("ignore", "6 rows, each a fragment"), ("fragment", "3 fragments, 6 rows")):
        recovered.get_by_text("Roles of the columns").click()
        recovered.get_by_label("role of piece").select_option(role)
        page.get_by_text(words).wait_for()
    press_judge(page)
    assert list(shown(page)) == ["x", "y", "z"]
    assert "2 replicates" in page.inner_text("#conclusions")
    assert page.locator("#plane .replicate").count() == 6
    show_reasons(page)
    assert "replicates" in page.locator("#reasons thead th").all_inner_texts()


def test_background_gives_likelihood_ratios(page, tmp_path):
    nfi = load_nfi_glass().frame
    elements = [name for name in nfi.columns if name not in ("source", "piece")][:3]
    sources = nfi["source"].unique()
    one, other = (nfi[nfi["source"] == source] for source in sources[:2])
    control, recovered = one.head(3)[elements], pd.concat([one.tail(1), other.head(1)])[elements]
    paths = tmp_path / "control.csv", tmp_path / "recovered.csv", tmp_path / "background.csv"
    for path, table in zip(paths, (control, recovered), strict=False):
        table.set_axis([f"F{i}" for i in range(len(table))]).to_csv(path, index_label="id")
    nfi[nfi["source"].isin(sources[2:80])].to_csv(paths[2], index=False)
    page.set_default_timeout(60_000)  # NFI has 977 sources
    page.select_option("select[name=third]", "nfi")
    judge_tables(page, *paths[:2])
    with_nfi = judge(*paths[:2], background="nfi")
    assert shown(page) == concluded(with_nfi)
    assert page.is_visible("th[data-column=ratios]")
    show_reasons(page)
    assert "likelihood ratio" in page.inner_text("#reasons")
    page.click("#load-title")
    assert page.is_hidden("input[name=third-file]")
    choose_third(page, "background", paths[2])
    press_read(page)
    assert "Background: background.csv" in page.inner_text("#previews")
    press_judge(page)
    assert shown(page) == concluded(judge(*paths[:2], background=paths[2]))


def test_case_details_are_in_the_report(page, tables, tmp_path):
    read(page, *tables)
    page.get_by_text("Case details for the report").click()
    page.get_by_label("Case number").fill("2026/17 <b>")
    page.get_by_label("Laboratory").fill("Laboratory 5")
    page.get_by_label("Examined").fill("2026-11-17")
    press_judge(page)
    assert page.inner_text("#loaded").startswith("case 2026/17 <b>: control")
    report = saved(page, "html", tmp_path, "2026-17-b").read_text()
    assert all(words in report for words in ("2026/17 &lt;b&gt;", "Laboratory 5", "2026-11-17"))


def many_variables():
    rng, names = np.random.default_rng(0), [first + second for first in "ABCDEF" for second in "klmnopqrst"]
    return [pd.DataFrame(rng.normal(size=(n, 60)), columns=names) for n in (30, 3)]


def test_many_variables_are_chosen_by_words_in_their_names(page, tmp_path):
    control, recovered = many_variables()
    read(page, control, recovered)
    assert page.locator("#features input[type=checkbox]").count() == 0
    assert page.locator("#previews th[scope=col]").count() == 2 * (2 + 8)
    page.fill("#with-words", "ak, B")
    page.fill("#without-words", "s,t")
    wanted = ["Ak", *(f"B{letter}" for letter in "klmnopqr")]
    assert page.inner_text("#chosen-count").startswith("9 of 60 variables: Ak, Bk, Bl")
    press_judge(page)
    assert page.locator("#x option").all_text_contents() == wanted
    contents = [table.to_csv(index_label="id").encode() for table in (control, recovered)]
    assert shown(page) == concluded(judge(*contents, features=wanted))
    page.click("#understood-title")
    page.fill("#with-words", "X")
    page.click("#judge")
    assert "Choose at least one variable" in page.inner_text("#judge-problems")
    assert page.evaluate("document.activeElement.id") == "with-words"


def test_role_of_one_of_many_columns_can_be_changed(page):
    read(page, *many_variables())
    first = page.locator(".preview").first
    first.get_by_text("Roles of the columns").click()
    assert first.locator("select").count() == 1  # of the names of the rows
    first.get_by_label("Find a column by its name").fill("ft")
    first.get_by_label("role of Ft").select_option("ignore")
    page.get_by_text("59 of 59 variables").wait_for()


def test_file_that_is_no_table_is_refused(page, tables):
    read(page, tables[0], b"%PDF-1.7")
    assert page.locator("#recovered-problems li").first.inner_text()
    assert page.is_hidden("#understood")


def test_markup_in_a_table_is_shown_as_text(page):
    evil = "<img src=x onerror=document.title=1>"
    rows = "".join(f"{evil}{i},{i},{i % 7}\n" for i in range(30))
    judge_tables(page, f"id,{evil},K\n{rows}".encode(), f"id,{evil},K\n{evil},1,99\n".encode())
    show_reasons(page)
    assert evil in page.inner_text("#reasons")
    assert evil in page.inner_text("#conclusions")
    assert page.locator("main img:not([src^='data:image/svg+xml'])").count() == 0  # only pictures of our own
    assert page.title() != "1"


def test_everything_works_by_keyboard(page):
    def focused(what="textContent"):
        return page.evaluate(f"document.activeElement.{what}")

    def tab_to(wanted):
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
                return
        raise AssertionError(f"{wanted} cannot be reached")

    tab_to(".skip")
    tab_to("#example")
    tab_to("input[name=control]")
    page.focus("#example")
    page.keyboard.press("Enter")
    page.wait_for_selector("#understood:not([hidden])")
    assert focused("id") == "understood-title"
    tab_to("#features input[value=RI]")
    page.keyboard.press("Space")
    tab_to("#advanced summary")
    page.keyboard.press("Enter")
    tab_to("#judge")
    page.keyboard.press("Enter")
    page.wait_for_selector("#conclusion:not([hidden])")
    assert focused("id") == "conclusion-title"
    tab_to("#sensitivity")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#sensitivity-value") == "89%"
    page.wait_for_selector("a[data-kind=csv][href$='sensitivity=0.89']")
    assert focused("id") == "sensitivity"
    tab_to("#only-excluded")
    page.keyboard.press("Space")
    tab_to("button[data-key=p_value]")
    page.keyboard.press("Enter")
    tab_to("#conclusions tbody button")
    page.keyboard.press("Enter")
    first = page.inner_text("#conclusions tr.on button")
    page.wait_for_function("title => document.activeElement.textContent === title", arg=f"{first}: excluded")
    page.keyboard.press("Escape")
    assert focused() == first
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    second = page.inner_text("#conclusions tr.on button")
    assert second != first
    page.locator("#reasons h3:focus").get_by_text(second).wait_for()
    tab_to("#reasons button")
    page.keyboard.press("Enter")
    assert focused() == second
    tab_to("a[data-kind=csv]")
    with page.expect_download():
        page.keyboard.press("Enter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violations(open_page, tables, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = open_page(scheme, bypass_csp=True)  # the page's policy refuses the script of the test tool
    _check(axe, page)
    read(page, tables[0], b"id,K,Mg\nA,0.5,oops\n")
    _check(axe, page)
    judge_tables(page, *tables)
    show_reasons(page)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    _check(axe, page)


def _check(axe, page):
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", "phone"), ("dark", "phone"), ("light", "wide"), ("dark", "wide")]
)
def test_page_fits_the_window(open_page, screenshot, folder, scheme, width):
    page = open_page(scheme, width)
    screenshot(page, f"start-{width}-{scheme}")
    page.click("#example")
    page.wait_for_selector("#understood:not([hidden])")
    screenshot(page, f"check-{width}-{scheme}")
    assert not is_too_wide(page)
    press_judge(page)
    show_reasons(page)
    screenshot(page, f"{width}-{scheme}")
    assert not is_too_wide(page)
    assert misplaced_texts(page) == []
    if (scheme, width) == ("light", "wide"):  # the picture in the documentation
        page.set_viewport_size({"width": 1100, "height": 900})
        box, last = (page.locator(each).bounding_box() for each in ("#conclusion", "#reasons"))
        top = box["y"] + page.evaluate("scrollY")
        clip = {"x": 0, "y": top - 12, "width": 1100, "height": last["y"] + last["height"] - box["y"] + 24}
        page.screenshot(path=folder / "page.png", full_page=True, clip=clip)


def test_a_click_on_a_row_shows_the_evidence(page, tables, expected):
    judge_tables(page, *tables)
    row = page.locator("#conclusions tbody tr").nth(2)
    row.locator("td").last.click()
    page.locator("#reasons h3").get_by_text(f"{expected.conclusions[2].fragment}: ").wait_for()


@pytest.mark.parametrize("width", ["phone", "wide"])
def test_nothing_in_the_evidence_is_cut_off(open_page, width):
    page = open_page(width=width)
    page.click("#example")
    page.wait_for_selector("#understood:not([hidden])")
    press_judge(page)
    page.check("#only-excluded")
    show_reasons(page)
    for box in page.locator("#conclusion .scroll").all():
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert page.locator("#reasons .against").first.is_visible()
    assert page.locator("#reasons td:last-child").evaluate_all(
        "cells => cells.every(c => c.scrollWidth <= c.clientWidth)"
    )
    assert not is_too_wide(page)


def test_error_rates_method_and_astm_intervals_are_those_of_the_report(page, tmp_path):
    nfi = load_nfi_glass().frame
    elements = [name for name in nfi.columns if name not in ("source", "piece")][:4]
    table = nfi[["source", "piece"]].join(10 ** nfi[elements])
    one, others = table[table["source"] == "v1"], table[table["source"].isin([f"v{i}" for i in range(2, 40)])]
    paths = tmp_path / "control.csv", tmp_path / "recovered.csv", tmp_path / "background.csv"
    for path, each in zip(paths, (one.iloc[:3], one.iloc[3:], others), strict=True):
        each.to_csv(path, index=False)
    page.set_default_timeout(60_000)
    choose_third(page, "background", paths[2])
    set_option(page, "scale", "log")
    judge_tables(page, *paths[:2])
    result = judge(*paths[:2], background=paths[2], log=True)
    frame = next(part for part in error_rates(result).parts if part["kind"] == "table")
    shown_rates = page.locator("#trust table").first.locator("tbody tr")
    assert [row.split("\t") for row in shown_rates.all_inner_texts()] == frame["rows"]
    show_reasons(page)
    head = page.locator("#reasons thead th").all_inner_texts()
    assert (result.model.criterion.name in head) == any(c.match is not None for c in result.conclusions)


def test_a_reload_keeps_the_case(page, tables, expected, screenshot):
    set_option(page, "missing", "drop")
    page.set_input_files("input[name=control]", tables[0])
    read(page, *tables)
    page.reload()
    page.wait_for_selector("#understood:not([hidden])")
    assert page.input_value("select[name=missing]") == "drop"
    assert page.locator(".chosen").first.inner_text() == "Loaded: control.csv"
    page.locator("#features input").first.uncheck()
    page.get_by_text("Case details for the report").click()
    page.get_by_label("Case number").fill("17")
    press_judge(page)
    slide(page, 0.7)
    before, headline = shown(page), page.inner_text("#headline")
    page.reload()
    page.wait_for_selector("#conclusion:not([hidden])")
    assert page.inner_text("#sensitivity-value") == "70%"
    assert (shown(page), page.inner_text("#headline")) == (before, headline)
    page.click("#understood-title")
    assert page.locator("#features input:checked").count() == 1
    assert page.input_value("[name=case_number]") == "17"
    page.click("#load-title")
    press_read(page)  # without choosing the files again
    page.wait_for_selector("#understood:not([hidden])")
    press_judge(page)
    assert shown(page) == concluded(judge(*tables, missing="drop"))


def test_a_reload_while_judging_goes_on(page, slow_table):
    start_slow(page, slow_table)
    page.reload()
    page.wait_for_selector("#working:not([hidden])")
    page.click("#cancel")
    page.wait_for_selector("#working", state="hidden")
    assert page.inner_text("#judged") == "Canceled. The tables are still loaded."


def test_a_page_whose_program_was_started_again_begins_anew(page):
    page.evaluate("sessionStorage.setItem('transvariation-case', 'none')")
    page.reload()
    page.wait_for_function("() => sessionStorage.getItem('transvariation-case') === null")
    assert page.is_hidden("#understood")
    assert page.is_enabled("#example")


def test_a_saved_case_is_opened(page, tables, expected, tmp_path):
    judge_tables(page, *tables)
    slide(page, 0.8)
    path = saved(page, "json", tmp_path)
    page.click("#load-title")
    page.set_input_files("#saved", path)
    page.wait_for_selector("#conclusion:not([hidden])")
    page.wait_for_selector("#plane .dot", state="attached")
    assert shown(page) == concluded(expected.at(0.8))
    assert page.is_hidden("#understood")
    page.reload()
    page.wait_for_selector("#conclusion:not([hidden])")
    assert page.inner_text("#headline") == headline(expected.at(0.8))
    page.click("#load-title")
    page.set_input_files("#saved", tables[0])
    page.get_by_text("control.csv is not a case").wait_for()


def test_roles_of_a_background_are_set_before_judging(page, tables):
    control = pd.read_csv(tables[0])
    sources = [control.sample(6, random_state=i).assign(Xyz=f"P{i}").iloc[:, 1:] for i in range(12)]
    choose_third(page, "background", pd.concat(sources).to_csv(index=False).encode())
    read(page, *tables)
    assert "has no column that names the source" in page.inner_text("#doubts")
    third = page.locator(".preview").nth(2)
    third.get_by_text("Roles of the columns").click()
    third.get_by_label("role of Xyz").select_option("source")
    page.get_by_text("12 sources").wait_for()
    assert page.inner_text("#doubts") == ""


def test_product_version_and_help_are_named(page):
    assert page.inner_text(".product strong") == "transvariation"
    assert transvariation.__version__ in page.inner_text(".product")
    assert page.get_by_role("link", name="Help").get_attribute("href").startswith("https://")


def test_fragments_outside_the_view_are_counted(page):
    rng = np.random.default_rng(0)
    control = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    judge_tables(page, control, pd.DataFrame([[0.0, 0.0], [90.0, 0.0], [0.0, 90.0]], columns=["a", "b"]))
    assert page.inner_text("#key-outside") == "2 recovered outside this view"
    assert page.locator("#plane .dot").count() == 41
    page.click("#zoom-reset")
    assert page.inner_text("#key-outside") == ""
    assert page.locator("#plane .dot").count() == 43
