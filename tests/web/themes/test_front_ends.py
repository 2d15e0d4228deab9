"""The same case through Python, the command line and the page gives the same JSON, for cases of ten kinds."""

import base64
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

pytest.importorskip("starlette")

from transvariation import load_glass, load_nfi_glass
from transvariation.casework import CaseSettings, judge
from transvariation.cli import main
from transvariation.web.session import Session

GLASS, NFI = load_glass(), load_nfi_glass().frame
ELEMENTS = [name for name in NFI.columns if name not in ("source", "piece")][:3]
TWO = ["K", "Mg"]


def _glass(n=60, names=TWO):
    return GLASS.control[names].iloc[:n], GLASS.recovered[names].iloc[::9]


def _of_nfi(source, pieces, values=lambda x: x):
    own = NFI[(NFI["source"] == source) & NFI["piece"].isin(pieces)]
    return own[["source", "piece"]].join(values(own[ELEMENTS]))


def _background(values=lambda x: x, n=18):
    chosen = NFI[NFI["source"].isin([f"v{i}" for i in range(3, n)])]
    return chosen[["source", "piece"]].join(values(chosen[ELEMENTS]))


def _spectra(n, seed):
    rng, axis = np.random.default_rng(seed), np.arange(800.0, 1000, 4)
    peaks = np.exp(-((axis - 900) ** 2) / 500)
    X = (1 + 0.05 * rng.normal(size=(n, 1))) * peaks + 0.01 * rng.normal(size=(n, len(axis)))
    return pd.DataFrame(X, columns=[f"{x:g}" for x in axis], index=[f"S{i}" for i in range(n)]).rename_axis("id")


def _with_gaps():
    control, recovered = _glass()
    return control, recovered.mask(np.arange(recovered.size).reshape(recovered.shape) == 4)


def _renamed(table):
    return table.rename(columns={"source": "Xyz", "piece": "Uvw"})


ROLES = {"Xyz": "source", "Uvw": "fragment"}
# Tables, settings, and the same settings as options of the command line.
CASES = {
    "few": (
        {"control": _of_nfi("v1", [1, 2, 3]), "recovered": _of_nfi("v1", [4, 5])},
        {"sensitivity": 0.6, "logged": True},
        ["--sensitivity", "0.6", "--logged"],
    ),
    "many": (dict(zip(("control", "recovered"), _glass(80), strict=True)), {"method": "pam"}, ["--method", "pam"]),
    "background": (
        {"control": _of_nfi("v1", [1, 2, 3]), "recovered": _of_nfi("v2", [1]), "background": _background(n=40)},
        {"logged": True, "case": {"case_number": "7"}},
        ["--logged", "--case-number", "7"],
    ),
    "foreign": (
        {**dict(zip(("control", "recovered"), _glass(), strict=True)), "foreign": GLASS.recovered[TWO].iloc[1::9]},
        {},
        [],
    ),
    "spectra": (
        {"control": _spectra(30, 0), "recovered": _spectra(5, 1) * 1.5},
        {"preprocess": "snv,sg1", "ranges": [[840, 960]]},
        ["--preprocess", "snv,sg1", "--range", "840-960"],
    ),
    "log": (
        {
            "control": _of_nfi("v1", [1, 2, 3], np.exp),
            "recovered": _of_nfi("v2", [1], np.exp),
            "background": _background(np.exp),
        },
        {"log": True, "seed": 3},
        ["--log", "--seed", "3"],
    ),
    "missing": (
        dict(zip(("control", "recovered"), _with_gaps(), strict=True)),
        {"missing": "impute"},
        ["--missing", "impute"],
    ),
    "Excel": (
        dict(zip(("control", "recovered"), _glass(), strict=True)),
        {"tables": {"control": {"sheet": "second"}, "recovered": {"sheet": "second"}}},
        ["--control-sheet", "second", "--recovered-sheet", "second"],
    ),
    "roles": (
        {
            "control": _of_nfi("v1", [1, 2, 3]),
            "recovered": _of_nfi("v2", [1]),
            "background": _renamed(_background()),
        },
        {"logged": True, "tables": {"background": {"roles": ROLES}}},
        ["--logged", "--background-role", "Xyz=source", "--background-role", "Uvw=fragment"],
    ),
    "one variable": (dict(zip(("control", "recovered"), _glass(50, ["RI"]), strict=True)), {}, []),
}


def _written(kind, tables):
    """Write the tables into the working folder; return their names."""
    names = {}
    for which, table in tables.items():
        names[which] = f"{which}.{'xlsx' if kind == 'Excel' else 'csv'}"
        is_labeled = table.columns[0] in ("source", "Xyz")
        if kind == "Excel":
            with pd.ExcelWriter(names[which]) as writer:
                pd.DataFrame({"x": [1.5]}).to_excel(writer, sheet_name="first", index=False)
                table.to_excel(writer, sheet_name="second", index_label="id")
        else:
            table.to_csv(names[which], index=not is_labeled, index_label=None if is_labeled else "id")
    return names


def _of_page(names, settings):
    session = Session(lambda step, share: None)
    contents = {which: base64.b64encode(Path(name).read_bytes()).decode() for which, name in names.items()}
    session.load({which: {"name": names[which], "content": content} for which, content in contents.items()})
    session.judge(json.loads(json.dumps(settings)))
    return json.loads(base64.b64decode(session.show("save", None, "json")["content"]))


@pytest.mark.parametrize("kind", CASES)
def test_python_command_line_and_page_give_the_same_json(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    tables, settings, options = CASES[kind]
    names = _written(kind, tables)
    third = {which: names[which] for which in ("background", "foreign") if which in names}
    by_python = judge(names["control"], names["recovered"], **third, settings=CaseSettings.from_dict(settings))
    found = [json.loads(by_python.to_json()), _of_page(names, settings)]
    arguments = [names["control"], names["recovered"], *(part for w, n in third.items() for part in (f"--{w}", n))]
    answer = CliRunner().invoke(main, ["judge", *arguments, *options, "--json", "case.json"])
    assert answer.exit_code in (0, 3), answer.output
    found.append(json.loads(Path("case.json").read_text()))
    for each in found:
        each["provenance"].pop("command")
    assert found[0] == found[1]
    assert found[0] == found[2]
