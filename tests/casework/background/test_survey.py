"""Likelihood ratios of one variable with a survey of single values."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.stats import norm
from tests.casework.conftest import told

from transvariation.casework import CaseError, CaseResult, judge
from transvariation.casework.background.survey import compare_with_survey, summarize
from transvariation.cli import main
from transvariation.report.case import case_document
from transvariation.report.case_text import sentences


def test_the_ratio_is_that_of_two_normal_densities():
    # A survey of a standard normal distribution, exact quantiles of it: its kernel density is nearly that.
    survey = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    found = compare_with_survey([[0.9, 1.1]], [1.0, 1.2], survey, within=0.2)
    error = 0.2 * np.sqrt(1 / 2 + 1 / 2)
    expected = norm.logpdf(-0.1, 0, error) - norm.logpdf(1.1, 0, np.hypot(1.0, 0.2 / np.sqrt(2)))
    assert found.log10_lr == pytest.approx(expected / np.log(10), abs=0.01)
    assert found.p_value == pytest.approx(2 * norm.sf(0.1 / error))


def test_a_rare_value_is_bounded_by_the_survey():
    survey = np.random.default_rng(0).normal(1.518, 0.0005, size=99)
    found = compare_with_survey([[1.5300, 1.53001]], [1.53001, 1.53002], survey, within=2e-5)
    assert (found.log10_lr, found.bound) == (2.0, "at least")
    names, share = summarize([str(i) for i in range(99)], [found]).indistinguishable(0.9)
    assert (names, share.share) == ((), 0)
    assert share.high == pytest.approx(1 - 0.05 ** (1 / 99))


@pytest.mark.parametrize("within", [None, 2e-5])
def test_a_value_beyond_the_survey_and_the_known_is_no_evidence_for_a_common_source(within):
    survey = np.random.default_rng(0).normal(1.518, 0.0005, size=99)
    for value in (1.53, 1.56, 1.6):
        measured = [value, value + 2e-5, value - 1e-5]
        found = compare_with_survey([[1.51981, 1.51983, 1.51982]], measured, survey, within=within)
        assert (found.log10_lr, found.bound) == (-2.0, "at most")


def test_measurements_without_spread_need_a_within_source_standard_deviation():
    with pytest.raises(ValueError, match="as `within`"):
        compare_with_survey([[1.5]], [1.5], [1.5, 1.6, 1.7])


RNG = np.random.default_rng(0)


SURVEY = pd.DataFrame({"pane": [f"P{i}" for i in range(400)], "RI": RNG.normal(1.5180, 0.0020, 400).round(5)})


KNOWN = pd.DataFrame({"fragment": np.repeat(["C1", "C2", "C3"], 4), "RI": RNG.normal(1.5198, 2e-5, 12).round(5)})


NEW = pd.DataFrame(
    {
        "fragment": np.repeat(["same", "other"], 3),
        "RI": [1.51980, 1.51981, 1.51979, *RNG.normal(1.5230, 2e-5, 3).round(5)],
    }
)


@pytest.fixture(scope="module")
def result():
    return judge(KNOWN, NEW, background=SURVEY)


def test_the_ratio_is_that_of_the_function_and_leads(result):
    for c, name in zip(result.conclusions, ("same", "other"), strict=True):
        values = NEW.loc[NEW["fragment"] == name, "RI"]
        expected = compare_with_survey([KNOWN["RI"]], values, SURVEY["RI"])
        assert c.log10_lr == {"survey": pytest.approx(expected.log10_lr)}
        assert c.t_test == pytest.approx(expected.p_value)
        assert c.leads == "ratio"  # three control fragments exclude nothing
    assert [c.outcome for c in result.conclusions] == [True, False]
    assert result.concludes
    assert CaseResult.from_dict(json.loads(result.to_json())) == result


def test_enough_control_fragments_lead_unless_the_policy_is_the_ratio():
    control = pd.DataFrame({"RI": RNG.normal(1.5198, 2e-5, 30).round(6)})
    for lead in ("exclusion", "ratio"):
        found = judge(control, NEW, background=SURVEY, lead=lead)
        assert {c.leads for c in found.conclusions} == {lead}


def test_every_output_says_what_the_survey_is(result):
    words = " ".join(sentences(result.conclusions[0], result))
    assert "than if it comes from another source of the kind in background (400 sources)" in words
    assert "Student's t-test of the means of control and fragment: p = " in words
    page = case_document(result).html()
    for text in (" ".join(told(result)), page):
        assert "surveyed sources cannot be distinguished from the control by Student" in text
        assert f"): {result.model.survey.indistinguishable(0.9)[0][0]}" in text
        assert "has one value for each of 400 sources: a survey" in text
    assert "supports ratios from 1/401 to 401" in page
    assert re.search(r"The standard deviation within a source is 0\.0000\d\d", page)
    assert "Verbal scale" in page
    assert "1.51980" in page


def test_the_standard_deviation_within_a_source_can_be_given(result):
    given = judge(KNOWN, NEW, background=SURVEY, within=4e-5)
    assert (given.model.survey.within, given.model.survey.freedom) == (4e-5, None)
    assert result.model.survey.freedom == 13  # 12 + 3 - 2
    assert given.conclusions[0].log10_lr["survey"] < result.conclusions[0].log10_lr["survey"]
    single = KNOWN.iloc[:1], NEW.iloc[[0]]
    with pytest.raises(CaseError, match=r"do not show how much .* \(within=\)"):
        judge(*single, background=SURVEY)
    assert judge(*single, background=SURVEY, within=4e-5).conclusions[0].outcome


def test_the_number_of_sources_like_the_control_moves_with_the_sensitivity(result):
    counts = [len(result.at(s).model.survey.indistinguishable(s)[0]) for s in (0.5, 0.9, 0.99)]
    assert counts == sorted(counts)


def test_a_small_survey_is_refused():
    with pytest.raises(CaseError, match="at least 30"):
        judge(KNOWN, NEW, background=SURVEY.iloc[:20])


def test_the_command_line_takes_a_survey(tmp_path):
    for name, table in (("c", KNOWN), ("r", NEW), ("s", SURVEY)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [str(tmp_path / f"{name}.csv") for name in "cr"]
    options = ["--background", str(tmp_path / "s.csv"), "--within", "0.00003"]
    done = CliRunner().invoke(main, ["judge", *files, *options])
    assert done.exit_code == 0, done.output
    assert "supports a common source with the control for 1 of 2" in done.output
