import numpy as np

from transvariation.baselines import DDSIMCA, describe_strangers
from transvariation.displays import ExtremesDisplay


def test_observed_numbers_are_drawn():
    ax = ExtremesDisplay.from_predictions([0.1, 0.5, 0.6, 1.0]).ax_
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), [1, 2, 3, 4])


def test_new_target_samples_stay_within_the_tolerance(classifier):
    display = ExtremesDisplay.from_estimator(classifier, np.random.default_rng(5).normal(size=(100, 2)))
    _, low, high = display.tolerance
    assert np.mean((display.observed >= low) & (display.observed <= high)) > 0.9


def test_aliens_follow_the_fitted_distribution():
    rng = np.random.default_rng(1)
    model = DDSIMCA(2).fit(rng.normal(size=(200, 5)))
    ax = ExtremesDisplay.from_strangers(describe_strangers(model, rng.normal(1.5, 1, size=(100, 5)))).ax_
    expected, observed = ax.lines[1].get_xydata().T
    assert np.abs(expected - observed).max() < 15
    assert ax.get_xlabel() == "expected number of aliens"
