"""Charts and report of a monitored process."""

import json
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from transvariation.cli import main
from transvariation.datasets import make_plant
from transvariation.monitoring import MonitoringResult, monitor
from transvariation.report.monitoring import (
    contribution_figure,
    monitor_tables,
    monitoring_figure,
    monitoring_summary,
    write_monitoring_report,
)


@pytest.fixture(scope="module")
def runs():
    return make_plant(250, random_state=0), make_plant(120, fault=8, onset=60, random_state=1)


@pytest.fixture(scope="module")
def result(runs):
    return monitor(*runs)


def test_the_figure_has_a_chart_for_each_statistic_and_one_legend(result):
    figure = monitoring_figure(result)
    assert [ax.get_ylabel()[:5] for ax in figure.axes] == ["score", "Hotel", "Q (sq"]
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "textbook limit"


def test_bars_are_the_largest_contributions(result):
    (ax,) = contribution_figure(result.alarms[0]).axes
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(widths, reverse=True)
    assert widths == list(result.alarms[0].contributions.values())[: len(widths)]


def test_the_report_names_the_first_alarm(result, tmp_path):
    write_monitoring_report(result, tmp_path / "plant.html")
    text = (tmp_path / "plant.html").read_text(encoding="utf-8")
    assert monitoring_summary(result) in text
    assert "feed flow" in text
    assert "Hotelling" in text
    assert "too few for 1.0%" in text
    pytest.importorskip("typst")
    write_monitoring_report(result, tmp_path / "plant.pdf")
    assert (tmp_path / "plant.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(ValueError, match=r"must end in .html or .pdf"):
        write_monitoring_report(result, tmp_path / "plant.txt")


def test_tables_are_read_in_time_order_and_rows_named_by_their_time(runs, tmp_path):
    normal, new = (frame.copy() for frame in runs)
    new.loc[3, "feed flow"] = np.nan
    for frame, name in ((normal, "normal.csv"), (new, "new.csv")):
        frame.insert(0, "time", pd.date_range("2026-03-01", periods=len(frame), freq="h").strftime("%Y-%m-%d %H:%M"))
        frame.sample(frac=1, random_state=0).to_csv(tmp_path / name, index=False)
    read = monitor_tables(tmp_path / "normal.csv", tmp_path / "new.csv")
    assert read.labels[:3] == ("2026-03-01", "2026-03-01 01:00", "2026-03-01 02:00")
    assert read.features == tuple(runs[0].columns)
    assert any(alarm.raised in range(60, 70) for alarm in read.alarms)


@pytest.mark.slow
def test_the_command_writes_what_the_function_returns(runs, tmp_path):
    pytest.importorskip("typst")
    for frame, name in zip(runs, ("normal.csv", "new.csv"), strict=True):
        frame.to_csv(tmp_path / name, index_label="time")
    files = [str(tmp_path / name) for name in ("normal.csv", "new.csv")]
    reports = [tmp_path / name for name in ("plant.html", "plant.pdf")]
    outputs = [
        *chain.from_iterable(("--report", str(path)) for path in reports),
        "--json",
        str(tmp_path / "plant.json"),
    ]
    done = CliRunner().invoke(main, ["monitor", *files, *outputs])
    assert done.exit_code == 0, done.output
    assert all(path.exists() for path in reports)
    again = MonitoringResult.from_dict(json.loads((tmp_path / "plant.json").read_text(encoding="utf-8")))
    assert again.alarms == monitor(*runs).alarms
    assert "the first raised at" in done.output or "one alarm raised at" in done.output
    wrong = CliRunner().invoke(main, ["monitor", *files, "--false-alarm", "0.001"])
    assert wrong.exit_code == 2
    assert "needs at least 999 normal rows" in wrong.output
