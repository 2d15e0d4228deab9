"""Past memory, past one machine: the same rules on Dask collections, memory maps and blocks of rows."""

from transvariation.dask.density_tocc import DensityTOCC
from transvariation.dask.tocc import PAMTOCC, TOCC

__all__ = ["PAMTOCC", "TOCC", "DensityTOCC"]
