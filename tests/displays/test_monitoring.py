from itertools import pairwise

import numpy as np
import pytest

from transvariation.datasets import make_plant
from transvariation.displays import MonitoringDisplay
from transvariation.monitoring import monitor
from transvariation.report.monitoring import monitoring_figure


@pytest.fixture(scope="module")
def result():
    return monitor(make_plant(250, random_state=0), make_plant(120, fault=8, onset=60, random_state=1))


def test_a_chart_shows_limits_flags_and_alarms(result):
    ax = MonitoringDisplay.from_result(result, chart="T2").ax_
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["normal run", "new run", "flagged", "calibrated limit", "textbook limit"]
    flagged = next(c for c in ax.collections if c.get_label() == "flagged").get_offsets()
    assert len(flagged) == np.sum(np.array(result.chart("T2").new) > result.chart("T2").limit)
    assert len(ax.patches) == len(result.alarms)


def test_the_score_has_no_textbook_limit(result):
    assert "textbook limit" not in MonitoringDisplay(result).plot().ax_.get_legend_handles_labels()[1]


def test_every_tick_is_a_row_and_says_which(result):
    ax = MonitoringDisplay.from_result(result).ax_
    assert [label.get_text() for label in ax.get_xticklabels()] == ["130", "190", "0", "60", "119"]


def test_a_tick_after_the_last_row_is_moved_to_it():
    result = monitor(make_plant(250, random_state=0), make_plant(98, random_state=1))
    ax = MonitoringDisplay.from_result(result).ax_
    assert ax.get_xticks()[-1] == 97
    assert all(label.get_text() for label in ax.get_xticklabels())


@pytest.mark.parametrize("n_new", [79, 98, 120, 200])
def test_dates_below_a_chart_do_not_overlap(n_new):
    runs = make_plant(250, random_state=0), make_plant(n_new, random_state=1)
    normal, new = (run.set_axis([f"2025-01-01 {i:05}" for i in range(len(run))]) for run in runs)
    figure = monitoring_figure(monitor(normal, new))
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in figure.axes[-1].get_xticklabels()]
    assert len(boxes) > 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
