"""Data: glass fragments, float glass of the NFI, and the scenarios of the simulation study."""

from transvariation.datasets.glass import load_glass, load_nfi_glass
from transvariation.datasets.scenarios import make_scenario

__all__ = ["load_glass", "load_nfi_glass", "make_scenario"]
