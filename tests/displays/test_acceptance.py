import matplotlib.pyplot as plt
import numpy as np
import pytest

from transvariation import NeighborTOCC, load_glass
from transvariation.displays import AcceptanceDisplay
from transvariation.report.figure_style import PHONE_WIDTH

GLASS = load_glass()


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_roles_follow_the_threshold_and_the_smallest_p_value():
    display = AcceptanceDisplay({"a": [0.05, 0.1, 0.11]}, n_calibration=19, sensitivity=0.9)
    assert display.roles(np.array([0.05, 0.1, 0.11])).tolist() == ["outlier", "extreme", "regular"]


def test_the_picture_distinguishes_regular_extreme_and_outlying_samples():
    groups = {"own": [0.9, 0.5, 0.3, 0.1], "other": [0.05, 0.05]}
    ax = AcceptanceDisplay.from_predictions(groups, n_calibration=19).ax_
    drawn = {c.get_label(): len(c.get_offsets()) for c in ax.collections if not c.get_label().startswith("_")}
    assert drawn == {"regular": 3, "extreme": 1, "outlier": 2}
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["own", "other"]


def test_the_picture_fits_a_phone_for_any_number_of_groups():
    many = {f"a source with a long name {i}": [0.5, 0.01] for i in range(6)}
    figure = AcceptanceDisplay.from_predictions(many, n_calibration=99).figure_
    assert figure.get_size_inches()[0] == PHONE_WIDTH
    figure.draw_without_rendering()
    assert figure.get_tightbbox().width <= PHONE_WIDTH


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
