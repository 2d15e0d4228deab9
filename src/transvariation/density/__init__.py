"""Gaussian mixtures chosen by BIC, kernel densities, box probabilities, and tp from a density."""

from transvariation.density.box_probability import mixture_box_probability, normal_box_probability
from transvariation.density.covariance_models import MODELS
from transvariation.density.gaussian import GaussianDensity
from transvariation.density.gaussian_mixture import GaussianMixtureBIC
from transvariation.density.kernel_density import GaussianKernelDensity
from transvariation.density.transvariation import density_transvariation_probability

__all__ = [
    "MODELS",
    "GaussianDensity",
    "GaussianKernelDensity",
    "GaussianMixtureBIC",
    "density_transvariation_probability",
    "mixture_box_probability",
    "normal_box_probability",
]
