"""The figure of reasons has one row per variable and a description of its contents."""

import pytest

from transvariation import TOCC, explain_rejections, load_glass
from transvariation.report.reasons import draw_reasons

GLASS = load_glass()


def test_one_row_per_variable():
    control, recovered = GLASS.control[["K", "Mg"]], GLASS.recovered[["K", "Mg"]]
    table = explain_rejections(TOCC().fit(control), recovered.iloc[:2])
    figure = draw_reasons(control, table, 164)
    assert [axes.get_ylabel() for axes in figure.axes] == ["K", "Mg"]
    assert "164: rejected" in figure.get_suptitle()
    with pytest.raises(ValueError, match="object 'x' is not in the table; it has 164, 165"):
        draw_reasons(control, table, "x")


def test_the_targets_are_drawn_also_beside_an_object_far_away():
    control, far = GLASS.control[["K"]], GLASS.recovered[["K"]].iloc[:1].assign(K=20_000.0)
    figure = draw_reasons(control, explain_rejections(TOCC().fit(control), far), far.index[0])
    heights = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert heights.max() == 1


def test_dollar_signs_are_no_formula():
    names = ["K$_$", "price in $ (US$)"]
    control, recovered = (table[["K", "Mg"]].set_axis(names, axis=1) for table in (GLASS.control, GLASS.recovered))
    table = explain_rejections(TOCC().fit(control), recovered.iloc[:1].set_axis(["$_$"]))
    figure = draw_reasons(control, table, "$_$")
    figure.draw_without_rendering()
    assert figure.get_suptitle() == "$_$: rejected"
