"""Failures of a case, with remedies in the terms of each front end."""

# What to do, by remedy and front end. Every front end has its own name for the same choice.
REMEDIES = {
    "other-method": {
        "python": 'use method="neighbor", fewer variables (features=) or no reduction (reduce=None)',
        "cli": "use --method neighbor, fewer variables (--features) or no --reduce",
        "page": "choose the method neighbor, untick variables, or choose no reduction",
    },
    "background": {
        "python": 'use method="neighbor" without a reduction, and give a background (background=) to conclude anything '
        "from so few control fragments",
        "cli": "use --method neighbor without --reduce, and give a --background to conclude anything from so few "
        "control fragments",
        "page": "choose the method neighbor without a reduction, and give a background to conclude anything from so "
        "few control fragments",
    },
    "no-log": {
        "python": "leave the variable out (without=), or judge without log=True",
        "cli": "leave the variable out (--without), or judge without --log",
        "page": "untick the variable, or judge without logarithms",
    },
    "log": {
        "python": "if they are contents, take logarithms (log=True without logged)",
        "cli": "if they are contents, take logarithms (--log without --logged)",
        "page": "if they are contents, take logarithms",
    },
    "source-column": {
        "python": "name the column of the sources (source_column=)",
        "cli": "name the column of the sources (--source-column)",
        "page": "set the role of the column that names the sources",
    },
    "features": {
        "python": "name the variables to use (features=)",
        "cli": "name the variables to use (--features)",
        "page": "untick the variables that the background lacks",
    },
    "preprocess": {
        "python": 'use steps such as preprocess="snv,sg1", or preprocess=None',
        "cli": "use steps such as --preprocess snv,sg1, or leave it out",
        "page": "choose other steps of preprocessing, or none",
    },
    "ranges": {
        "python": "give pairs of numbers such as ranges=[(800, 1200)]",
        "cli": "give two numbers such as --range 800-1200",
        "page": "give two numbers such as 800-1200",
    },
    "without": {
        "python": 'name variables of the tables, such as without=["Ba", "Fe"]',
        "cli": 'name variables of the tables, such as --without "Ba,Fe"',
        "page": "name variables of the tables, separated by commas",
    },
    "reduce-to": {
        "python": "use another reduce_to=, or no reduction (reduce=None)",
        "cli": "use another --reduce-to, or no --reduce",
        "page": "choose another number of variables, or no reduction",
    },
    "more-sources": {
        "python": "give a background with more sources, or none (background=None)",
        "cli": "give a background with more sources, or leave out --background",
        "page": "give a background with more sources, or none",
    },
}


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
