"""Failures and cautions of a case, as codes and fields."""

from dataclasses import dataclass
from typing import Any

# What to do, by remedy, in the terms of each front end: Python, the command line, the page.
_REMEDIES = {
    "other-method": ('use method="neighbor", fewer variables (features=) or no reduction (reduce=None)',
        "use --method neighbor, fewer variables (--features) or no --reduce",
        "choose the method neighbor, untick variables, or choose no reduction"),
    "background": (
        'use method="neighbor" without a reduction, and give a background (background=): control fragments are few',
        "use --method neighbor without --reduce, and give a --background: control fragments are few",
        "choose the method neighbor without a reduction, and give a background: control fragments are few"),
    "no-log": ("leave the variable out (without=), or judge without log=True",
        "leave the variable out (--without), or judge without --log",
        "untick the variable, or judge without logarithms"),
    "log": ("if they are contents, take logarithms (log=True without logged)",
        "if they are contents, take logarithms (--log without --logged)", "if they are contents, take logarithms"),
    "source-column": ("name the column of the sources (source_column=)",
        "name the column of the sources (--source-column)", "set the role of the column that names the sources"),
    "features": ("name the variables to use (features=)", "name the variables to use (--features)",
        "untick the variables that the background lacks"),
    "preprocess": ('use steps such as preprocess="snv,sg1", or preprocess=None',
        "use steps such as --preprocess snv,sg1, or leave it out", "choose other steps of preprocessing, or none"),
    "ranges": ("give pairs of numbers such as ranges=[(800, 1200)]", "give two numbers such as --range 800-1200",
        "give two numbers such as 800-1200"),
    "without": ('name variables of the tables, such as without=["Ba", "Fe"]',
        'name variables of the tables, such as --without "Ba,Fe"',
        "name variables of the tables, separated by commas"),
    "reduce-to": ("use another reduce_to=, or no reduction (reduce=None)", "use another --reduce-to, or no --reduce",
        "choose another number of variables, or no reduction"),
    "more-sources": ("give a background with more sources, or none (background=None)",
        "give a background with more sources, or leave out --background",
        "give a background with more sources, or none"),
}  # fmt: skip
REMEDIES = {name: dict(zip(("python", "cli", "page"), texts, strict=True)) for name, texts in _REMEDIES.items()}


@dataclass(frozen=True)
class Caution:
    """Something to know before relying on a conclusion; `transvariation.report.wording` puts it in words.

    Attributes
    ----------
    code : str
        What it is about.
    values : dict
        What it names.
    """

    code: str
    values: dict[str, Any]

    @classmethod
    def of(cls, code: str, **values: Any) -> "Caution":
        """Make a caution of a code and the values that it names."""
        return cls(code, values)


class CaseError(ValueError):
    """A case that cannot be judged.

    Parameters
    ----------
    problem : str
        What is wrong.
    remedy : str
        A key of `REMEDIES`, or "" if the problem includes the remedy.

    Examples
    --------
    >>> from transvariation.casework import CaseError
    >>> print(CaseError("Fe is 0 in row 3", "no-log").text("cli"))
    Fe is 0 in row 3; leave the variable out (--without), or judge without --log
    """

    def __init__(self, problem: str, remedy: str = ""):
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def text(self, front_end: str = "python") -> str:
        """Write the problem with the remedy in the terms of a front end.

        Parameters
        ----------
        front_end : {"python", "cli", "page"}, default="python"
            Whose names of options the remedy uses.
        """
        return f"{self.problem}; {REMEDIES[self.remedy][front_end]}" if self.remedy else self.problem

    def __str__(self) -> str:
        return self.text()


class MethodError(CaseError):
    """A method that cannot be used with the control fragments of a case."""
