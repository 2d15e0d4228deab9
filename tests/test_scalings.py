"""Scalings: whitening by scikit-learn, normal scores, smallest steps."""

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from transvariation.scalings import SCALINGS, Standardization, WhiteningScaling, smallest_step


@pytest.mark.parametrize("shape", [(40, 5), (30, 30), (12, 50)])
def test_whitening_is_scikit_learns_ledoit_wolf(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1]))
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LedoitWolf().fit(rows)
    scaling = WhiteningScaling().fit(rows)
    assert scaling.shrinkage_ == pytest.approx(model.shrinkage_)
    W = scaling.transform(rows)
    expected = np.einsum("ip,pq,iq->i", rows, model.precision_, rows)
    np.testing.assert_allclose((W**2).sum(axis=1), expected, rtol=1e-8)


def test_normal_scores_continue_past_the_ends_by_their_unit():
    X = np.arange(10.0)[:, None]
    scaling = SCALINGS["normal"]().fit(X)
    low, inside, top, beyond = scaling.transform(np.array([[0.0], [4.5], [9.0], [11.0]]))[:, 0]
    assert inside == pytest.approx(0)
    assert (low, beyond) == (pytest.approx(-top), pytest.approx(top + 2))


def test_smallest_step_bounds_the_scale_of_a_nearly_constant_feature():
    X = np.zeros((400, 2))
    X[:, 0] = np.random.default_rng(0).normal(size=400)
    X[7, 1] = 1
    np.testing.assert_array_equal(smallest_step(X), [0, 1])
    assert Standardization().fit(X).scale_[1] == pytest.approx(12**-0.5)
