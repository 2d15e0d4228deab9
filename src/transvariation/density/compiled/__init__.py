"""Kernels compiled by numba, each the replacement of a NumPy function of `density` that returns the same numbers."""
