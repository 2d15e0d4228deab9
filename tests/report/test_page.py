"""Pages: markup stays text, images have alternative texts, every printed page is numbered."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.report.case import case_document

GLASS = load_glass()


CONTROL, RECOVERED = GLASS.control[["K", "Mg"]], GLASS.recovered[["K", "Mg"]]


def _pages(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_a_long_table_runs_over_several_pages():
    pytest.importorskip("typst")
    rng = np.random.default_rng(0)
    names = [f"variable number {i}" for i in range(100)]
    control, one = (pd.DataFrame(rng.normal(size=(n, 100)), columns=names) for n in (30, 1))
    few = judge(control[names[:5]], one[names[:5]])
    assert _pages(case_document(judge(control, one)).pdf()) >= _pages(case_document(few).pdf()) + 3


def test_markup_in_names_stays_text():
    named = RECOVERED.iloc[:3].rename(index={RECOVERED.index[0]: "<script>alert(1)</script>"})
    page = case_document(judge(CONTROL, named)).html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_every_image_has_an_alternative_text(case):
    images = re.findall(r'<img alt="([^"]*)" src="data:image/svg', case_document(case).html())
    assert len(images) == 1 + 2 + 4 * 5
    assert all(images)


def test_the_case_number_and_the_page_are_on_every_printed_page(case):
    number = "2026" + r"\00002f" + "17"  # a slash, escaped for a style sheet
    assert f'content: "Case{chr(92)}000020{number}"' in case_document(case).html()
    odd = replace(case, settings=replace(case.settings, case={"case_number": '"; } </style><script>'}))
    assert "<script>" not in case_document(odd).html()
    assert case_document(odd).html().count("</style>") == 1
