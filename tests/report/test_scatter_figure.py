"""The plane: its line encloses what is accepted, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.path import Path

from transvariation import PAMTOCC, TOCC, MinorComponents, load_glass
from transvariation.report.scatter_figure import draw_plane, grid_lines


def within(ax, points):
    """Whether each point is inside the line: a hole in what is accepted has a line of its own."""
    (line,) = [each for each in ax.get_children() if isinstance(each, ContourSet)]
    (path,) = line.get_paths()
    rings = np.split(path.vertices, np.flatnonzero(path.codes == Path.MOVETO)[1:])
    return sum(Path(ring).contains_points(points).astype(int) for ring in rings) % 2 == 1


@pytest.mark.parametrize("classifier", [TOCC(), PAMTOCC(n_clusters=4)])
def test_the_line_encloses_the_accepted_objects_however_narrow_their_strip(classifier):
    glass = load_glass()
    components = MinorComponents().set_output(transform="pandas").fit(glass.control)
    control, recovered = components.transform(glass.control), components.transform(glass.recovered)
    ax = Figure().add_subplot()
    draw_plane(ax, classifier.fit(control), control, recovered)
    for table in (control, recovered):
        assert (within(ax, table.to_numpy()) == (classifier.predict(table) == 1)).all()


def test_the_grid_goes_through_few_objects_and_stays_even_with_many():
    few, many = pd.DataFrame([[0.0, 1.0], [0.1, 1.0], [9.0, 1.0]]), np.random.default_rng(0).normal(size=(999, 2))
    x, y = grid_lines(few, few, steps=4)
    assert {0.0, 0.05, 0.1, 4.55, 9.0} <= set(x)
    assert x[0] < 0 < 9 < x[-1]
    assert y[0] < 1 < y[-1]
    assert [len(lines) for lines in grid_lines(many, many)] == [301, 301]
