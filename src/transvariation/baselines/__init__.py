"""The paper's six competitors and DD-SIMCA, on the same base class and so with the same calibrations."""

from transvariation.baselines.ddsimca import DDSIMCA
from transvariation.baselines.gaussian import GaussianOCC
from transvariation.baselines.kde import KDEOCC
from transvariation.baselines.kmeans import KMeansOCC
from transvariation.baselines.mixture import MixtureOCC
from transvariation.baselines.procrustes import ProcrustesValidation, procrustes_validation
from transvariation.baselines.som import SOMOCC
from transvariation.baselines.strangers import Strangers, describe_strangers
from transvariation.baselines.svdd import SVDD

__all__ = [
    "DDSIMCA",
    "KDEOCC",
    "SOMOCC",
    "SVDD",
    "GaussianOCC",
    "KMeansOCC",
    "MixtureOCC",
    "ProcrustesValidation",
    "Strangers",
    "describe_strangers",
    "procrustes_validation",
]
