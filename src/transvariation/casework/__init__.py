"""From two tables to a verdict that can be defended: control and recovered objects in, a frozen result out."""

from transvariation.casework.judging import judge
from transvariation.casework.methods import METHODS, REDUCTIONS
from transvariation.casework.result import CaseResult, Reason, Verdict

__all__ = ["METHODS", "REDUCTIONS", "CaseResult", "Reason", "Verdict", "judge"]
