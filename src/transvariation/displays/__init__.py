"""Pictures in scikit-learn's Display form: `from_estimator`, `from_predictions`, `plot(ax=)`, `ax_`, `figure_`."""

from transvariation.displays.acceptance import AcceptanceDisplay
from transvariation.displays.calibration import CalibrationDisplay
from transvariation.displays.contributions import ContributionDisplay
from transvariation.displays.drift import DriftDisplay
from transvariation.displays.exchangeability import ExchangeabilityDisplay
from transvariation.displays.likelihood_ratios import LikelihoodRatioDisplay
from transvariation.displays.p_values import PValueDisplay

__all__ = [
    "AcceptanceDisplay",
    "CalibrationDisplay",
    "ContributionDisplay",
    "DriftDisplay",
    "ExchangeabilityDisplay",
    "LikelihoodRatioDisplay",
    "PValueDisplay",
]
