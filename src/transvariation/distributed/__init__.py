"""Past memory, past one machine: the same rules on Dask collections, memory maps and blocks of rows."""

from transvariation.distributed.density import DensityTOCC
from transvariation.distributed.tocc import PAMTOCC, TOCC

__all__ = ["PAMTOCC", "TOCC", "DensityTOCC"]
