"""The report and the screen of a case."""

import html
import json
import re
import warnings
from dataclasses import replace
from datetime import date
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from tests.casework.conftest import make_glass

from transvariation import load_glass
from transvariation.casework import CASE_FIELDS, judge
from transvariation.casework.decision import Group
from transvariation.report.case import case_html, case_pdf
from transvariation.report.case_appendices import mean_frame
from transvariation.report.case_figures import draw_fragments, draw_tippett, strip_svg
from transvariation.report.case_text import (
    conclusion_frame,
    format_ratio,
    group_sentence,
    note_lines,
    ratio_sentence,
    sentences,
    summary_lines,
)
from transvariation.report.console import show_case
from transvariation.report.digits import Digits
from transvariation.report.page import render
from transvariation.report.wording import headline, in_words, verdict

GLASS = load_glass()
CONTROL, RECOVERED = GLASS.control[["K", "Mg"]], GLASS.recovered[["K", "Mg"]]
HEADINGS = (
    "Conclusions",
    "Case and request",
    "Items and observations",
    "Error rates",
    "Limitations",
    "Method",
    "Signatures",
    "Appendix A: fragments",
    "Appendix B: variables",
    "Appendix C: validation of the likelihood ratio",
    "Appendix D: data and provenance",
)


@pytest.fixture(scope="module")
def case():
    pytest.importorskip("lir")
    table = make_glass(42, 5, 3, np.random.default_rng(4))
    own = table["pane"] == "P0"
    known = table[own & (table["fragment"] <= "3")]
    questioned = table[own & (table["fragment"] > "3") | (table["pane"] == "P1") & (table["fragment"] <= "2")]
    details = {"case_number": "2026/17", "laboratory": "Glass Laboratory", "examiner": "A. Smith"}
    background = table[~table["pane"].isin(["P0", "P1"])]
    return judge(known, questioned, background=background, log=True, case=details, lead="exclusion")


def _pages(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def _screen(result, width):
    console = Console(file=StringIO(), width=width)
    show_case(result, console)
    return console.file.getvalue()


def test_the_report_begins_with_the_conclusion_and_has_the_case_details(case):
    page = html.unescape(case_html(case))
    found = re.findall(r"<h2[^>]*>([^<]*)</h2>", page)
    assert tuple(found) == HEADINGS
    for words in ("2026/17", "Glass Laboratory", "A. Smith", "______", *headline(case).split(".")[:1]):
        assert words in page
    for version in ("lir: ", "transvariation: ", "scikit-learn: "):
        assert version in page
    assert "ENFSI Guideline" in page
    assert "times more probable" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"\de-\d\d", page.split("Appendix")[0])


def test_four_fragments_take_two_to_four_pages_before_the_appendices(case, monkeypatch):
    pytest.importorskip("typst")
    whole = _pages(case_pdf(case))
    monkeypatch.setattr("transvariation.report.case.lettered", lambda sections: [])
    body = _pages(case_pdf(case))
    assert 2 <= body <= 4
    assert whole > body


def test_the_pdf_has_the_text_of_the_html(case, monkeypatch):
    class Typst:
        @staticmethod
        def compile(path, root):
            return json.loads((Path(root) / "case.json").read_text())

    monkeypatch.setattr("transvariation.report.page._typst", Typst)
    content, page = case_pdf(case), html.unescape(case_html(case))
    parts = [part for section in content["sections"] for part in section["parts"]]
    words = [content["title"], content["lead"], *(section["heading"] for section in content["sections"])]
    words += [part.get("text", part.get("caption", "")) for part in parts]
    words += [item for part in parts for item in part.get("items", ())]
    words += [cell for part in parts for row in part.get("rows", ()) for cell in row if isinstance(cell, str)]
    assert all(word in page for word in words)


def test_the_same_inputs_give_the_same_report(case):
    day = date(2026, 1, 2)
    assert case_html(case, day) == case_html(case, day)
    pytest.importorskip("typst")
    assert case_pdf(case, day) == case_pdf(case, day)


def test_likelihood_ratios_are_written_in_words_and_figures(case):
    frame = conclusion_frame(case)
    assert frame["likelihood ratio"].str.contains("at most 1/|at least|^[0-9]").all()
    assert format_ratio(3.4) == "2,500"
    assert ratio_sentence(-2.0).startswith(
        "The measurements are about 100 times more probable if the fragment comes from another"
    )
    assert "equally probable" in ratio_sentence(0.001)
    assert "at least 50 times" in ratio_sentence(-1.7, "at most")


@pytest.mark.parametrize("width", [60, 120])
def test_the_screen_begins_with_the_conclusion(case, width):
    lines = _screen(case, width).splitlines()
    assert " ".join(map(str.strip, lines)).startswith(headline(case))
    assert max(map(len, lines)) <= width


def test_the_conclusion_names_the_population(case):
    words = " ".join(sentences(case.conclusions[0], case))
    assert "by 40 sources of background)" in words
    assert "than if it comes from another source of the kind in background (40 sources)" in words
    table = dict(case.inputs.background, population="float glass of the region")
    named = replace(case, inputs=replace(case.inputs, background=table))
    words = " ".join(sentences(case.conclusions[0], named))
    assert "another source of the kind float glass of the region (background, 40 sources)" in words


def test_the_ratio_leads_if_the_laboratory_says_so(case):
    led = replace(case, model=replace(case.model, lead="ratio")).at(0.9)
    for c, usual in zip(led.conclusions, case.conclusions, strict=True):
        assert sentences(c, led)[0] == sentences(usual, case)[1]  # the ratio comes first
        assert "By itself the comparison with the control would" in sentences(c, led)[1]
        assert verdict(c) == in_words(next(iter(c.log10_lr.values())))
    assert headline(led).startswith("The likelihood ratio supports a common source with the control for ")
    assert "excluded." not in headline(led)
    assert conclusion_frame(led)["conclusion"].str.contains("support").all()


def test_a_disagreement_is_explained(case):
    c = next(c for c in case.conclusions if c.accepted is False)
    odd = replace(c, log10_lr={"three_level": 0.6}, bound={}, match=None)
    moved = replace(case, conclusions=(odd,)).at(0.9)
    words = " ".join(sentences(moved.conclusions[0], moved))
    assert "The evidence disagrees: the likelihood ratio gives weak support for a common source." in words
    assert "Both can hold" in words


def test_the_headline_says_how_many_of_the_controls_own_would_be_excluded():
    many = judge(CONTROL, RECOVERED)
    assert headline(many).endswith("If all 51 came from the control's source, about 5.1 would be excluded by design.")
    together = judge(CONTROL, RECOVERED.iloc[:4], family_wise=True, sensitivity=0.8)
    assert together.model.sensitivity_used == pytest.approx(0.95)
    assert headline(together).endswith("one or more would be excluded with a probability of at most 0.2 by design.")


def test_a_joint_ratio_states_its_alternative(case):
    group = Group(
        fragments=("4", "5"), p_values={"background": 0.5}, log10_lr={"three_level": 1.2}, bound={}, accepted=True
    )
    words = group_sentence(case, group)
    assert (
        "likelihood ratio 16 that all come from the control's source, against all from one and the same source" in words
    )
    assert "source of the kind in background (40 sources) other than the control's" in words


def test_no_one_is_advised_to_exclude_a_quarter_of_the_fragments():
    words = " ".join(summary_lines(judge(CONTROL.iloc[:3], RECOVERED.iloc[:2])))
    assert "no conclusion is drawn: give a background." in words
    assert "0.75" not in words


def test_p_values_of_a_large_control_are_given_as_below_a_thousandth():
    rng = np.random.default_rng(0)
    control = pd.DataFrame(rng.normal(size=(2400, 1)), columns=["a"])
    result = judge(control, pd.DataFrame({"a": [9.0, 0.0]}))
    assert conclusion_frame(result)["p-value"].tolist()[0] == "< 0.001"
    assert "&lt; 0.001" in case_html(result)


def test_a_case_without_a_conclusion_is_reported_as_such():
    result = judge(CONTROL.iloc[:4], RECOVERED.iloc[:3])
    assert summary_lines(result)[0].startswith("No conclusion")
    assert set(conclusion_frame(result)["conclusion"]) == {"no conclusion"}
    assert "cannot be measured" in case_html(result)


def test_one_control_fragment_has_no_nominal_error_rate():
    text = case_html(judge(CONTROL.iloc[:1], RECOVERED.iloc[:1]))
    assert "1 control fragment, 1 measurement; 1 recovered fragment, 1 measurement" in text
    assert "Nominal" not in text


def test_the_report_states_what_the_conclusion_rests_on(case):
    """A background calibrates although the control alone would support the sensitivity."""
    assert "rests on the background if there is one and the control has fewer than 30 fragments" in case_html(case)


def test_a_long_table_runs_over_several_pages():
    pytest.importorskip("typst")
    rng = np.random.default_rng(0)
    names = [f"variable number {i}" for i in range(100)]
    control, one = (pd.DataFrame(rng.normal(size=(n, 100)), columns=names) for n in (30, 1))
    few = judge(control[names[:5]], one[names[:5]])
    assert _pages(case_pdf(judge(control, one))) >= _pages(case_pdf(few)) + 3


def test_markup_in_names_stays_text():
    named = RECOVERED.iloc[:3].rename(index={RECOVERED.index[0]: "<script>alert(1)</script>"})
    page = case_html(judge(CONTROL, named))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_fragments_called_as_columns_of_the_report_are():
    named = RECOVERED.iloc[:3].set_axis(["variable", "control", "conclusion"])
    page = case_html(judge(CONTROL, named))
    heads = [re.findall(r">([^<]+)</th>", head) for head in page.split("<thead>")[1:]]
    assert ["variable", "control", "variable", "control", "conclusion"] in heads


def test_names_in_the_figure_are_no_formulas_and_fit():
    odd = [f"{name} of what was found at the very bottom of the well" for name in ("K$_$", "price in $ (US$)")]
    result = judge(CONTROL.set_axis(odd, axis=1), RECOVERED.set_axis(odd, axis=1))
    figure = draw_fragments(result)
    labels = figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    assert {label.replace("\n", " ") for label in labels} == set(odd)
    render(figure, "svg")
    label = figure.axes[0].yaxis.label.get_window_extent()
    assert label.y0 >= 0
    assert label.y1 <= figure.bbox.y1


def test_characters_without_a_font_are_drawn_without_a_warning():
    names = ["日本 (%)", "\U0001e000"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        render(draw_fragments(judge(CONTROL.set_axis(names, axis=1), RECOVERED.set_axis(names, axis=1))), "svg")


def test_every_image_has_an_alternative_text(case):
    images = re.findall(r'<img alt="([^"]*)" src="data:image/svg', case_html(case))
    assert len(images) == 1 + 2 + 4 * 5
    assert all(images)


def test_recovered_fragments_are_named_in_the_figure(case):
    names = {text.get_text() for text in draw_fragments(case).axes[0].texts}
    assert names == {c.fragment for c in case.conclusions}


@pytest.mark.parametrize(("value", "mark"), [(-100.0, "M10 "), (100.0, "M250 "), (1.0, "<circle")])
def test_a_strip_marks_the_value(value, mark):
    assert mark in strip_svg([0.0, 1.0, 2.0], value, False)


def test_the_tippett_curves_start_at_one_and_end_at_zero():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    draw_tippett(ax, [1.0, 2.0], [-1.0, 0.5])
    for line in ax.lines[:2]:
        assert line.get_ydata()[0] == 1
        assert line.get_ydata()[-1] == 0


def test_labels_of_each_table_are_one_line():
    control = CONTROL.rename_axis("fragment").reset_index().assign(pane="P1", time=range(len(CONTROL)))
    recovered = RECOVERED.set_axis([f"B{i}" for i in range(len(RECOVERED))]).rename_axis("bit of glass").reset_index()
    result = judge(control, recovered)
    assert note_lines(result)[:2] == [
        "control: 'pane' taken for the source, 'time' for the order",
        "recovered: 'bit of glass' taken for the id",
    ]


def test_labels_that_were_given_are_not_noted():
    control = CONTROL.rename_axis("bit of glass").reset_index().assign(n=range(len(CONTROL)))
    result = judge(control, RECOVERED, tables={"control": {"roles": {"n": "order", "bit of glass": "id"}}})
    assert result.inputs.control["roles"]["n"] == "order"
    assert not any(line.startswith("control: ") for line in note_lines(result))


def test_appendices_are_lettered_without_a_gap():
    found = re.findall(r"<h2[^>]*>Appendix ([A-Z]):", case_html(judge(CONTROL, RECOVERED.iloc[:3])))
    assert found == ["A", "B", "C"]


def test_fields_of_the_form_are_in_the_report(case):
    details = {name: f"{label} of this case" for name, label in CASE_FIELDS.items()}
    page = html.unescape(case_html(replace(case, settings=replace(case.settings, case=details))))
    assert all(text in page for text in details.values())
    assert "The conclusions would change if Would change if of this case" in page
    assert "another source of the kind in background (40 sources)." in html.unescape(case_html(case))
    assert "were the relevant alternative" in case_html(case)


def test_conclusions_are_coloured(case):
    page = case_html(case)
    marks = {True: "for", False: "against", None: "neither"}
    found = re.findall(r'<td class="text (for|against|neither)">([^<]*)</td>', page)
    assert found == [(marks[c.outcome], verdict(c)) for c in case.conclusions]


def test_the_case_number_and_the_page_are_on_every_printed_page(case):
    number = "2026" + r"\00002f" + "17"  # a slash, escaped for a style sheet
    assert f'content: "Case{chr(92)}000020{number}"' in case_html(case)
    odd = replace(case, settings=replace(case.settings, case={"case_number": '"; } </style><script>'}))
    assert "<script>" not in case_html(odd)
    assert case_html(odd).count("</style>") == 1


def test_appendix_a_has_one_row_per_fragment_and_is_collapsed_on_screen(case):
    page = case_html(case).split("Appendix A: fragments</h2>")[1].split("</section>")[0]
    assert page.startswith('\n<label class="fold"><input type="checkbox"> Show 3 control fragments, 4 recovered')
    assert page.count("<tr>") == 3 + 4 + 2  # with two headings


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("RI", [1.5198, 1.51984, 1.5199], "1.51980"),
        ("Ca", [8.75, 8.61, 8.70], "8.75"),  # no more decimals than the table
        ("Sr", [61.237, 58.9, 70.113], "61.2"),  # a standard deviation of 6
        ("K", [512.3, 498.8, 630.1], "512"),  # of 71
        ("Fe", [0.5, 0.5], "0.5"),
    ],
)
def test_values_have_the_digits_that_their_uncertainty_supports(name, values, expected):
    control = pd.DataFrame({name: values * 4, "x": np.arange(4.0 * len(values)) + 0.25})
    digits = Digits(judge(control, control.iloc[:1]))
    assert digits.write(name, values[0]) == expected


def test_a_small_standard_deviation_is_not_written_as_zero():
    control = pd.DataFrame({"RI": [1.51981, 1.51983, 1.51982, 1.51984] * 4})
    digits = Digits(judge(control, control.iloc[:1]))
    assert digits.mean_sd("RI", [1.519820, 1.519826]) == "1.51982 ± 0.0000042"
    assert digits.mean_sd("RI", [1.51982, 1.51985]) == "1.51984 ± 0.00002"


def test_replicates_show_the_uncertainty(case):
    page = case_html(case)
    frame = mean_frame(case, case.conclusions)
    for text in frame.iloc[:, 1]:
        mean, sd = text.replace("\N{NO-BREAK SPACE}", " ").split(" ± ")
        assert len(mean.partition(".")[2]) == len(sd.partition(".")[2])
        assert text in page
