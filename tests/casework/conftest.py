"""Simulated glass with three levels, simulated spectra, and cases that several files use."""

import numpy as np
import pandas as pd
import pytest

from transvariation.casework import judge
from transvariation.report.case_text import fact_lines
from transvariation.report.wording.cautions import warning_texts as said
from transvariation.report.wording.statements import headline

AXIS = np.arange(1000.0, 1600.0, 5.0)  # 120 positions
ELEMENTS = ["Na", "Mg", "Al", "K", "Ca"]


def told(result):
    """What the screen says of a case, besides the table: headline, warnings and facts."""
    return [headline(result), *said(result), *fact_lines(result)]


def make_glass(n_sources, n_fragments, n_replicates, rng, between=0.2, fragment=0.01, replicate=0.01, prefix="P"):
    """Lognormal contents of panes, fragments of panes and replicates of fragments, as a laboratory's table."""
    p = len(ELEMENTS)
    rows = []
    for s in range(n_sources):
        pane = rng.normal(0, between, p)
        for f in range(n_fragments):
            piece = pane + rng.normal(0, fragment, p)
            for r in range(n_replicates):
                contents = 10 ** (1 + piece + rng.normal(0, replicate, p))
                rows.append([f"{prefix}{s}", f"{f + 1}", r + 1, *contents])
    return pd.DataFrame(rows, columns=["pane", "fragment", "Rep", *ELEMENTS])


def three_windows():
    """Three windows with three known fragments each, questioned fragments of two of them and of P3, a background."""
    table = make_glass(24, 4, 2, np.random.default_rng(7))
    last, windows = table["fragment"] == "4", ["P0", "P1", "P2"]
    known = table[table["pane"].isin(windows) & ~last]
    questioned = table[table["pane"].isin(["P0", "P1", "P3"]) & last]
    return known, questioned, table[~table["pane"].isin([*windows, "P3"])]


def sources_of(table):
    """The fragments of each source, as arrays of log10 contents."""
    return [
        [np.log10(rows[ELEMENTS].to_numpy()) for _, rows in pane.groupby("fragment", sort=False)]
        for _, pane in table.groupby("pane", sort=False)
    ]


def spectra(n, rng, shift=0.0, axis=AXIS, prefix="s"):
    """Three bands, of which the second may be shifted, with a random offset and slope and a little noise."""
    heights = 1 + 0.03 * rng.normal(size=(n, 3))
    centers = np.array([1120.0, 1300.0 + shift, 1480.0])
    bands = np.exp(-(((axis[:, None] - centers) / 25) ** 2))
    gain, offset = np.exp(0.3 * rng.normal(size=(2, n, 1)))
    X = gain * (heights @ bands.T + 0.003 * rng.normal(size=(n, len(axis)))) + offset
    return pd.DataFrame(X, columns=[f"{x:g}" for x in axis], index=[f"{prefix}{i}" for i in range(n)])


@pytest.fixture(scope="session")
def glass():
    """A case: three known and three questioned fragments, one of them from the same pane, and a background."""
    rng = np.random.default_rng(7)
    table = make_glass(43, 4, 3, rng)
    own = table["pane"] == "P0"
    known = table[own & (table["fragment"] != "4")]
    questioned = table[own & (table["fragment"] == "4") | (table["pane"] == "P1") & (table["fragment"] < "3")]
    return known, questioned, table[~table["pane"].isin(["P0", "P1"])]


@pytest.fixture(scope="session")
def usual(glass):
    """The case, judged with the defaults."""
    known, questioned, background = glass
    return judge(known, questioned, background=background, log=True)


@pytest.fixture(scope="session")
def few(glass):
    pytest.importorskip("lir")
    known, questioned, background = glass
    return judge(known, questioned, background=background, log=True, astm=True)
