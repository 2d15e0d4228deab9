"""The competitors, on the same base and so with the same cut."""

from transvariation.rivals.gaussian import GaussianOCC
from transvariation.rivals.kde import KDEOCC
from transvariation.rivals.kmeans import KMeansOCC
from transvariation.rivals.mixture import MixtureOCC
from transvariation.rivals.som import SOMOCC
from transvariation.rivals.svdd import SVDD

__all__ = ["KDEOCC", "SOMOCC", "SVDD", "GaussianOCC", "KMeansOCC", "MixtureOCC"]
