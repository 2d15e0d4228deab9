"""Casework: compare recovered with control fragments, with or without a background, into one frozen result."""

from importlib import import_module
from typing import TYPE_CHECKING

from transvariation.casework.settings import (
    CASE_FIELDS,
    METHODS,
    REDUCTIONS,
    CaseSettings,
    SettingsError,
    TableSettings,
)

if TYPE_CHECKING:
    from transvariation.casework.audit import Verification as Verification
    from transvariation.casework.audit import verify as verify
    from transvariation.casework.database import Database as Database
    from transvariation.casework.database import Finding as Finding
    from transvariation.casework.decision import Conclusion as Conclusion
    from transvariation.casework.decision import Reason as Reason
    from transvariation.casework.errors import CaseError as CaseError
    from transvariation.casework.judging import judge as judge
    from transvariation.casework.result import CaseResult as CaseResult
    from transvariation.casework.validation import ValidationResult as ValidationResult
    from transvariation.casework.validation import validate as validate

# Loaded on first use: the command line reads the settings without scikit-learn.
_HOME = {
    "CaseError": "errors",
    "CaseResult": "result",
    "Conclusion": "decision",
    "Database": "database",
    "Finding": "database",
    "Reason": "decision",
    "ValidationResult": "validation",
    "Verification": "audit",
    "judge": "judging",
    "validate": "validation",
    "verify": "audit",
}
__all__ = ["CASE_FIELDS", "METHODS", "REDUCTIONS", "CaseSettings", "SettingsError", "TableSettings", *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
