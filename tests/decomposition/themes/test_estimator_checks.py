"""One suite for every transformer: scikit-learn's own checks, and names that survive."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import TOCC, MinorComponents, SparseMinorComponents, VIPSelector, load_glass

# One component or variable: some of scikit-learn's checks give data with a single variable.
LIGHT = [
    MinorComponents(n_components=1),
    SparseMinorComponents(n_components=1),
    VIPSelector(n_features_to_select=1, n_components=1, n_projections=11, n_candidates=5),
]
DEFAULTS = [MinorComponents(), SparseMinorComponents(), VIPSelector(n_projections=11, n_candidates=5, random_state=0)]


@parametrize_with_checks(LIGHT + DEFAULTS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("reducer", DEFAULTS, ids=lambda r: type(r).__name__)
def test_tables_in_tables_out(reducer):
    glass = load_glass()
    table = clone(reducer).set_output(transform="pandas").fit(glass.control).transform(glass.recovered)
    assert table.shape == (51, 2)
    assert table.index.equals(glass.recovered.index)
    plain = clone(reducer).fit(glass.control.to_numpy()).transform(glass.recovered.to_numpy())
    np.testing.assert_array_equal(table.to_numpy(), plain)


@pytest.mark.parametrize("reducer", DEFAULTS, ids=lambda r: type(r).__name__)
def test_reduces_in_front_of_a_classifier(reducer):
    glass = load_glass()
    classifier = make_pipeline(clone(reducer), TOCC()).fit(glass.control)
    assert (classifier.predict(glass.control) == 1).mean() >= 0.9
    assert (classifier.predict(glass.recovered) == -1).mean() > 0.5


@pytest.mark.parametrize("reducer", DEFAULTS, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 2.0]], "1 sample"),
        ([[1.0, np.nan], [2.0, 3.0]], "NaN"),
        ([[1.0, np.inf], [2.0, 3.0]], "infinity"),
        ([[1.0], [2.0], [3.0]], "=2 exceeds .*n_features=1"),
    ],
)
def test_impossible_data_are_refused(reducer, rows, message):
    with pytest.raises(ValueError, match=message):
        clone(reducer).fit(rows)
