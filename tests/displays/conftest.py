"""A classifier to draw, and no figure left open."""

import numpy as np
import pytest

from transvariation import NeighborTOCC


@pytest.fixture(autouse=True)
def _close():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.fixture(scope="session")
def classifier():
    return NeighborTOCC(calibration="split").fit(np.random.default_rng(0).normal(size=(160, 2)))
