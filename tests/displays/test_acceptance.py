import matplotlib.pyplot as plt
import numpy as np
import pytest

from transvariation import NeighborTOCC, load_glass
from transvariation.displays import AcceptanceDisplay

GLASS = load_glass()


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_roles_follow_the_threshold_and_the_smallest_p_value():
    display = AcceptanceDisplay({"a": [0.05, 0.1, 0.11]}, n_calibration=19, sensitivity=0.9)
    assert display.roles(np.array([0.05, 0.1, 0.11])).tolist() == ["outlier", "extreme", "regular"]


def test_accepted_samples_are_those_that_predict_accepts():
    model = NeighborTOCC(sensitivity=0.8).fit(GLASS.control[::2])
    display = AcceptanceDisplay.from_estimator(model, {"windows": GLASS.control[1::2], "others": GLASS.recovered})
    for name, X in (("windows", GLASS.control[1::2]), ("others", GLASS.recovered)):
        accepted = display.roles(display.p_values[name]) == "regular"
        assert accepted.tolist() == (model.predict(X) == 1).tolist()
    assert display.sensitivity == 0.8
    assert display.figure_ is display.ax_.figure


def test_given_axes_are_used():
    _, ax = plt.subplots()
    assert AcceptanceDisplay.from_predictions({"a": [0.5]}, n_calibration=10, ax=ax).ax_ is ax
