"""Classifiers kept in files and applied to tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.casework.conftest import spectra

from transvariation import TOCC, MinorComponents, load_glass, save
from transvariation.casework import CaseError, CaseSettings, judge
from transvariation.casework.model_file import fit_model, score_table
from transvariation.tables import TableError, TableSettings


@pytest.fixture
def files(tmp_path):
    glass = load_glass()
    tables = glass.control[["K", "Mg", "Al"]], glass.recovered[["K", "Mg", "Al"]].iloc[::6]
    for name, table in zip(("control.csv", "recovered.csv"), tables, strict=True):
        table.to_csv(tmp_path / name)
    return tmp_path / "control.csv", tmp_path / "recovered.csv", tmp_path / "model.tv", tmp_path / "out.csv"


def test_a_saved_classifier_scores_as_judge_does(files):
    control, recovered, model, out = files
    fit_model(control, model)
    done = score_table(model, recovered, out)
    expected = judge(control, recovered)
    scores = pd.read_csv(out)
    assert scores["p_value"].tolist() == pytest.approx([c.p_value for c in expected.conclusions], rel=1e-12)
    assert (scores["verdict"] == "rejected").sum() == done.rejected == len(expected.excluded)
    assert done.scored == 9
    assert done.used == ("K", "Mg", "Al")


def test_replicates_are_kept_together(files):
    control, _, model, _ = files
    table = pd.read_csv(control).drop(columns="fragment").assign(source=[f"S{i // 3}" for i in range(87)])
    fitted = fit_model(table, model)
    assert fitted.classifier.coverage_report().n == 29


def test_replicates_of_a_sample_give_one_line_as_in_judge(files):
    control, recovered, model, out = files
    rng = np.random.default_rng(0)

    def measured_twice(path):
        table = pd.read_csv(path, index_col=0).set_axis([f"S{i}x" for i in range(len(pd.read_csv(path)))])
        both = pd.concat([table, table * rng.normal(1, 0.001, size=table.shape)])
        return both.rename_axis("fragment").reset_index()

    known, new = measured_twice(control), measured_twice(recovered).iloc[::-1]
    fit_model(known, model)
    done = score_table(model, new, out)
    assert (done.scored, done.unit) == (9, "sample")
    scores = pd.read_csv(out).set_index("id")["p_value"]
    expected = {c.fragment: c.p_value for c in judge(known, new).conclusions}
    assert scores.to_dict() == pytest.approx(expected, rel=1e-9)


def test_interpolation_is_noted(tmp_path):
    rng, axis = np.random.default_rng(0), np.arange(1100.0, 1200.0, 2.0)
    known, new = (pd.DataFrame(rng.normal(size=(n, 50)), columns=axis.astype(int)) for n in (12, 3))
    new.columns = (axis * 0.98 + 23).round(2)
    known.to_csv(tmp_path / "known.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    fit_model(tmp_path / "known.csv", tmp_path / "model", CaseSettings(ranges=[(1105, 1190)]))
    (note,) = score_table(tmp_path / "model", tmp_path / "new.csv", tmp_path / "out.csv").notes
    assert "interpolated to the 43 positions from 1106 to 1190" in note


def test_a_class_of_the_known_spectra_names_no_sample_unless_it_is_said(tmp_path):
    rng = np.random.default_rng(0)
    known = spectra(30, rng).assign(origin=["olive"] * 20 + ["hazelnut"] * 10)
    new = spectra(6, rng).assign(origin=["olive"] * 4 + ["hazelnut"] * 2)
    fit_model(known, tmp_path / "m.tv")
    scored = score_table(tmp_path / "m.tv", new, tmp_path / "s.csv")
    assert (scored.scored, scored.unit) == (6, "row")
    assert "'origin': not used: classes, not names of samples (2 different in 6 spectra)" in str(scored.notes)
    said = TableSettings(fragment_column="origin")
    scored = score_table(tmp_path / "m.tv", new, tmp_path / "s.csv", said)
    assert (scored.scored, scored.unit) == (2, "sample")


def test_the_hash_of_the_model_is_returned(files):
    control, recovered, model, out = files
    first = fit_model(control, model)
    assert len(first.sha256) == 64
    assert score_table(model, recovered, out).sha256 == first.sha256 == fit_model(control, model).sha256
    assert set(pd.read_csv(out, dtype=str)["model"]) == {first.sha256[:12]}
    assert fit_model(control, model, CaseSettings(sensitivity=0.8)).sha256 != first.sha256


def test_a_score_that_is_no_number_is_refused(files, monkeypatch):
    control, recovered, model, out = files
    fit_model(control, model)
    monkeypatch.setattr(
        "transvariation.neighbor_distances.NeighborDistances.score", lambda self, X: np.full(len(X), np.nan)
    )
    with pytest.raises(ValueError, match="is not a number: the classifier is damaged; fit it again"):
        score_table(model, recovered, out)
    assert not out.exists()


def test_a_reduction_is_named(files):
    control, recovered, model, out = files
    fit_model(control, model, CaseSettings(reduce="varsel", method="tocc", features=["K", "Mg"]))
    assert score_table(model, recovered, out).used == ("K", "Mg")


def test_a_table_that_cannot_be_scored_leaves_nothing_behind(files):
    control, recovered, model, out = files
    fit_model(control, model)
    recovered.write_text(recovered.read_text() + "x,1,2\n")
    with pytest.raises(TableError):
        score_table(model, recovered, out)
    assert not out.exists()
    assert not list(out.parent.glob("*.unfinished"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: TOCC().fit(X.to_numpy()), "was fitted without column names"),
        (lambda X: make_pipeline(StandardScaler(), TOCC()).fit(X), "holds a Pipeline, which has no p-values"),
        (lambda X: MinorComponents().fit(X), "holds a MinorComponents, which has no p-values"),
        (lambda X: TOCC(), "not fitted yet"),
    ],
)
def test_a_file_without_a_classifier_for_tables_is_refused(files, make, message):
    _, recovered, model, out = files
    save(make(load_glass().control[["K", "Mg", "Al"]]), model)
    with pytest.raises(ValueError, match=message):
        score_table(model, recovered, out)
    assert not out.exists()


def test_other_units_are_refused(files):
    control, recovered, model, out = files
    pd.read_csv(control).rename(columns={"K": "K (wt%)"}).to_csv(control, index=False)
    fit_model(control, model)
    table = pd.read_csv(recovered)
    table.rename(columns={"K": "K (ppm)"}).to_csv(recovered, index=False)
    with pytest.raises(TableError, match="the unit is 'ppm' here but 'wt%'"):
        score_table(model, recovered, out)
    table.rename(columns={"K": "K [wt.%]"}).to_csv(recovered, index=False)
    assert score_table(model, recovered, out).scored == 9


def test_warnings_of_the_fit_are_kept_with_the_model(files):
    control, recovered, model, out = files
    fitted = fit_model(pd.read_csv(control).head(5), model)
    assert fitted.warnings
    assert score_table(model, recovered, out).warnings == fitted.warnings
    with pytest.raises(CaseError, match="has one row"):
        fit_model(pd.read_csv(control).head(1), model)


def test_ids_are_not_taken_for_formulas(files):
    control, recovered, model, out = files
    fit_model(control, model)
    table = pd.read_csv(recovered).assign(fragment=["=1+1", "+x", "-y", "@z", *map(str, np.arange(5))])
    table.to_csv(recovered, index=False)
    score_table(model, recovered, out)
    assert pd.read_csv(out)["id"].tolist()[:4] == ["'=1+1", "'+x", "'-y", "'@z"]
