"""Pictures in scikit-learn's Display form: `from_estimator`, `from_predictions`, `plot(ax=)`, `ax_`, `figure_`."""

from transvariation.displays.acceptance import AcceptanceDisplay
from transvariation.displays.calibration import CalibrationDisplay
from transvariation.displays.contributions import ContributionDisplay
from transvariation.displays.distances import DistanceDisplay
from transvariation.displays.drift import DriftDisplay
from transvariation.displays.exchangeability import ExchangeabilityDisplay
from transvariation.displays.extremes import ExtremesDisplay
from transvariation.displays.likelihood_ratios import LikelihoodRatioDisplay
from transvariation.displays.monitoring import MonitoringDisplay
from transvariation.displays.p_values import PValueDisplay
from transvariation.displays.spectra import SpectrumDisplay
from transvariation.displays.type_ii_errors import TypeIIErrorDisplay

__all__ = [
    "AcceptanceDisplay",
    "CalibrationDisplay",
    "ContributionDisplay",
    "DistanceDisplay",
    "DriftDisplay",
    "ExchangeabilityDisplay",
    "ExtremesDisplay",
    "LikelihoodRatioDisplay",
    "MonitoringDisplay",
    "PValueDisplay",
    "SpectrumDisplay",
    "TypeIIErrorDisplay",
]
