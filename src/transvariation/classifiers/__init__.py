"""DECIDE: the one-class classifiers."""

from transvariation.classifiers.base import OneClassClassifier
from transvariation.classifiers.calibrated import CalibratedOCC
from transvariation.classifiers.calibration import CoverageReport
from transvariation.classifiers.choose import Choice, choose
from transvariation.classifiers.density import DensityTOCC
from transvariation.classifiers.ensemble import ProjectionEnsemble
from transvariation.classifiers.kernel import KernelTOCC
from transvariation.classifiers.pam import PAMTOCC
from transvariation.classifiers.reasons import reasons, tell_reasons
from transvariation.classifiers.tocc import TOCC

__all__ = [
    "PAMTOCC",
    "TOCC",
    "CalibratedOCC",
    "Choice",
    "CoverageReport",
    "DensityTOCC",
    "KernelTOCC",
    "OneClassClassifier",
    "ProjectionEnsemble",
    "choose",
    "reasons",
    "tell_reasons",
]
