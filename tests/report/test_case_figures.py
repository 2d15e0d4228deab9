"""Figures of a case: names, strips, Tippett curves."""

import warnings

import numpy as np
import pandas as pd
import pytest

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.report.case_figures import FIGURES, draw_fragments, draw_tippett, strip_svg
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


@pytest.fixture(scope="module")
def spectra():
    """Two spectra with a peak at one position, and one with a hole at another."""
    rng = np.random.default_rng(2)
    names = [f"{position}" for position in range(1000, 1050)]
    new = np.zeros((3, 50))
    new[:2, 10], new[2, 20] = 30, -30
    foreign = rng.normal(3, 1, size=(20, 50))
    control, new, foreign = (pd.DataFrame(X, columns=names) for X in (rng.normal(size=(40, 50)), new, foreign))
    return judge(control, new, foreign=foreign)


def test_spectra_have_a_panel_each_and_one_legend(spectra):
    figure = FIGURES["spectra"].draw(spectra)
    assert [len(ax.patches) for ax in figure.axes] == [1, 1, 1]
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", "wavelength or wavenumber"]
    assert len(figure.legends) == 1


def test_importance_is_the_share_above_and_below_the_band(spectra):
    (ax,) = FIGURES["importance"].draw(spectra).axes
    above, below = (collection.get_paths()[0].vertices for collection in ax.collections)
    assert above[:, 1].max() == pytest.approx(2 / 3)
    assert above[above[:, 1].argmax(), 0] == 1010
    assert below[:, 1].min() == pytest.approx(-1 / 3)


def test_sensitivity_and_specificity_are_drawn_over_the_threshold(spectra):
    (ax,) = FIGURES["foreign"].draw(spectra).axes
    assert [line.get_label() for line in ax.lines] == ["sensitivity", "specificity", "threshold in use"]
    assert ax.lines[2].get_xdata()[0] == pytest.approx(0.1)
