"""Known foreign samples, judged as recovered ones are."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.casework.conftest import said, spectra

from transvariation.casework import CaseError, CaseResult, judge
from transvariation.cli import main
from transvariation.report.case import case_document
from transvariation.tables import TableError


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return spectra(20, rng, prefix="k"), pd.concat([spectra(4, rng), spectra(4, rng, 12.0, prefix="f")])


@pytest.fixture(scope="module")
def result(tables):
    return judge(*tables, preprocess="snv,sg1")


class TestForeign:
    """Known foreign samples show how often such samples are noticed, and change nothing else."""

    @pytest.fixture(scope="class")
    @classmethod
    def foreign(cls):
        """Spectra whose second band is shifted by more and more, ten at each degree."""
        rng = np.random.default_rng(5)
        degrees = {f"{shift:g}%": spectra(10, rng, shift, prefix=f"d{shift}-") for shift in (0.0, 2.0, 12.0)}
        return pd.concat([frame.assign(source=degree) for degree, frame in degrees.items()])

    @pytest.fixture(scope="class")
    @classmethod
    def judged(cls, tables, foreign):
        return judge(*tables, preprocess="snv,sg1", foreign=foreign)

    def test_they_are_judged_as_recovered_ones_are(self, tables, foreign, judged):
        expected = judge(tables[0], foreign.drop(columns="source"), preprocess="snv,sg1")
        assert judged.foreign.p_values == tuple(c.p_value for c in expected.conclusions)
        assert judged.foreign.missed(0.9) == sum(c.accepted for c in expected.at(0.9).conclusions)
        assert judged.inputs.foreign["fragments"] == 30

    def test_they_change_no_conclusion(self, result, judged):
        assert judged.conclusions == result.conclusions
        assert said(judged) == said(result)

    def test_the_type_ii_error_falls_with_the_degree(self, judged):
        table = judged.foreign.type_ii_error(0.9)
        assert table["level"].tolist() == [0, 2, 12]
        assert table["beta"].is_monotonic_decreasing
        assert table["beta"].iloc[-1] == 0

    def test_control_fragments_are_compared_with_the_others(self, tables, judged):
        """The p-value of a control spectrum is its rank among all of them, by held-out scores."""
        assert sorted(judged.foreign.control_p_values) == pytest.approx(np.arange(1, 21) / 20)

    def test_report_and_json_have_them(self, judged):
        assert CaseResult.from_dict(json.loads(judged.to_json())) == judged
        text = case_document(judged).html()
        missed = judged.foreign.missed(0.9)
        assert f"Of 30 known foreign samples, {missed} would be accepted." in text
        assert "Sensitivity and specificity over the threshold" in text
        assert "Type II error (beta) on known foreign samples" in text

    def test_classes_without_numbers_and_without_names(self, tables, foreign):
        named = judge(*tables, preprocess="snv", foreign=foreign.assign(source="blend " + foreign["source"]))
        assert named.foreign.type_ii_error(0.9)["level"].tolist() == ["blend 0%", "blend 12%", "blend 2%"]
        nameless = judge(*tables, preprocess="snv", foreign=foreign.drop(columns="source"))
        assert set(nameless.foreign.levels) == {"foreign"}
        assert "foreign" in case_document(nameless).html()

    def test_columns_of_labels_may_be_in_one_table_only(self, tables, foreign):
        known, new = tables
        renamed = foreign.rename(columns={"source": "blend"})
        found = judge(known, new, preprocess="snv", foreign=renamed, source_column="blend")
        assert set(found.foreign.levels) == {"0%", "2%", "12%"}
        nameless = foreign.drop(columns="source")
        found = judge(known.assign(lot="L1"), new, preprocess="snv", foreign=nameless, source_column="lot")
        assert set(found.foreign.levels) == {"foreign"}
        with pytest.raises(TableError, match="there is no column 'farm'"):
            judge(known, new, preprocess="snv", foreign=nameless, source_column="farm")

    def test_gaps_are_filled_in_from_the_control(self, tables, foreign):
        name = foreign.columns[7]
        filled, gap = foreign.copy(), foreign.copy()
        filled.loc[filled.index[0], name] = tables[0][name].median()
        gap.loc[gap.index[0], name] = np.nan
        with pytest.raises(TableError, match="the value is missing"):
            judge(*tables, foreign=gap)
        found = judge(*tables, foreign=gap, missing="impute").foreign
        assert found.p_values == judge(*tables, foreign=filled).foreign.p_values

    def test_foreign_samples_that_are_control_samples_are_reported(self, tables):
        same = judge(*tables, preprocess="snv", foreign=tables[0])
        assert any("control and the foreign table are the same" in words for words in said(same))
        some = judge(*tables, preprocess="snv", foreign=pd.concat([tables[0][:5], tables[1]]))
        equal = f"control row in every variable: 5 of {5 + len(tables[1])} foreign rows"
        assert any(equal in words for words in said(some))

    def test_one_control_sample_is_no_evidence_on_foreign_ones(self, tables, foreign):
        found = judge(tables[0][:1], tables[1], preprocess="snv", foreign=foreign)
        assert found.foreign is None
        assert found.inputs.foreign["fragments"] == 30
        assert "rates of false inclusion cannot be measured" in case_document(found).html()

    def test_a_background_does_the_same(self, tables, foreign):
        with pytest.raises(CaseError, match="leave out the foreign table"):
            judge(*tables, foreign=foreign, background=foreign)

    def test_command_line(self, tables, foreign, tmp_path):
        paths = [tmp_path / f"{name}.csv" for name in ("known", "new", "foreign")]
        for path, table in zip(paths, (*tables, foreign), strict=True):
            table.to_csv(path, index_label="id")
        command = ["judge", *map(str, paths[:2]), "--foreign", str(paths[2]), "--preprocess", "snv,sg1"]
        said = CliRunner().invoke(main, command)
        assert said.exit_code == 0, said.output
        assert "Of 30 known foreign samples," in said.output
