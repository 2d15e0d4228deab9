"""What the report of a case shows: the same on the screen, in HTML and in PDF, whatever the tables hold."""

import html
import json
import re
import warnings
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.casework.likelihood_ratio import LikelihoodRatio, in_words
from transvariation.report.case import case_html, case_pdf, plane
from transvariation.report.console import case_table, summary_lines
from transvariation.report.page import render
from transvariation.report.tables import verdict_frame

GLASS = load_glass()
CONTROL, RECOVERED = GLASS.control[["K", "Mg"]], GLASS.recovered[["K", "Mg"]]


def _screen(result):
    console = Console(file=StringIO(), width=200)
    console.print(case_table(result))
    return console.file.getvalue()


def _pages(pdf):
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.fixture(scope="module")
def replicates():
    return judge(CONTROL, RECOVERED.iloc[:6].reset_index(drop=True).assign(source=list("AAABBB")))


def test_a_long_table_of_reasons_runs_over_several_pages():
    pytest.importorskip("typst")
    rng = np.random.default_rng(0)
    names = [f"variable number {i}" for i in range(100)]
    control, one = (pd.DataFrame(rng.normal(size=(n, 100)), columns=names) for n in (30, 1))
    few = judge(control[names[:5]], one[names[:5]])
    assert _pages(case_pdf(judge(control, one))) >= _pages(case_pdf(few)) + 3


def test_the_pdf_says_what_the_html_says(monkeypatch):
    class Typst:
        @staticmethod
        def compile(path, root):
            return json.loads((Path(root) / "case.json").read_text())

    monkeypatch.setattr("transvariation.report.case._typst", Typst)
    result = judge(CONTROL, pd.concat([RECOVERED, CONTROL.iloc[:20]]))
    told, page = case_pdf(result), html.unescape(case_html(result))
    parts = [part for section in told["sections"] for part in section["parts"]]
    words = [told["title"], told["lead"], *(section["heading"] for section in told["sections"])]
    words += [part.get("text", part.get("caption")) for part in parts]
    words += [cell for part in parts for row in part.get("rows", ()) for cell in row if isinstance(cell, str)]
    assert all(word in page for word in words)
    for sentence in ("11 more objects are in the JSON file only.", "tp by counting: ", "its p-value exceeds 0.1: "):
        assert any(sentence in word for word in words)
    assert any(word.startswith("Threshold counted from 87 objects") for word in words)


def test_the_source_stands_beside_its_replicates(replicates):
    assert verdict_frame(replicates)["source"].tolist() == list("AAABBB")
    assert re.search(r"B \(row 5\) +│ B ", _screen(replicates))
    assert "B (row 5), source B: rejected" in case_html(replicates)
    assert (
        "Objects are named by column 'fragment' in the control, by column 'source' in the recovered."
        in summary_lines(replicates)[1]
    )
    numbered = RECOVERED.iloc[:4].reset_index(drop=True).assign(source=list("AABB"), replicate=[1, 2, 1, 2])
    assert "by source and replicate in the recovered." in summary_lines(judge(CONTROL, numbered))[1]
    assert "source" not in verdict_frame(judge(CONTROL, RECOVERED))


def test_which_are_named_foreign_is_told_apart_from_the_verdicts(replicates):
    glass = judge(GLASS.control, GLASS.recovered, sensitivity=0.95)
    table = verdict_frame(glass)
    assert table.loc[table["named foreign"] == "yes", "object"].tolist() == list(glass.selected)
    assert (table["verdict"] == "rejected").sum() < len(glass.selected)
    told = next(line for line in summary_lines(glass) if line.startswith("Named foreign"))
    assert f"{len(glass.selected)} of 51 objects" in told
    assert "may differ from the verdicts" in told
    assert " of 2 sources. " in "".join(summary_lines(replicates))
    assert "named foreign" not in verdict_frame(judge(CONTROL, RECOVERED.iloc[:1]))


def test_a_small_p_value_is_not_nothing():
    rng = np.random.default_rng(0)
    control = pd.DataFrame(rng.normal(size=(2400, 1)), columns=["a"])
    result = judge(control, pd.DataFrame({"a": [9.0, 0.0]}))
    small = f"{result.verdicts[0].p_value:.3g}"
    assert small == "0.000416"
    assert f"<td>{small}</td>" in case_html(result)
    assert small in _screen(result)
    assert verdict_frame(result)["p-value"].tolist() == [verdict.p_value for verdict in result.verdicts]


def test_a_small_tp_is_not_nothing():
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(40)]
    control = pd.DataFrame(rng.normal(size=(100, 40)), columns=names)
    result = judge(control, pd.DataFrame(rng.normal(size=(3, 40)), columns=names))
    tps = [verdict.tp for verdict in result.verdicts]
    assert 0 < min(tps) < 5e-4
    assert all(f"<td>{tp:.3g}</td>" in case_html(result) for tp in tps)


@pytest.mark.parametrize(("share", "told"), [(0.875, "87.5%"), (0.98, "98%"), (0.9, "90%")])
def test_the_sensitivity_is_told_as_it_was_asked_for(share, told):
    result = judge(GLASS.control[["K"]], GLASS.recovered[["K"]], sensitivity=share)
    assert f"judged by 1 variable of 87 control objects, to accept {told} of their like" in summary_lines(result)[0]


def test_either_likelihood_ratio_has_its_own_words(replicates):
    ratio = LikelihoodRatio("A", 3.22, 2.74, in_words(3.22), in_words(2.74))
    weighed = replace(
        replicates, likelihood_ratios=(ratio,), likelihood_bounds={"two_level": (-2, 4), "score_based": (-2, 3)}
    )
    assert (
        "A: log10 likelihood ratio 3.22 (two-level), strong support for a common source; "
        "2.74 (from tp), moderately strong support for a common source." in summary_lines(weighed)
    )


def test_names_in_the_figure_are_no_formulas_and_fit():
    odd = [f"{name} of what was found at the very bottom of the well" for name in ("K$_$", "price in $ (US$)")]
    result = judge(CONTROL.set_axis(odd, axis=1), RECOVERED.set_axis(odd, axis=1))
    figure = plane(result)
    labels = figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    assert {label.replace("\n", " ") for label in labels} == set(odd)
    render(figure, "svg")
    label = figure.axes[0].yaxis.label.get_window_extent()
    assert label.y0 >= 0
    assert label.y1 <= figure.bbox.y1


def test_letters_that_no_font_has_are_drawn_in_silence():
    names = ["日本 (%)", "\U0001e000"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        render(plane(judge(CONTROL.set_axis(names, axis=1), RECOVERED.set_axis(names, axis=1))), "svg")


def test_every_picture_in_the_page_has_words_for_it(replicates):
    pictures = re.findall(r'<img alt="([^"]*)" src="data:image/svg', case_html(replicates))
    assert len(pictures) == 1 + 2 * 6
    assert all(pictures)
