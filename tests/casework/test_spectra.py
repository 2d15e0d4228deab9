"""Spectra in casework: preprocessing, choice of variables, regions, wide tables, replicates."""

import json
import re
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.casework.conftest import AXIS, said, spectra

from transvariation import NeighborTOCC, load
from transvariation.casework import CaseError, CaseResult, CaseSettings, SettingsError, judge
from transvariation.casework.checks import _two_groups_p_value
from transvariation.casework.model_file import fit_model, score_table
from transvariation.cli import main
from transvariation.persistence import read_about
from transvariation.preprocessing import make_preprocessing
from transvariation.preprocessing.steps import STEPS
from transvariation.report.case import case_document
from transvariation.report.case_figures import draw_distance_plot
from transvariation.report.wording.remedies import error_text
from transvariation.report.wording.statements import description
from transvariation.tables import TableError
from transvariation.web.views import VIEWS


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return spectra(20, rng, prefix="k"), pd.concat([spectra(4, rng), spectra(4, rng, 12.0, prefix="f")])


@pytest.fixture(scope="module")
def result(tables):
    return judge(*tables, preprocess="snv,sg1")


def test_a_shifted_band_is_excluded_and_the_preprocessing_is_named(result):
    assert [c.fragment for c in result.excluded] == ["f0", "f1", "f2", "f3"]
    assert result.settings.preprocess == "snv,sg1"
    assert "preprocessed (snv,sg1)" in description(result)


def test_the_region_of_a_shifted_band_is_that_band(result):
    for c in result.excluded:
        (region,) = c.regions
        assert 1235 <= region.low <= 1255
        assert 1355 <= region.high <= 1375
        assert c.evidence == (f"{region.low:g}–{region.high:g}",)
    assert all(c.spectrum for c in result.conclusions)


@pytest.mark.parametrize("steps", [*STEPS, "regions:1200-1300:1350-1500", "als:1e4:0.05,peak:1200-1400,sg2:15:3"])
def test_every_step_of_preprocessing_is_what_judge_compares_by(tables, steps):
    known, new = tables
    found = judge(known, new, preprocess=steps)
    axis = [float(name) for name in known.columns]
    pipeline = make_preprocessing(steps, axis).fit(known)
    done = [pd.DataFrame(pipeline.transform(X), X.index, X.columns) for X in (known, new)]
    for one, other in zip(found.conclusions, judge(*done).conclusions, strict=True):
        assert one.p_value == other.p_value


def test_regions_move_with_the_sensitivity_as_judge_would_find_them(tables, result):
    assert result.at(0.8).conclusions == judge(*tables, preprocess="snv,sg1", sensitivity=0.8).conclusions
    widths = [result.spectra.band(s).width for s in (0.7, 0.8, 0.9)]
    assert widths == sorted(widths)


def test_the_json_of_spectra_is_the_result(result):
    assert CaseResult.from_dict(json.loads(result.to_json())) == result


def test_reasons_of_many_variables_are_the_ten_most_telling(result):
    assert len(result.inputs.features) == 120
    for c in result.conclusions:
        assert len(c.reasons) <= 10
        at = sorted(result.inputs.features.index(reason.variable) for reason in c.reasons)
        assert min(np.diff(at), default=9) > 1  # neighboring positions tell the same
    strongest = result.excluded[0].reasons[0]
    assert strongest.deviation == max((r.deviation for r in result.excluded[0].reasons), key=abs)
    assert 1240 <= float(strongest.variable) <= 1372
    at = result.inputs.features.index(strongest.variable)
    assert strongest.value == pytest.approx(result.excluded[0].spectrum[at], rel=1e-8)  # after SNV, as shown


def test_scale_and_offset_of_a_spectrum_do_not_matter_after_snv(tables):
    known, new = tables
    moved = judge(known, 3.0 * new + 2.0, preprocess="snv")
    for one, other in zip(judge(known, new, preprocess="snv").conclusions, moved.conclusions, strict=True):
        assert one.p_value == other.p_value
        assert one.evidence == other.evidence


def test_a_background_is_preprocessed_as_the_case_is():
    rng = np.random.default_rng(1)
    axis = AXIS[::4]
    shifts = rng.normal(0, 10, 15)
    background = pd.concat([spectra(3, rng, shift, axis).assign(source=f"B{i}") for i, shift in enumerate(shifts)])
    known, new = spectra(2, rng, 5.0, axis), spectra(3, rng, 5.0, axis)
    found = judge(known, new, background=background.reset_index(drop=True), preprocess="snv")
    moved = judge(known, 3 * new + 2, background=background.reset_index(drop=True), preprocess="snv")
    assert found.model.basis == "background"
    for one, other in zip(found.conclusions, moved.conclusions, strict=True):
        assert one.p_values["background"] == pytest.approx(other.p_values["background"], abs=1e-9)
        assert one.match is None  # spectra are no contents of elements


def test_many_variables_are_compared_with_a_background_by_components():
    rng = np.random.default_rng(8)
    shifts = rng.normal(0, 10, 25)
    background = pd.concat([spectra(3, rng, shift).assign(source=f"B{i}") for i, shift in enumerate(shifts)])
    case = spectra(5, rng, 5.0)
    new = pd.concat([case.iloc[3:], spectra(2, rng, -15.0, prefix="other")])
    strange = case.iloc[3:4] + 0.2 * np.exp(-(((AXIS - 1550) / 8) ** 2))  # a band that no source has
    new = pd.concat([new, strange.set_axis(["strange"])])
    found = judge(case.iloc[:3], new, background=background.reset_index(drop=True), preprocess="snv")
    assert found.model.basis == "background"
    assert [c.fragment for c in found.excluded] == ["other0", "other1", "strange"]
    assert any("principal components of its 120 variables" in caution for caution in said(found))
    assert found.conclusions[-1].regions[0].low >= 1530
    assert (
        "stays in the band at every position with a probability of 75%" in case_document(found).html()
    )  # three control spectra


def test_without_a_conclusion_no_positions_make_fragments_foreign(tables):
    found = judge(tables[0][:4], tables[1], preprocess="snv")
    assert not found.model.conclusive
    assert "excluded fragments that leave the band" not in case_document(found).html()


def test_dd_simca_keeps_the_distances_of_its_acceptance_plot(tables):
    foreign = tables[1].reset_index(drop=True)
    found = judge(*tables, foreign=foreign, method="ddsimca", preprocess="snv,sg1")
    assert CaseResult.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    for sensitivity in (0.9, 0.7):
        moved = found.at(sensitivity)
        full = np.array(found.distances.recovered) @ found.distances.degrees_of_freedom
        limit, outlier = moved.distances.limits(sensitivity)
        assert limit < outlier
        assert [c.accepted for c in moved.conclusions] == (full <= limit).tolist()
    missed = {n for n, c in zip(found.foreign.fragments, found.conclusions, strict=True) if c.accepted}
    assert missed
    figure = draw_distance_plot(found)
    names = {text.get_text().strip() for text in figure.axes[0].texts}
    assert names == {c.fragment for c in found.excluded} | missed  # members rejected, strangers accepted
    assert len(found.distances.control) == len(tables[0])
    assert len(found.distances.foreign) == len(foreign)
    assert {"distances", "aliens", "selectivity"} <= set(VIEWS["view"](found)["figures"])
    assert f"Number of components: {found.distances.n_components}" in description(found)
    assert judge(*tables, preprocess="snv").distances is None


def test_triplicates_are_one_sample():
    rng = np.random.default_rng(2)

    def triplicates(table):
        rows = table.loc[table.index.repeat(3)]
        rows = rows * (1 + 0.02 * rng.normal(size=(len(rows), 1))) + 1e-4 * rng.normal(size=rows.shape)
        return rows.reset_index(names="sample").assign(replicate=[1, 2, 3] * len(table))

    known, new = triplicates(spectra(12, rng, prefix="k")), triplicates(spectra(4, rng, 12.0))
    found = judge(known, new, preprocess="snv")
    assert [c.fragment for c in found.conclusions] == ["s0", "s1", "s2", "s3"]
    assert found.model.bases["control"].n == 12
    assert len(found.excluded) == 4
    assert len(found.conclusions[0].measurements["1000"]) == 3
    # Raw replicates differ in scale, and so do raw samples; after SNV samples differ, and replicates hardly: samples of
    # a class do, fragments of one source should not.
    for words, against, suspicious in (("sample", "groups", False), ("case", "replicates", True)):
        found = judge(known, new, preprocess="snv", words=words)
        (check,) = [check for check in found.inputs.checks if check.name == "homogeneity"]
        assert (check.values["against"], bool(check.p_value < 0.01)) == (against, suspicious)


@pytest.mark.parametrize("steps", ["msc,sg1", "snv,sg1"])
def test_a_model_file_keeps_the_preprocessing(tables, tmp_path, steps):
    known, new = tables
    fit_model(known, tmp_path / "m.tv", CaseSettings(preprocess=steps, ranges=[(1400, 1200)]))
    about = read_about(tmp_path / "m.tv")["about"]
    assert about["settings"]["preprocess"] == steps
    assert about["used"][0] == "1200"
    assert load(tmp_path / "m.tv").feature_names_in_[-1] == "1400"
    score_table(tmp_path / "m.tv", new, tmp_path / "out.csv")
    expected = judge(known, new, preprocess=steps, ranges=[(1200, 1400)])
    scores = pd.read_csv(tmp_path / "out.csv")["p_value"]
    assert scores.tolist() == pytest.approx([c.p_value for c in expected.conclusions], abs=1e-12)


@pytest.mark.parametrize(
    ("method", "steps", "prefix"),
    [("neighbor", None, "X"), ("neighbor", "snv,sg1", ""), ("neighbor", "msc", ""), ("ddsimca", "snv,sg1", "")],
)
@pytest.mark.parametrize("repeats", [1, pytest.param(30, marks=pytest.mark.long)])
def test_spectra_that_lack_bands_are_scored_as_judge_does_and_rejected_as_rarely(
    tmp_path, method, steps, prefix, repeats
):
    rng, settings = np.random.default_rng(1), CaseSettings(method=method, preprocess=steps)
    lost = [f"{x:g}" for x in AXIS if 1180 <= x <= 1250 or x > 1560]
    rejected = []
    for _ in range(repeats):
        known, new = (spectra(n, rng).add_prefix(prefix) for n in (30, 50))
        new = new.drop(columns=[prefix + name for name in lost])
        fit_model(known, tmp_path / "m.tv", settings)
        done = score_table(tmp_path / "m.tv", new, tmp_path / "out.csv")
        rejected.append(done.rejected / 50)
    assert "22 of 120 positions are missing (1180 to 1250, 1565 to 1595)" in done.notes[0]
    assert done.used == tuple(new.columns)
    assert np.mean(rejected) <= 0.1 + 0.05
    expected = judge(known, new, settings=settings)
    assert expected.to_json().count("positions are missing") == 1
    scores = pd.read_csv(tmp_path / "out.csv")["p_value"]
    assert scores.tolist() == pytest.approx([c.p_value for c in expected.conclusions], abs=1e-12)


@pytest.mark.parametrize("steps", [None, "snv,sg1"])
@pytest.mark.parametrize("repeats", [1, pytest.param(40, marks=pytest.mark.long)])
def test_genuine_spectra_on_a_coarser_grid_are_rejected_as_rarely(tmp_path, steps, repeats):
    """Between the known positions, where noise that differs at every position shows how these were interpolated."""
    rng, settings = np.random.default_rng(2), CaseSettings(preprocess=steps)
    coarse, rejected = np.arange(1002.5, 1590, 10), []
    for _ in range(repeats):
        known, new = spectra(40, rng), spectra(50, rng, axis=coarse)
        fit_model(known, tmp_path / "m.tv", settings)
        rejected.append(score_table(tmp_path / "m.tv", new, tmp_path / "out.csv").rejected / 50)
    assert np.mean(rejected) <= 0.1 + (0.1 if repeats == 1 else 0.03)
    scores = pd.read_csv(tmp_path / "out.csv")["p_value"]
    expected = judge(known, new, settings=settings)
    assert scores.tolist() == pytest.approx([c.p_value for c in expected.conclusions], abs=1e-12)


def test_a_shifted_grid_with_a_gap_is_refused_by_range(tables, tmp_path):
    fit_model(tables[0], tmp_path / "m.tv")
    axis = np.arange(999.0, 1600.0, 5.0)
    new = spectra(3, np.random.default_rng(0), axis=axis[(axis < 1200) | (axis > 1300)])
    with pytest.raises(TableError, match="the positions between 1199 and 1304 are missing") as caught:
        score_table(tmp_path / "m.tv", new, tmp_path / "out.csv")
    assert len(caught.value.problems) == 1


def test_replicates_stay_together_in_a_preprocessed_model(tables, tmp_path):
    known = tables[0].reset_index(drop=True).assign(source=[f"S{i // 2}" for i in range(20)])
    for steps in ("snv", "msc"):
        assert fit_model(known, tmp_path / "m.tv", CaseSettings(preprocess=steps)).classifier.coverage_report().n == 10


@pytest.mark.parametrize(
    ("options", "python", "cli"),
    [
        ({"preprocess": "snx"}, "'snx'; the steps are snv, msc, emsc", "--preprocess='snx'"),
        ({"preprocess": "sg1:10"}, "window_length=10 must be odd", "--preprocess"),
        ({"preprocess": "sg:301"}, "needs at least 301 variables; there are 120", "--preprocess"),
        ({"ranges": [(1, 2)]}, "no variable lies in 1 to 2; the names .* go from 1000 to 1595", "--range"),
        ({"ranges": [(1, "x")]}, r"\(1, 'x'\) is not a pair of numbers", "--range: (1, 'x')"),
        ({"without": ["Ba"]}, "no variable 'Ba'; there are 1000, 1005", '--without "Ba,Fe"'),
        ({"without": "Ba"}, "without='Ba' must be a list", "--without"),
        ({"reduce": "vip", "reduce_to": 0}, "reduce_to=0 must be a whole number, at least 1", "--reduce-to"),
        ({"reduce": "vip", "reduce_to": 121}, "reduce_to=121 exceeds the 120 variables", "--reduce-to"),
    ],
)
def test_a_wrong_value_is_named_with_the_remedy_of_each_front_end(tables, tmp_path, options, python, cli):
    with pytest.raises((CaseError, SettingsError), match=python) as caught:
        judge(*tables, **options)
    assert cli in error_text(caught.value, "cli")
    assert "--" not in error_text(caught.value, "page")
    with pytest.raises((CaseError, SettingsError), match=python):
        fit_model(tables[0], tmp_path / "m.tv", CaseSettings(**options))


def test_the_command_line_takes_preprocessing_ranges_and_names(tables, tmp_path):
    for name, table in zip(("known.csv", "new.csv"), tables, strict=True):
        table.to_csv(tmp_path / name, index_label="sample")
    known, new, report = (str(tmp_path / name) for name in ("known.csv", "new.csv", "report.html"))
    how = ["--preprocess", "snv,sg1", "--range", "1200-1300", "--range", "1300.5:1400", "--without", "1200,1205"]
    done = CliRunner().invoke(main, ["judge", known, new, *how, "--report", report])
    assert done.exit_code == 0, done.output
    assert re.search("[45] of 8 new samples not authentic", done.output)
    assert "39 variables from 1210 to 1400, after snv,sg1" in " ".join(done.output.split())
    model = str(tmp_path / "m.tv")
    assert CliRunner().invoke(main, ["fit", known, model, *how]).exit_code == 0
    scored = CliRunner().invoke(main, ["score", model, new])
    assert re.search("8 rows scored, [45] rejected", scored.output)
    wrong = CliRunner().invoke(main, ["judge", known, new, "--range", "low"])
    assert wrong.exit_code == 2
    assert "'low' must be two numbers" in " ".join(wrong.output.split())


# Numbers that must not depend on the way they are computed.


def test_two_groups_are_found_with_more_variables_than_fragments_and_normal_ones_are_not():
    rng = np.random.default_rng(4)
    smooth = np.cumsum(rng.normal(size=(300, 8)), axis=0).T
    level = [_two_groups_p_value(rng.normal(size=(20, 8)) @ smooth, rng) for _ in range(30)]
    assert np.mean(np.array(level) <= 0.1) < 0.25
    apart = rng.normal(size=(20, 8)) @ smooth + 40 * np.repeat([[0.0], [1.0]], 10, axis=0) * smooth[0]
    assert _two_groups_p_value(apart, rng) < 0.02


# Wide tables.


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(5)
    axis = np.linspace(1000, 1600, 1841)
    return spectra(15, rng, axis=axis, prefix="k"), spectra(20, rng, 12.0, axis=axis)


@pytest.mark.long  # a matter of time, which make test does not measure
def test_a_wide_table_takes_a_few_times_the_classifier_alone(wide):
    known, new = wide

    def seconds(work):
        start = time.process_time()
        work()
        return time.process_time() - start

    judge(known, new)  # imports
    alone = min(seconds(lambda: NeighborTOCC().fit(known).p_values(new)) for _ in range(3))
    assert min(seconds(lambda: judge(known, new)) for _ in range(2)) < 20 * alone


def test_the_report_of_a_wide_table_is_short(wide):
    found = judge(*wide, preprocess="snv,sg1")
    page = case_document(found).html()
    assert len(page) < 1e6
    assert page.count("<tr") < 200
    assert len(found.to_json()) < 8e6
    assert "Acceptance plot: p-values" in page
    assert "Which positions make samples foreign" in page
    assert re.search(r"over the band of the known class, after snv\.", page)
    pytest.importorskip("typst")
    pages = len(re.findall(rb"/Type\s*/Page\b", case_document(found).pdf()))
    assert 3 <= pages <= 5


def test_memory_of_a_wide_table_grows_with_the_number_of_variables_not_its_square():
    rng = np.random.default_rng(6)
    axis = np.linspace(1000, 1600, 1000)
    known, new = spectra(9, rng, axis=axis, prefix="k"), spectra(2, rng, 12.0, axis=axis)
    tracemalloc.start()
    judge(known, new, preprocess="snv,sg1")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1000**2 * 8 / 2


def test_many_variables_without_an_axis_are_reported_briefly():
    rng = np.random.default_rng(7)
    names = [f"compound {chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(150)]
    known = pd.DataFrame(rng.normal(size=(15, 150)), columns=names)
    new = known.iloc[:3] + np.where(np.arange(150) == 7, 30.0, 1e-3)
    found = judge(known, new)
    assert found.spectra is None
    assert all(c.reasons[0].variable == names[7] and len(c.reasons) == 10 for c in found.conclusions)
    assert case_document(found).html().count("<tr") < 60


def test_one_unusual_known_spectrum_does_not_cost_the_power_of_msc():
    """With fewer than 19 known spectra, the lowest calibration score is the threshold."""
    rng = np.random.default_rng(3)
    known = pd.concat([spectra(14, rng, prefix="k"), spectra(1, rng, -2.0, prefix="odd")])
    foreign = spectra(40, rng, 5.0, prefix="f")
    for steps in ("snv", "msc"):
        assert len(judge(known, foreign, preprocess=steps).excluded) >= 36


@pytest.mark.parametrize(
    "steps", ["detrend:1,area", "als:1e4:0.01,length", "emsc", "peak:1110-1130,regions", "snv,sg1"]
)
def test_judge_takes_every_step(tables, steps):
    control, recovered = tables
    result = judge(control[:12], recovered[3:5], preprocess=steps)
    assert result.settings.preprocess == steps
    assert [c.accepted for c in result.conclusions][1] is False


def test_ddsimca_judges_spectra_and_keeps_its_components_in_a_model_file(tables, tmp_path):
    result = judge(*tables, preprocess="snv", method="ddsimca")
    assert [c.fragment for c in result.excluded] == ["f0", "f1", "f2", "f3"]
    assert "DD-SIMCA" in description(result)
    control = tmp_path / "control.csv"
    tables[0].to_csv(control, index_label="id")
    fit_model(control, tmp_path / "m.tv", CaseSettings(method="ddsimca", preprocess="snv"))
    fitted = load(tmp_path / "m.tv")
    assert fitted.estimator_[-1].n_components_ >= 1


def test_missing_bands_are_not_bridged_by_filters(tables):
    # Without 1200 to 1300 a derivative across the gap would turn offsets of the second part into a band.
    control, recovered = (table.drop(columns=[f"{x:g}" for x in AXIS if 1200 <= x <= 1300]) for table in tables)
    gap = judge(control, recovered, preprocess="sg1")
    parts = [table.loc[:, [c for c in table if float(c) < 1200]] for table in (control, recovered)]
    steps = make_preprocessing("sg1", [float(c) for c in control])
    inside = steps.fit_transform(control.to_numpy())[:, : parts[0].shape[1]]
    np.testing.assert_allclose(inside, make_preprocessing("sg1").fit_transform(parts[0].to_numpy()))
    assert {c.fragment for c in gap.excluded} >= {"f0", "f1", "f2", "f3"}
