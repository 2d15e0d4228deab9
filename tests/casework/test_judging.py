"""From tables to conclusions."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import ELEMENTS, make_glass, said

from transvariation import load_glass, load_nfi_glass
from transvariation.casework import METHODS, CaseError, CaseResult, SettingsError, judge
from transvariation.report.wording.statements import disagreement, headline, statement
from transvariation.tables import TableError


@pytest.fixture(scope="module")
def tables():
    glass = load_glass()
    return glass.control[["K", "Mg", "Al"]], glass.recovered[["K", "Mg", "Al"]].iloc[::6]


@pytest.fixture(scope="module")
def result(tables):
    return judge(*tables)


def test_enough_control_fragments_calibrate_the_conclusions(result):
    assert len(result.conclusions) == 9
    assert result.model.basis == "control"
    assert result.model.conclusive
    assert {c.n for c in result.conclusions} == {87}
    assert len(result.excluded) >= 7
    assert all(c.accepted == (c.p_value > 0.1 + 1e-9) for c in result.conclusions)
    assert all(c.log10_lr == {} for c in result.conclusions)
    assert headline(result) == (
        f"{len(result.excluded)} of 9 recovered fragments excluded. A fragment of the control's own source is excluded "
        "with a probability of 0.1 by design."
    )


def test_few_control_fragments_are_judged_by_the_background(few):
    assert few.model.basis == "background"
    assert [(c.fragment, c.source) for c in few.conclusions] == [("4", "P0"), ("1", "P1"), ("2", "P1")]
    assert [c.accepted for c in few.conclusions] == [True, False, False]
    assert {c.n for c in few.conclusions} == {41}
    assert few.conclusions[1].p_value == pytest.approx(1 / 42)
    ratios = [c.log10_lr["three_level"] for c in few.conclusions]
    assert ratios[0] > 0 > max(ratios[1:])
    assert few.conclusions[1].bound == {"three_level": "at most"}
    assert [c.match for c in few.conclusions] == [True, False, False]
    assert few.model.exclusion.share == pytest.approx(0.1, abs=0.04)
    assert few.model.inclusion.share < 0.05
    assert few.model.criterion.exclusion is not None
    assert [set(g.fragments) for g in few.groups] == [{"1", "2"}]
    assert not few.groups[0].accepted


def test_fragments_are_judged_by_the_mean_of_their_replicates(glass):
    questioned = glass[1]
    control = make_glass(1, 12, 3, np.random.default_rng(1))
    found = judge(control, questioned, log=True)
    assert found.inputs.control["fragments"] == 12
    assert found.inputs.control["rows"] == 36
    assert [len(c.measurements["Na"]) for c in found.conclusions] == [3, 3, 3]

    def logs(table):
        rows = table.groupby(["pane", "fragment"], sort=False)[ELEMENTS].agg(lambda x: np.log10(x).mean())
        return rows.reset_index(drop=True)

    means = judge(logs(control), logs(questioned))
    assert [c.p_value for c in found.conclusions] == pytest.approx([c.p_value for c in means.conclusions])


def test_few_fragments_without_a_background_are_not_conclusive(glass):
    known, questioned, _ = glass
    found = judge(known, questioned, log=True, astm=True)
    assert not found.model.conclusive
    assert found.model.basis == "control"
    assert {c.n for c in found.conclusions} == {3}
    assert headline(found).startswith("No conclusion")
    assert all(statement(c, found).startswith("No conclusion") for c in found.conclusions)
    assert any("needs at least 9 control fragments; there are 3" in w for w in said(found))
    assert [c.match for c in found.conclusions] == [True, False, False]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_decides_by_its_p_values_and_moves(method):
    glass = load_glass()
    control, recovered = glass.control[["Na", "Al"]].iloc[:16], glass.recovered[["Na", "Al"]].iloc[::16]
    judged = [judge(control, recovered, method=method, sensitivity=s) for s in (0.6, 0.9)]
    assert judged[0].at(0.9) == judged[1]
    found = judged[1]
    assert all(c.accepted == (c.p_value > 1 - found.model.sensitivity_used + 1e-9) for c in found.conclusions)


@pytest.mark.parametrize("method", ["neighbor", "ddsimca"])
def test_the_order_of_rows_changes_nothing(method):
    rng = np.random.default_rng(0)
    known = pd.DataFrame(rng.normal(50, 1, size=(31, 3)), columns=["Na", "Mg", "K"])
    new = pd.DataFrame(rng.normal(51, 1, size=(6, 3)), columns=known.columns)
    first, second = (judge(table, new, method=method) for table in (known, known.sample(frac=1, random_state=1)))
    assert [c.p_value for c in first.conclusions] == pytest.approx([c.p_value for c in second.conclusions], abs=1e-9)


def test_the_basis_depends_on_the_number_of_control_fragments():
    rng = np.random.default_rng(2)
    own = make_glass(1, 34, 1, rng)
    known, questioned, background = own.iloc[:32], own.iloc[32:], make_glass(39, 4, 1, rng, prefix="B")
    found = judge(known, questioned, background=background, log=True)
    assert found.model.basis == "control"
    assert found.at(0.97).model.basis == "background"  # needs 33
    assert found.at(0.97).at(0.9) == found
    assert set(found.conclusions[0].p_values) == {"control", "background"}
    # Twelve support 0.9, but they include more foreign fragments than the background does.
    assert judge(known.iloc[:12], questioned, background=background, log=True).model.basis == "background"
    assert judge(known.iloc[:12], questioned, log=True).model.basis == "control"


def test_results_do_not_depend_on_what_was_judged_before(tables, result):
    assert judge(*tables) == result


def test_a_variable_is_evidence_if_it_excludes_by_itself():
    control = pd.DataFrame({"a": np.arange(1.0, 12) + 0.5, "b": [5.0, 5.1] * 5 + [5.0]})
    new = pd.DataFrame({"a": [6.5, 40.5], "b": [5.0, 5.0]})
    near, far = judge(control, new).conclusions
    # The median of 1.5 to 11.5 is 6.5, and no control fragment lies as far from the others' median as 40.5.
    assert far.evidence == ("a",)
    assert far.reasons[0].p_values["control"] == pytest.approx(1 / 12)
    assert far.reasons[0].side == "above"
    assert near.evidence == ()


def test_one_variable_has_one_p_value():
    rng = np.random.default_rng(3)
    control, new = (pd.DataFrame({"RI": 1.52 + 1e-5 * rng.normal(size=n)}) for n in (30, 4))
    for c in judge(control, new).conclusions:
        assert c.reasons[0].p_values["control"] == c.p_value


def test_disagreement_is_stated(few):
    (excluded,) = {" ".join(disagreement(c)) for c in few.conclusions}
    assert excluded == ""
    changed = CaseResult.from_dict(
        few.to_dict() | {"conclusions": [_matching(c) for c in few.to_dict()["conclusions"]]}
    )
    words, reason = disagreement(changed.at(0.9).conclusions[1])
    assert "by the criterion of ± 4 standard deviations it would not be excluded" in words
    assert "interval" in reason


def _matching(conclusion):
    return conclusion | {"match": True}


def test_the_packaged_background_needs_no_file():
    pytest.importorskip("lir")
    frame = load_nfi_glass().frame
    own, other = (frame[frame["source"] == name] for name in ("v5", "v9"))
    contents = 10 ** pd.concat([own[:4], other[3:4]])[["K39", "Ti49", "Mn55"]]
    contents = contents.rename(columns=lambda name: name[:-2])  # the symbols of the elements
    found = judge(contents[:3], contents[3:], background="nfi", features=["K", "Ti", "Mn"], log=True)
    assert [c.accepted for c in found.conclusions] == [True, False]
    assert [c.match for c in found.conclusions] == [True, False]
    assert {c.basis for c in found.conclusions} == {"background"}
    assert found.inputs.background["sources"] == 977
    with pytest.raises(CaseError, match="the NFI background has no variable Xx"):
        judge(own.rename(columns={"K39": "Xx"}), other.rename(columns={"K39": "Xx"}), background="nfi")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method='magic' is unknown"),
        ({"reduce": "magic"}, "reduce='magic' is unknown"),
        ({"sensitivity": 1.2}, "sensitivity=1.2 must be a number above 0 and at most 1"),
        ({"features": ["Pb"]}, "no column 'Pb'"),
        ({"case": {"color": "red"}}, "case has no field 'color'"),
    ],
)
def test_wrong_parameters_are_named(tables, options, message):
    with pytest.raises(ValueError, match=message):
        judge(*tables, **options)


def test_data_frames_and_files_give_the_same_conclusions(tables, result, tmp_path):
    for name, table in zip(("c.csv", "r.csv"), tables, strict=True):
        table.to_csv(tmp_path / name)
    found = judge(tmp_path / "c.csv", tmp_path / "r.csv")
    assert [c.p_value for c in found.conclusions] == [c.p_value for c in result.conclusions]
    with pytest.raises(TableError):
        judge(pd.DataFrame(), pd.DataFrame())


@pytest.mark.parametrize("value", [1e154, -1e200, 1e308])
def test_an_enormous_value_is_excluded(tables, value):
    control = tables[0]
    strange = pd.concat([control.iloc[:1]] * 2).set_axis(["a", "b"]).assign(K=[value, -value])
    found = judge(control, strange)
    assert len(found.excluded) == 2
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("method", ["tocc", "projections"])
def test_a_method_that_can_exclude_nothing_is_reported(method):
    glass = load_glass()
    found = judge(glass.control, glass.control.iloc[:1] * 1000, method=method)
    smallest = found.model.bases["control"].smallest_p_value
    assert found.conclusions[0].p_value >= smallest
    assert any("can exclude nothing" in w for w in said(found)) == (smallest > 0.1)


def test_a_group_of_excluded_fragments_is_excluded_as_a_group():
    """Twice the mean of the p-values would be 0.055 at best here, and so never exclude a group at 0.95."""
    rng = np.random.default_rng(0)
    control = pd.DataFrame(rng.normal(size=(40, 3)), columns=["Na", "Mg", "Ca"])
    recovered = pd.DataFrame(8 + 0.1 * rng.normal(size=(3, 3)), columns=control.columns, index=["a", "b", "c"])
    result = judge(control, recovered, sensitivity=0.95)
    assert len(result.excluded) == 3
    (group,) = result.groups
    assert not group.accepted
    assert group.p_values["control"] == pytest.approx(1 / math.comb(43, 3))


def test_logarithms_given_as_data(glass, usual):
    known, questioned, background = glass
    elements = list(known.columns[3:])
    logs = [
        table.assign(**{name: np.log10(table[name]) - 1 for name in elements})
        for table in (known, questioned, background)
    ]
    found = judge(*logs[:2], background=logs[2], astm=True)
    assert all(c.match is None and not c.intervals for c in found.conclusions)
    assert found.model.criterion.exclusion is None
    assert sum("ASTM E2927 criterion was not applied" in w for w in said(found)) == 1
    stated = judge(*logs[:2], background=logs[2], logged=True)
    assert [c.match for c in stated.conclusions] == [c.match for c in usual.conclusions]
    assert [c.p_value for c in stated.conclusions] == [c.p_value for c in usual.conclusions]
    assert stated.model.criterion == usual.model.criterion
    assert not any("not applied" in w for w in said(stated))
    with pytest.raises(SettingsError, match="log and logged exclude each other"):
        judge(known, questioned, log=True, logged=True)
