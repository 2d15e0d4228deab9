"""The glass study: the printed cells, the folds against the library's own calibration, the command end to end."""

import json

import numpy as np
import pandas as pd
from click.testing import CliRunner
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from transvariation import CalibratedOCC, load_glass
from transvariation.cli import main
from transvariation.studies import glass
from transvariation.studies.claims import check_glass_claims

FOLD = next(KFold(10, shuffle=True, random_state=0).split(np.empty(87)))


def test_every_cell_but_the_three_known_ones_equals_the_printed_one():
    scored = [glass._cell(rule, reduction, 0) for rule in glass.RULES for reduction in glass.REDUCTIONS]
    ours = {(entry["rule"], entry["reduction"]): (entry["auc"], entry["specificity"]) for entry in scored}
    differ = {}
    for cell, found in ours.items():
        printed = glass.PRINTED[cell][:2]
        assert round(found[1], 3) == printed[1]
        if round(found[0], 3) != printed[0]:
            differ[cell] = round(found[0], 3)
    assert differ == {("TOCC_df", "PCA"): 0.949, ("TOCC_df", "kappa-VIP"): 0.987, ("PAM-TOCC_df", "PCA"): 0.964}


def test_a_fold_is_what_a_calibrated_pipeline_does():
    train, test = FOLD
    data = load_glass()
    found = pd.DataFrame(glass._fold(train, test)).set_index(["rule", "reduction", "calibration"])
    rules = glass.RULES | glass.CALIBRATED
    for name, reduction in (("TOCC_df", "PCA"), ("PAM-TOCC_df", "kappa-VIP"), ("KernelTOCC", "PCA")):
        for calibration in ("paper", "cv"):
            pipeline = make_pipeline(glass.REDUCTIONS[reduction](), rules[name]())
            rule = CalibratedOCC(pipeline, calibration=calibration).fit(data.control.iloc[train])
            row = found.loc[(name, reduction, calibration)]
            assert row["accepted"] == (rule.predict(data.control.iloc[test]) == 1).sum()
            assert row["specificity"] == (rule.predict(data.recovered) == -1).mean()


def test_a_variable_constant_in_a_part_rates_nobody_as_typical():
    kept, rated = np.column_stack([np.arange(20.0), np.zeros(20)]), np.ones((3, 2))
    assert (glass._ratings(glass.CALIBRATED["KernelTOCC"](), kept, rated) == -np.inf).all()


def _cells(pam):
    """Cells in which PAM-TOCC_df does as well as said, and the others middling."""
    rows = [
        {"rule": rule, "reduction": reduction, "AUC": 0.5, "specificity": 0.5, "seconds": 1.0}
        for rule in glass.RULES
        for reduction in ("PCA", "RP", "varSel", "kappa-VIP")
    ]
    cells = pd.DataFrame(rows)
    cells.loc[cells["rule"] == "PAM-TOCC_df", ["AUC", "specificity", "seconds"]] = pam
    return cells


def test_claims_on_the_glass_are_judged_by_the_numbers():
    unseen = pd.DataFrame(
        [(rule, "PCA", "paper", 0.9, 1.0) for rule in glass.RULES],
        columns=["rule", "reduction", "calibration", "sensitivity", "specificity"],
    )
    chosen = {"varSel": ["Mg", "K"], "kappa-VIP": ["Mg", "Si"]}
    good = check_glass_claims(_cells((1.0, 1.0, 0.5)), unseen, chosen)["holds"].tolist()
    assert good == [False, False, True, True, True, True, True]
    bad = check_glass_claims(_cells((0.1, 0.1, 2.0)), unseen.assign(sensitivity=0.5), {"varSel": [], "kappa-VIP": []})
    assert not bad["holds"].any()


def test_the_command_fills_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(glass, "FOLDS", 2)
    arguments = ["study", "glass", "--out", str(tmp_path), "--seeds", "2", "--repeats", "1", "--jobs", "1"]
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    tables = {"cells.csv", "claims.csv", "correlations.csv", "held_out.csv", "runs.csv", "provenance.json"}
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
