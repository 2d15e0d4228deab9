"""Tables of a case: settings of each, what one of them lacks, and what is learned once."""

import numpy as np
import pandas as pd
import pytest
from tests.casework.conftest import make_glass

from transvariation import load_nfi_glass
from transvariation.casework import CaseError, CaseSettings, judge
from transvariation.casework import reading as module
from transvariation.casework.reading import read_case
from transvariation.tables import TableError


@pytest.fixture
def tables(rng):
    control, recovered = make_glass(1, 4, 2, rng), make_glass(1, 1, 2, rng, prefix="Q")
    return {"control": control, "recovered": recovered, "background": make_glass(12, 3, 2, rng, prefix="B")}


def test_every_table_can_be_told_its_roles(tables):
    tables["background"] = tables["background"].rename(columns={"pane": "a", "fragment": "b", "Rep": "c"})
    own = {"background": {"roles": {"a": "source", "b": "fragment", "c": "replicate"}}}
    found = read_case(tables, CaseSettings(tables=own))
    assert len(found.background) == 12
    assert [len(source) for source in found.background] == [3] * 12


def test_a_column_of_all_tables_may_be_in_some_of_them_only(tables):
    tables["background"] = tables["background"].rename(columns={"pane": "window 1"})
    found = read_case(tables, CaseSettings(source_column="window 1"))
    assert len(found.background) == 12
    with pytest.raises(TableError, match="window 2"):
        read_case(tables, CaseSettings(source_column="window 2"))


def test_the_sheet_and_decimal_mark_of_a_foreign_table(tables, tmp_path):
    pytest.importorskip("openpyxl")
    foreign = tables["background"].drop(columns=["fragment", "Rep"])
    text = foreign.astype(dict.fromkeys(foreign.columns[1:], str))
    with pd.ExcelWriter(tmp_path / "foreign.xlsx") as book:
        foreign[:1].to_excel(book, sheet_name="first", index=False)
        text.map(lambda cell: cell.replace(".", ",")).to_excel(book, sheet_name="second", index=False)
    sources = {**tables, "background": None, "foreign": tmp_path / "foreign.xlsx"}
    how = {"foreign": {"sheet": "second", "decimal": ","}}
    found = read_case(sources, CaseSettings(tables=how))
    np.testing.assert_allclose(found.foreign.X, foreign.iloc[:, 1:], rtol=1e-12)


def test_a_background_beside_a_foreign_table_is_refused(tables):
    with pytest.raises(CaseError, match="leave out the foreign table"):
        read_case({**tables, "foreign": tables["background"]}, CaseSettings())


@pytest.mark.parametrize("log", [True, False])
def test_the_packaged_background_is_not_parsed_again(monkeypatch, log):
    glass = load_nfi_glass()
    rows = glass.frame[glass.frame["source"] == "v17"].drop(columns=["source"])
    if log:
        rows[glass.elements] = 10 ** rows[glass.elements]
    sources = {"control": rows[:2], "recovered": rows[2:], "background": "nfi"}
    monkeypatch.setattr(module, "read_table", None)
    found = read_case(sources, CaseSettings(log=log))
    assert len(found.background) == 977
    first = np.concatenate(found.background[0])
    np.testing.assert_array_equal(first, glass.frame[glass.elements].to_numpy()[: len(first)])


def test_preprocessing_is_learned_once_for_each_use(monkeypatch, rng):
    learned = []
    whole = module.preprocessing_for

    def counted(steps, features):
        learned.append(steps)
        return whole(steps, features)

    monkeypatch.setattr(module, "preprocessing_for", counted)
    spectra = pd.DataFrame(rng.normal(size=(12, 40)).cumsum(axis=1), columns=[str(800 + i) for i in range(40)])
    judge(spectra[:10], spectra[10:], preprocess="msc,sg1")
    assert sorted(learned) == ["msc", "msc,sg1"]  # as it is shown, and as it is compared
