"""Measure on a laboratory's own database how often the method is wrong."""

from transvariation.casework.settings import ValidationSettings
from transvariation.casework.validation.comparisons import parse_design
from transvariation.casework.validation.criteria import CRITERIA, Verdict, read_criteria
from transvariation.casework.validation.result import DesignResult, Rates, Ratios, ValidationResult
from transvariation.casework.validation.run import validate

__all__ = [
    "CRITERIA",
    "DesignResult",
    "Rates",
    "Ratios",
    "ValidationResult",
    "ValidationSettings",
    "Verdict",
    "parse_design",
    "read_criteria",
    "validate",
]
