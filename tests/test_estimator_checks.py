"""One suite for every classifier: scikit-learn's own checks."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation import PAMTOCC, TOCC


@parametrize_with_checks([TOCC(), PAMTOCC()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
