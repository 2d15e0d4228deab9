import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

from transvariation.baselines import KDEOCC
from transvariation.density.bandwidth import plug_in_bandwidth


def test_matrix_of_r_gives_densities_of_r(reference):
    case = reference.case("case03_kde")["blobs2"]
    classifier = KDEOCC(bandwidth=case["H"]).fit(reference.table("blobs2"))
    assert np.exp(classifier.score_samples(reference.table("blobs2_query"))) == pytest.approx(
        case["density_exact"], rel=1e-9
    )


def test_choices_of_the_bandwidth():
    X = np.random.default_rng(0).normal(size=(50, 2)) * [1.0, 3.0]
    fitted = {rule: KDEOCC(bandwidth=rule).fit(X).bandwidth_ for rule in ("plugin", "plugin-ks", "scott", "silverman")}
    assert fitted["plugin"] == pytest.approx(plug_in_bandwidth(X))
    assert fitted["plugin-ks"] == pytest.approx(plug_in_bandwidth(X, functionals="ks"))
    assert fitted["scott"] == pytest.approx(50 ** (-1 / 3) * np.cov(X, rowvar=False))
    assert fitted["silverman"] == pytest.approx(fitted["scott"])  # in two dimensions they are the same
    assert KDEOCC(bandwidth=2.0).fit(X).bandwidth_ == pytest.approx(4 * np.eye(2))
    assert KDEOCC(bandwidth=[1, 2]).fit(X).bandwidth_ == pytest.approx(np.diag([1.0, 4.0]))


def test_beyond_three_dimensions_the_default_is_silverman_with_shrunk_correlations():
    X = np.random.default_rng(0).normal(size=(60, 5)) @ np.triu(np.ones((5, 5))) * [1, 10, 100, 1, 1]
    shrinkage = LedoitWolf().fit((X - X.mean(axis=0)) / X.std(axis=0, ddof=1)).shrinkage_
    assert 0 < shrinkage < 0.3
    shrunk = np.where(np.eye(5), 1, 1 - shrinkage) * np.cov(X, rowvar=False)
    expected = (4 / (60 * 7)) ** (2 / 9) * shrunk
    assert KDEOCC().fit(X).bandwidth_ == pytest.approx(expected)


@pytest.mark.parametrize("bandwidth", ["wide", 0.0, [-1.0, 1.0], [[1.0, 2.0], [2.0, 1.0]], np.eye(3)])
def test_bandwidths_that_cannot_be(bandwidth):
    with pytest.raises(ValueError, match="bandwidth="):
        KDEOCC(bandwidth=bandwidth).fit(np.random.default_rng(0).normal(size=(20, 2)))


@pytest.mark.parametrize("bandwidth", ["plugin", "scott"])
def test_constant_column(bandwidth):
    X = np.column_stack([np.arange(20.0), np.ones(20)])
    with pytest.raises(ValueError, match="column 1 constant"):
        KDEOCC(bandwidth=bandwidth).fit(X)
