"""The one-dimensional tp with a fitted tail, by hand."""

import numpy as np
import pytest

from transvariation import tail_transvariation_probability


def test_body_counts_and_tail_is_exponential():
    x = np.arange(1.0, 101.0)
    tp = tail_transvariation_probability(x, [0.0, 50.0, 90.0, 95.0, 200.0])
    # Of 100 values, 51 are at least 50; with the new one 52 of 101. The largest ten exceed 90 by 5.5 on average.
    expected = [1.0, 52 / 101, 12 / 101, 0.1 * np.exp(-5 / 5.5), 0.1 * np.exp(-110 / 5.5)]
    np.testing.assert_allclose(tp, expected, rtol=1e-12)


def test_known_values_are_not_counted_twice():
    x = np.arange(1.0, 101.0)
    np.testing.assert_allclose(tail_transvariation_probability(x, x[:3], held_out=False), [1.0, 0.99, 0.98])


def test_far_values_keep_their_order():
    x = np.random.default_rng(0).normal(size=30)
    log_tp = tail_transvariation_probability(x, np.linspace(x.max(), 1e6, 50), log=True)
    assert (np.diff(log_tp) < 0).all()
    assert np.isfinite(log_tp).all()


@pytest.mark.parametrize("x", [[1.0], [1.0, 1.0], np.ones(50)])
def test_equal_values_have_a_tail_too(x):
    tp = tail_transvariation_probability(x, [0.0, 1.0, 1.0 + 1e-3, 2.0])
    assert tp[0] == tp[1] == 1
    assert tp[1] > tp[2] > tp[3] >= 0


def test_tail_outside_0_and_1_is_refused():
    with pytest.raises(ValueError, match=r"tail=1.5 must lie in \(0, 1\)"):
        tail_transvariation_probability([1.0, 2.0], [1.0], tail=1.5)
