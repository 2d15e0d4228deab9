"""The summary of many cases."""

import pandas as pd

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.report.batch import SUMMARY, write_summary


def test_a_case_that_was_not_judged_is_listed_with_the_others(tmp_path):
    glass = load_glass()
    result = judge(glass.control[["K", "Mg"]], glass.recovered[["K", "Mg"]].iloc[::10])
    page, cases, conclusions = write_summary([("=1+1", result), ("b", ValueError("no <table>"))], tmp_path)
    assert (page.name, cases.name, conclusions.name) == SUMMARY
    assert "2 cases, 1 not judged." in page.read_text()
    assert "no &lt;table&gt;" in page.read_text()
    rows = pd.read_csv(cases, dtype=str)
    assert rows["case"].tolist() == ["'=1+1", "b"]  # no formula for a spreadsheet
    assert rows["excluded"].tolist() == [str(len(result.excluded)), "–"]
    assert rows["result"][1] == "Not judged: no <table>"
    found = pd.read_csv(conclusions, dtype=str)
    assert found["fragment"].tolist() == [each.fragment for each in result.conclusions]
    assert found["conclusion"].eq("excluded").tolist() == [each.differs for each in result.conclusions]
