"""The figure of reasons has one row per variable and says what it shows."""

import pytest

from transvariation import TOCC, load_glass, reasons
from transvariation.report.reasons import draw_reasons

GLASS = load_glass()


def test_one_row_per_variable():
    control, recovered = GLASS.control[["K", "Mg"]], GLASS.recovered[["K", "Mg"]]
    table = reasons(TOCC().fit(control), recovered.iloc[:2])
    figure = draw_reasons(control, table, 164)
    assert [axes.get_ylabel() for axes in figure.axes] == ["K", "Mg"]
    assert "164: rejected" in figure.get_suptitle()
    with pytest.raises(ValueError, match="object 'x' is not in the table; it has 164, 165"):
        draw_reasons(control, table, "x")
