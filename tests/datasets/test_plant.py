"""The simulated plant obeys its controllers, and each fault shows where it acts; the days of a real one."""

import numpy as np
import pytest

from transvariation.datasets import load_water_treatment, make_plant
from transvariation.datasets.plant import FAULTS


def test_without_a_fault_the_controlled_variables_stay_at_their_set_points():
    plant = make_plant(2000, random_state=0)
    assert plant["reactor temperature"].mean() == pytest.approx(340, abs=0.1)
    assert plant["outlet flow"].mean() == pytest.approx(plant["feed flow"].mean(), abs=0.02)
    assert plant["feed flow"].autocorr() > 0.7  # the disturbance has a memory of .97 below the noise of the sensor


@pytest.mark.parametrize(
    ("fault", "variable", "shift"),
    [
        (1, "feed concentration", -0.03),
        (2, "cooling water temperature", 2.5),
        (5, "cooling valve", -0.4 * 20),  # the jacket takes 40 % less heat, and needs so much less water
        (8, "feed flow", -0.8),
    ],
)
def test_a_fault_shifts_the_variable_it_acts_on_from_its_onset(fault, variable, shift):
    faulty, normal = (make_plant(900, kind, onset=300, random_state=1)[variable] for kind in (fault, 0))
    np.testing.assert_array_equal(faulty[:300], normal[:300])
    difference = (faulty - normal)[700:].mean()
    assert np.sign(difference) == np.sign(shift)
    assert abs(difference) >= 0.9 * abs(shift)


def test_a_biased_thermometer_shows_in_all_but_the_temperature():
    """The controller holds what the thermometer shows; the reactor is one degree warmer and reacts faster."""
    faulty, normal = (make_plant(900, kind, onset=300, random_state=1)[700:].mean() for kind in (7, 0))
    assert faulty["reactor temperature"] == pytest.approx(normal["reactor temperature"], abs=0.05)
    assert faulty["reactor concentration"] < normal["reactor concentration"] - 0.004


def test_unknown_faults_are_refused():
    with pytest.raises(ValueError, match="fault=9 is unknown; choose one of 0, 1, 2, 3, 4, 5, 6, 7, 8"):
        make_plant(10, fault=9)
    assert len(FAULTS) == 9


def test_days_of_the_real_plant_are_in_order_and_the_faulty_ones_apart():
    water = load_water_treatment()
    for table in (water.normal, water.faulty):
        assert table.index.is_monotonic_increasing
        assert {dtype.kind for dtype in table.dtypes} <= {"i", "f"}
    assert not set(water.normal.index) & set(water.faulty.index)
    assert (water.states.index == water.faulty.index).all()
    assert "normal" not in set(water.states)
