"""Decisions from numbers alone: levels, bases, exclusions and disagreements."""

from dataclasses import MISSING, fields

import numpy as np
import pytest

from transvariation.casework.astm import Criterion
from transvariation.casework.decision import (
    Conclusion,
    Group,
    Model,
    Reason,
    conclude,
    conclude_group,
    is_accepted,
)
from transvariation.casework.evidence import Basis, FragmentEvidence, GroupEvidence, VariableEvidence, Variables
from transvariation.casework.foreign import Foreign
from transvariation.metrics import type_ii_error


def _model(sensitivity=0.9, lead="exclusion", together=1, **n):
    bases = {name: Basis(count, 1 / (count + 1)) for name, count in n.items()}
    return Model(
        variables=Variables(("K",)),
        bases=bases,
        criterion=Criterion(4.0, 0.03),
        likelihood={},
        sensitivity=sensitivity,
        lead=lead,
        together=together,
    )


def _evidence(p_values, match=None, log10_lr=None, reasons=()):
    return FragmentEvidence(
        fragment="F",
        source=None,
        p_values=p_values,
        log10_lr=log10_lr or {},
        bound={},
        match=match,
        intervals=(),
        reasons=reasons,
        measurements={"K": (1.0,)},
        tp=None,
    )


@pytest.mark.parametrize(
    ("control", "background", "sensitivity", "basis", "conclusive"),
    [
        (9, None, 0.9, "control", True),  # 9 units support 0.9: 1 / 10 <= 0.1
        (8, None, 0.9, "control", False),
        (29, 40, 0.9, "background", True),  # with fewer than 30 control fragments
        (30, 40, 0.9, "control", True),
        (31, 40, 0.9, "control", True),
        (30, 40, 0.97, "background", True),  # 0.97 needs 33 units
        (1, 20, 0.97, "background", True),  # neither supports it: at 20 / 21 by the background
        (50, 50, 1.0, "background", False),
    ],
)
def test_what_calibrates(control, background, sensitivity, basis, conclusive):
    n = {"control": control} | ({} if background is None else {"background": background})
    model = _model(sensitivity, **n)
    assert (model.basis, model.conclusive) == (basis, conclusive)
    assert model.sensitivity_used == min(sensitivity, n[basis] / (n[basis] + 1))
    assert [caution.code for caution in model.cautions()] == ([] if n[basis] >= model.need else ["few-units"])


def test_no_conclusion_is_neither_accepted_nor_excluded():
    few = conclude(_evidence({"control": 0.2}), _model(control=4), None)
    assert (few.accepted, few.differs, few.p_value, few.n) == (None, True, 0.2, 4)
    none = conclude(_evidence({}), _model(control=1), None)
    assert (none.accepted, none.differs, none.p_value) == (None, None, None)


@pytest.mark.parametrize(("p", "accepted"), [(0.1, False), (0.12, True)])
def test_a_fragment_is_excluded_by_its_own_basis(p, accepted):
    found = conclude(_evidence({"control": p, "background": 0.5}), _model(control=30, background=40), None)
    assert (found.accepted, found.basis, found.n) == (accepted, "control", 30)
    assert [each.kind for each in found.disagreements] == ([] if accepted else ["background"])


@pytest.mark.parametrize(("control", "against"), [(4, []), (8, []), (9, ["control"]), (12, ["control"])])
def test_too_few_units_disagree_with_nothing(control, against):
    found = conclude(_evidence({"control": 0.3, "background": 0.01}), _model(control=control, background=40), None)
    assert (found.accepted, found.basis) == (False, "background")
    assert [each.kind for each in found.disagreements] == against


def test_evidence_that_points_the_other_way_is_listed():
    found = conclude(_evidence({"control": 0.01}, match=True, log10_lr={"s": 1.5}), _model(control=50), None)
    assert [(each.kind, each.accepted, each.value) for each in found.disagreements] == [
        ("astm", True, None),
        ("ratio", True, 1.5),
    ]
    assert conclude(_evidence({"control": 0.01}, log10_lr={"s": 0.3}), _model(control=50), None).disagreements == ()


@pytest.mark.parametrize(
    ("p", "log10_lr", "exclusion", "ratio"),
    [
        (0.05, 1.5, (False, ["ratio"]), (True, ["control"])),  # excluded although the ratio supports a common source
        (0.5, -1.5, (True, ["ratio"]), (False, ["control"])),
        (0.05, -1.5, (False, []), (False, [])),
        (0.5, 1.5, (True, []), (True, [])),
        (0.05, 0.2, (False, []), (None, [])),  # the ratio supports neither
    ],
)
def test_one_conclusion_leads_and_the_other_evidence_may_disagree(p, log10_lr, exclusion, ratio):
    for lead, expected in (("exclusion", exclusion), ("ratio", ratio)):
        found = conclude(_evidence({"control": p}, log10_lr={"s": log10_lr}), _model(lead=lead, control=50), None)
        assert (found.outcome, [each.kind for each in found.disagreements]) == expected
        assert (found.leads, found.accepted) == (lead, p > 0.1)
    without = conclude(_evidence({"control": p}), _model(lead="ratio", control=50), None)
    assert (without.leads, without.outcome) == ("exclusion", p > 0.1)


def test_a_family_wise_level_is_divided_among_the_fragments():
    model = _model(together=20, control=400)  # 0.1 / 20 needs 199 units
    assert model.sensitivity_used == pytest.approx(0.995)
    assert model.need == 199
    assert conclude(_evidence({"control": 0.01}), model, None).accepted
    assert not conclude(_evidence({"control": 0.005}), model, None).accepted
    assert model.at(0.8).sensitivity_used == pytest.approx(0.99)
    assert _model(0.4, together=2, control=50).of_each == pytest.approx(0.7)
    few = _model(together=20, control=50)
    assert not few.conclusive
    assert few.cautions()[0].values["need"] == 199


def test_reasons_are_ordered_and_filled_values_are_no_evidence():
    def variable(name, **p_values):
        return VariableEvidence(variable=name, value=1.0, control=0.0, side="above", deviation=2.0, p_values=p_values)

    reasons = variable("filled"), variable("weak", control=0.3), variable("strong", control=0.05)
    found = conclude(_evidence({"control": 0.05}, reasons=reasons), _model(control=50), None)
    assert [(each.variable, each.evidence) for each in found.reasons] == [
        ("strong", True),
        ("weak", False),
        ("filled", False),
    ]
    assert found.evidence == ("strong",)


@pytest.mark.parametrize(("p", "control"), [(0.5, 50), (0.05, 4)])
def test_no_variable_is_evidence_on_a_fragment_that_is_not_excluded(p, control):
    alone = VariableEvidence(
        variable="K", value=1.0, control=0.0, side="above", deviation=2.0, p_values={"control": 0.05}
    )
    found = conclude(_evidence({"control": p}, reasons=(alone,)), _model(control=control), None)
    assert found.evidence == ()
    assert not found.reasons[0].evidence


def test_a_group_is_decided_as_a_fragment_is():
    group = GroupEvidence(fragments=("A", "B"), p_values={"control": 0.1}, log10_lr={}, bound={})
    assert conclude_group(group, _model(control=9)).accepted is False
    assert conclude_group(group, _model(control=8)).accepted is None


def test_nothing_is_decided_by_default():
    decided = {"accepted", "differs", "p_value", "basis", "n", "conclusive", "sensitivity_used", "evidence"}
    for kind in (Model, Conclusion, Reason, Group):
        assert not [each.name for each in fields(kind) if each.name in decided and each.default is not MISSING]


def test_foreign_samples_are_counted_as_they_are_decided():
    p_values = tuple(np.linspace(0, 1, 41))
    foreign = Foreign(("f",) * 41, ("a",) * 41, p_values, p_values)
    for sensitivity in (0.9, 0.95, 0.975):
        table = type_ii_error(p_values, sensitivity=sensitivity)
        assert foreign.missed(sensitivity) == sum(is_accepted(p, sensitivity) for p in p_values)
        assert foreign.missed(sensitivity) / 41 == pytest.approx(table["beta"][0])


def test_the_supported_sensitivity_is_rounded_down():
    (caution,) = _model(0.97, control=1, background=20).cautions()
    assert caution.values["supported"] == 0.952  # 20 / 21 = 0.95238
    assert caution.values["need"] == 33
    assert caution.values["ratio"] is False  # no likelihood ratio concludes in its place
    (caution,) = _model(0.95, control=9).cautions()
    assert caution.values["supported"] == 0.9


def test_of_equal_p_values_the_larger_deviation_comes_first():
    reasons = [
        VariableEvidence(
            variable=name, value=1.0, control=0.0, side="above", deviation=size, p_values={"control": 0.05}
        )
        for name, size in (("small", 2.0), ("large", -5.0), ("medium", 3.0))
    ]
    found = conclude(_evidence({"control": 0.05}, reasons=tuple(reasons)), _model(control=50), None)
    assert [reason.variable for reason in found.reasons] == ["large", "medium", "small"]


@pytest.mark.parametrize(("p", "accepted"), [(0.5, True), (0.05, False)])
def test_only_evidence_against_the_conclusion_is_listed(p, accepted):
    def against(**evidence):
        found = conclude(_evidence({"control": p, "background": p}, **evidence), _model(control=50, background=9), None)
        assert found.accepted is accepted
        return [(each.kind, each.accepted, each.value) for each in found.disagreements]

    other = -1.0 if accepted else 1.0
    assert against(match=accepted, log10_lr={"two-level": -other}) == []
    assert against(match=not accepted) == [("astm", not accepted, None)]
    assert against(log10_lr={"two-level": other}) == [("ratio", not accepted, other)]
    assert against(log10_lr={"two-level": 0.3 * other}) == []  # a ratio below two supports neither
