"""Tables as they come from laboratories."""

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import make_glass, said

from transvariation import load_nfi_glass
from transvariation.casework import CaseError, SettingsError, judge
from transvariation.report.wording.remedies import error_text
from transvariation.report.wording.statements import disagreement, headline, statement
from transvariation.tables import TableError


def test_two_panes_mixed_in_the_control(glass):
    known, questioned, background = glass
    other = (
        make_glass(1, 3, 3, np.random.default_rng(9))
        .assign(pane="P0")
        .replace({"fragment": {"1": "7", "2": "8", "3": "9"}})
    )
    mixed = pd.concat([known, other])
    for options in ({"background": background}, {}):
        found = judge(mixed, questioned, log=True, **options)
        assert any("check that they all come from one source" in w for w in said(found))


def test_one_control_fragment_measured_several_times(glass):
    known, questioned, background = glass
    one = known[known["fragment"] == "1"]
    found = judge(one, questioned, log=True)
    assert found.inputs.control["fragments"] == 1
    assert any("one fragment" in w and "measured 3 times" in w for w in said(found))
    assert any("there is 1, and no conclusion is drawn: give a background." in w for w in said(found))
    assert not found.model.conclusive
    assert all((c.accepted, c.differs, c.p_value, c.n) == (None, None, None, 1) for c in found.conclusions)
    with_background = judge(one, questioned, background=background, log=True)
    assert [c.accepted for c in with_background.conclusions] == [True, False, False]


def test_a_background_without_enough_sources(glass):
    known, questioned, background = glass
    five, twenty = (background[background["pane"].isin(background["pane"].unique()[:n])] for n in (5, 20))
    with pytest.raises(CaseError, match="5 sources with two or more fragments") as caught:
        judge(known, questioned, background=five, log=True)
    assert "--background" in error_text(caught.value, "cli")
    found = judge(known, questioned, background=twenty, log=True)
    assert found.conclusions[0].log10_lr == {}
    assert any("No likelihood ratios: the background has 20 sources" in w for w in said(found))


def test_a_background_in_other_units(glass):
    known, questioned, background = glass
    other = background.assign(**{name: background[name] * 1e4 for name in ("Na", "Mg", "Al", "K", "Ca")})
    found = judge(known, questioned, background=other, log=True)
    assert any("same units" in w for w in said(found))
    assert any(
        "No likelihood ratios, and the error rates" in w and "the control lies outside its sources" in w
        for w in said(found)
    )
    assert all(not c.log10_lr for c in found.conclusions)
    with pytest.raises(TableError, match="the unit is 'ppm' here but 'wt%'"):
        judge(
            known.rename(columns={"K": "K (wt%)"}),
            questioned.rename(columns={"K": "K (wt%)"}),
            background=background.rename(columns={"K": "K (ppm)"}),
        )


def test_a_background_with_elements_missing(glass):
    known, questioned, background = glass
    with pytest.raises(TableError, match="no column 'K'"):
        judge(known, questioned, background=background.drop(columns="K"))


def test_a_background_without_sources(glass):
    known, questioned, background = glass
    with pytest.raises(CaseError, match="no column that names the source") as caught:
        judge(known, questioned, background=background.drop(columns=["pane", "fragment", "Rep"]))
    assert "(--source-column)" in error_text(caught.value, "cli")
    assert "(source_column=)" in str(caught.value)


def test_a_background_with_one_fragment_per_source(glass):
    known, questioned, background = glass
    single = background[background["fragment"] == "1"]
    found = judge(known, questioned, background=single, log=True)
    assert found.conclusions[0].n == 41
    assert any("their replicates are used as fragments" in w for w in said(found))


def test_an_element_constant_within_background_sources(glass):
    known, questioned, background = glass
    constant = background.groupby("pane")["K"].transform("first")
    found = judge(known, questioned, background=background.assign(K=constant), log=True)
    assert any("leave out K" in w for w in said(found))
    assert not found.conclusions[1].accepted


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("named", [False, True])
def test_recovered_rows_that_are_also_in_the_control(rows, named):
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.normal(size=(35, 3)), columns=["a", "b", "c"], index=[f"F{i}" for i in range(35)])
    control, recovered = values.iloc[:30], values.iloc[30:]
    both = pd.concat([control, recovered.iloc[:rows]])
    found = judge(both if named else both.reset_index(drop=True), recovered)
    assert sum(f"Equal to a control row in every variable: {rows} of 5 recovered rows" in w for w in said(found)) == 1
    assert not any("Equal to a control row" in w for w in said(judge(control, recovered)))
    assert any("are the same" in w for w in said(judge(control, control)))


def test_a_control_that_is_in_the_background(glass, usual):
    known, questioned, background = glass
    both = pd.concat([background, known.iloc[:3].assign(pane="X")])
    found = [
        w
        for w in said(judge(known, questioned.iloc[:3], background=both, log=True))
        if "Equal to a background row" in w
    ]
    assert len(found) == 1
    assert found[0].startswith("Equal to a background row in every variable: 3 of 9 control rows")
    assert "leave their source out" in found[0]
    assert not any("background row" in w for w in said(usual))


@pytest.mark.parametrize(("n_variables", "digits"), [(1, 1), (1, 2), (2, 1), (3, 0)])
def test_equal_rows_by_rounding_are_not_reported(n_variables, digits):
    from transvariation.casework.checks import duplicate_cautions
    from transvariation.tables import TableSettings, read_pair

    rng = np.random.default_rng(0)
    reported = 0
    for _ in range(100):
        values = rng.normal(size=(45, n_variables)).round(digits) + 0.0
        table = pd.DataFrame(values).add_prefix("v").assign(id=[f"f{i}" for i in [*range(30), *range(15)]])
        roles = {f"v{j}": "measurement" for j in range(n_variables)}
        pair = read_pair(table.iloc[:30], table.iloc[30:], TableSettings(roles=roles))
        reported += bool(duplicate_cautions(pair.control, pair.recovered))
    assert reported <= 3


def test_a_repeated_index_in_a_data_frame(glass):
    known, questioned, _ = glass
    twice = known.set_axis([0] * len(known))
    found = judge(twice, questioned.set_axis([1] * len(questioned)), log=True)
    assert found.inputs.control["fragments"] == 3
    assert len(found.conclusions) == 3


def test_replicates_of_different_number(glass):
    known, questioned, background = glass
    uneven = questioned.drop(index=questioned.index[[0, 1]])
    found = judge(known, uneven, background=background, log=True)
    assert [len(c.measurements["Na"]) for c in found.conclusions] == [1, 3, 3]
    assert any("have 1 to 3 replicates" in w for w in said(found))
    assert [c.accepted for c in found.conclusions] == [True, False, False]


def test_an_element_below_detection_in_the_control_only(glass):
    known, questioned, _ = glass
    known = known.assign(K=known["K"].astype(object))
    known.iloc[0, known.columns.get_loc("K")] = "<0.5"
    with pytest.raises(TableError, match="below") as caught:
        judge(known, questioned)
    assert len(caught.value.problems) == 1
    found = judge(known, questioned, missing="drop")
    assert found.inputs.control["rows"] == 8
    assert found.inputs.control["fragments"] == 3
    assert judge(known, questioned, missing="impute").inputs.control["rows"] == 9


def test_a_value_without_a_logarithm(glass):
    known, questioned, _ = glass
    zero = known.copy()
    zero.iloc[4, zero.columns.get_loc("Mg")] = 0.0
    with pytest.raises(CaseError, match="Mg is 0, which has no logarithm") as caught:
        judge(zero, questioned, log=True)
    assert "--log" in error_text(caught.value, "cli")


def test_a_method_that_needs_more_fragments_names_the_remedy(glass):
    known, questioned, _ = glass
    with pytest.raises(CaseError) as caught:
        judge(known, questioned, method="pam")
    assert "--method neighbor" in error_text(caught.value, "cli")
    assert "--background" in error_text(caught.value, "cli")
    assert 'method="neighbor"' in str(caught.value)
    many = pd.DataFrame(np.repeat([[1.0, 2.0], [2.0, 1.0]], 20, axis=0), columns=["Na", "Mg"])
    with pytest.raises(CaseError) as caught:
        judge(many, many[:2] + 1, method="pam")
    assert "--background" not in error_text(caught.value, "cli")


@pytest.mark.parametrize("how", [{"method": "pam"}, {"reduce": "minor", "reduce_to": 4}])
def test_a_method_that_needs_more_fragments_leaves_the_case_to_the_background(glass, usual, how):
    pytest.importorskip("lir")  # without it there is one warning more
    known, questioned, background = glass
    found = judge(known, questioned, background=background, log=True, **how)
    assert found.model.basis == "background"
    assert [c.p_value for c in found.conclusions] == [c.p_value for c in usual.conclusions]
    assert [statement(c, found) for c in found.conclusions] == [statement(c, usual) for c in usual.conclusions]
    (warning,) = said(found)
    assert warning.startswith(
        "The conclusions rest on the background alone, because the method cannot be used with this control: "
    )
    for sensitivity in (0.3, 0.5, 0.99):  # no control fragment calibrates, whatever is asked for
        moved = found.at(sensitivity)
        assert moved.model.basis == "background"
        assert not any("control fragments" in " ".join(disagreement(c)) for c in moved.conclusions)
    with pytest.raises(CaseError, match="reduce_to=9 exceeds the 5 variables"):
        judge(known, questioned, background=background, log=True, reduce="minor", reduce_to=9)


def test_a_laboratory_file_works_as_it_is(glass, tmp_path):
    paths = [tmp_path / name for name in ("known.csv", "questioned.csv", "background.csv")]
    for path, table in zip(paths, glass, strict=True):
        table.to_csv(path, index=False)
    found = judge(paths[0], paths[1], background=paths[2], log=True)
    assert found.inputs.features == ("Na", "Mg", "Al", "K", "Ca")
    assert [c.accepted for c in found.conclusions] == [True, False, False]


def test_columns_can_be_named(glass):
    names = {"pane": "window no", "fragment": "bit"}
    known, questioned, background = (table.rename(columns=names).drop(columns="Rep") for table in glass)
    named = {"source_column": "window no", "fragment_column": "bit"}
    found = judge(known, questioned, background=background, log=True, **named)
    assert [c.accepted for c in found.conclusions] == [True, False, False]
    # A control and recovered fragments of which the pane is not stated.
    bare = [table.drop(columns="window no") for table in (known, questioned.iloc[:3])]
    assert judge(*bare, background=background, log=True, **named).conclusions[0].accepted


def test_empty_columns_and_merged_cells_give_one_message(glass, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    known, questioned, _ = glass
    found = judge(known.assign(Fe=np.nan), questioned.assign(Fe=np.nan), log=True)
    assert "Fe" not in found.inputs.features
    assert sum("Fe" in str(note) for note in found.inputs.control["notes"]) == 1
    path = tmp_path / "known.xlsx"
    known.to_excel(path, index=False)
    book = openpyxl.load_workbook(path)
    book.active.merge_cells("A2:A10")
    book.save(path)
    with pytest.raises(TableError) as caught:
        judge(path, questioned)
    assert len(caught.value.problems) == 1


def test_logarithms_of_logarithms_have_no_likelihood_ratios():
    """Five fragments of a pane of the background itself, which are logarithms already."""
    pytest.importorskip("lir")
    frame = load_nfi_glass().frame
    some = frame[frame["source"].isin(frame["source"].unique()[:100])]
    pane = frame[frame["source"] == "v17"]
    other = frame[frame["source"] == "v42"]
    right, wrong = (
        judge(pane[:3], pd.concat([pane[3:4], other[:1]]), background="nfi" if log else some, log=log)
        for log in (False, True)
    )
    assert not any("No likelihood ratios" in w for w in said(right))
    assert all(c.log10_lr for c in right.conclusions)
    assert any(
        "No likelihood ratios, and the error rates" in w and "the control lies outside its sources" in w
        for w in said(wrong)
    )
    assert not any(c.log10_lr for c in wrong.conclusions)
    assert not any(group.log10_lr for group in wrong.groups)


def test_one_control_row():
    frame = load_nfi_glass().frame
    for background in (None, frame[5:400]):
        found = judge(frame[:1], frame[1:2], background=background)
        assert found.inputs.control["fragments"] == 1
        assert found.model.conclusive == (background is not None)


@pytest.mark.parametrize("option", [{"multiplier": -1.0}, {"multiplier": np.inf}, {"min_rsd": np.nan}])
def test_a_criterion_without_an_interval(glass, option):
    known, questioned, _ = glass
    with pytest.raises(SettingsError, match="must be a finite number, at least 0"):
        judge(known, questioned, **option)


def test_a_sensitivity_of_one_is_supported_by_no_number_of_fragments(glass):
    known, questioned, _ = glass
    found = judge(known, questioned, sensitivity=1.0)
    assert any("No number of control fragments supports a sensitivity of 1" in w for w in said(found))


@pytest.mark.parametrize("options", [{"background": "nfi"}, {"logged": True}])
def test_contents_are_no_logarithms(options):
    """Powers of ten of contents in ppm are infinite, which JSON has not."""
    frame = load_nfi_glass().frame[:5]
    contents = frame.assign(K39=10 ** frame["K39"])
    with pytest.raises(CaseError, match=r"K39 is \d+\.?\d*, which is no logarithm") as caught:
        judge(contents[:3], contents[3:], **options)
    assert "--log" in error_text(caught.value, "cli")


def test_a_number_that_is_a_code_for_a_missing_value(glass):
    known, questioned, background = glass
    with pytest.raises(CaseError, match="which is no measurement"):
        judge(known.assign(Na=1e300), questioned)
    with pytest.raises(CaseError, match="which is no measurement"):
        judge(known, questioned, background=background.assign(Na=1e300))


def test_without_a_conclusion_no_error_rate_is_stated(glass):
    known, questioned, background = glass
    alone = judge(known, questioned, sensitivity=0.9, log=True)
    beside = judge(known, questioned, background=background, sensitivity=1.0, log=True)
    for found in (alone, beside):
        assert not found.model.conclusive
        assert found.model.exclusion is None
        assert ("no background" in headline(found)) == (found is alone)
        assert "is used instead" not in said(found)[0]
    # Three fragments support 0.75, which no one is advised to use.
    assert said(alone)[0].endswith("no conclusion is drawn: give a background.")
    assert "the likelihood ratio is the conclusion" in said(beside)[0]
    supported = float(said(beside)[0].rstrip(".").split()[-1])
    assert beside.at(supported).model.conclusive


def test_copied_control_rows_are_reported():
    rng = np.random.default_rng(2)
    columns = ["Na", "Mg", "Ca"]
    control, recovered = (pd.DataFrame(rng.normal(10, 1, size=(n, 3)).round(2), columns=columns) for n in (20, 3))
    copied = pd.concat([control[:4]] * 5)
    for table, words in ((copied, "16 of 20"), (pd.concat([control, control[:3]]), "3 of 23")):
        found = judge(table, recovered)
        assert any(f"Equal to another control fragment in every variable: {words}" in w for w in said(found))
    for table in (control, pd.concat([control, control[:1]])):
        assert not any("Equal to another" in w for w in said(judge(table, recovered)))


def test_equal_control_rows_by_rounding_are_not_reported():
    rng = np.random.default_rng(3)
    control, recovered = (
        pd.DataFrame(rng.normal(0.3, 0.1, size=(n, 2)).round(1), columns=["Ba", "Fe"]) for n in (40, 3)
    )
    assert control.duplicated().sum() > 10
    assert not any("Equal to another" in w for w in said(judge(control, recovered)))
