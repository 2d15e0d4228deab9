"""The page of the glass study."""

import json
from functools import partial

import pandas as pd
from click.testing import CliRunner

from transvariation import GaussianMixtureBIC, ProjectionEnsemble, VarSel
from transvariation.calibration import calibration_folds
from transvariation.cli import main
from transvariation.studies import glass


def test_the_command_writes_all_files(tmp_path, monkeypatch):
    # Its numbers are tested beside the study: here few projections and a short search will do.
    monkeypatch.setattr(glass, "FOLDS_OF_UNSEEN", 2)
    monkeypatch.setattr(glass, "calibration_folds", lambda mode, X: calibration_folds(mode, X)[:2])
    monkeypatch.setattr(glass, "ProjectionEnsemble", partial(ProjectionEnsemble, n_projections=3))
    monkeypatch.setitem(glass.REDUCTIONS, "varSel", lambda: VarSel(2, mixture=GaussianMixtureBIC((1, 2), ["EEE"])))
    arguments = ["study", "glass", "--out", str(tmp_path), "--seeds", "2", "--repeats", "1", "--jobs", "1"]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    tables = {"cells.csv", "claims.csv", "correlations.csv", "held_out.csv", "runs.csv", "provenance.json"}
    tables |= {"checkpoint.jsonl"}
    drawn = ("boxes", "components", "levels", "membership", "regions", "roc", "selected", "transvariation")
    figures = {f"figures/{name}.{kind}" for name in drawn for kind in ("png", "svg")}
    assert names == {"index.html"} | tables | figures
    cells = pd.read_csv(tmp_path / "cells.csv")
    assert len(cells) == 12
    assert cells["AUC, lowest"].notna().sum() == 3
    assert len(pd.read_csv(tmp_path / "held_out.csv")) == 4 * 3 * 2
    assert json.loads((tmp_path / "provenance.json").read_text())["seeds"] == "2"
    html = (tmp_path / "index.html").read_text()
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")
