"""From two tables to a verdict: the library face, the screen, the files."""

import itertools
import json
import pickle
from datetime import date

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from transvariation import TOCC, MinorComponents, dask, load_glass, save
from transvariation.casework import METHODS, REDUCTIONS, CaseResult, judge
from transvariation.casework.coverage_text import in_plain_words
from transvariation.casework.duplicates import same_objects
from transvariation.casework.judging import fit_rule
from transvariation.casework.methods import make_rule
from transvariation.casework.model_file import fit_model
from transvariation.casework.univariate import MOST, reasons
from transvariation.cli import main
from transvariation.density.box_probability import TooManyVariables
from transvariation.persistence import read_about
from transvariation.report.case import case_html, case_pdf
from transvariation.report.console import summary_lines
from transvariation.tables import TableError, read_pair


@pytest.fixture(scope="module")
def tables():
    glass = load_glass()
    return glass.control[["K", "Mg", "Al"]], glass.recovered[["K", "Mg", "Al"]].iloc[::6]


@pytest.fixture(scope="module")
def result(tables):
    return judge(*tables)


@pytest.fixture
def case(tmp_path, tables):
    paths = tmp_path / "control.csv", tmp_path / "recovered.csv"
    for path, table in zip(paths, tables, strict=True):
        table.to_csv(path)
    return paths


def _run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def test_most_glass_that_is_no_window_is_rejected_for_a_reason(result):
    assert len(result.verdicts) == 9
    assert len(result.rejected) >= 7
    for verdict in result.rejected:
        assert verdict.p_value <= 0.1 + 1e-9
    assert {reason.variable for reason in result.verdicts[0].reasons} == {"K", "Mg", "Al"}
    ranks = [(reason.p_value, reason.tp) for reason in result.verdicts[0].reasons]
    assert ranks == sorted(ranks)


def test_reasons_are_counted_on_the_control(tables, result):
    control, recovered = tables
    for verdict in result.verdicts:
        row = recovered.loc[int(verdict.id)]
        for reason in verdict.reasons:
            column = control[reason.variable].to_numpy()
            assert reason.value == row[reason.variable]
            assert reason.median == np.median(column)
            beyond = column < reason.value if reason.side == "below" else column > reason.value
            if reason.side != "at":
                assert reason.tp == pytest.approx(2 * (beyond.sum() + (column == reason.value).sum() / 2) / len(column))


@pytest.mark.parametrize(
    ("method", "n", "grouped"),
    [*((method, 87, False) for method in METHODS), ("kernel", 14, True), ("pam", 14, False), ("pam", 87, True)],
)
def test_a_case_moved_to_a_sensitivity_equals_one_judged_at_it(method, n, grouped):
    glass = load_glass()
    control, recovered = glass.control[["Na", "Al"]].iloc[:n], glass.recovered[["Na", "Al"]].iloc[::4]
    if grouped:
        control, recovered = (table.assign(source=np.arange(len(table)) // 2) for table in (control, recovered))
    judged = [judge(control, recovered, method=method, sensitivity=s) for s in (0.6, 0.9, 0.97, 1)]
    for one, other in itertools.permutations(judged, 2):
        assert one.at(other.sensitivity) == other
    kept = CaseResult.from_dict(json.loads(json.dumps(judged[0].to_dict())))
    assert kept.at(0.97) == pickle.loads(pickle.dumps(judged[2])) == judged[2]


@pytest.mark.filterwarnings("ignore::transvariation.conformal.RejectsNothing")
@pytest.mark.parametrize("grouped", [False, True])
def test_parts_that_share_a_threshold_are_those_of_the_rule_at_every_sensitivity(grouped):
    glass = load_glass()
    control, recovered = glass.control[["Na", "Al"]], glass.recovered[["Na", "Al"]]
    panes = [str(i // 3) for i in range(len(control))] if grouped else None
    found = judge(control if panes is None else control.assign(source=panes), recovered, method="pam")
    assert len(found.poolings) > 2
    rule, _ = fit_rule(make_rule("pam", None, 0.9, 0)[0], control, panes)
    for share in np.linspace(0.02, 0.96, 48).round(2).tolist():
        moved = found.at(share)
        rule.set_sensitivity(share)
        assert [v.p_value for v in moved.verdicts] == rule.p_values(recovered).tolist()
        assert [v.accepted for v in moved.verdicts] == (rule.predict(recovered) == 1).tolist()
        assert moved.coverage == in_plain_words(rule.coverage_report())


@pytest.mark.parametrize("method", METHODS)
def test_every_method_decides_as_its_p_values_say(tables, method):
    found = judge(*tables, features=["K", "Mg"], method=method)
    assert all(v.accepted == (v.p_value > 0.1 + 1e-9) for v in found.verdicts)
    assert found.coverage.calibration != "resubstitution"


def test_too_many_variables_for_a_mixture_have_a_remedy_that_a_case_can_take(tmp_path, monkeypatch):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 1)), columns=["Na"])

    def refuse(*_, **__):  # as nine correlated variables are, after a minute
        raise TooManyVariables("9 correlated variables are too many", "raise the tolerance")

    monkeypatch.setattr("transvariation.density.gaussian_mixture.mixture_box_probability", refuse)
    for work in (
        lambda: judge(table, table, method="mixture"),
        lambda: fit_model(table, tmp_path / "other", method="mixture"),
    ):
        with pytest.raises(ValueError, match=r"use fewer .*--features, --reduce.* or the method kernel$") as caught:
            work()
        assert "tolerance" not in str(caught.value)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # a worker sends it home


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_reductions_are_refitted_inside_the_calibration_and_told(reduce):
    glass = load_glass()
    control, recovered = glass.control[["RI", "Mg", "Si", "Fe"]], glass.recovered[["RI", "Mg", "Si", "Fe"]].iloc[:3]
    found = judge(control, recovered, method="tocc", reduce=reduce)
    assert found.method == f"{reduce} + tocc"
    assert found.coverage.calibration == "cv"
    assert all(v.tp is not None for v in found.verdicts)
    assert CaseResult.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    told = case_html(found)
    if reduce == "minor":
        assert (found.features, found.no_say, found.combinations) == (tuple(control), (), 2)
        assert "judged by 2 combinations of the 4 variables of 87" in told
        assert "All 4 variables have a say in these 2 combinations." in told
        return
    one, other = found.features
    assert set(found.features) | set(found.no_say) == set(control)
    assert "judged by 2 of the 4 variables of 87" in told
    assert f"Reduced to {one} and {other}; the other 2 variables have no say." in told
    assert f"Variables: {one}, {other}; without a say: {', '.join(found.no_say)}." in told
    assert {reason.variable for v in found.verdicts for reason in v.reasons} == {one, other}


def test_a_kept_rule_says_what_it_was_reduced_to(case, tmp_path):
    model = tmp_path / "rule.tv"
    fitted = _run("fit", case[0], model, "--reduce", "varsel").output
    assert "87 control objects, judged by 2 of the 3 variables: " in fitted
    assert "; without a say: " in fitted
    assert "calibration" not in fitted
    assert "split mode" not in fitted
    assert "accepted about as often as the sensitivity says" in fitted
    scored = _run("score", model, case[1], "--out", tmp_path / "out.csv").output
    assert "; the other variable has no say." in scored
    say = read_about(model)["about"]["say"]
    assert ", ".join(say["features"]) in fitted
    assert pd.read_csv(tmp_path / "out.csv")["tp"].notna().all()


@pytest.mark.parametrize("grouped", [False, True])
def test_a_variable_that_rejects_alone_does_so_alone(tables, grouped):
    control, recovered = tables[0].iloc[:15].assign(Ba=0.0), tables[1].assign(Ba=[0.0] * 8 + [1.0])
    more = {"source": np.arange(15) // 2} if grouped else {}
    found = judge(control.assign(**more), recovered, method="tocc")
    for name in control:
        alone = {v.id: v for v in judge(control[[name]].assign(**more), recovered[[name]]).verdicts}
        for verdict in found.verdicts:
            (reason,) = (reason for reason in verdict.reasons if reason.variable == name)
            assert reason.p_value == alone[verdict.id].p_value
            assert reason.rejected_alone != alone[verdict.id].accepted


@pytest.mark.parametrize("n", [9, 15])
def test_fresh_targets_are_spoken_against_no_more_often_than_promised(n):
    rng = np.random.default_rng(n)
    # A hundred cases, each of one variable: what a variable says does not depend on the others.
    control, fresh = (pd.DataFrame(rng.lognormal(size=(rows, 100))).add_prefix("v") for rows in (n, 50))
    flagged = np.array([r.p_value <= 0.1 + 1e-9 for row in reasons(control, fresh, None, 0) for r in row])
    assert flagged.mean() <= 0.1 + 2 * 0.1 / np.sqrt(100)


@pytest.mark.parametrize("grouped", [False, True])
def test_of_many_control_objects_some_drawn_by_lot_give_the_reasons(grouped):
    rng = np.random.default_rng(0)
    control = pd.DataFrame(rng.normal(size=(2 * MOST, 1)), columns=["a"])
    groups = np.repeat(np.arange(10), [1] * 9 + [2 * MOST - 9]) if grouped else None
    unknown = pd.DataFrame({"a": [0.0, 9.0]})
    near, far = (row[0].p_value for row in reasons(control, unknown, groups, 0))
    assert far == pytest.approx(1 / 11 if grouped else 1 / (MOST + 1))
    assert near > 0.5


@pytest.mark.parametrize("rows", [1, 3, 5])
@pytest.mark.parametrize("named", [False, True])
def test_recovered_objects_left_in_the_control_draw_a_caution(tables, rows, named):
    control, recovered = tables[0].iloc[:30], tables[1].iloc[:5]
    both = pd.concat([control, recovered.iloc[:rows]])
    found = judge(both if named else both.reset_index(drop=True), recovered)
    assert sum(f"{rows} of 5 recovered objects stand" in w for w in found.warnings) == 1
    first, twin = recovered.index[0], recovered.index[0] if named else "row 32"
    assert any(f"recovered = control: {first} = {twin}{',' if rows > 1 else ')'}" in w for w in found.warnings)
    assert not any("stand" in w for w in judge(control, recovered).warnings)


@pytest.mark.parametrize(("n_variables", "digits"), [(1, 1), (1, 2), (2, 1), (3, 0)])
def test_equal_rows_that_rounding_makes_are_natural(n_variables, digits):
    rng = np.random.default_rng(0)
    loud = 0
    for _ in range(200):
        values = rng.normal(size=(45, n_variables)).round(digits)
        table = pd.DataFrame(values).add_prefix("v").assign(id=[f"f{i}" for i in [*range(30), *range(15)]])
        loud += bool(same_objects(read_pair(table.iloc[:30], table.iloc[30:])))
    assert loud <= 6


def test_a_variable_without_spread_is_named_where_it_takes_the_power():
    glass = load_glass()
    control, odd = glass.control.iloc[:8], 100 * glass.recovered.iloc[:3]
    found = judge(control, odd)
    assert not found.rejected
    powerless, too_few = found.warnings[:2]
    assert "Leave out Fe: this variable" in powerless
    assert "kernel" not in powerless
    assert "cannot be promised" in too_few
    assert "rejected is what" not in too_few
    assert len(judge(control.drop(columns="Fe"), odd).rejected) == 3
    assert "such as kernel" in judge(control, odd, method="tocc").warnings[0]
    assert "It takes more control objects" in judge(control.iloc[:2], odd).warnings[0]


def test_replicates_stay_together(tables):
    control, recovered = tables
    sources = [f"pane {i // 3}" for i in range(len(control))]
    found = judge(control.assign(source=sources), recovered)
    assert found.coverage.unit == "groups"
    assert found.coverage.n == len(set(sources))


def test_few_control_objects_are_said_to_be_few(tables):
    control, recovered = tables
    found = judge(control.iloc[:8], recovered)
    assert any("cannot be promised" in warning for warning in found.warnings)
    assert found.coverage.smallest_p_value == pytest.approx(1 / 9)


@pytest.mark.parametrize("sensitivity", [0.5, 0.9, 0.99, 1])
@pytest.mark.parametrize(("method", "n"), [("kernel", 3), ("kernel", 5), ("kernel", 9), ("tocc", 5), ("pam", 12)])
def test_the_case_the_slider_and_the_kept_rule_give_one_verdict(tables, method, n, sensitivity):
    control, recovered = tables[0].iloc[:n], pd.concat([tables[1], 5 * tables[1]])
    found = judge(control, recovered, method=method, sensitivity=sensitivity)
    rule, _ = fit_rule(make_rule(method, None, sensitivity, 0)[0], control, None)
    assert [v.accepted for v in found.verdicts] == (rule.predict(recovered) == 1).tolist()
    assert found == found.at(0.7).at(sensitivity)
    most = min(found.coverage.n_per_stratum) / (min(found.coverage.n_per_stratum) + 1)
    assert found.sensitivity_used == min(sensitivity, most)
    assert any("cannot be promised" in w for w in found.warnings) == (sensitivity > most + 1e-9)


def test_replicates_few_in_number_are_judged_as_by_the_kept_rule(tables):
    control, recovered = tables[0].iloc[:12], 5 * tables[1]
    panes = [f"pane {i // 3}" for i in range(12)]
    rule, _ = fit_rule(make_rule("kernel", None, 0.9, 0)[0], control, panes)
    found = judge(control.assign(source=panes), recovered)
    assert found.sensitivity_used == 0.8
    assert [v.accepted for v in found.verdicts] == (rule.predict(recovered) == 1).tolist()
    assert found.rejected


def test_the_sensitivity_in_effect_is_told_on_the_screen_and_in_the_report(tables):
    control, recovered = tables[0].iloc[:5], 5 * tables[1]
    page = case_html(judge(control, recovered))
    assert "to accept 83.33% of their like (90% was asked for)" in page
    assert "p-value exceeds 0.167" in page
    assert "0.833 is used instead" in page
    assert "asked for" not in case_html(judge(control, recovered).at(0.8))


@pytest.mark.parametrize("method", ["tocc", "pam", "projections"])
def test_a_method_that_can_reject_nothing_says_so(method):
    glass = load_glass()
    far = glass.control.iloc[:1] * 1000
    found = judge(glass.control, far, method=method)
    smallest = found.coverage.attainable_p_value
    assert found.verdicts[0].p_value >= smallest
    if method != "pam":  # where the part that is far and closest may not be the one with the smallest
        assert found.verdicts[0].p_value == smallest
    warned = [w for w in found.warnings if "can reject nothing" in w]
    assert len(warned) == (smallest > 0.1)  # by the caution alone, not by what the fit warned of as well
    assert f"{smallest:.3g}" in summary_lines(found)[2]
    assert not any("can reject nothing" in w for w in judge(glass.control, far).warnings)


@pytest.mark.parametrize("method", ["kernel", "mixture", "projections"])
@pytest.mark.parametrize("value", [1e154, -1e200, 1e308])
def test_an_enormous_value_is_rejected_in_silence(tables, method, value):
    control = tables[0]
    strange = pd.concat([control.iloc[:1]] * 2).set_axis(["a", "b"]).assign(K=[value, -value])
    found = judge(control, strange, method=method)
    assert len(found.rejected) == 2
    assert all(v.p_value == found.coverage.attainable_p_value for v in found.verdicts)
    assert found.warnings == ()
    json.dumps(found.to_dict(), allow_nan=False)
    assert "rejected" in case_html(found)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_a_small_case_with_an_element_that_does_not_vary_is_judged(n):
    glass = load_glass()
    result = judge(glass.control[:n], glass.recovered[::10])
    assert len(result.features) == 9
    assert result.warnings
    json.dumps(result.to_dict(), allow_nan=False)


def test_one_control_object_is_too_few_in_words(tables):
    with pytest.raises(ValueError, match=r"one control object does not show .* at least 2, and 9 for"):
        judge(tables[0].iloc[:1], tables[1])


def test_the_screen_tells_of_columns_that_were_not_used(case, tables):
    tables[1].drop(columns="Mg").to_csv(case[1])
    done = _run("judge", *case)
    assert done.exit_code == 0
    assert "control.csv,column'Mg':notused" in "".join(done.output.split())


def test_the_result_survives_json(result):
    content = json.loads(json.dumps(result.to_dict()))
    assert CaseResult.from_dict(content) == result
    with pytest.raises(ValueError, match="not a case"):
        CaseResult.from_dict(content | {"schema": "other"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method='magic' is unknown"),
        ({"reduce": "magic"}, "reduce='magic' is unknown"),
        ({"sensitivity": 1.2}, "must lie in"),
        ({"features": ["Pb"]}, "no column 'Pb'"),
    ],
)
def test_wrong_parameters_are_named(tables, options, message):
    with pytest.raises(ValueError, match=message):
        judge(*tables, **options)


def test_the_command_prints_one_line_per_object_and_writes_what_was_asked(case, tmp_path, tables):
    report, file = tmp_path / "case.html", tmp_path / "case.json"
    done = _run("judge", *case, "--report", report, "--json", file)
    assert done.exit_code == 0
    for name in tables[1].index:
        assert f" {name} " in done.output
    content = json.loads(file.read_text())
    assert content["control"]["sha256"]
    assert content["schema"] == "transvariation-case/1"
    page = report.read_text()
    assert content["control"]["sha256"] in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_problems_leave_with_status_2_and_write_nothing(case, tmp_path):
    control, recovered = case
    recovered.write_text(recovered.read_text().replace("\n", "\nbad,x,y,z\n", 1))
    report = tmp_path / "case.html"
    done = _run("judge", control, recovered, "--report", report)
    assert done.exit_code == 2
    assert "recovered.csv, row 2, column 'K'" in done.output.replace("\n", " ")
    assert not report.exists()


def test_a_report_of_another_kind_is_refused_before_any_work(case, tmp_path):
    done = _run("judge", *case, "--report", tmp_path / "case.doc")
    assert done.exit_code == 2
    assert ".html or .pdf" in done.output


def test_the_same_inputs_give_the_same_bytes(tables, result):
    again = judge(*tables)
    day = date(2026, 1, 2)
    assert case_html(result, day) == case_html(again, day)
    pytest.importorskip("typst")
    first = case_pdf(result, day)
    assert first.startswith(b"%PDF")
    assert first == case_pdf(again, day)


def test_markup_in_ids_stays_text(tables):
    control, recovered = tables
    named = recovered.rename(index={recovered.index[0]: "<script>alert(1)</script>"})
    page = case_html(judge(control, named))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_data_frames_and_files_give_the_same_verdicts(case, result):
    from_files = judge(*case)
    assert [v.p_value for v in from_files.verdicts] == [v.p_value for v in result.verdicts]
    with pytest.raises(TableError):
        judge(pd.DataFrame(), pd.DataFrame())


def test_a_kept_rule_scores_as_it_judged(case, tmp_path, result):
    model, out = tmp_path / "rule.tv", tmp_path / "out.csv"
    assert _run("fit", case[0], model).exit_code == 0
    done = _run("score", model, case[1], "--out", out)
    assert done.exit_code == 0, done.output
    scores = pd.read_csv(out)
    assert scores["p_value"].tolist() == pytest.approx([v.p_value for v in result.verdicts], rel=1e-12)
    assert scores["verdict"].tolist() == ["accepted" if v.accepted else "rejected" for v in result.verdicts]


def test_a_table_that_cannot_be_scored_leaves_nothing_behind(case, tmp_path):
    model, out = tmp_path / "rule.tv", tmp_path / "out.csv"
    assert _run("fit", case[0], model).exit_code == 0
    case[1].write_text(case[1].read_text() + "x,1,2\n")
    assert _run("score", model, case[1], "--out", out).exit_code == 2
    assert not out.exists()
    assert list(tmp_path.glob("*.unfinished")) == []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X: TOCC().fit(X.to_numpy()), "was fitted without column names; fit it to a table"),
        (lambda X: dask.TOCC().fit(X.to_numpy()), "was fitted without column names; fit it to a table"),
        (lambda X: make_pipeline(StandardScaler(), TOCC()).fit(X), "holds a Pipeline, which has no p-values"),
        (lambda X: MinorComponents().fit(X), "holds a MinorComponents, which has no p-values"),
        (lambda X: TOCC(), "not fitted yet"),
    ],
)
def test_a_file_without_a_rule_for_tables_is_refused_in_words(case, tables, tmp_path, make, words):
    model, out = tmp_path / "rule.tv", tmp_path / "out.csv"
    save(make(tables[0]), model)
    done = _run("score", model, case[1], "--out", out)
    assert done.exit_code == 2, done.output
    assert words in " ".join(done.output.split())
    assert not out.exists()


def test_a_kept_rule_refuses_other_units(case, tmp_path, tables):
    model, out = tmp_path / "rule.tv", tmp_path / "out.csv"
    tables[0].rename(columns={"K": "K (wt%)"}).to_csv(case[0])
    assert _run("fit", case[0], model).exit_code == 0
    for header, status in (("K (ppm)", 2), ("K [wt.%]", 0), ("K", 0)):
        tables[1].rename(columns={"K": header}).to_csv(case[1])
        done = _run("score", model, case[1], "--out", out)
        assert done.exit_code == status, done.output
        assert status == 0 or "the unit is 'ppm' here but 'wt%' in" in done.output
        assert out.exists() == (status == 0)
        out.unlink(missing_ok=True)


def test_objects_left_out_are_named_before_all_else(tables):
    units = {name: f"{name} (wt%)" for name in tables[0]}
    recovered = tables[1].copy()
    recovered.iloc[[1, 4], 0] = np.nan
    lines = summary_lines(judge(tables[0].rename(columns=units), recovered.rename(columns=units), missing="drop"))
    lost = ", ".join(str(name) for name in recovered.index[[1, 4]])
    assert lines[1] == f"NOT JUDGED because a value is missing or below detection, 2 of 9 recovered objects: {lost}."
    assert not any("unit 'wt%'" in line for line in lines)
    assert sum("left out: missing" in line for line in lines) == 2


def test_values_put_in_are_told_before_other_notes(tables):
    control = tables[0].assign(**{f"remark {i}": "x" for i in range(8)})
    recovered = tables[1].copy()
    recovered.iloc[1, 0] = np.nan
    notes = [line for line in summary_lines(judge(control, recovered, missing="impute")) if line.startswith("Note")]
    assert "1 missing, replaced by the control's median" in notes[0]


def test_the_columns_used_are_named(tables):
    control, recovered = (table.assign(**{"Lab no": range(len(table))}) for table in tables)
    lines = summary_lines(judge(control, recovered))
    assert lines[1].startswith("Variables: K, Mg, Al. Objects are named by column 'fragment'.")
    notes = [line for line in lines if line.startswith("Note")]
    assert "column 'Lab no': not used: taken for a label" in notes[0]
    assert "Lab no" in summary_lines(judge(control, recovered, features=["K", "Lab no"]))[1]


def test_nitrogen_is_no_numbering(tables):
    control, recovered = (table.reset_index(drop=True).assign(N=range(7, 7 + 9 * len(table), 9)) for table in tables)
    found = judge(control, recovered)
    assert found.features == ("K", "Mg", "Al", "N")
    assert "Objects are named by row." in summary_lines(found)[1]


def test_replicates_of_a_recovered_fragment_are_not_independent_objects():
    rng = np.random.default_rng(0)
    names = ["A", "B"]
    low = []
    for _ in range(40):
        control = pd.DataFrame(rng.normal(size=(30, 2)), columns=names)
        fragment = pd.DataFrame(rng.normal(size=2) + 0.05 * rng.normal(size=(5, 2)), columns=names)
        result = judge(control, fragment.assign(source="F1"))
        ranks = [verdict.p_value for verdict in result.verdicts]
        assert result.combined_p_value == pytest.approx(min(1, 2 * np.mean(ranks)))
        assert len(result.selected) in (0, 5)  # all of the fragment, or nothing
        low.append(result.combined_p_value <= 0.1)
    assert np.mean(low) <= 0.15


def test_a_rule_that_is_kept_is_warned_of_like_a_case(tables, tmp_path):
    control, recovered = tables
    for method, rows in (("tocc", control), ("kernel", control.iloc[:6]), ("kernel", control)):
        expected = judge(rows, recovered, method=method).warnings
        assert tuple(fit_model(rows, tmp_path / f"{method}{len(rows)}.tv", method=method)[2]) == expected
