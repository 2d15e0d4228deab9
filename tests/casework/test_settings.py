"""The settings of a case: validated once, serialized, and the same in every front end."""

import inspect
import json
import subprocess
import sys

import pandas as pd
import pytest

from transvariation.casework import METHODS, REDUCTIONS, CaseError, CaseSettings, SettingsError, TableSettings, judge
from transvariation.casework.control import CLASSIFIERS, REDUCERS
from transvariation.report.wording.remedies import error_text
from transvariation.tables.options import ROLES, options_of

CONTROL = pd.DataFrame({"Na": [13.1, 13.2, 13.3, 13.15, 13.25] * 2, "Mg": [3.5, 3.6, 3.4, 3.55, 3.45] * 2})


def test_settings_import_no_heavy_library():
    code = (
        "import sys; from transvariation.casework import CaseSettings; CaseSettings(method='pam')\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_wrong_value_is_named_at_once():
    with pytest.raises(SettingsError) as caught:
        CaseSettings(
            method="magic",
            sensitivity=1.2,
            ranges=[(1, "x")],
            missing=None,
            seed=None,
            reduce_to=0,
            roles={"a": "color"},
            tables={"background": {"decimal": ";"}},
            case={"color": "red"},
            log=True,
            logged=True,
        )
    text, typed = str(caught.value), error_text(caught.value, "cli")
    assert text.startswith("10 settings are wrong:")
    for words in (
        "method='magic' is unknown",
        "sensitivity=1.2 must be a number above 0 and at most 1",
        "(1, 'x') is not a pair",
        "missing=None",
    ):
        assert words in text
    for words in (
        "reduce_to=0 must be a whole number",
        "seed=None must be a whole number",
        "{'a': 'color'}",
        "background-decimal=';'",
        "no field 'color'",
    ):
        assert words in text
    assert "log and logged exclude each other" in text
    assert "--reduce-to=0" in typed


@pytest.mark.parametrize("name", ["sensitivity_", "fragment_colum", "sheets", "command"])
def test_a_misspelt_keyword_is_refused_with_the_nearest_right_one(name):
    with pytest.raises(SettingsError, match=f"'{name}' is no setting") as caught:
        judge(CONTROL, CONTROL, **{name: 0.8})
    near = {"sensitivity_": "sensitivity", "fragment_colum": "fragment_column", "sheets": "sheet", "command": "are"}
    assert near[name] in str(caught.value)


def test_the_signature_of_judge_names_every_field():
    known = inspect.signature(judge).parameters
    assert set(options_of(CaseSettings)) < set(known)
    assert known["sensitivity"].default == 0.9
    assert inspect.Parameter.VAR_KEYWORD not in {each.kind for each in known.values()}


def test_settings_survive_json():
    settings = CaseSettings(
        tables={"control": TableSettings(sheet=2, roles={"a": "ignore"}), "foreign": {"decimal": "comma"}},
        ranges=[(1200, 800)],
        features=["Na", "Mg"],
        preprocess=["snv", "sg1"],
        case={"examiner": "A. Smith"},
        sensitivity=0.95,
    )
    assert settings.ranges == ((800.0, 1200.0),)
    assert settings.preprocess == "snv,sg1"
    assert settings.tables["foreign"].decimal == ","
    assert CaseSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


def test_what_one_table_is_told_goes_before_what_all_are_told():
    settings = CaseSettings(
        decimal=",",
        fragment_column="piece",
        roles={"a": "id"},
        without=["Ba"],
        tables={"background": {"decimal": ".", "roles": {"b": "source"}}},
    )
    own = settings.of_table("background")
    assert (own.decimal, own.fragment_column) == (".", "piece")
    assert own.roles == {"a": "id", "b": "source", "Ba": "ignore"}
    assert settings.of_table("control").decimal == ","


def test_keywords_replace_fields_of_the_settings():
    settings = CaseSettings(method="tocc", sensitivity=0.8)
    result = judge(CONTROL, CONTROL + 0.01, settings=settings, sensitivity=0.7, case={"items": "1"})
    assert result.settings == CaseSettings(method="tocc", sensitivity=0.7, case={"items": "1"})
    assert result.at(0.6).settings.sensitivity == 0.6
    assert type(result).from_dict(json.loads(result.to_json())) == result
    with pytest.raises(SettingsError, match="must be a CaseSettings"):
        judge(CONTROL, CONTROL, settings={"method": "tocc"})


def test_names_are_listed_once():
    assert list(CLASSIFIERS) == list(METHODS)
    assert list(REDUCERS) == list(REDUCTIONS)
    assert options_of(CaseSettings)["method"].choices is METHODS
    assert "ignore" in ROLES


def test_settings_of_a_table_that_is_not_given_are_refused():
    with pytest.raises(CaseError, match=r"background \(sheet\) needs a background table"):
        judge(CONTROL, CONTROL, tables={"background": {"sheet": "many"}})


def test_every_field_is_documented():
    for name in options_of(CaseSettings):
        assert f"    {name} : " in CaseSettings.__doc__
