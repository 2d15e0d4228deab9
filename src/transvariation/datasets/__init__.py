"""Data: the packaged glass fragments and the scenarios of the simulation study."""

from transvariation.datasets.glass import load_glass

__all__ = ["load_glass"]
