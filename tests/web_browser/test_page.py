"""The page as a person meets it, in a real browser."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.report.case_figures import strongest_variables

pytestmark = pytest.mark.browser

TWO = ("K", "Mg")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Two files of glass fragments on two variables, the recovered ones with some of the control's own kind."""
    folder, glass = tmp_path_factory.mktemp("tables"), load_glass()
    control, recovered = glass.control[list(TWO)], glass.recovered[list(TWO)]
    paths = folder / "control.csv", folder / "recovered.csv"
    control.iloc[:60].to_csv(paths[0])
    pd.concat([control.iloc[60:], recovered.iloc[::4]]).to_csv(paths[1])
    return paths


@pytest.fixture(scope="module")
def expected(tables):
    return judge(*tables)


def load(page, control, recovered):
    for role, content in (("control", control), ("recovered", recovered)):
        file = content if isinstance(content, Path) else {"name": f"{role}.csv", "mimeType": "", "buffer": content}
        page.set_input_files(f"input[name={role}]", file)
    page.click("text=Read the tables")


def judged(page, tables):
    load(page, *tables)
    page.click("#judge")
    page.wait_for_selector("#verdict:not([hidden])")


def slide(page, share):
    page.locator("#sensitivity").fill(str(share))


def verdicts(page):
    cells = page.locator("#verdicts tbody tr").evaluate_all(
        "rows => rows.map(row => [row.cells[0].innerText, row.cells[1].innerText])"
    )
    return {name: word == "accepted" for name, word in cells}


def test_the_whole_flow(page, tables, expected, tmp_path):
    load(page, *tables)
    page.wait_for_selector("#understood:not([hidden])")
    assert page.locator("#features input:checked").count() == 2
    assert "60 objects" in page.inner_text("#previews")
    assert "names the objects" in page.inner_text("#previews")
    page.click("#judge")
    page.wait_for_selector("#verdict:not([hidden])")
    assert verdicts(page) == {v.id: v.accepted for v in expected.verdicts}
    rejected = len(expected.rejected)
    assert f"{rejected} of {len(expected.verdicts)} recovered objects" in page.inner_text("#summary")
    assert expected.method_words in page.locator("#method-used").text_content()
    for kind in ("html", "pdf", "json", "csv"):
        with page.expect_download() as download:
            page.click(f"a[data-kind={kind}]")
        assert download.value.suggested_filename == f"transvariation-case.{kind}"
        download.value.save_as(tmp_path / f"case.{kind}")
    taken = json.loads((tmp_path / "case.json").read_text())
    assert [v["accepted"] for v in taken["verdicts"]] == [v.accepted for v in expected.verdicts]
    assert (tmp_path / "case.pdf").read_bytes().startswith(b"%PDF")


def test_the_slider_moves_the_verdicts_at_once(page, tables, expected):
    judged(page, tables)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    counts = set()
    for share in (0.5, 0.8, 0.95, 0.98, 0.99):
        slide(page, share)
        there = expected.at(share)
        assert verdicts(page) == {v.id: v.accepted for v in there.verdicts}
        counts.add(len(there.rejected))
    assert len(counts) > 1
    assert asked == []
    slide(page, 0.99)
    assert "0.984 is used instead" in page.inner_text("#cautions")
    assert "At a sensitivity of 98.4 % (99 % was asked for)" in page.inner_text("#summary")
    slide(page, 0.9)
    assert page.inner_text("#cautions") == ""
    assert "At a sensitivity of 90 %," in page.inner_text("#summary")


def test_the_slider_moves_clusters_together_and_apart(page, tmp_path):
    glass, paths = load_glass(), (tmp_path / "control.csv", tmp_path / "recovered.csv")
    for path, table in zip(paths, (glass.control, glass.recovered), strict=True):
        table[["Na", "Al"]].to_csv(path)
    load(page, *paths)
    page.locator("#advanced summary").click()
    page.select_option("#method", "pam")
    page.click("#judge")
    page.wait_for_selector("#verdict:not([hidden])")
    for share in (0.5, 0.97, 0.6, 0.95, 0.99):
        slide(page, share)
        there = judge(*paths, method="pam", sensitivity=share)
        assert verdicts(page) == {v.id: v.accepted for v in there.verdicts}
        shown = page.locator("#verdicts tbody tr td:nth-child(3)").all_inner_texts()
        assert [float(p) for p in shown] == pytest.approx([v.p_value for v in there.verdicts], rel=1e-3)
        assert page.locator("#cautions li").all_inner_texts() == list(there.warnings)
        assert there.coverage.guarantee in page.locator("#trust").text_content()


def test_the_verdict_is_of_the_tables_as_they_were_read_and_goes_when_the_next_begins(page, tables):
    gap = b"id,K,Mg\nA,0.5,3.5\nB,0.5,3.6\nC,,3.4\n"
    page.select_option("select[name=missing]", "drop")
    judged(page, (tables[0], gap))
    page.select_option("select[name=missing]", "impute")
    page.click("#judge")
    page.wait_for_selector("#working", state="hidden")
    page.wait_for_selector("#verdict:not([hidden])")
    assert set(verdicts(page)) == {"A", "B"}
    page.route("**/judge", lambda route: route.fulfill(status=422, json={"problems": [{"message": "It failed."}]}))
    page.click("#judge")
    page.wait_for_selector("#judge-problems li")
    assert page.is_hidden("#verdict")
    assert page.is_hidden("#take")


def test_tables_loaded_meanwhile_are_not_given_another_s_verdict(page, tables):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(8000, 8))).add_prefix("v").to_csv().encode()
    load(page, table, table[: table.index(b"\n99,") + 1])
    page.locator("#advanced summary").click()
    page.select_option("#method", "projections")
    page.click("#judge")
    page.wait_for_selector("#working:not([hidden])")
    with page.expect_response("**/cancel") as stopped:
        load(page, *tables)
    assert stopped.value.json()["state"] == "cancelled"
    page.wait_for_selector("#understood:not([hidden])")
    assert page.is_hidden("#working")
    page.select_option("#method", "tocc")
    page.click("#judge")
    page.wait_for_selector("#verdict:not([hidden])")
    assert verdicts(page) == {v.id: v.accepted for v in judge(*tables, method="tocc").verdicts}


def test_an_answer_that_comes_too_late_is_not_shown(page, tables, expected):
    """The tables change while the browser waits for the verdict on those before."""
    load(page, *tables)
    page.wait_for_selector("#understood:not([hidden])")
    late = {"state": "done", "result": expected.to_dict()}
    held = []
    page.route(re.compile(r"/api/cases/[^/]+(/judge)?$"), lambda route: held.append(route))
    page.click("#judge")
    page.wait_for_selector("#working:not([hidden])")
    page.click("#example")
    page.wait_for_selector("#understood:not([hidden])")
    held[0].fulfill(status=202, json=late)
    page.wait_for_timeout(300)
    assert page.is_hidden("#verdict")
    assert page.is_enabled("#judge")


def test_judged_again_the_sensitivity_stays_and_new_tables_begin_with_the_usual_one(page, tables, expected):
    judged(page, tables)
    slide(page, 0.7)
    page.click("#judge")
    page.wait_for_selector("#verdict", state="hidden")
    page.wait_for_selector("#verdict:not([hidden])")
    assert page.inner_text("#sensitivity-value") == "70 %"
    assert verdicts(page) == {v.id: v.accepted for v in expected.at(0.7).verdicts}
    judged(page, tables)
    assert page.inner_text("#sensitivity-value") == "90 %"


def test_what_speaks_against_an_object_is_named_whether_it_is_rejected_or_not(page, tables, expected):
    judged(page, tables)
    named = page.locator("#verdicts tbody tr").evaluate_all(
        "rows => rows.map(row => [row.cells[0].innerText, row.cells[4].innerText])"
    )
    none = {True: "", False: "none alone: their combination"}
    assert dict(named) == {v.id: ", ".join(v.deciding) or none[v.accepted] for v in expected.verdicts}
    all_the_same = next(v for v in expected.verdicts if v.accepted and v.deciding)
    page.click(f"#verdicts button:text-is('{all_the_same.id}')")
    assert ": accepted all the same, p-value" in page.inner_text("#reasons h3")


def test_the_figure_shows_the_variables_of_the_report_unless_others_were_chosen(page, tmp_path):
    rng, paths = np.random.default_rng(0), (tmp_path / "control.csv", tmp_path / "recovered.csv")
    control = pd.DataFrame(rng.normal(size=(99, 3)), columns=list("abc"))
    control.to_csv(paths[0])
    # at 90 % a and b speak against more objects, at 50 % c does
    far = [[4, 4, 0]] * 3 + [[0, 0, 1.5]] * 6
    pd.DataFrame(far, columns=list("abc")).to_csv(paths[1])
    judged(page, paths)
    there, shown = judge(*paths), []
    for share in (0.9, 0.5):
        slide(page, share)
        shown.append((page.input_value("#x"), page.input_value("#y")))
        assert shown[-1] == strongest_variables(there.at(share))
    assert shown[0] != shown[1]
    page.select_option("#x", "b")
    slide(page, 0.9)
    assert (page.input_value("#x"), page.input_value("#y")) == ("b", shown[1][1])


def test_what_is_printed_says_what_it_leaves_out(page, tables):
    names = "".join(f"R{i},{0.5 + i},3.5\n" for i in range(400))
    judged(page, (tables[0], f"id,K,Mg\n{names}".encode()))
    assert page.is_hidden("#listed")
    page.emulate_media(media="print")
    assert "the first 300 of 400 recovered objects" in page.inner_text("#listed")
    page.emulate_media(media="screen")
    page.click("#more")
    page.emulate_media(media="print")
    assert page.inner_text("#listed") == ""
    page.emulate_media(media="screen")
    page.check("#only-rejected")
    page.emulate_media(media="print")
    assert re.search(r"the first 300 of 39\d rejected objects", page.inner_text("#listed"))
    page.emulate_media(media="screen")
    page.click("#more")
    page.emulate_media(media="print")
    assert re.fullmatch(r"Listed here: rejected objects only, 39\d of 400\.", page.inner_text("#listed"))


def test_what_is_printed_has_its_headings_and_names_the_case(page, tables):
    judged(page, tables)
    assert page.is_hidden("#case")
    page.emulate_media(media="print")
    assert page.is_hidden("#verdicts thead button >> nth=0")  # Chromium would leave them blank from the second sheet on
    words = page.locator("#verdicts thead th").all_inner_texts()
    assert words == ["object", "verdict", "p-value", "tp", "speaks against it"]
    case = page.inner_text("#case")
    assert case.startswith("Control: control.csv (60 objects). Recovered: recovered.csv (")
    assert case.endswith("Method: kernel. Variables: K, Mg.")
    mark = page.locator(".key i.r")
    assert mark.evaluate("mark => getComputedStyle(mark).printColorAdjust") == "exact"


def test_the_way_back_from_an_object_that_is_not_listed(page, tables):
    judged(page, tables)
    page.check("#only-rejected")
    page.locator("#plane .dot.a").first.click(force=True)
    page.click("text=Back to the list")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Verdicts")


def test_sorting_filtering_and_reasons(page, tables, expected):
    judged(page, tables)
    page.check("#only-rejected")
    assert set(verdicts(page)) == {v.id for v in expected.rejected}
    page.click("#verdicts button[data-key=tp]")
    page.click("#verdicts button[data-key=tp]")
    tps = page.locator("#verdicts tbody tr td:nth-child(4)").all_inner_texts()
    assert [float(tp) for tp in tps] == sorted(map(float, tps), reverse=True)
    assert page.get_attribute("#verdicts th:nth-child(4)", "aria-sort") == "descending"
    name = expected.rejected[0].id
    page.get_by_label(f"{name}: show the reasons", exact=True).click()
    shown = page.locator("#reasons tbody th").all_inner_texts()
    assert shown == [reason.variable for reason in expected.rejected[0].reasons]
    assert page.locator("#reasons svg").count() == len(TWO)


def test_the_plane_names_chooses_zooms_and_moves(page, tables):
    judged(page, tables)
    dot = page.locator("#plane .dot.r").last
    dot.hover(force=True)
    assert "rejected" in page.inner_text("#hover")
    dot.click(force=True)
    assert page.inner_text("#reasons h3").startswith("Reasons for")
    before = page.locator("#plane text").all_text_contents()
    page.click("#zoom-in")
    assert page.locator("#plane text").all_text_contents() != before
    page.focus("#plane")
    for key in ("ArrowLeft", "ArrowUp", "+", "0"):
        page.keyboard.press(key)
    assert page.locator("#plane text").all_text_contents() == before
    box = page.locator("#plane").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(200)
    assert page.locator("#plane text").all_text_contents() != before


def test_the_example(page):
    page.click("#example")
    page.wait_for_selector("#understood:not([hidden])")
    assert page.locator("#features input:checked").count() == 9
    for box in page.locator("#features input").all():
        box.set_checked(box.get_attribute("value") in TWO)
    page.click("#judge")
    page.wait_for_selector("#verdict:not([hidden])")
    glass = load_glass()
    there = judge(glass.control[list(TWO)], glass.recovered[list(TWO)])
    assert verdicts(page) == {v.id: v.accepted for v in there.verdicts}


def test_a_choice_that_was_forgotten_is_asked_for_beside_it(page, tables):
    page.click("text=Read the tables")
    assert "Choose the control table" in page.inner_text("#control-problems")
    assert "Choose the recovered table" in page.inner_text("#recovered-problems")
    page.set_input_files("input[name=control]", tables[0])
    assert page.inner_text("#control-problems") == ""
    page.set_input_files("input[name=recovered]", tables[1])
    page.click("text=Read the tables")
    page.wait_for_selector("#understood:not([hidden])")
    for box in page.locator("#features input").all():
        box.uncheck()
    page.click("#judge")
    assert "Tick at least one variable" in page.inner_text("#judge-problems")


def test_problems_stand_below_their_table_and_are_marked_in_it(page, tables, screenshot):
    load(page, tables[0], b"id,K,Mg\nA,0.5,3.5\nB,oops,3.6\nC,,3.4\n")
    page.wait_for_selector("#recovered-problems li")
    assert page.inner_text("#control-problems") == ""
    words = page.locator("#recovered-problems li").all_inner_texts()
    assert words[0].startswith("row 3, column K:")
    assert "Missing values" in words[1]
    assert "missing=" not in words[1]
    marked = page.locator("#recovered-problems td.marked")
    assert marked.count() == 2
    assert "oops" in marked.first.inner_text()
    screenshot(page, "problems")
    page.select_option("select[name=missing]", "drop")
    load(page, tables[0], b"id,K,Mg\nA,0.5,3.5\nB,0.5,3.6\nC,,3.4\n")
    page.wait_for_selector("#understood:not([hidden])")
    assert "object 'C' left out" in page.inner_text("#previews")


def test_the_decimal_mark_is_chosen_where_a_table_does_not_tell(page, screenshot):
    lines = [f"F{i};1,{515 + i % 9};13,{600 + 7 * i}\n" for i in range(30)]
    tables = [("id;RI;Na\n" + "".join(part)).encode() for part in (lines[5:], lines[:5])]
    load(page, *tables)
    page.wait_for_selector("#recovered-problems li")
    assert "under “Decimal mark”" in page.inner_text("#control-problems")
    screenshot(page, "decimal-mark")
    for role in ("Control", "Recovered"):
        page.get_by_role("group", name=f"{role} table").get_by_label("Decimal mark").select_option(",")
    judged(page, tables)
    assert "1.515" in page.inner_text("#previews")
    assert "read with the comma as decimal mark" in page.inner_text("#previews")
    assert len(verdicts(page)) == 5


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7", b"\x00\x01", b"a,b\n1,2\n"])
def test_what_is_no_fitting_table_is_refused_in_words(page, tables, content):
    load(page, tables[0], content)
    page.wait_for_selector(".problems li")
    assert page.locator(".problems li").first.inner_text()
    assert page.is_hidden("#understood")


def test_markup_in_a_table_stays_text(page):
    evil = "<img src=x onerror=document.title=1>"
    rows = "".join(f"{evil}{i},{i},{i % 7}\n" for i in range(30))
    load(page, f"id,{evil},K\n{rows}".encode(), f"id,{evil},K\n{evil},1,99\n".encode())
    page.click("#judge")
    page.wait_for_selector("#verdict:not([hidden])")
    page.click("#verdicts tbody button")
    assert evil in page.inner_text("#reasons")
    assert page.locator("main img").count() == 0
    assert page.title() != "1"


def test_a_long_fit_shows_progress_and_can_be_cancelled(page, screenshot):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(8000, 8))).add_prefix("v").to_csv().encode()
    load(page, table, table[: table.index(b"\n99,") + 1])
    page.wait_for_selector("#understood:not([hidden])")
    page.locator("#advanced summary").click()
    page.select_option("#method", "projections")
    page.click("#judge")
    page.get_by_text(re.compile(r"comparing the objects, [1-9]\d* s")).wait_for()
    assert page.is_visible("progress")
    screenshot(page, "running", full=False)
    other = page.context.new_page()
    assert other.goto(page.url).status == 200  # others are answered meanwhile
    other.close()
    page.click("#cancel")
    page.wait_for_selector("#working", state="hidden")
    assert "Stopped" in page.inner_text("#judged")
    assert page.is_enabled("#judge")


def test_by_keyboard_alone(page):
    def reach(wanted, key="Tab"):
        for _ in range(60):
            page.keyboard.press(key)
            if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
                return
        raise AssertionError(f"{wanted} cannot be reached by {key}")

    reach(".skip")
    reach("input[name=control]")
    reach("#example")
    page.keyboard.press("Enter")
    page.wait_for_selector("#understood:not([hidden])")
    reach("#features input[value=RI]")
    page.keyboard.press("Space")
    reach("#advanced summary")
    page.keyboard.press("Enter")
    reach("#judge")
    page.keyboard.press("Enter")
    page.wait_for_selector("#verdict:not([hidden])")
    reach("#sensitivity")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#sensitivity-value") == "89 %"
    reach("#only-rejected")
    page.keyboard.press("Space")
    reach("button[data-key=p_value]")
    page.keyboard.press("Enter")
    reach("#verdicts tbody button")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent").startswith("Reasons for")
    first = page.inner_text("#verdicts tr.on button")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == first
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    second = page.inner_text("#verdicts tr.on button")
    assert second != first
    reach("#reasons button")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == second
    page.keyboard.press("Enter")
    reach("a[data-kind=csv]")
    with page.expect_download():
        page.keyboard.press("Enter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_hinders_a_screen_reader(open_page, tables, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    # The browser's test tool, not the page, brings a script in; the page's policy would rightly refuse it.
    page = open_page(scheme, bypass_csp=True)
    _sound(axe, page)
    load(page, tables[0], b"id,K,Mg\nA,0.5,oops\n")
    page.wait_for_selector("#recovered-problems li")
    _sound(axe, page)
    judged(page, tables)
    for summary in page.locator("summary").all():
        summary.click()
    page.click("#verdicts tbody button")
    _sound(axe, page)


def _sound(axe, page):
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["phone", "tablet", "wide"])
def test_screenshots(open_page, screenshot, folder, scheme, width):
    page = open_page(scheme, width)
    page.click("#example")
    page.wait_for_selector("#understood:not([hidden])")
    for box in page.locator("#features input").all():
        box.set_checked(box.get_attribute("value") in TWO)
    page.click("#judge")
    page.wait_for_selector("#verdict:not([hidden])")
    slide(page, 0.8)
    page.click("#verdicts tbody tr:first-child button")
    screenshot(page, f"{width}-{scheme}")
    wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    assert not wide, "the page is wider than the window"
    clipped = page.evaluate(
        """() => { const box = document.getElementById('plane').getBoundingClientRect();
        return [...document.querySelectorAll('#plane text')].filter(text => { const at = text.getBoundingClientRect();
        return at.left < box.left || at.right > box.right || at.bottom > box.bottom; })
        .map(text => text.textContent); }"""
    )
    assert clipped == []
    if scheme == "light" and width == "wide":
        page.emulate_media(media="print")
        screenshot(page, "print")
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 1100, "height": 900})
        box = page.locator("#verdict").bounding_box()
        top = box["y"] + page.evaluate("scrollY")
        clip = {"x": 0, "y": top - 12, "width": 1100, "height": box["height"] + 24}
        page.screenshot(path=folder / "page.png", full_page=True, clip=clip)  # the picture in the README


def test_every_tick_is_a_round_number(page, tables):
    judged(page, tables)
    for _ in range(4):
        labels = [t for t in page.locator("#plane text").all_text_contents() if re.fullmatch(r"-?\d+(\.\d+)?", t)]
        assert len(labels) >= 6
        assert all(len(label.lstrip("-").replace(".", "")) <= 5 for label in labels)
        page.click("#zoom-in")
