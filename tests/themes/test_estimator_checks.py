"""scikit-learn's estimator checks for the counting classifiers."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import PAMTOCC, TOCC

# Some checks fit twenty samples, of which five clusters accept hardly anything new.
pytestmark = pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNearlyAll")


@parametrize_with_checks([TOCC(), PAMTOCC()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
