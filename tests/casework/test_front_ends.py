"""The same case through Python, the command line and the page gives the same JSON."""

import base64
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.casework.conftest import make_glass

from transvariation.casework import judge
from transvariation.cli import main

pytestmark = pytest.mark.slow


def _glass(n, shift=0.0, prefix="F"):
    rng = np.random.default_rng(n)
    values = rng.normal([13.0, 3.5], [0.2, 0.1], size=(n, 2)) + shift
    return pd.DataFrame(values, columns=["Na", "Mg"]).assign(id=[f"{prefix}{i}" for i in range(n)])


def _levels(n_sources, n_fragments, prefix):
    return make_glass(n_sources, n_fragments, 2, np.random.default_rng(n_sources), prefix=prefix)


def _spectra(n, center):
    axis, rng = np.arange(800, 1000, 5), np.random.default_rng(n)
    bumps = np.exp(-(((axis - center) / 20) ** 2))
    rows = rng.normal(1, 0.1, (n, 1)) * bumps + rng.normal(0, 0.02, (n, len(axis)))
    return pd.DataFrame(rows, columns=axis.astype(str))


CONTROL, RECOVERED = _glass(20), _glass(3, 0.4, "Q")
GAPS = CONTROL.assign(Na=CONTROL["Na"].where(CONTROL.index != 4))
NAMES = {"pane": "Where", "fragment": "Piece", "Rep": "N"}
ROLES = {"Where": "source", "Piece": "fragment", "N": "replicate"}
# By kind: the tables, the settings, and the same as typed.
CASES = {
    "few": ({"control": CONTROL[:5], "recovered": RECOVERED}, {}, ""),
    "many": ({"control": _glass(60), "recovered": RECOVERED}, {"sensitivity": 0.95}, "--sensitivity 0.95"),
    "background": (
        {"control": _levels(1, 3, "K"), "recovered": _levels(1, 2, "Q"), "background": _levels(35, 3, "B")},
        {"log": True, "case": {"case_number": "7"}},
        "--log --case-number 7",
    ),
    "foreign": ({"control": CONTROL, "recovered": RECOVERED, "foreign": _glass(9, 1.0, "X")}, {"seed": 3}, "--seed 3"),
    "spectra": (
        {"control": _spectra(15, 880), "recovered": _spectra(2, 900)},
        {"preprocess": "snv,sg1", "ranges": [(820, 960)]},
        "--preprocess snv,sg1 --range 820-960",
    ),
    "log": ({"control": CONTROL, "recovered": RECOVERED}, {"log": True, "method": "tocc"}, "--log --method tocc"),
    "missing": ({"control": GAPS, "recovered": RECOVERED}, {"missing": "impute"}, "--missing impute"),
    "Excel": (
        {"control": CONTROL, "recovered": RECOVERED},
        {"tables": {"control": {"sheet": "second"}}},
        "--control-sheet second",
    ),
    "roles": (
        {"control": _levels(1, 12, "K").rename(columns=NAMES), "recovered": _levels(1, 2, "Q").rename(columns=NAMES)},
        {"roles": ROLES},
        "--role Where=source --role Piece=fragment --role N=replicate",
    ),
    "single variable": ({"control": CONTROL, "recovered": RECOVERED}, {"features": ["Na"]}, "--features Na"),
}


def _written(kind, tables):
    """Write the tables as files; return their names by their part in the case."""
    names = {}
    for which, table in tables.items():
        names[which] = f"{which}.xlsx" if kind == "Excel" else f"{which}.csv"
        if kind != "Excel":
            table.to_csv(names[which], index=False)
            continue
        with pd.ExcelWriter(names[which]) as book:
            if which == "control":
                pd.DataFrame({"note": ["see the second sheet"]}).to_excel(book, sheet_name="first", index=False)
            table.to_excel(book, sheet_name="second", index=False)
    return names


def _comparable(content):
    content["provenance"].pop("command")
    return content


@pytest.mark.parametrize("kind", CASES)
def test_python_command_line_and_page_give_the_same_json(kind, tmp_path, monkeypatch):
    pytest.importorskip("starlette")
    from transvariation.web.session import Session

    monkeypatch.chdir(tmp_path)
    tables, settings, typed = CASES[kind]
    names = _written(kind, tables)
    python = judge(**names, **settings)
    third = [text for which in ("background", "foreign") if which in names for text in (f"--{which}", names[which])]
    told = ["judge", names["control"], names["recovered"], *third, *typed.split(), "--json", "case.json"]
    done = CliRunner().invoke(main, told)
    assert done.exit_code == (0 if python.model.conclusive else 3), done.output
    page = Session(lambda step, share: None)
    contents = {which: base64.b64encode((tmp_path / name).read_bytes()).decode() for which, name in names.items()}
    page.load({which: {"name": name, "content": contents[which]} for which, name in names.items()})
    page.judge(json.loads(json.dumps(settings)))
    expected = _comparable(json.loads(python.to_json()))
    assert _comparable(json.loads((tmp_path / "case.json").read_text())) == expected
    assert _comparable(json.loads(page.at(None).to_json())) == expected
