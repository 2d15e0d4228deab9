"""The figures of the glass analysis can be read without color."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from transvariation import load_glass
from transvariation.metrics import roc
from transvariation.report import glass_figures as draw


def look(handle):
    """What is left of an entry of a legend in print without color: its mark, or the dashes of its line."""
    return handle.get_paths()[0].vertices.tobytes() if isinstance(handle, PathCollection) else handle.get_linestyle()


def regions():
    X = np.random.default_rng(0).normal(size=(60, 2))
    return draw.regions(pd.DataFrame(X, columns=["a", "b"]), np.zeros(2), np.array([0.4, 0.4]))


def roc_panels():
    curve = roc(np.linspace(0.3, 1, 9), np.linspace(0, 0.6, 9))
    scored = [
        {"classifier": classifier, "reduction": "PCA", "seed": 0, "roc": curve, "auc": 0.9}
        for classifier in draw.STYLES
    ]
    return draw.roc_panels(scored)


@pytest.mark.filterwarnings("ignore:No artists with labels")
@pytest.mark.parametrize("figure", [draw.three_rows, regions, roc_panels])
def test_entries_differ_by_mark_or_dashes(figure):
    for ax in figure().axes:
        looks = [look(handle) for handle in ax.get_legend_handles_labels()[0]]
        assert len(set(looks)) == len(looks)


def test_one_panel_per_variable():
    glass = load_glass()
    axes = Figure().subplots(2, 5)
    draw.draw_features(axes, {"control": glass.control, "recovered": glass.recovered})
    assert [ax.get_title() for ax in axes.ravel()[:9]] == glass.control.columns.tolist()
    assert not axes[1, 4].get_visible()
