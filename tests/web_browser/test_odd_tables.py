"""Tables that are hard to show: of extreme numbers, long names, other marks, several sheets."""

import io

import numpy as np
import pandas as pd
import pytest

from transvariation import load_glass

pytestmark = pytest.mark.browser


def read(page, control, recovered, ending="csv"):
    for role, content in (("control", control), ("recovered", recovered)):
        table = content if isinstance(content, bytes) else content.to_csv(index_label="id").encode()
        page.set_input_files(f"input[name={role}]", {"name": f"{role}.{ending}", "mimeType": "", "buffer": table})
    page.click("text=Read the tables")
    page.wait_for_selector("#understood:not([hidden]), .problems li")


def judged(page, control, recovered, **options):
    read(page, control, recovered, **options)
    page.click("#judge")
    page.wait_for_selector("#verdict:not([hidden])")


def normal(n, names="ab", seed=0, **moments):
    drawn = np.random.default_rng(seed).normal(*moments.values(), size=(n, len(names)))
    return pd.DataFrame(drawn, columns=list(names), index=[f"F{i}" for i in range(n)])


def test_rounding_is_shown_as_one_value(page):
    control = normal(40).assign(total=np.where(np.arange(40) % 2, 100.0, np.nextafter(100, 101)))
    judged(page, control, normal(5, seed=1).assign(total=100.0))
    page.select_option("#x", "total")
    labels = page.locator("#plane text").all_text_contents()
    assert {"90", "100", "110"} <= set(labels)


@pytest.mark.parametrize("key", ["+", "-"])
def test_zooming_has_an_end(page, key):
    judged(page, normal(40), normal(5, seed=1))
    page.focus("#plane")
    for _ in range(150):
        page.keyboard.press(key)
    labels = page.locator("#plane text").all_text_contents()
    assert len(labels) > 6
    assert not any("NaN" in label or "Infinity" in label for label in labels)


@pytest.mark.parametrize(
    ("low", "high", "offset", "labels"),
    [
        (4e-15, 1.05e-14, 0, ["4e-15", "6e-15", "8e-15", "1.0e-14"]),
        (1e12 - 2.5, 1e12 + 2.5, 1e12, ["-2", "-1", "0", "1", "2"]),
        (-1e12 - 2.5, -1e12 + 2.5, -1e12, ["-2", "-1", "0", "1", "2"]),
        (9.65e11, 1.035e12, 0, ["9.8e11", "1.00e12", "1.02e12"]),
        (1.51596, 1.51654, 0, ["1.5160", "1.5161", "1.5162", "1.5163", "1.5164", "1.5165"]),
        (1.5179999, 1.51800105, 1.518, ["0", "2e-7", "4e-7", "6e-7", "8e-7", "1.0e-6"]),
        (-0.5, 0.5, 0, ["-0.4", "-0.2", "0.0", "0.2", "0.4"]),
        (90, 110, 0, ["90", "95", "100", "105", "110"]),
        (-1e200, 1.05e300, 0, ["0", "2e299", "4e299", "6e299", "8e299", "1.0e300"]),
    ],
)
def test_labels_tell_ticks_apart(page, low, high, offset, labels):
    found = page.evaluate("async range => (await import('/static/axes.js')).ticks(range, 6)", [low, high])
    assert found["offset"] == pytest.approx(offset, rel=1e-12)
    assert [mark["label"] for mark in found["marks"]] == labels


@pytest.mark.parametrize("width", ["phone", "wide"])
@pytest.mark.parametrize(("mean", "spread"), [(5e-15, 1e-15), (1e12, 1), (1e12, 1e10), (-1e-7, 1e-10)])
def test_axes_of_extreme_numbers_are_whole(open_page, mean, spread, width):
    page = open_page(width=width)
    judged(page, normal(40, loc=mean, scale=spread), normal(5, seed=1, loc=mean + 3 * spread, scale=spread))
    assert conformal_threshold(page) == []
    assert page.locator("#plane .dot").count() == 45
    assert any(text == "a − 1e12" for text in page.locator("#plane text").all_text_contents()) == (spread == 1)


def conformal_threshold(page):
    """Texts of the figure that do not fit into it, or lie on each other."""
    return page.evaluate(
        """() => { const box = document.getElementById('plane').getBoundingClientRect();
        const texts = [...document.querySelectorAll('#plane text')].map(t => ({ t, at: t.getBoundingClientRect() }));
        const out = (a) => a.left < box.left || a.right > box.right || a.bottom > box.bottom || a.top < box.top;
        const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
        return texts.filter(({ at }, i) => out(at) || texts.some((u, j) => j < i && !apart(at, u.at)))
        .map(({ t }) => t.textContent); }"""
    )


@pytest.mark.parametrize("width", ["phone", "tablet", "wide"])
def test_long_names_break_nothing(open_page, screenshot, width):
    page = open_page(width=width)
    names = ["concentration of potassium oxide in the outermost layer of the fragment, by ICP-MS", "x" * 113]
    ids = [f"a fragment with a name of many words, number {i}, from the left sleeve" for i in range(4)] + ["y" * 80]
    theirs = pd.DataFrame(np.full((5, 2), 4.0), columns=names, index=ids)
    judged(page, normal(40).set_axis(names, axis=1), theirs)
    page.click("#verdicts tbody button")
    screenshot(page, f"long-names-{width}")
    assert not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    word = page.locator("#verdicts tbody .word").first.bounding_box()
    seen = page.locator(".scroll:has(#verdicts)").bounding_box()
    assert word["x"] + word["width"] <= seen["x"] + seen["width"]
    titles = page.locator("#plane text:has(title)")
    assert titles.locator("title").all_text_contents() == [page.input_value("#x"), page.input_value("#y")]
    assert conformal_threshold(page) == []


def test_a_small_tp_is_told_from_a_smaller_one(page):
    judged(page, normal(40), normal(3, seed=1, loc=0, scale=9))
    tps = page.locator("#verdicts tbody tr td:nth-child(4)").all_inner_texts()
    assert all(float(tp) > 0 for tp in tps)
    assert len(set(tps)) == 3


def test_the_middle_of_an_even_number_lies_between_two(page):
    control = pd.DataFrame({"a": np.arange(10.0)})
    judged(page, control, pd.DataFrame({"a": [4.5]}))
    page.click("#verdicts tbody button")
    middle, mark = page.get_attribute(".strip .middle", "d"), page.locator(".strip .in")
    assert middle == f"M{float(mark.get_attribute('cx')):.1f} 3V23"


def test_each_table_has_its_own_decimal_mark(page):
    lines = [f"F{i};1,{515 + i % 9};13,{600 + 7 * i}\n" for i in range(30)]
    control = ("id;RI;Na\n" + "".join(lines)).encode()
    recovered = b"id,RI,Na\nA,1.523,13.771\nB,1.518,13.677\n"
    read(page, control, recovered)
    assert "choose the comma under “Decimal mark”" in page.inner_text("#control-problems")
    assert page.inner_text("#recovered-problems") == ""
    page.get_by_role("group", name="Control table").get_by_label("Decimal mark").select_option(",")
    judged(page, control, recovered)
    assert "13.621" in page.inner_text("#previews")
    assert "13.771" in page.inner_text("#previews")


def test_sheets_of_one_workbook_are_chosen(page, screenshot):
    glass, book = load_glass(), io.BytesIO()
    with pd.ExcelWriter(book) as writer:
        for title, table in (("windows", glass.control), ("others", glass.recovered)):
            table[["K", "Mg"]].to_excel(writer, sheet_name=title)
    sheet = page.get_by_role("group", name="Recovered table").get_by_label("Sheet")
    assert sheet.is_hidden()
    read(page, book.getvalue(), book.getvalue(), ending="xlsx")
    assert "are the same" in page.inner_text("#doubts")
    assert "under “Sheet”" in page.inner_text("#doubts")
    screenshot(page, "sheets")
    sheet.select_option("others")
    page.click("text=Read the tables")
    page.get_by_text("51 objects").wait_for()
    assert sheet.input_value() == "others"
    assert page.inner_text("#doubts") == ""
    page.click("#judge")
    page.wait_for_selector("#verdict:not([hidden])")
    assert page.locator("#verdicts tbody tr").count() == 51
    page.set_input_files("input[name=recovered]", {"name": "x.csv", "mimeType": "", "buffer": b"id,K,Mg\nA,1,2\n"})
    assert sheet.is_hidden()
