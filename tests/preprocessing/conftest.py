"""Spectra to preprocess."""

import numpy as np


def spectra(n=5, p=60, seed=0):
    """Draw spectra along a sine, with a little noise."""
    rng = np.random.default_rng(seed)
    axis = np.linspace(0, 3, p)
    return 1 + np.sin(axis) + rng.normal(0, 0.02, size=(n, p))
