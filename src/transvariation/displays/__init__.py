"""Pictures in scikit-learn's Display form: `from_estimator`, `from_predictions`, `plot(ax=)`, `ax_`, `figure_`."""

from transvariation.displays.calibration import CalibrationDisplay
from transvariation.displays.drift import DriftDisplay
from transvariation.displays.exchangeability import ExchangeabilityDisplay
from transvariation.displays.p_values import PValueDisplay

__all__ = ["CalibrationDisplay", "DriftDisplay", "ExchangeabilityDisplay", "PValueDisplay"]
