import numpy as np

from transvariation.displays import SpectrumDisplay


def test_foreign_intervals_are_shaded():
    known = np.random.default_rng(1).normal(size=(30, 50))
    spectrum = np.zeros(50)
    spectrum[[10, 11, 30]] = 20
    display = SpectrumDisplay.from_predictions(known, spectrum, np.arange(50.0, 0.0, -1.0), name="new")
    assert len(display.ax_.patches) == len(display.intervals) == 2
    assert display.ax_.get_title() == "new: 2 foreign intervals"
    assert display.ax_.get_xlim() == (50.0, 1.0)
    assert not SpectrumDisplay.from_predictions(known, np.zeros(50)).ax_.patches
