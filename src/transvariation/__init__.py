"""One-class classification by Gini's transvariation probability.

The tree reads as the method's own verbs: read (`table`), reduce (`reduction`), measure (`typicality`),
cut (`threshold`), decide (`classifiers`), tell (`report`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transvariation.classifiers import PAMTOCC as PAMTOCC
    from transvariation.classifiers import TOCC as TOCC
    from transvariation.classifiers import CalibratedOCC as CalibratedOCC
    from transvariation.classifiers import CoverageReport as CoverageReport
    from transvariation.classifiers import DensityTOCC as DensityTOCC
    from transvariation.classifiers import KernelTOCC as KernelTOCC
    from transvariation.classifiers import ProjectionEnsemble as ProjectionEnsemble
    from transvariation.classifiers import choose as choose
    from transvariation.classifiers import reasons as reasons
    from transvariation.classifiers import tell_reasons as tell_reasons
    from transvariation.datasets import load_glass as load_glass
    from transvariation.datasets import make_scenario as make_scenario
    from transvariation.metrics import auc as auc
    from transvariation.metrics import roc as roc
    from transvariation.metrics import specificity_at_sensitivity as specificity_at_sensitivity
    from transvariation.mixture import GaussianDensity as GaussianDensity
    from transvariation.mixture import GaussianKernelDensity as GaussianKernelDensity
    from transvariation.mixture import GaussianMixtureBIC as GaussianMixtureBIC
    from transvariation.multiplicity import benjamini_hochberg as benjamini_hochberg
    from transvariation.reduction import MinorComponents as MinorComponents
    from transvariation.reduction import SparseMinorComponents as SparseMinorComponents
    from transvariation.reduction import VarSel as VarSel
    from transvariation.reduction import VIPSelector as VIPSelector
    from transvariation.reduction import random_projections as random_projections
    from transvariation.reduction import selection_stability as selection_stability
    from transvariation.saving import load as load
    from transvariation.saving import save as save
    from transvariation.streaming import DriftAlarm as DriftAlarm
    from transvariation.typicality import density_transvariation_probability as density_transvariation_probability
    from transvariation.typicality import spatial_median as spatial_median
    from transvariation.typicality import transvariation_probability as transvariation_probability

__version__ = "0.1.0"

# Where each public name lives. Loaded on first use, so that `transvariation --help` need not wait for scikit-learn.
_HOME = {
    "CalibratedOCC": "classifiers",
    "CoverageReport": "classifiers",
    "DensityTOCC": "classifiers",
    "DriftAlarm": "streaming",
    "GaussianDensity": "mixture",
    "GaussianKernelDensity": "mixture",
    "GaussianMixtureBIC": "mixture",
    "KernelTOCC": "classifiers",
    "MinorComponents": "reduction",
    "PAMTOCC": "classifiers",
    "ProjectionEnsemble": "classifiers",
    "SparseMinorComponents": "reduction",
    "TOCC": "classifiers",
    "VIPSelector": "reduction",
    "VarSel": "reduction",
    "auc": "metrics",
    "benjamini_hochberg": "multiplicity",
    "choose": "classifiers",
    "density_transvariation_probability": "typicality",
    "load": "saving",
    "load_glass": "datasets",
    "make_scenario": "datasets",
    "random_projections": "reduction",
    "reasons": "classifiers",
    "roc": "metrics",
    "save": "saving",
    "selection_stability": "reduction",
    "spatial_median": "typicality",
    "specificity_at_sensitivity": "metrics",
    "tell_reasons": "classifiers",
    "transvariation_probability": "typicality",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"transvariation.{_HOME[name]}"), name)
    raise AttributeError(f"module 'transvariation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
