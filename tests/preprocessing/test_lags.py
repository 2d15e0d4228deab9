"""Lagged variables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from transvariation.preprocessing import (
    LaggedVariables,
)

CHEMOTOOLS = json.loads((Path(__file__).parent.parent / "reference" / "chemotools" / "preprocessing.json").read_text())


FIRST, SECOND = np.array(CHEMOTOOLS["X"]), np.array(CHEMOTOOLS["Z"])


def test_lagged_variables_are_those_of_a_shifted_frame():
    frame = pd.DataFrame(FIRST[:, :3], columns=["T", "p", "flow"])
    lagged = LaggedVariables(2).set_output(transform="pandas").fit_transform(frame)
    assert list(lagged.columns)[2:5] == ["flow", "T (t-1)", "p (t-1)"]
    np.testing.assert_array_equal(lagged["p (t-2)"][2:], frame["p"].shift(2)[2:])
    np.testing.assert_array_equal(lagged["p (t-2)"][:2], frame["p"][0])
    with pytest.raises(ValueError, match="lags=-1"):
        LaggedVariables(-1).fit(frame)
