"""Transvariation probability by counting, and the spatial median."""

from transvariation.depth.median import spatial_median
from transvariation.depth.probability import transvariation_probability
from transvariation.depth.tail import tail_transvariation_probability

__all__ = ["spatial_median", "tail_transvariation_probability", "transvariation_probability"]
