"""Which variables are compared: ranges, names, reductions."""

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import spectra

from transvariation import load_glass
from transvariation.casework import REDUCTIONS, CaseSettings, judge
from transvariation.casework.variables import positions, spectral_axis
from transvariation.report.case import case_document
from transvariation.report.wording.statements import description


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(0)
    return spectra(20, rng, prefix="k"), pd.concat([spectra(4, rng), spectra(4, rng, 12.0, prefix="f")])


def test_ranges_keep_positions_and_gaps_outside_do_not_matter(tables):
    known, new = (table.copy() for table in tables)
    known.iloc[0, 0] = np.nan
    found = judge(known.assign(moisture=1.5), new.assign(moisture=1.5), ranges=[(1300, 1250), (1400, 1420)])
    assert found.inputs.features == tuple(f"{x:g}" for x in [*range(1250, 1301, 5), *range(1400, 1421, 5)])


def test_variables_are_left_out():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["K", "Mg"])
    found = judge(frame.assign(Ba=["?"] + ["0.1"] * 29), frame.iloc[5:8].assign(K=9.0), without=["Ba"])
    assert found.inputs.features == ("K", "Mg")


def test_a_reduction_leaves_as_many_as_asked(tables):
    found = judge(*tables, preprocess="snv", reduce="vip", reduce_to=5)
    assert len(found.model.variables.used) == 5
    assert "reduced to 5, the most important" in description(found)
    for c in found.conclusions:
        assert c.regions is None  # other positions are no evidence
        assert {r.variable for r in c.reasons} == set(found.model.variables.used)
    assert "<svg" in case_document(found).html() or "data:image/svg" in case_document(found).html()


def test_names_that_are_positions():
    names = [f"X{x}" for x in range(400, 430)]
    assert positions(["moisture", *names]) == dict(zip(names, range(400, 430), strict=True))
    assert spectral_axis(names).tolist() == list(range(400, 430))
    assert spectral_axis(names[::-1]).tolist() == list(range(429, 399, -1))
    assert spectral_axis([*names, "moisture"]) is None
    assert spectral_axis([*names[1:], names[0]]) is None
    # Isotopes in the order of their masses are no spectrum.
    isotopes = "Li7 B11 Na23 Mg24 Al27 Si28 P31 K39 Ca42 Ti47 V51 Cr52 Mn55 Fe57 Co59 Ni60 Cu63 Zn66 Ga71 Rb85 Sr88"
    assert spectral_axis(isotopes.split()) is None
    assert positions(isotopes.split()) == {}
    assert CaseSettings(preprocess="").preprocess is None


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_reductions_name_what_they_use(reduce):
    glass = load_glass()
    control, recovered = (
        glass.control[["RI", "Mg", "Si", "Fe"]].iloc[::3],
        glass.recovered[["RI", "Mg", "Si", "Fe"]].iloc[:3],
    )
    found = judge(control, recovered, method="tocc", reduce=reduce)
    variables = found.model.variables
    assert set(variables.used) | set(variables.unused) == set(control)
    assert variables.combinations == (2 if reduce == "minor" else 0)
    assert len(variables.used) == (4 if reduce == "minor" else 2)
    assert {reason.variable for c in found.conclusions for reason in c.reasons} == set(variables.used)
