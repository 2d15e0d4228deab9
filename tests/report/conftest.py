"""A case with a background, judged once for all reports."""

import numpy as np
import pytest
from tests.casework.conftest import make_glass

from transvariation.casework import judge


@pytest.fixture(scope="session")
def case():
    pytest.importorskip("lir")
    table = make_glass(42, 5, 3, np.random.default_rng(4))
    own = table["pane"] == "P0"
    known = table[own & (table["fragment"] <= "3")]
    questioned = table[own & (table["fragment"] > "3") | (table["pane"] == "P1") & (table["fragment"] <= "2")]
    details = {"case_number": "2026/17", "laboratory": "Glass Laboratory", "examiner": "A. Smith"}
    background = table[~table["pane"].isin(["P0", "P1"])]
    return judge(known, questioned, background=background, log=True, case=details, lead="exclusion")
