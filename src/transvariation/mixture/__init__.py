"""Gaussian mixtures chosen by BIC, in the manner of mclust, and kernel densities."""

from transvariation.mixture.gaussian import GaussianDensity
from transvariation.mixture.kernel_density import GaussianKernelDensity

__all__ = ["GaussianDensity", "GaussianKernelDensity"]
