"""MEASURE: pure functions on arrays. Spatial median, transvariation probability, medoids, box probabilities."""

from transvariation.typicality.boxes import mixture_box_probability, normal_box_probability
from transvariation.typicality.density import density_transvariation_probability
from transvariation.typicality.median import spatial_median
from transvariation.typicality.probability import transvariation_probability

__all__ = [
    "density_transvariation_probability",
    "mixture_box_probability",
    "normal_box_probability",
    "spatial_median",
    "transvariation_probability",
]
