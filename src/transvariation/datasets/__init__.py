"""Data: glass fragments, float glass of the NFI, the scenarios of the simulation study, and plants."""

from transvariation.datasets.glass import load_glass, load_nfi_glass
from transvariation.datasets.plant import load_water_treatment, make_plant
from transvariation.datasets.scenarios import make_scenario

__all__ = ["load_glass", "load_nfi_glass", "load_water_treatment", "make_plant", "make_scenario"]
