"""The report of a validation."""

from dataclasses import replace

import numpy as np
import pytest
from tests.casework.conftest import make_glass

from transvariation.casework import Database, validate
from transvariation.report.validation import validation_summary, write_validation_report


def test_the_report_has_what_an_assessor_reads(tmp_path):
    pytest.importorskip("typst")
    database = Database.build(make_glass(60, 3, 2, np.random.default_rng(0)), source_column="pane", population="panes")
    result = validate(database, designs=["2x2"], n_comparisons=20, n_folds=2, stability=False)
    write_validation_report(result, tmp_path / "validation.pdf")
    assert (tmp_path / "validation.pdf").read_bytes().startswith(b"%PDF")
    write_validation_report(result, tmp_path / "validation.html")
    text = (tmp_path / "validation.html").read_text()
    for heading in (
        "Purpose and population",
        "Conclusion by criterion",
        "Design 2x2",
        "Data checks",
        "Limits",
        "Signatures",
    ):
        assert heading in text
    assert validation_summary(result) in text
    assert f"SHA-256 {result.database['sha256']}" in text
    assert "Empirical cross-entropy" in text
    assert "With 4, the 4 s interval is not the standard" in text
    oxides = dict(result.settings, variables=["SiO", "CaO"]), dict(result.settings, variables=["Sr88", "Zr90"])
    for settings, is_said in zip(oxides, (True, False), strict=True):
        write_validation_report(replace(result, settings=settings), tmp_path / "other.html")
        assert ("These variables are others" in (tmp_path / "other.html").read_text()) is is_said
