"""Digits that the uncertainty of a value supports."""

import numpy as np
import pandas as pd
import pytest

from transvariation.casework import judge
from transvariation.report.digits import Digits


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("RI", [1.5198, 1.51984, 1.5199], "1.51980"),
        ("Ca", [8.75, 8.61, 8.70], "8.75"),  # no more decimals than the table
        ("Sr", [61.237, 58.9, 70.113], "61.2"),  # a standard deviation of 6
        ("K", [512.3, 498.8, 630.1], "512"),  # of 71
        ("Na", [98123.4, 97611.0, 99040.2], "98120"),  # of 725
        ("Fe", [0.5, 0.5], "0.5"),
    ],
)
def test_values_have_the_digits_that_their_uncertainty_supports(name, values, expected):
    control = pd.DataFrame({name: values * 4, "x": np.arange(4.0 * len(values)) + 0.25})
    digits = Digits(judge(control, control.iloc[:1]))
    assert digits.write(name, values[0]) == expected


def test_a_small_standard_deviation_is_not_written_as_zero():
    control = pd.DataFrame({"RI": [1.51981, 1.51983, 1.51982, 1.51984] * 4})
    digits = Digits(judge(control, control.iloc[:1]))
    assert digits.mean_sd("RI", [1.519820, 1.519826]) == "1.51982 ± 0.0000042"
    assert digits.mean_sd("RI", [1.51982, 1.51985]) == "1.51984 ± 0.00002"
