"""The same classifiers on more rows than fit in memory: Dask collections, memory maps and blocks of rows."""

from importlib.util import find_spec

if find_spec("dask") is None:
    raise ImportError("transvariation.dask needs Dask; install it with: pip install dask distributed")

from transvariation.dask.classifiers import PAMTOCC, TOCC, DensityTOCC, NeighborTOCC

__all__ = ["PAMTOCC", "TOCC", "DensityTOCC", "NeighborTOCC"]
