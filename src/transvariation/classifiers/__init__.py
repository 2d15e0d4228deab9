"""DECIDE: the one-class classifiers."""

from transvariation.classifiers.base import OneClassClassifier
from transvariation.classifiers.tocc import TOCC

__all__ = ["TOCC", "OneClassClassifier"]
