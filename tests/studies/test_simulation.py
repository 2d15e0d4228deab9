"""The simulation study: every row from its own seed, the same for any number of workers, resumable by command."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from click.testing import CliRunner

from transvariation.cli import main
from transvariation.studies.simulation import SMALLEST, methods, run_task, tasks


def test_one_row_per_scenario_repeat_and_method(small_study):
    table = small_study(1)
    assert len(table) == 2 * 2 * len(methods())
    assert (table["sensitivity"] >= 0.9).all()
    assert table[["specificity", "fresh_sensitivity", "fresh_specificity", "auc"]].stack().between(0, 1).all()


def test_results_are_the_same_for_any_number_of_workers(small_study):
    pd.testing.assert_frame_equal(small_study(2), small_study(1))


def test_a_row_can_be_recomputed_by_itself(small_study):
    table = small_study(1)
    row = table[(table["scenario"] == "i") & (table["repeat"] == 1) & (table["method"] == "SOM")].iloc[0]
    alone = run_task(0, "i", 60, 0.0, 1, only=["SOM"])["SOM"]
    assert alone["specificity"] == row["specificity"]
    assert alone["auc"] == row["auc"]


def test_only_some_scenarios_have_shifts():
    assert tasks("ae", [100], [1.0, 2.0], 1) == [("a", 100, 1.0, 0), ("a", 100, 2.0, 0), ("e", 100, 0.0, 0)]


def test_a_data_set_that_is_named_twice_counts_once():
    assert tasks("aa", [100, 100], [1.0, 2.0, 1.0], 1) == [("a", 100, 1.0, 0), ("a", 100, 2.0, 0)]


def _command(out, *more):
    return ["study", "simulation", "--out", str(out), "--scenarios", "a", "--sizes", "60", "--shifts", "1", *more]


def test_a_warning_is_printed_once_with_its_number(tmp_path):
    arguments = ["study", "simulation", "--out", str(tmp_path), "--scenarios", "a", "--sizes", "20", "--shifts", "1,2"]
    command = [sys.executable, "-m", "transvariation", *arguments, "--repeats", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    text = " ".join((done.stdout + done.stderr).split())
    assert text.count("will reject nearly all new samples") == 1
    assert "Warning in 2 of 2 data sets, the first: PAMTOCC" in text
    assert "Warning:" not in text  # as Python prints one


def test_a_killed_run_resumes(tmp_path):
    out = tmp_path / "study"
    arguments = _command(out, "--repeats", "6")
    process = subprocess.Popen(
        [sys.executable, "-m", "transvariation", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    checkpoint, deadline = out / "checkpoint.jsonl", time.monotonic() + 120
    while time.monotonic() < deadline and (not checkpoint.exists() or checkpoint.read_bytes().count(b"\n") < 3):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = checkpoint.read_bytes().count(b"\n")
    assert 3 <= before <= 7
    assert not (out / "index.html").exists()
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    assert checkpoint.read_bytes().count(b"\n") == 7
    assert (out / "index.html").exists()
    again = CliRunner().invoke(main, _command(out, "--repeats", "6", "--seed", "1"))
    assert again.exit_code == 2
    assert "another seed" in again.output


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--scenarios", "a-z"),
        ("--scenarios", "c-a"),
        ("--sizes", "0"),
        ("--sizes", "100,9"),
        ("--shifts", "one"),
        ("--shifts", "1,nan"),
        ("--shifts", "inf"),
        ("--shifts", "1,1e+308"),
        ("--jobs", "0"),
        ("--jobs", "--5"),
        ("--jobs", "abc"),
    ],
)
def test_wrong_values_are_named_before_any_work(tmp_path, option, value):
    done = CliRunner().invoke(main, ["study", "simulation", "--out", str(tmp_path), option, value])
    assert done.exit_code == 2
    assert value.rpartition(",")[2] in done.output
    assert list(tmp_path.iterdir()) == []


def test_the_smallest_size_suits_every_method():
    for scenario in "ai":
        assert len(run_task(0, scenario, SMALLEST, 0.0, 0)) == len(methods())
