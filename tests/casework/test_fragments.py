"""Rows gathered into fragments."""

import numpy as np
import pandas as pd
import pytest

from transvariation.casework import CaseError
from transvariation.casework.fragments import fragments_of, gather_fragments
from transvariation.tables import read_table


def test_rows_become_fragments_in_order_of_appearance():
    X = np.array([[1.0], [2.0], [3.0], [5.0]])
    found = gather_fragments(X, ["b", "a", "b", "a"], ["s", "s", "s", "s"])
    assert found.names == ("b", "a")
    assert found.means.ravel().tolist() == [2.0, 3.5]
    assert found.sources == ("s", "s")
    assert [len(source) for source in found.by_source()] == [2]


def test_unequal_replicates_count_by_their_precision():
    def n_replicates(*counts):
        keys = [str(i) for i, r in enumerate(counts) for _ in range(r)]
        return gather_fragments(np.zeros((len(keys), 1)), keys).n_replicates

    assert n_replicates(3, 3, 3) == 3
    assert n_replicates(1, 5, 5) == 2  # 3 / (1 + 1/5 + 1/5) = 2.1
    assert n_replicates(1, 1, 5) == 1  # 1.4


def test_replicates_replace_fragments_if_each_source_has_only_one():
    found = gather_fragments(np.arange(4.0)[:, None], ["a", "a", "b", "b"], ["a", "a", "b", "b"])
    assert [[x.shape for x in source] for source in found.by_source()] == [[(1, 1)] * 2] * 2


@pytest.mark.parametrize(("role", "names"), [("recovered", ("P",)), ("control", ("row 2", "row 3"))])
def test_rows_of_one_source_are_replicates_of_a_recovered_item_but_fragments_of_a_control(role, names):
    table = read_table(pd.DataFrame({"pane": ["P", "P"], "Na": [1.0, 100.0]}))
    found = fragments_of(table, role, log=True, logged=False)
    assert len(found.names) == len(names)
    assert found.X.ravel().tolist() == [0.0, 2.0]


def test_what_has_no_logarithm_is_named():
    table = read_table(pd.DataFrame({"Na": [1.0, 0.0]}), name="control")
    with pytest.raises(CaseError, match="control, row 3: Na is 0, which has no logarithm"):
        fragments_of(table, "control", log=True, logged=False)
