"""The report and the screen of a case."""

import html
import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import told

from transvariation import load_glass
from transvariation.casework import CASE_FIELDS, judge
from transvariation.report.case import case_document
from transvariation.report.case_text import conclusion_frame, fact_lines
from transvariation.report.wording.statements import headline, verdict

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


def _pages(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_the_report_begins_with_the_conclusion_and_has_the_case_details(case):
    page = html.unescape(case_document(case).html())
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
    whole = _pages(case_document(case).pdf())
    monkeypatch.setattr("transvariation.report.case.lettered", lambda sections: [])
    body = _pages(case_document(case).pdf())
    assert 2 <= body <= 4
    assert whole > body


def test_the_pdf_has_the_text_of_the_html(case, monkeypatch):
    class Typst:
        @staticmethod
        def compile(path, root):
            return json.loads((Path(root) / "case.json").read_text())

    monkeypatch.setattr("transvariation.report.page._typst", Typst)
    content, page = case_document(case).pdf(), html.unescape(case_document(case).html())
    parts = [part for section in content["sections"] for part in section["parts"]]
    words = [content["title"], content["lead"], *(section["heading"] for section in content["sections"])]
    words += [part.get("text", part.get("caption", "")) for part in parts]
    words += [item for part in parts for item in part.get("items", ())]
    words += [cell for part in parts for row in part.get("rows", ()) for cell in row if isinstance(cell, str)]
    assert all(word in page for word in words)


def test_the_same_inputs_give_the_same_report(case):
    day = date(2026, 1, 2)
    assert case_document(case, day).html() == case_document(case, day).html()
    pytest.importorskip("typst")
    assert case_document(case, day).pdf() == case_document(case, day).pdf()


def test_the_headline_says_how_many_of_the_controls_own_would_be_excluded():
    many = judge(CONTROL, RECOVERED)
    assert headline(many).endswith("If all 51 came from the control's source, about 5.1 would be excluded by design.")
    together = judge(CONTROL, RECOVERED.iloc[:4], family_wise=True, sensitivity=0.8)
    assert together.model.sensitivity_used == pytest.approx(0.95)
    assert headline(together).endswith("one or more would be excluded with a probability of at most 0.2 by design.")


def test_no_one_is_advised_to_exclude_a_quarter_of_the_fragments():
    words = " ".join(told(judge(CONTROL.iloc[:3], RECOVERED.iloc[:2])))
    assert "no conclusion is drawn: give a background." in words
    assert "0.75" not in words


def test_p_values_of_a_large_control_are_given_as_below_a_thousandth():
    rng = np.random.default_rng(0)
    control = pd.DataFrame(rng.normal(size=(2400, 1)), columns=["a"])
    result = judge(control, pd.DataFrame({"a": [9.0, 0.0]}))
    assert conclusion_frame(result)["p-value"].tolist()[0] == "< 0.001"
    assert "&lt; 0.001" in case_document(result).html()


def test_a_case_without_a_conclusion_is_reported_as_such():
    result = judge(CONTROL.iloc[:4], RECOVERED.iloc[:3])
    assert told(result)[0].startswith("No conclusion")
    assert set(conclusion_frame(result)["conclusion"]) == {"no conclusion"}
    assert "cannot be measured" in case_document(result).html()


def test_one_control_fragment_has_no_nominal_error_rate():
    text = case_document(judge(CONTROL.iloc[:1], RECOVERED.iloc[:1])).html()
    assert "1 control fragment, 1 measurement; 1 recovered fragment, 1 measurement" in text
    assert "Nominal" not in text


def test_the_report_states_what_the_conclusion_rests_on(case):
    """A background calibrates although the control alone would support the sensitivity."""
    assert (
        "rests on the background if there is one and the control has fewer than 30 fragments"
        in case_document(case).html()
    )


def test_fragments_called_as_columns_of_the_report_are():
    named = RECOVERED.iloc[:3].set_axis(["variable", "control", "conclusion"])
    page = case_document(judge(CONTROL, named)).html()
    heads = [re.findall(r">([^<]+)</th>", head) for head in page.split("<thead>")[1:]]
    assert ["variable", "control", "variable", "control", "conclusion"] in heads


def test_fields_of_the_form_are_in_the_report(case):
    details = {name: f"{label} of this case" for name, label in CASE_FIELDS.items()}
    page = html.unescape(case_document(replace(case, settings=replace(case.settings, case=details))).html())
    assert all(text in page for text in details.values())
    assert "The conclusions would change if Would change if of this case." in page
    assert "another source of the kind in background (40 sources)." in html.unescape(case_document(case).html())
    assert "were the relevant alternative" in case_document(case).html()


def test_conclusions_are_colored(case):
    page = case_document(case).html()
    marks = {True: "for", False: "against", None: "neither"}
    found = re.findall(r'<td class="text (for|against|neither)">([^<]*)</td>', page)
    assert found == [(marks[c.outcome], verdict(c)) for c in case.conclusions]


def test_the_monte_carlo_error_is_in_every_output(case):
    bases = case.model.bases
    assert bases["background"].monte_carlo_error == 0  # every division of the 40 sources is compared
    drawn = replace(bases["background"], monte_carlo_error=0.0042)
    case = replace(case, model=replace(case.model, bases={**bases, "background": drawn}))
    words = "Monte Carlo error, from the draws of background fragments: at most 0.004 in the p-values"
    assert words in html.unescape(case_document(case).html())
    assert words in " ".join(fact_lines(case))
