"""MEASURE: pure functions on arrays. Spatial median, transvariation probability, medoids."""

from transvariation.typicality.median import spatial_median
from transvariation.typicality.probability import transvariation_probability

__all__ = ["spatial_median", "transvariation_probability"]
