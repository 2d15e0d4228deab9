"""Values that were filled in are no evidence."""

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import said

from transvariation.casework import judge


@pytest.fixture
def tables():
    """A control with little barium measured, and two recovered fragments that differ in everything."""
    rng = np.random.default_rng(0)
    control = pd.DataFrame(rng.normal(size=(40, 3)), columns=["Na", "Mg", "Ba"], index=[f"c{i}" for i in range(40)])
    control.iloc[:30, 2] = np.nan
    recovered = pd.DataFrame([[9.0, 9.0, 9.0], [9.0, np.nan, 9.0]], columns=control.columns, index=["a", "b"])
    return control, recovered


def test_a_variable_mostly_filled_in_is_no_reason(tables):
    result = judge(*tables, missing="impute")
    assert [set(conclusion.evidence) for conclusion in result.conclusions] == [{"Na", "Mg"}, {"Na"}]
    assert [conclusion.accepted for conclusion in result.conclusions] == [False, False]


def test_much_filling_in_is_a_caution(tables):
    control, recovered = tables
    (caution,) = [words for words in said(judge(control, recovered[:1], missing="impute")) if "filled in" in words]
    assert "Ba (75%)" in caution
    complete = judge(control[["Na", "Mg"]], recovered[["Na", "Mg"]][:1], missing="impute")
    assert not [words for words in said(complete) if "filled in" in words]
