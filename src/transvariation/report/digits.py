"""Write measurements with the digits that their uncertainty supports."""

import math
import re
from collections.abc import Sequence
from statistics import stdev

from transvariation.casework import CaseResult

INDEX_DECIMALS = 5  # of a refractive index
_INDEX_NAME = re.compile(r"ri|n_?d|refractive.*|brechung.*|.*\bri\b.*|.*index of refraction.*", re.IGNORECASE)
_INDEX_RANGE = 1.3, 2.2  # of glass
_MOST_DECIMALS = 8


def is_refractive_index(name: str, values: Sequence[float]) -> bool:
    """Return whether a variable is a refractive index, by its name and the range of its values.

    Examples
    --------
    >>> is_refractive_index("RI", [1.51982, 1.51984]), is_refractive_index("Na", [1.5])
    (True, False)
    """
    low, high = _INDEX_RANGE
    return bool(_INDEX_NAME.fullmatch(name.strip())) and all(low <= value <= high for value in values)


def decimals_for(sd: float) -> int:
    """Return the decimals of a number whose standard deviation has two significant digits; -1 rounds to tens.

    Examples
    --------
    >>> decimals_for(0.0271), decimals_for(67.8), decimals_for(678.0)
    (3, 0, -1)
    """
    return min(1 - math.floor(math.log10(sd)), _MOST_DECIMALS)


class Digits:
    """The decimals of every variable of a case.

    A refractive index has five decimals. Any other value has those of the standard deviation of its measurements,
    which has two significant digits: of replicates of one fragment, or else of control fragments. It never has more
    than the table, of a mean one more.
    """

    def __init__(self, result: CaseResult):
        self._decimals = {name: _decimals(result, name) for name in result.inputs.features}

    def write(self, name: str, value: float) -> str:
        """Write a value of a variable."""
        if abs(value) >= 1e9:
            return f"{value:.4g}"
        return rounded(value, self._decimals[name])

    def mean_sd(self, name: str, values: Sequence[float]) -> str:
        """Write the mean of measurements of a variable, with their standard deviation if there are several."""
        text = self.write(name, sum(values) / len(values))
        if len(values) < 2:
            return text
        sd, decimals = stdev(values), self._decimals[name]
        if sd >= 1e9:
            return f"{text} ± {sd:.2g}"
        small = 0 < sd < 0.5 * 10**-decimals  # would be written as zero
        return f"{text} ± {rounded(sd, decimals_for(sd) if small else decimals)}"


def rounded(value: float, decimals: int) -> str:
    """Write a number with so many decimals; a negative number of them rounds to tens, hundreds and so on.

    Examples
    --------
    >>> rounded(0.00004, 6), rounded(102725.3, -2)
    ('0.000040', '102700')
    """
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"


def _decimals(result: CaseResult, name: str) -> int:
    own, other = ([each.measurements[name] for each in part] for part in (result.inputs.known, result.conclusions))
    fragments = [*own, *other]
    values = [value for each in fragments for value in each]
    if is_refractive_index(name, values):
        return INDEX_DECIMALS
    freedom = sum(len(each) - 1 for each in fragments)
    most = min(max(len(f"{value:.10g}".partition(".")[2]) for value in values) + (freedom > 0), _MOST_DECIMALS)
    squares = sum(stdev(each) ** 2 * (len(each) - 1) for each in fragments if len(each) > 1)
    if squares > 0:
        return min(decimals_for(math.sqrt(squares / freedom)), most)
    means = [sum(each) / len(each) for each in own]
    spread = stdev(means) if len(means) > 1 else 0.0
    return min(decimals_for(spread), most) if spread > 0 else most
