"""The figures on likelihood ratios draw what their axes say."""

import numpy as np
from matplotlib.figure import Figure

from transvariation.report.ratios import draw_tippett


def test_a_tippett_plot_shows_the_share_with_a_larger_ratio():
    ax = Figure().subplots()
    draw_tippett(ax, np.array([3.0, 1.0, 2.0, -1.0]), np.array([True, True, True, False]))
    drawn = ax.lines[0].get_xydata()
    np.testing.assert_allclose(drawn, [[1, 1], [1, 2 / 3], [2, 1 / 3], [3, 0]], atol=1e-15)
