"""Data: glass fragments, float glass of the NFI, the scenarios of the simulation study, and a plant."""

from transvariation.datasets.glass import load_glass, load_nfi_glass
from transvariation.datasets.plant import make_plant
from transvariation.datasets.scenarios import make_scenario

__all__ = ["load_glass", "load_nfi_glass", "make_plant", "make_scenario"]
