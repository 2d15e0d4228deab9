"""The study commands: what was interrupted goes on."""

import signal
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

from transvariation.cli import main
from transvariation.studies import glass


@pytest.fixture
def little(monkeypatch):
    """Run the study with one classifier, one reduction and two folds; return the tables instead of the page."""
    monkeypatch.setattr(glass, "CLASSIFIERS", {"TOCC_df": glass.CLASSIFIERS["TOCC_df"]})
    monkeypatch.setattr(glass, "REDUCTIONS", {"PCA": glass.REDUCTIONS["PCA"]})
    monkeypatch.setattr(glass, "CALIBRATED", {})
    monkeypatch.setattr(glass, "FOLDS_OF_UNSEEN", 2)
    written = []

    def tell(scored, held_out, directory, made_by):
        curves = [[part.tolist() for part in entry["roc"]] for entry in scored]
        runs = pd.DataFrame(scored).drop(columns=["roc", "seconds"])  # how long it took is nobody's result
        cells = glass.cells(scored).drop(columns="seconds")
        written.append((curves, *(table.to_csv() for table in (runs, cells, held_out)), made_by))
        return directory

    monkeypatch.setattr("transvariation.report.study.write_glass_page", tell)
    return written


def _command(out, seeds=2):
    return ["study", "glass", "--out", str(out), "--seeds", str(seeds), "--repeats", "1", "--jobs", "1"]


def _cut_off(work, after, how):
    """Stop after part of the work."""
    done = []

    def cut_off(*task):
        if len(done) == after:
            how()
        done.append(task)
        return work(*task)

    return cut_off


def _interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize(("part", "after", "kept"), [("_scores", 2, 2), ("_unseen", 1, 4)])
def test_an_interrupted_run_resumes_to_the_same_tables(little, tmp_path, monkeypatch, part, after, kept):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert CliRunner().invoke(main, _command(whole), catch_exceptions=False).exit_code == 0
    with monkeypatch.context() as patch:
        patch.setattr(glass, part, _cut_off(getattr(glass, part), after, _interrupt))
        stopped = CliRunner().invoke(main, _command(cut))
    assert stopped.exit_code == 130
    assert f"Stopped. Finished work is kept in {cut}; the same command resumes it." in stopped.output
    before = (cut / "checkpoint.jsonl").read_bytes()
    assert before.count(b"\n") == 1 + kept
    assert CliRunner().invoke(main, _command(cut), catch_exceptions=False).exit_code == 0
    assert (cut / "checkpoint.jsonl").read_bytes().startswith(before)
    once, twice = little
    assert once[:-1] == twice[:-1]
    assert twice[-1]["time"].endswith(f" s for {5 - kept} of the cells and folds")


def test_a_killed_run_resumes_to_the_same_tables(little, tmp_path):
    code = (
        "import os, signal\n"
        "from transvariation.cli import main\n"
        "from transvariation.studies import glass\n"
        "work, done = glass._scores, []\n"
        "glass.CLASSIFIERS = {'TOCC_df': glass.CLASSIFIERS['TOCC_df']}\n"
        "glass.REDUCTIONS = {'PCA': glass.REDUCTIONS['PCA']}\n"
        "def scores(*cell):\n"
        "    if done: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    done.append(cell)\n"
        "    return work(*cell)\n"
        "glass._scores = scores\n"
        f"main({_command(tmp_path / 'cut')!r})\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "cut" / "checkpoint.jsonl").read_bytes().count(b"\n") == 2
    for out in (tmp_path / "cut", tmp_path / "whole"):
        assert CliRunner().invoke(main, _command(out), catch_exceptions=False).exit_code == 0
    cut, whole = little
    assert cut[:-1] == whole[:-1]


def test_results_with_other_parameters_are_refused(little, tmp_path):
    assert CliRunner().invoke(main, _command(tmp_path), catch_exceptions=False).exit_code == 0
    before = (tmp_path / "checkpoint.jsonl").read_bytes()
    refused = CliRunner().invoke(main, _command(tmp_path, seeds=3))
    assert refused.exit_code == 2
    assert "was begun with another seeds (2, now 3)" in refused.output
    simulation = ["study", "simulation", "--out", str(tmp_path), "--repeats", "1"]
    assert "another repeats (1, now None), seed (None, now 0)" in CliRunner().invoke(main, simulation).output
    assert (tmp_path / "checkpoint.jsonl").read_bytes() == before
    assert len(little) == 1
