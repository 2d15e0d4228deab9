"""With one component, models that differ between components only are the same."""

import numpy as np

from transvariation.density.gaussian_mixture import GaussianMixtureBIC


def test_one_component_models_agree(reference):
    fit = GaussianMixtureBIC(1).fit(reference.table("blobs3"))
    bic = fit.bic_[1]
    assert bic[["VEI", "EVI", "VVI"]].eq(bic["EEI"]).all()
    X = reference.table("blobs3")
    np.testing.assert_allclose(GaussianMixtureBIC(1, "VVV").fit(X).covariances_[0], np.cov(X.T, bias=True), rtol=1e-10)
