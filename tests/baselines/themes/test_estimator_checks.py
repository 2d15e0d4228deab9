"""scikit-learn's own checks for every baseline."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from transvariation.baselines import DDSIMCA, KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC

BASELINES = [
    GaussianOCC(),
    MixtureOCC(n_components=(1, 2), models=("EII", "VVV")),
    KDEOCC(),
    KMeansOCC(n_init=3),
    SOMOCC(n_epochs=10),
    SVDD(),
    DDSIMCA(),
    DDSIMCA(calibration="cv", limits="robust"),
    SVDD(kernel="linear"),
]


@parametrize_with_checks(BASELINES)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
