"""Minor components, sparse minor components and random projections."""

from transvariation.decomposition.minor_components import MinorComponents
from transvariation.decomposition.projections import random_projections
from transvariation.decomposition.sparse_minor_components import SparseMinorComponents

__all__ = ["MinorComponents", "SparseMinorComponents", "random_projections"]
