"""What a basis says of its calibrating units."""

import pytest

from transvariation.casework.evidence import Basis

RATES = {"sensitivity": (0.9, 1.0)} | {
    name + suffix: values
    for name, low in (("false_exclusion", 0.1), ("false_inclusion", 0.4))
    for suffix, values in {
        "": (low, low + 0.2),
        "_n": (100, 100),
        "_low": (low - 0.05, low + 0.1),
        "_high": (low + 0.05, low + 0.3),
    }.items()
}


def test_measured_rates_are_interpolated_between_sensitivities():
    basis = Basis(40, 1 / 41, RATES)
    exclusion, inclusion = basis.measured_rates(0.95)
    assert (exclusion.share, exclusion.low, exclusion.high) == pytest.approx((0.2, 0.125, 0.275))
    assert (inclusion.share, inclusion.n) == (pytest.approx(0.5), 100)
    without = Basis(40, 1 / 41)
    assert without.measured_rates(0.9) == (None, None)


def test_background_sources_that_cannot_be_distinguished_are_counted():
    basis = Basis(40, 1 / 41, RATES, {"b": 0.3, "a": 0.2, "c": 0.1})
    names, share = basis.indistinguishable(0.9)
    assert names == ("a", "b")
    assert (share.share, share.n) == (2 / 40, 40)
    assert Basis(40, 1 / 41).indistinguishable(0.9) is None
