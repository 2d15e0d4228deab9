"""Gaussian mixtures chosen by BIC, in the manner of mclust, and kernel densities."""

from transvariation.mixture.bic import GaussianMixtureBIC
from transvariation.mixture.gaussian import GaussianDensity
from transvariation.mixture.kernel_density import GaussianKernelDensity
from transvariation.mixture.models import MODELS

__all__ = ["MODELS", "GaussianDensity", "GaussianKernelDensity", "GaussianMixtureBIC"]
