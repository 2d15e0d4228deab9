"""The paper's simulation study: nine scenarios, three transvariation-based classifiers, six competitors.

A task is one data set of one scenario. It depends only on its name and the seed of the study, so that it can be
recomputed by itself and gives the same result in any order and on any machine.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from transvariation.base import OneClassClassifier
from transvariation.baselines import KDEOCC, SOMOCC, SVDD, GaussianOCC, KMeansOCC, MixtureOCC
from transvariation.datasets import make_scenario
from transvariation.density_tocc import DensityTOCC
from transvariation.metrics import auc, specificity_at_sensitivity
from transvariation.pam_tocc import PAMTOCC
from transvariation.studies.checkpoint import Checkpoint, Task
from transvariation.studies.claims import NOMINAL_SENSITIVITY
from transvariation.tocc import TOCC

__all__ = ["run_task"]

SCENARIOS = "abcdefghi"
SHIFTED = "abcd"  # scenarios whose non-targets have a shift
N_FRESH = 1_000  # new target samples on which a classifier is evaluated
SVDD_WEIGHT = 0.1  # the largest weight of a target sample: at least ten are needed
SMALLEST = round(1 / SVDD_WEIGHT)
FARTHEST_SHIFT = 1e6  # every classifier detects such a shift, and squares of much larger ones overflow


def methods(random_state: int = 0) -> dict[str, OneClassClassifier]:
    """Return the classifiers of the study with the paper's parameters."""
    return {
        "TOCC_df": TOCC(),
        "TOCC_db": DensityTOCC(engine="compiled"),
        "PAM-TOCC_df": PAMTOCC(n_clusters=5),
        "Gauss": GaussianOCC(),
        "Mix-Gauss": MixtureOCC(engine="compiled"),
        "KDE": KDEOCC(),
        "KM": KMeansOCC(random_state=random_state),
        "SOM": SOMOCC(random_state=random_state),
        "SVDD": SVDD(C=SVDD_WEIGHT),
    }


@dataclass(frozen=True)
class Outcome:
    """Result of one method on one data set. Shares are of samples; `seconds` is CPU time to fit and score."""

    specificity: float  # at the threshold that accepts at least 90% of the training targets, as in the paper
    sensitivity: float  # at that threshold, on the training targets
    fresh_sensitivity: float  # at that threshold, on new targets
    fresh_specificity: float  # at the threshold that accepts at least 90% of the new targets
    auc: float  # of the scores of new targets against non-targets
    seconds: float


def tasks(
    scenarios: Iterable[str], sizes: Iterable[int], shifts: Sequence[float], repeats: int
) -> list[tuple[str, int, float, int]]:
    """List the data sets of a study, each once. Scenarios without a shift appear once, with shift 0."""
    named = (
        (scenario, size, shift, repeat)
        for scenario in scenarios
        for shift in (shifts if scenario in SHIFTED else [0.0])
        for size in sizes
        for repeat in range(repeats)
    )
    return list(dict.fromkeys(named))  # a data set that was named twice counts once


def data_seed(seed: int, scenario: str, size: int, shift: float, repeat: int) -> np.random.SeedSequence:
    """Return the seed of a data set."""
    return np.random.SeedSequence([seed, SCENARIOS.index(scenario), size, round(shift * 1000), repeat])


def run_task(
    seed: int, scenario: str, size: int, shift: float, repeat: int, only: Iterable[str] | None = None
) -> dict[str, dict[str, float]]:
    """Generate one data set of the simulation study, and evaluate its methods on it.

    Parameters
    ----------
    seed : int
        The seed of the study.
    scenario : str
        A letter from ``"a"`` to ``"i"``; see :func:`transvariation.make_scenario`.
    size : int
        The number of target samples to learn from.
    shift : float
        The distance of the non-targets, for the scenarios that have one.
    repeat : int
        The number of the data set, from 0.
    only : iterable of str, optional
        The methods to evaluate, such as ``["TOCC_df", "KDE"]``; by default all nine.

    Returns
    -------
    dict of str to dict
        For each method its ``specificity`` and ``sensitivity`` at the paper's threshold, ``fresh_sensitivity`` and
        ``fresh_specificity`` for new targets, ``auc``, and ``seconds`` of CPU time.

    Examples
    --------
    >>> from transvariation.studies.simulation import run_task
    >>> found = run_task(0, "a", 100, 1.0, 0, only=["TOCC_df"])["TOCC_df"]
    >>> found["specificity"], found["fresh_sensitivity"]
    (0.36, 0.838)
    """
    rng = np.random.default_rng(data_seed(seed, scenario, size, shift, repeat))
    target, other = make_scenario(scenario, n_target=size, shift=shift, random_state=rng)
    # New targets come from the same distribution; the non-targets may depend on the targets, so they stay.
    fresh, _ = make_scenario(scenario, n_target=N_FRESH, shift=shift, random_state=rng)
    chosen = methods(random_state=repeat)
    wanted = list(chosen) if only is None else list(only)
    return {name: asdict(_outcome(chosen[name], target, other, fresh)) for name in wanted}


def _outcome(classifier: OneClassClassifier, target: np.ndarray, other: np.ndarray, fresh: np.ndarray) -> Outcome:
    start = process_time()
    classifier.set_params(sensitivity=NOMINAL_SENSITIVITY).fit(target)
    sensitivity = float(np.mean(classifier.predict(target) == 1))
    scores_other, scores_fresh = classifier.score_samples(other), classifier.score_samples(fresh)
    seconds = process_time() - start
    return Outcome(
        specificity=float(np.mean(scores_other < classifier.offset_)),
        sensitivity=sensitivity,
        fresh_sensitivity=float(np.mean(scores_fresh >= classifier.offset_)),
        fresh_specificity=specificity_at_sensitivity(scores_fresh, scores_other, NOMINAL_SENSITIVITY),
        auc=auc(scores_fresh, scores_other),
        seconds=seconds,
    )


@dataclass(frozen=True)
class Study:
    """Parameters of the study. `jobs` is a number of processes (-1: all cores)."""

    scenarios: str = SCENARIOS
    sizes: tuple[int, ...] = (100, 200, 500)
    shifts: tuple[float, ...] = (1.0, 2.0)
    repeats: int = 100
    seed: int = 0
    jobs: int = 1

    def __post_init__(self) -> None:
        if min(self.sizes) < SMALLEST:
            raise ValueError(f"sizes={min(self.sizes)} is too small: SVDD needs at least {SMALLEST} target samples")
        for shift in self.shifts:
            if not shift <= FARTHEST_SHIFT:
                raise ValueError(f"shifts={shift} is too large: at most {FARTHEST_SHIFT:.0f}; 1 is small, 2 is large")

    def tasks(self) -> list[tuple[str, int, float, int]]:
        """List the data sets."""
        return tasks(self.scenarios, self.sizes, self.shifts, self.repeats)

    def checkpoint(self, directory: Path) -> Checkpoint:
        """Open the file of results in a folder."""
        from transvariation import __version__

        return Checkpoint(
            directory / "checkpoint.jsonl", {"study": "simulation", "version": __version__, "seed": self.seed}
        )

    def run(self, checkpoint: Checkpoint) -> Iterator[Task]:
        """Run what is missing, yielding once per finished data set."""
        return checkpoint.run(self.tasks(), _Task(self.seed), self.jobs)

    def table(self, checkpoint: Checkpoint) -> pd.DataFrame:
        """Collect the results of this study: one row per scenario, shift, size, repeat and method."""
        rows = [
            {"scenario": scenario, "shift": shift, "size": size, "repeat": repeat, "method": method, **outcome}
            for scenario, size, shift, repeat in self.tasks()
            for method, outcome in checkpoint.results.get((scenario, size, shift, repeat), {}).items()
        ]
        return pd.DataFrame(rows).assign(seed=self.seed)


@dataclass(frozen=True)
class _Task:
    """A task of a study with this seed; a class, because other processes must unpickle it."""

    seed: int

    def __call__(self, *task: Any) -> dict[str, dict[str, float]]:
        return run_task(self.seed, *task)
