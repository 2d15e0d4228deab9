"""REDUCE: fewer, more telling variables."""

from transvariation.reduction.minor import MinorComponents
from transvariation.reduction.projections import random_projections
from transvariation.reduction.sparse import SparseMinorComponents
from transvariation.reduction.stability import selection_stability
from transvariation.reduction.varsel import VarSel
from transvariation.reduction.vip import VIPSelector

__all__ = [
    "MinorComponents",
    "SparseMinorComponents",
    "VIPSelector",
    "VarSel",
    "random_projections",
    "selection_stability",
]
