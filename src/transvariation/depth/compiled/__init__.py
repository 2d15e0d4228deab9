"""Compiled kernels of counting and of the spatial median (numba, the extra ``fast``)."""
