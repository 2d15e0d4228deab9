"""What a calibration promises, in numbers and words."""

import math
import textwrap
from dataclasses import dataclass

from transvariation._typing import Bools


@dataclass(frozen=True)
class CoverageReport:
    """Statement about the share of new target samples that a fitted classifier accepts.

    Attributes
    ----------
    calibration : str
        The mode: ``"resubstitution"``, ``"loo"``, ``"cv"``, ``"split"``, ``"blocks"`` or ``"custom"``.
    sensitivity : float or tuple of float
        The nominal level: the share of new target samples to accept.
    guarantee : str
        What holds, and under which assumptions.
    n : int
        The number of calibration samples, or groups.
    unit : str
        ``"samples"``, ``"groups"``, or ``"blocks"`` of neighboring samples that count as one.
    n_per_stratum : tuple of int or float
        The same for each stratum of the class with its own threshold, after small strata were pooled. A group that lies
        in several strata counts in each by its share.
    smallest_p_value : float
        1 / (n + 1), the smallest p-value that this number of samples or groups allows.
    smallest_per_stratum : tuple of float
        For each entry of `n_per_stratum` the p-value of a sample with the lowest attainable score. It is larger than
        1 / (n + 1) where calibration samples share that score: counting gives tp = 0 to all samples beyond the edge.
    confidence : float
        The probability that `sensitivity_bound` holds.
    sensitivity_bound : float or None
        A lower bound of the true sensitivity of this classifier: the share of new target samples that it accepts. With
        several thresholds, all have it together. None for ``"resubstitution"``.

    See Also
    --------
    transvariation.required_n : How many samples a sensitivity needs.

    Examples
    --------
    >>> from transvariation import TOCC, load_glass
    >>> control = load_glass().control[["K", "Mg"]]
    >>> classifier = TOCC(sensitivity=0.8, calibration="loo").fit(control)
    >>> report = classifier.coverage_report()
    >>> report.n, report.unit, round(report.smallest_p_value, 4)
    (87, 'samples', 0.0114)
    >>> round(report.attainable_p_value, 4)
    0.1591
    """

    calibration: str
    sensitivity: float | tuple[float, ...]
    guarantee: str
    n: int
    unit: str
    n_per_stratum: tuple[float, ...]
    smallest_p_value: float
    smallest_per_stratum: tuple[float, ...] = ()
    confidence: float = 0.95
    sensitivity_bound: float | None = None

    @property
    def attainable_p_value(self) -> float:
        """The smallest p-value that this classifier can give to any sample."""
        return min(self.smallest_per_stratum, default=self.smallest_p_value)

    def __str__(self) -> str:
        level = self.sensitivity if isinstance(self.sensitivity, float) else ", ".join(map(str, self.sensitivity))
        lines = [
            f"nominal sensitivity  {level}",
            f"calibration          {self.calibration}, {self.n} {self.unit}",
            f"smallest p-value     {self.smallest_p_value:.3g}",
        ]
        if self.attainable_p_value > self.smallest_p_value + 1e-9:
            lines[-1] += f"; this classifier gives no sample less than {self.attainable_p_value:.3g}"
        if len(self.n_per_stratum) > 1:
            sizes = ", ".join(map(str, self.n_per_stratum))
            lines.insert(2, f"thresholds           {len(self.n_per_stratum)}, from {sizes}")
        if self.sensitivity_bound is not None:
            share = math.floor(1000 * self.sensitivity_bound + 1e-9) / 10
            bound = f"at least {share:g}% with {100 * self.confidence:g}% confidence"
            lines.append(f"this classifier      accepts {'every sample' if self.sensitivity_bound == 1 else bound}")
        guarantee = textwrap.fill(f"guarantee            {self.guarantee}", 78, subsequent_indent=21 * " ")
        return "\n".join([*lines, guarantee])


def guarantee_in_words(mode: str, n_folds: int, unit: str, n_pools: int, too_few: Bools) -> str:
    """Say what holds for new target samples, and under which assumptions."""
    guarantee = _guarantee(mode, n_folds, unit == "groups", n_pools)
    if not too_few.any():
        return guarantee
    where = "Every sample" if too_few.all() else "In some strata every sample"
    return f"{where} is accepted: the calibration {unit} are too few for the sensitivity, see required_n. {guarantee}"


def _guarantee(mode: str, n_folds: int, grouped: bool, n_pools: int) -> str:
    if mode == "resubstitution":
        return (
            "None for new samples: the training samples were scored by the classifier fitted to them, which is "
            "optimistic. The share holds among the training samples only."
        )
    unit, who = ("group", "a sample of a new group") if grouped else ("sample", "a new target sample")
    stratum = " of its stratum" if n_pools > 1 else ""
    if mode == "split" or n_folds == 1:
        given = " given the strata, which depend on the describing samples only" if n_pools > 1 else ""
        return (
            f"Exact for every sample size and distribution: {who} is accepted with probability at least the nominal "
            f"sensitivity{given}, if it is exchangeable with the calibration {unit}s{stratum}. This holds on average "
            "over calibrations, not for each."
        )
    if mode == "blocks":
        return (
            "Approximate: each sample was scored by a classifier fitted without the samples before and after it, in "
            f"{n_folds} contiguous folds with a gap; neighboring samples whose scores are correlated count as one. A "
            "later sample is accepted with about the nominal probability if the process does not change. The "
            "confidence of the bound for this classifier was measured in simulations."
        )
    left_out, how = (f"one {unit}", "by leave-one-out") if mode == "loo" else ("one fold", f"in {n_folds} folds")
    return (
        f"Approximate: each {unit} was scored by a classifier fitted without it, {how}; new samples are scored by the "
        f"classifier fitted to all. {who[0].upper()}{who[1:]} is accepted with about the nominal probability if "
        f"leaving out {left_out} hardly changes the scores{stratum}. There is no bound for every distribution; the "
        "split mode has one. The confidence of the bound for this classifier was measured in simulations."
    )
