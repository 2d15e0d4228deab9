"""The studies behind the documentation's numbers still run: their short forms."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).parents[2]


@pytest.fixture
def section(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return lambda name: import_module(f"benchmarks.sections.{name}")


def test_every_section_can_be_run(section):
    pytest.importorskip("dask")
    names = [module.name for module in iter_modules([str(ROOT / "benchmarks" / "sections")])]
    assert len(names) > 20
    assert all(callable(section(name).run) for name in names)


@pytest.mark.slow
def test_coverage_study_shows_the_effect_of_calibration(section):
    """Calibrated, NeighborTOCC reaches about the nominal sensitivity and still rejects; TOCC rejects nothing."""
    _, summary = section("coverage").run(short=True)
    found = {(row["classifier"], row["calibration"]): row for row in summary.rows}
    assert len(found) == 8
    assert all(found["NeighborTOCC", mode]["mean"] >= 0.8 for mode in ("loo", "cv", "split"))
    assert all(found["NeighborTOCC", mode]["specificity"] > 0.5 for mode in ("loo", "cv", "split"))
    assert found["TOCC", "cv"]["specificity"] == 0


def test_power_study_has_a_cell_per_classifier_and_setting(section):
    power = section("power")
    cells = {"glass PCA": (0.91, 0.8), "(a) n=100": (0.89, 0.3)}
    ranking, glass, scenarios = power.tables({"NeighborTOCC": cells, "Gaussian": cells})
    assert [row["classifier"] for row in ranking.rows] == ["NeighborTOCC", "Gaussian"]
    assert ranking.rows[0] == {"classifier": "NeighborTOCC", "sensitivity": 0.9, "specificity": 0.55}
    assert glass.rows[0]["glass PCA"] == "0.91/0.800"
    assert "(a) n=100" in scenarios.rows[1]


def test_the_lines_of_the_figure_differ_without_color(section, monkeypatch, tmp_path):
    from benchmarks import figures

    monkeypatch.setattr(figures, "IMAGES", tmp_path)
    figures.growth()
    lines = figures.plt.gca().lines
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == len(lines)
    figures.plt.close()


@pytest.mark.slow
def test_authenticity_study_calibrates_every_classifier_alike(section):
    authenticity = section("authenticity")
    rng = np.random.default_rng(0)
    train, fresh, foreign = rng.normal(size=(60, 8)), rng.normal(size=(500, 8)), rng.normal(4, 1, size=(50, 8))
    for classifier in authenticity.CLASSIFIERS.values():
        found = authenticity.evaluate(make_pipeline(StandardScaler(), classifier), train, fresh, foreign)
        assert 0.75 < found["sensitivity"] < 1
        assert found["AUC"] > 0.99
    rows = [{"data": data, "classifier": name, **found} for data in "ab" for name in ("one", "two")]
    rows[0]["AUC"] = 0.5
    means, single = authenticity.tables(rows)
    assert [row["classifier"] for row in means.rows] == ["two", "one"]
    assert len(single.rows) == 4


def test_authenticity_study_reads_further_data_from_a_folder(section, monkeypatch, tmp_path):
    pytest.importorskip("chemotools")
    authenticity = section("authenticity")
    monkeypatch.setattr(authenticity.data, "DATA", tmp_path)
    (tmp_path / "authenticity").mkdir()
    rows = "".join(f"{'honey' if i < 25 else 'syrup'},{i},{i * i}\n" for i in range(30))
    (tmp_path / "authenticity" / "honey.csv").write_text("class,a,b\n" + rows)
    X, labels, targets, _ = authenticity.data_sets()["honey"]
    assert X.shape == (30, 2)
    assert list(targets) == ["honey"]  # five samples of syrup are too few for a target
    assert len(labels) == 30


@pytest.mark.slow
def test_casework_study_measures_simulated_panes(section):
    casework = section("casework")
    for row in casework._simulated(short=True):
        assert 0 <= float(row["tp: false exclusion, 0.10"]) <= 0.25
    (row,) = casework._bases(short=True)
    assert float(row["background: false inclusion"]) < 0.5


def test_robustness_study_draws_what_its_tables_say(section):
    robustness, rng = section("robustness"), np.random.default_rng(0)
    known, new, foreign = robustness.with_gaps(rng, 0.2, only_new=True)
    assert not np.isnan(known).any()
    assert np.isnan(new).mean() == pytest.approx(0.2, abs=0.03)
    known, *_ = robustness.with_gaps(rng, 0.2, by_block=True)
    assert set(np.isnan(known).sum(axis=1)) == {0, 4}
    known, new, foreign = robustness.with_categories(rng, 5)
    assert np.unique(new[:, 3:]).tolist() == [0, 1, 2, 3, 4]
    assert np.bincount(new[:, 3:].astype(int).ravel()).min() > 400  # of 2,500
    assert abs(np.corrcoef(foreign[:, :3].T)[0, 1]) < 0.15 < 0.5 < np.corrcoef(new[:, :3].T)[0, 1]
    known, new, bad = robustness.with_bad_samples(rng, "one cluster", 0.01)
    assert (np.abs(np.abs(known) - 3) < 0.5).all(axis=1).sum() == 5
    assert (len(known), len(new), len(bad)) == (500, 500, 500)


def test_robustness_study_compares_error_rate_and_power(section):
    """With five bad samples in one cluster, the default rejects none like them, and trim= rejects all."""
    robustness = section("robustness")
    row = robustness.bad_samples(2).rows[5]
    assert row["bad samples"] == "1%, one cluster"
    assert row["power, default"] < 0.1
    assert row["power, trim=0.1"] > 0.9
    assert row["left out"] == 5
    assert row["standard error, at most"] < 0.05
    assert max(row["error rate, default"], row["error rate, trim=0.1"]) < 0.1


def test_a_kept_table_says_when_and_with_which_version_it_was_measured(section, tmp_path):
    from benchmarks.table import RESULTS, Table

    for name in ("first", "second", "first"):
        Table(name, "Title", [{"n": 1}]).write(tmp_path)
    measured = pd.read_csv(tmp_path / "measured.csv")
    assert measured["table"].tolist() == ["first", "second"]
    assert measured.columns.tolist() == ["table", "date", "version"]
    assert measured.notna().all(axis=None)
    kept = {path.stem for path in RESULTS.glob("*.csv")} - {"measured"}
    assert kept == set(pd.read_csv(RESULTS / "measured.csv")["table"])


def test_scott_knott_separates_means_as_by_hand(section):
    """Two clusters of means far apart are two groups; equal means are one (Scott and Knott, 1974)."""
    validation = section("validation")
    assert validation.scott_knott(np.array([1.0, 5.0, 1.1, 5.1]), 0.01, 8, 0.05) == [0, 1, 0, 1]
    assert validation.scott_knott(np.array([1.0, 1.1, 1.05]), 0.01, 8, 0.05) == [0, 0, 0]
    # Of two means 0 and d, B = d^2 / 2, the variance is (d^2 / 2 + 8 * 0.01) / 10, and 1.376 B / variance exceeds 5.50,
    # the 0.95 quantile of chi-square with 2 / (pi - 2) degrees of freedom, from d = 0.3265 on.
    assert validation.scott_knott(np.array([0.0, 0.32]), 0.01, 8, 0.05) == [0, 0]
    assert validation.scott_knott(np.array([0.0, 0.33]), 0.01, 8, 0.05) == [0, 1]


def test_the_two_level_model_is_that_of_lir(rng):
    two_level = pytest.importorskip("lir.lrsystems.two_level")
    from benchmarks.ratios import TwoLevel

    from transvariation.casework.background.pairs import Design, same_source_pairs

    sources = [list(rng.normal(size=3) + 0.1 * rng.normal(size=(4, 1, 3))) for _ in range(20)]
    means = [np.concatenate(source) for source in sources]
    pairs = same_source_pairs(sources, Design(2), rng)
    theirs = two_level.TwoLevelModelNormalKDE().fit_on_unpaired_instances(
        np.concatenate(means), np.repeat(range(20), 4)
    )
    expected = theirs.transform(pairs.questioned[:, None], np.repeat(pairs.known[:, None], 2, axis=1))
    assert TwoLevel(means).score(pairs) == pytest.approx(expected, rel=1e-6)
