"""Sentences of a case: what leads, ratios in words, disagreement."""

from dataclasses import replace

import numpy as np
import pandas as pd

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.casework.decision import Group
from transvariation.datasets import load_nfi_glass
from transvariation.report.case_text import (
    conclusion_frame,
    fact_lines,
    format_ratio,
    group_sentence,
    note_lines,
    ratio_sentence,
    sentences,
)
from transvariation.report.wording.numbers import in_words
from transvariation.report.wording.statements import headline, verdict

GLASS = load_glass()


CONTROL, RECOVERED = GLASS.control[["K", "Mg"]], GLASS.recovered[["K", "Mg"]]


def test_likelihood_ratios_are_written_in_words_and_figures(case):
    frame = conclusion_frame(case)
    assert frame["likelihood ratio"].str.contains("at most 1/|at least|^[0-9]").all()
    assert format_ratio(3.4) == "2,500"
    assert ratio_sentence(-2.0).startswith(
        "The measurements are about 100 times more probable if the fragment comes from another"
    )
    assert "equally probable" in ratio_sentence(0.001)
    assert "at least 50 times" in ratio_sentence(-1.7, "at most")


def test_the_conclusion_names_the_population(case):
    words = " ".join(sentences(case.conclusions[0], case))
    assert "by 40 sources of background)" in words
    assert "than if it comes from another source of the kind in background (40 sources)" in words
    table = dict(case.inputs.background, population="float glass of the region")
    named = replace(case, inputs=replace(case.inputs, background=table))
    words = " ".join(sentences(case.conclusions[0], named))
    assert "another source of the kind in background (float glass of the region, 40 sources)" in words


def test_the_ratio_leads_if_the_laboratory_says_so(case):
    led = replace(case, model=replace(case.model, lead="ratio")).at(0.9)
    for c, usual in zip(led.conclusions, case.conclusions, strict=True):
        assert sentences(c, led)[0] == sentences(usual, case)[1]  # the ratio comes first
        assert "By itself, the comparison with the control would" in sentences(c, led)[1]
        assert verdict(c) == in_words(next(iter(c.log10_lr.values())))
    assert headline(led).startswith("The likelihood ratio supports a common source with the control for ")
    one = headline(replace(led, conclusions=led.conclusions[:1]))
    assert one.startswith("The likelihood ratio supports a common source with the control for the recovered fragment. ")
    assert "excluded." not in headline(led)
    assert conclusion_frame(led)["conclusion"].str.contains("support").all()


def test_what_one_control_fragment_without_replicates_cannot_show_is_said():
    glass = load_nfi_glass()
    fragments, sources = glass.frame[glass.elements], glass.frame["source"].unique()
    others = glass.frame[glass.frame["source"].isin(sources[4:64])].drop(columns="piece")
    alone, three = (" ".join(fact_lines(judge(fragments[:n], fragments[9:10], background=others))) for n in (1, 3))
    assert "cannot be checked" in alone
    assert "cannot be checked" not in three


def test_columns_of_uncertainties_are_noted_in_one_line():
    table = pd.DataFrame(np.random.default_rng(0).normal(5, 1, (12, 4)), columns=["Sr", "Sr_2SD", "Zr", "Zr_Int2SE"])
    lines = note_lines(judge(table, table.iloc[:1, ::2]))
    assert "control: not used, taken for uncertainties or detection limits: Sr_2SD, Zr_Int2SE" in lines


def test_a_disagreement_is_explained(case):
    c = next(c for c in case.conclusions if c.accepted is False)
    odd = replace(c, log10_lr={"three_level": 0.6}, bound={}, match=None)
    moved = replace(case, conclusions=(odd,)).at(0.9)
    words = " ".join(sentences(moved.conclusions[0], moved))
    assert "The evidence disagrees: the likelihood ratio gives weak support for a common source." in words
    assert "Both can be true" in words


def test_a_joint_ratio_states_its_alternative(case):
    group = Group(
        fragments=("4", "5"), p_values={"background": 0.5}, log10_lr={"three_level": 1.2}, bound={}, accepted=True
    )
    words = group_sentence(case, group)
    assert (
        "likelihood ratio 16 that all come from the control's source, against all from one and the same source" in words
    )
    assert "source of the kind in background (40 sources) other than the control's" in words


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
