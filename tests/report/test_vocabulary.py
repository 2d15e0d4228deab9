"""Reports in the words of a laboratory: samples, authentic or not."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from transvariation.casework import judge
from transvariation.report.case import case_document
from transvariation.report.console import show_case
from transvariation.report.page import render
from transvariation.report.vocabulary import replaced, said, speaking
from transvariation.web.session import Session

AXIS = np.arange(1000.0, 1300.0, 5.0)
FORENSIC = re.compile(r"fragment|recovered|proposition|signature|excluded|\bcontrol\b", re.IGNORECASE)


def oils(n, rng, peak=1150.0, prefix="oil"):
    band = np.exp(-(((AXIS - peak) / 20) ** 2))
    X = (1 + 0.05 * rng.normal(size=(n, 1))) * band + 0.01 * rng.normal(size=(n, len(AXIS)))
    return pd.DataFrame(X, columns=[f"{x:g}" for x in AXIS], index=[f"{prefix} {i}" for i in range(n)])


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return oils(20, rng, prefix="known"), pd.concat([oils(3, rng, prefix="control oil"), oils(3, rng, 1180, "other")])


def text_of(html):
    html = re.sub(r"<(style|svg).*?</\1>", " ", html, flags=re.S)
    return re.sub(r"<[^>]+>|data:[^\"]+", " ", html)


def test_spectra_are_reported_as_samples(tables):
    result = judge(*tables)
    text = text_of(case_document(result).html()).replace("control oil", "")
    body = text.split("Provenance")[0].split("SHA-256")[0]
    assert FORENSIC.findall(body) == []
    assert "3 of 6 new samples not authentic." in body
    assert "Are the new samples authentic?" in body


def test_figures_speak_of_samples(tables):
    result = judge(*tables)
    figure = Figure()
    ax = figure.subplots()
    ax.set_title("recovered fragments")
    ax.set_xticks([0, 1], ["control", "recovered"])
    with speaking(result):
        render(figure, "svg")
    assert ax.get_title() == "new samples"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["known", "new"]


def test_names_from_the_tables_stay(tables):
    assert "control oil 1" in text_of(case_document(judge(*tables)).html())


def test_market_samples_are_not_grouped_unless_asked_for(tables):
    assert judge(*tables).groups == ()
    assert len(judge(*tables, group="yes").groups) >= 1
    assert len(judge(*tables, words="case").groups) >= 1
    assert judge(*tables, words="case", group="no").groups == ()


def test_casework_keeps_its_words_and_may_be_asked_for(tables):
    text = text_of(case_document(judge(*tables, words="case")).html())
    assert "Propositions" in text
    assert "Signatures" in text
    assert "3 of 6 recovered fragments excluded." in text


def test_the_screen_speaks_of_samples(tables):
    console = Console(file=io.StringIO(), width=120)
    show_case(judge(*tables), console)
    shown = console.file.getvalue().replace("control oil", "")
    assert "not authentic" in shown
    assert not re.search(r"fragment|recovered|excluded", shown)


def test_nothing_is_replaced_outside_a_result():
    assert said("control fragment") == "control fragment"
    assert replaced("An excluded fragment") == "A rejected sample"
    assert replaced("remote-controlled resources") == "remote-controlled resources"


def test_the_page_speaks_of_samples_and_keeps_names_and_files(tables):
    session = Session(lambda step, share: None)
    session.judged = judge(*tables)
    shown = {"view": session.show("view", None), "evidence": session.show("evidence", None, "0")}
    text = " ".join(texts(shown)).replace("control oil", "")
    assert FORENSIC.findall(text) == []
    assert "3 of 6 new samples not authentic." in text
    assert [c["fragment"] for c in shown["view"]["conclusions"]] == [c.fragment for c in session.judged.conclusions]


def texts(content):
    """List the texts in a JSON value, without its keys."""
    if isinstance(content, dict):
        return [text for value in content.values() for text in texts(value)]
    if isinstance(content, list | tuple):
        return [text for value in content for text in texts(value)]
    return [content] if isinstance(content, str) else []
