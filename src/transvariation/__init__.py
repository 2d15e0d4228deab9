"""One-class classification by Gini's transvariation probability.

Start with :class:`NeighborTOCC`, which learns a class from its own samples and accepts a chosen share of new ones;
:class:`CalibratedOCC` calibrates a detector of scikit-learn or PyOD; :func:`transvariation.casework.judge` compares
recovered fragments with control fragments.
"""

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transvariation.calibrated import CalibratedOCC as CalibratedOCC
    from transvariation.certificate import required_n as required_n
    from transvariation.conformal_calibration import ConformalCalibration as ConformalCalibration
    from transvariation.coverage_report import CoverageReport as CoverageReport
    from transvariation.datasets import load_glass as load_glass
    from transvariation.datasets import load_nfi_glass as load_nfi_glass
    from transvariation.datasets import make_scenario as make_scenario
    from transvariation.decomposition import MinorComponents as MinorComponents
    from transvariation.decomposition import SparseMinorComponents as SparseMinorComponents
    from transvariation.decomposition import random_projections as random_projections
    from transvariation.density import GaussianDensity as GaussianDensity
    from transvariation.density import GaussianKernelDensity as GaussianKernelDensity
    from transvariation.density import GaussianMixtureBIC as GaussianMixtureBIC
    from transvariation.density import density_transvariation_probability as density_transvariation_probability
    from transvariation.density_tocc import DensityTOCC as DensityTOCC
    from transvariation.depth import spatial_median as spatial_median
    from transvariation.depth import tail_transvariation_probability as tail_transvariation_probability
    from transvariation.depth import transvariation_probability as transvariation_probability
    from transvariation.drift import AlarmRecord as AlarmRecord
    from transvariation.drift import DriftAlarm as DriftAlarm
    from transvariation.exchangeability import ExchangeabilityResult as ExchangeabilityResult
    from transvariation.exchangeability import exchangeability_test as exchangeability_test
    from transvariation.false_discoveries import AnomalyCount as AnomalyCount
    from transvariation.false_discoveries import benjamini_hochberg as benjamini_hochberg
    from transvariation.false_discoveries import count_anomalies as count_anomalies
    from transvariation.false_discoveries import false_discovery_bound as false_discovery_bound
    from transvariation.feature_selection import SelectionStability as SelectionStability
    from transvariation.feature_selection import VarSel as VarSel
    from transvariation.feature_selection import VIPSelector as VIPSelector
    from transvariation.feature_selection import selection_stability as selection_stability
    from transvariation.inspection import describe_rejections as describe_rejections
    from transvariation.inspection import explain_rejections as explain_rejections
    from transvariation.metrics import auc as auc
    from transvariation.metrics import roc as roc
    from transvariation.metrics import specificity_at_sensitivity as specificity_at_sensitivity
    from transvariation.model_selection import Comparison as Comparison
    from transvariation.model_selection import compare_classifiers as compare_classifiers
    from transvariation.neighbor_tocc import NeighborTOCC as NeighborTOCC
    from transvariation.open_set import OpenSetClassifier as OpenSetClassifier
    from transvariation.pam_tocc import PAMTOCC as PAMTOCC
    from transvariation.persistence import load as load
    from transvariation.persistence import save as save
    from transvariation.projection_ensemble import ProjectionEnsemble as ProjectionEnsemble
    from transvariation.shift import DensityRatio as DensityRatio
    from transvariation.shift import density_ratio as density_ratio
    from transvariation.tocc import TOCC as TOCC

__version__ = "0.1.0"

# Where each public name lives. Loaded on first use: `transvariation --help` need not wait for scikit-learn.
_HOME = {
    "AlarmRecord": "drift",
    "AnomalyCount": "false_discoveries",
    "Comparison": "model_selection",
    "ExchangeabilityResult": "exchangeability",
    "SelectionStability": "feature_selection",
    "CalibratedOCC": "calibrated",
    "ConformalCalibration": "conformal_calibration",
    "CoverageReport": "coverage_report",
    "DensityRatio": "shift",
    "DensityTOCC": "density_tocc",
    "DriftAlarm": "drift",
    "GaussianDensity": "density",
    "GaussianKernelDensity": "density",
    "GaussianMixtureBIC": "density",
    "MinorComponents": "decomposition",
    "NeighborTOCC": "neighbor_tocc",
    "OpenSetClassifier": "open_set",
    "PAMTOCC": "pam_tocc",
    "ProjectionEnsemble": "projection_ensemble",
    "SparseMinorComponents": "decomposition",
    "TOCC": "tocc",
    "VIPSelector": "feature_selection",
    "VarSel": "feature_selection",
    "auc": "metrics",
    "benjamini_hochberg": "false_discoveries",
    "compare_classifiers": "model_selection",
    "count_anomalies": "false_discoveries",
    "density_ratio": "shift",
    "density_transvariation_probability": "density",
    "describe_rejections": "inspection",
    "exchangeability_test": "exchangeability",
    "explain_rejections": "inspection",
    "false_discovery_bound": "false_discoveries",
    "load": "persistence",
    "load_glass": "datasets",
    "load_nfi_glass": "datasets",
    "make_scenario": "datasets",
    "random_projections": "decomposition",
    "required_n": "certificate",
    "roc": "metrics",
    "save": "persistence",
    "selection_stability": "feature_selection",
    "spatial_median": "depth",
    "specificity_at_sensitivity": "metrics",
    "tail_transvariation_probability": "depth",
    "transvariation_probability": "depth",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"transvariation.{_HOME[name]}"), name)
    if name in _modules():
        return import_module(f"transvariation.{name}")
    names = {each.lower(): each for each in (*_modules(), *_HOME)}
    close = get_close_matches(name.lower(), names, n=1)
    hint = f"; did you mean {names[close[0]]}?" if close else ""
    raise AttributeError(f"module 'transvariation' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted([*_HOME, *_modules()])


@cache
def _modules() -> list[str]:
    """List the modules that `import transvariation` makes reachable as attributes."""
    return [module.name for module in iter_modules(__path__) if not module.name.startswith("_")]
