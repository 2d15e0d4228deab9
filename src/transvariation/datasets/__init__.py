"""Data: the packaged glass fragments and the scenarios of the simulation study."""

from transvariation.datasets.glass import load_glass
from transvariation.datasets.scenarios import make_scenario

__all__ = ["load_glass", "make_scenario"]
