"""Compiled counting kernels (numba, the extra ``fast``)."""
