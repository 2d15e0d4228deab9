"""Data with many more variables than objects."""

import numpy as np
import pytest


def make_spectra(n, seed, p=1000):
    """Smooth curves of six kinds plus noise of the instrument, as near-infrared spectra are."""
    rng = np.random.default_rng(seed)
    where = np.linspace(0, 1, p)
    kinds = np.exp(-((where - np.linspace(0, 1, 6)[:, None]) ** 2) / 0.02)
    return rng.standard_normal((n, 6)) @ kinds + 0.01 * rng.standard_normal((n, p))


@pytest.fixture(scope="session")
def spectra():
    return make_spectra(60, seed=0)


@pytest.fixture(scope="session")
def fresh_spectra():
    return make_spectra(500, seed=1)
