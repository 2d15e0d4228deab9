"""Casework: compare recovered with control fragments, with or without a background, into one frozen result."""

from transvariation.casework.conclusions import Conclusion, Reason
from transvariation.casework.control_comparison import METHODS, REDUCTIONS
from transvariation.casework.errors import CaseError
from transvariation.casework.judging import CASE_FIELDS, judge
from transvariation.casework.result import CaseResult

__all__ = ["CASE_FIELDS", "METHODS", "REDUCTIONS", "CaseError", "CaseResult", "Conclusion", "Reason", "judge"]
