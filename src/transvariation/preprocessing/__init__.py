"""Preprocessing of spectra and of process measurements, as scikit-learn transformers.

Rows are spectra, and columns are positions of one axis (wavelengths, wavenumbers, chemical shifts).
"""

from transvariation.preprocessing.filters import AsymmetricLeastSquares, Detrend, SavitzkyGolay
from transvariation.preprocessing.lags import LaggedVariables
from transvariation.preprocessing.normalization import Normalization, RegionScaling
from transvariation.preprocessing.scatter import EMSC, MSC, SNV
from transvariation.preprocessing.steps import make_preprocessing
from transvariation.preprocessing.transfer import (
    InstrumentOrthogonalization,
    PiecewiseDirectStandardization,
    held_out_transfer,
)

__all__ = [
    "EMSC",
    "MSC",
    "SNV",
    "AsymmetricLeastSquares",
    "Detrend",
    "InstrumentOrthogonalization",
    "LaggedVariables",
    "Normalization",
    "PiecewiseDirectStandardization",
    "RegionScaling",
    "SavitzkyGolay",
    "held_out_transfer",
    "make_preprocessing",
]
