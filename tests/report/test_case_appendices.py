"""Appendices of a report."""

import re

import pytest

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.report.case import case_document
from transvariation.report.case_appendices import mean_frame

GLASS = load_glass()


CONTROL, RECOVERED = GLASS.control[["K", "Mg"]], GLASS.recovered[["K", "Mg"]]


def test_appendices_are_lettered_without_a_gap():
    found = re.findall(r"<h2[^>]*>Appendix ([A-Z]):", case_document(judge(CONTROL, RECOVERED.iloc[:3])).html())
    assert found == ["A", "B", "C"]


def test_appendix_a_has_one_row_per_fragment_and_is_collapsed_on_screen(case):
    page = case_document(case).html().split("Appendix A: fragments</h2>")[1].split("</section>")[0]
    assert page.startswith('\n<label class="fold"><input type="checkbox"> Show 3 control fragments, 4 recovered')
    assert page.count("<tr>") == 3 + 4 + 2  # with two headings


def test_replicates_show_the_uncertainty(case):
    page = case_document(case).html()
    frame = mean_frame(case, case.conclusions)
    for text in frame.iloc[:, 1]:
        mean, sd = text.replace("\N{NO-BREAK SPACE}", " ").split(" ± ")
        assert len(mean.partition(".")[2]) == len(sd.partition(".")[2])
        assert text in page


def test_misleading_ratios_are_stated_with_their_number(case):
    page = case_document(case).html().split("validation of the likelihood ratio</h2>")[1]
    for kind in ("same-source ratios below 1: ", "different-source ratios above 1: "):
        assert re.match(r"0 of [\d,]+ \(below|[\d.]+% \(95% interval .*, n = ", page.split(kind)[1])


@pytest.mark.parametrize("once", [False, True])
def test_replicates_are_mentioned_where_there_are_some(case, once):
    page = case_document(judge(CONTROL, RECOVERED.iloc[:3]) if once else case).html()
    for words in ("standard deviation of the replicates", "dots are replicates", "of each recovered fragment"):
        assert (words in page) is not once
    assert ("Control fragments: measurements" in page) is once
