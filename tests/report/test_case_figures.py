"""Figures of a case: names, strips, Tippett curves."""

import warnings

import pytest

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.report.case_figures import draw_fragments, draw_tippett, strip_svg
from transvariation.report.page import render

GLASS = load_glass()


CONTROL, RECOVERED = GLASS.control[["K", "Mg"]], GLASS.recovered[["K", "Mg"]]


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
