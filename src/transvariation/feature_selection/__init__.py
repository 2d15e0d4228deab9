"""Feature selection: VIP, VarSel, and the stability of a selection."""

from transvariation.feature_selection.stability import SelectionStability, selection_stability
from transvariation.feature_selection.varsel import VarSel
from transvariation.feature_selection.vip import VIPSelector

__all__ = ["SelectionStability", "VIPSelector", "VarSel", "selection_stability"]
