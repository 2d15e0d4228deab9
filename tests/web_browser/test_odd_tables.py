"""Tables that are hard to show: extreme numbers, long names, other decimal marks, several sheets."""

import io
import re
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from tests.web_browser.actions import (
    is_too_wide,
    judge_tables,
    misplaced_texts,
    press_judge,
    press_read,
    read,
    select_axis,
    set_option,
    show_reasons,
)

from transvariation import load_glass

pytestmark = pytest.mark.browser


def normal(n, names="ab", seed=0, **moments):
    drawn = np.random.default_rng(seed).normal(*moments.values(), size=(n, len(names)))
    return pd.DataFrame(drawn, columns=list(names), index=[f"F{i}" for i in range(n)])


def test_values_equal_up_to_rounding_share_a_tick(page):
    control = normal(40).assign(total=np.where(np.arange(40) % 2, 100.0, np.nextafter(100, 101)))
    judge_tables(page, control, normal(5, seed=1).assign(total=100.0))
    select_axis(page, "x", "total")
    labels = page.locator("#plane text").all_text_contents()
    assert {"90", "100", "110"} <= set(labels)


def test_zoom_is_limited(page):
    judge_tables(page, normal(40), normal(5, seed=1))
    page.focus("#plane")
    for key in "+0-":
        for _ in range(150):
            page.keyboard.press(key)
        labels = page.locator("#plane text").all_text_contents()
        assert len(labels) > 6
        assert not any("NaN" in label or "Infinity" in label for label in labels)


def test_labels_of_ticks_differ(page):
    cases = [
        (4e-15, 1.05e-14, 0, ["4e-15", "6e-15", "8e-15", "1.0e-14"]),
        (1e12 - 2.5, 1e12 + 2.5, 1e12, ["-2", "-1", "0", "1", "2"]),
        (-1e12 - 2.5, -1e12 + 2.5, -1e12, ["-2", "-1", "0", "1", "2"]),
        (9.65e11, 1.035e12, 0, ["9.8e11", "1.00e12", "1.02e12"]),
        (1.51596, 1.51654, 0, ["1.5160", "1.5161", "1.5162", "1.5163", "1.5164", "1.5165"]),
        (1.5179999, 1.51800105, 1.518, ["0", "2e-7", "4e-7", "6e-7", "8e-7", "1.0e-6"]),
        (-0.5, 0.5, 0, ["-0.4", "-0.2", "0.0", "0.2", "0.4"]),
        (90, 110, 0, ["90", "95", "100", "105", "110"]),
        (-1e200, 1.05e300, 0, ["0", "2e299", "4e299", "6e299", "8e299", "1.0e300"]),
    ]
    for low, high, offset, labels in cases:
        found = page.evaluate("async range => (await import('/static/axes.js')).ticks(range, 6)", [low, high])
        assert found["offset"] == pytest.approx(offset, rel=1e-12)
        assert [mark["label"] for mark in found["marks"]] == labels


@pytest.mark.parametrize(("mean", "spread"), [(5e-15, 1e-15), (1e12, 1), (1e12, 1e10), (-1e-7, 1e-10)])
def test_axes_of_extreme_numbers_fit(open_page, mean, spread):
    page = open_page(width="phone")  # the labels are largest there
    judge_tables(page, normal(40, loc=mean, scale=spread), normal(5, seed=1, loc=mean + 3 * spread, scale=spread))
    assert misplaced_texts(page) == []
    assert page.locator("#plane .dot").count() == 45
    assert any(text == "a − 1e12" for text in page.locator("#plane text").all_text_contents()) == (spread == 1)


@pytest.mark.parametrize("width", ["phone", "wide"])
def test_long_names_break_nothing(open_page, screenshot, width):
    page = open_page(width=width)
    names = ["concentration of potassium oxide in the outermost layer of the fragment, by ICP-MS", "x" * 113]
    ids = [f"a fragment with a name of many words, number {i}, from the left sleeve" for i in range(4)] + ["y" * 80]
    theirs = pd.DataFrame(np.full((5, 2), 4.0), columns=names, index=ids)
    judge_tables(page, normal(40).set_axis(names, axis=1), theirs)
    show_reasons(page)
    screenshot(page, f"long-names-{width}")
    assert not is_too_wide(page)
    word = page.locator("#conclusions tbody .word").first.bounding_box()
    seen = page.locator(".scroll:has(#conclusions)").bounding_box()
    assert word["x"] + word["width"] <= seen["x"] + seen["width"]
    titles = page.locator("#plane text:has(title)")
    assert titles.locator("title").all_text_contents() == [page.input_value("#x"), page.input_value("#y")]
    assert misplaced_texts(page) == []


def test_median_of_an_even_number_of_values_is_interpolated(page):
    control = pd.DataFrame({"a": np.arange(10.0)})
    judge_tables(page, control, pd.DataFrame({"a": [4.5]}))
    show_reasons(page)
    drawn = unquote(page.get_attribute("img.strip", "src"))
    at = re.search('circle cx="([0-9.]+)"', drawn)[1]
    assert f"M{at} 3V23" in drawn


def test_each_table_has_its_own_decimal_mark(page):
    lines = [f"F{i};1,{515 + i % 9};13,{600 + 7 * i}\n" for i in range(30)]
    control = ("id;RI;Na\n" + "".join(lines)).encode()
    recovered = b"id,RI,Na\nA,1.523,13.771\nB,1.518,13.677\n"
    read(page, control, recovered)
    assert "choose the comma under “Decimal mark”" in page.inner_text("#control-problems")
    assert page.inner_text("#recovered-problems") == ""
    set_option(page, "control-decimal", ",")
    judge_tables(page, control, recovered)
    assert "13.621" in page.text_content("#previews")
    assert "13.771" in page.text_content("#previews")


def test_what_the_numbers_in_names_count_is_chosen(page):
    rows = [f"K{i}-{j},{1.5 + i / 100 + j / 1000},{13 + i / 10}\n" for i in range(1, 11) for j in (1, 2)]
    control, recovered = ("id,RI,Na\n" + "".join(rows)).encode(), b"id,RI,Na\nA,1.523,13.771\n"
    read(page, control, recovered)
    assert "choose one under “Numbered names”" in page.inner_text("#control-problems")
    set_option(page, "control-numbered_names", "replicates")
    read(page, control, recovered)
    assert "10 fragments, 20 rows" in page.inner_text("#previews")


def test_sheets_of_one_workbook_are_chosen(page, screenshot):
    glass, book = load_glass(), io.BytesIO()
    with pd.ExcelWriter(book) as writer:
        for title, table in (("windows", glass.control), ("others", glass.recovered)):
            table[["K", "Mg"]].to_excel(writer, sheet_name=title)
    sheet = page.get_by_label("Sheet of the recovered table")
    assert sheet.is_hidden()
    read(page, book.getvalue(), book.getvalue(), ending="xlsx")
    assert "are the same" in page.inner_text("#doubts")
    assert "choose one for each table" in page.inner_text("#doubts")
    screenshot(page, "sheets")
    sheet.select_option("others")
    press_read(page)
    page.get_by_text("51 rows, each a fragment").wait_for()
    assert sheet.input_value() == "others"
    assert page.inner_text("#doubts") == ""
    press_judge(page)
    assert page.locator("#conclusions tbody tr").count() == 51
    page.set_input_files("input[name=recovered]", {"name": "x.csv", "mimeType": "", "buffer": b"id,K,Mg\nA,1,2\n"})
    assert sheet.is_hidden()
