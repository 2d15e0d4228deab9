"""Casework: compare recovered with control fragments, with or without a background, into one frozen result."""

from transvariation.casework.errors import CaseError
from transvariation.casework.judging import CASE_FIELDS, judge
from transvariation.casework.methods import METHODS, REDUCTIONS
from transvariation.casework.result import CaseResult, Conclusion, Reason

__all__ = ["CASE_FIELDS", "METHODS", "REDUCTIONS", "CaseError", "CaseResult", "Conclusion", "Reason", "judge"]
