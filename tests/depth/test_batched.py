import numpy as np
import pytest

from transvariation import load_glass, random_projections, spatial_median, transvariation_probability
from transvariation.depth.batched import stacked_spatial_median, stacked_tp

RNG = np.random.default_rng(0)
SAMPLES = {
    "normal": RNG.standard_normal((8, 30, 2)),
    "ties": RNG.integers(-2, 3, (8, 25, 2)).astype(float),
    "ties in 3-D": RNG.integers(0, 3, (6, 25, 3)).astype(float),
    "one variable": RNG.integers(0, 5, (5, 12, 1)).astype(float),
    "on a line": np.linspace(0, 1, 9)[None, :, None] * np.array([1.0, 2.0]) + RNG.integers(0, 3, (3, 1, 2)),
    "one point": np.ones((2, 6, 2)),
    "two units": RNG.standard_normal((3, 2, 2)),
    "far away": 1e6 + RNG.standard_normal((4, 30, 2)),
}


@pytest.mark.parametrize("X", SAMPLES.values(), ids=SAMPLES)
def test_medians_are_those_of_each_sample_alone(X):
    together, alone = stacked_spatial_median(X), np.array([spatial_median(sample) for sample in X])
    np.testing.assert_allclose(
        together, alone, rtol=1e-14, atol=1e-12 * np.abs(X - X.mean(axis=1, keepdims=True)).max()
    )
    # A median that is a data point is that point exactly.
    at_a_point = (alone[:, None] == X).all(axis=2).any(axis=1)
    np.testing.assert_array_equal(together[at_a_point], alone[at_a_point])


def test_medians_of_the_paper_s_images():
    X = load_glass().control.to_numpy()
    images = np.stack([X @ A for A in random_projections(X, rng=0).matrices])
    alone = np.array([spatial_median(image) for image in images])
    np.testing.assert_allclose(stacked_spatial_median(images), alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("ties", ["proper", "literal"])
@pytest.mark.parametrize("X", SAMPLES.values(), ids=SAMPLES)
def test_tp_is_that_of_each_sample_alone(X, ties):
    Z = np.concatenate([X, X[:, ::2] + 0.5, np.median(X, axis=1)[:, None]], axis=1)
    for centers in (stacked_spatial_median(X), X[:, 0]):
        together = stacked_tp(X, Z, centers[:, None], ties=ties)
        alone = [transvariation_probability(x, z, m, ties=ties) for x, z, m in zip(X, Z, centers, strict=True)]
        np.testing.assert_array_equal(together, alone)


def test_literal_tp_where_units_are_at_the_object_but_none_at_the_centre():
    X, z, m = np.array([[0.0, 1], [1, 2], [2, 3], [3, 1], [4, 5]]), np.array([[2.0, 3.0]]), np.array([2.0, 2.5])
    alone = transvariation_probability(X, z, m, ties="literal")
    assert alone == np.inf
    np.testing.assert_array_equal(stacked_tp(X[None], z[None], m[None, None], ties="literal"), [alone])


def test_tp_within_clusters():
    X = SAMPLES["ties"]
    label = np.arange(25) % 3
    Z, part = X[:, :10], label[:10]
    centers = np.stack([X[:, 0], X[:, 1], X[:, 2]], axis=1)
    same = np.broadcast_to(label[None, None, :] == part[None, :, None], (8, 10, 25))
    together = stacked_tp(X, Z, centers[:, part], same=same)
    for b in range(8):
        for k in range(3):
            alone = transvariation_probability(X[b, label == k], Z[b, part == k], centers[b, k])
            np.testing.assert_array_equal(together[b, part == k], alone)
