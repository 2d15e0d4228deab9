"""Gaussian mixtures chosen by BIC, in the manner of mclust, and kernel densities."""
