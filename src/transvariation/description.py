"""The description of a target class: all that differs between one-class classifiers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from sklearn.base import clone

from transvariation._typing import Floats, Indices, Rows
from transvariation.calibration import CalibrationPlan, count_rows, take_rows
from transvariation.parallel import run_in_processes

MAX_REFITS = 1000  # of calibration="loo"


@dataclass(eq=False)
class Description(ABC):
    """What a classifier knows about the target class, without any threshold.

    A subclass is a dataclass whose fields are the parameters. It implements `fit` and `score`; the other methods have
    defaults. What `fit` learns and users may read ends in an underscore: the classifier shows it as its own attribute.
    :class:`~transvariation.base.OneClassClassifier` validates the samples, calls `fit`, calibrates the scores and sets
    the threshold. Nothing changes a description after `fit`.
    """

    @abstractmethod
    def fit(self, X: Rows, groups: Indices | None = None) -> Self:
        """Learn the target class from validated samples; `groups` numbers the item that each is a replicate of."""

    @abstractmethod
    def score(self, X: Rows) -> Floats:
        """Score validated samples: high = typical. The score of a sample does not depend on the other samples."""

    @property
    def lowest(self) -> float:
        """Lowest attainable score."""
        return -np.inf

    def strata(self, X: Rows) -> Indices | None:
        """Return the stratum (Mondrian category) of each sample, 0, 1, ...; None if there is only one."""
        return None

    def tp_of_scores(self, scores: Floats) -> Floats:
        """Convert scores to transvariation probabilities."""
        return scores

    def training_scores(self, X: Rows) -> Floats:
        """Score the samples that were given to `fit`."""
        return self.score(X)

    def held_out_scores(self, X: Rows, plan: CalibrationPlan, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        """Score samples that were given to `fit`, each as if it, or its group, had not been given.

        By default a description is fitted in every fold of the plan. Override it where the scores are known already.

        Returns
        -------
        rows : ndarray of int
            Which samples were scored, in ascending order.
        scores : ndarray
        """
        n_folds = plan.n_folds
        if plan.mode == "loo" and n_folds > MAX_REFITS:
            raise ValueError(
                f'calibration="loo" would fit {n_folds} times, more than {MAX_REFITS}; use calibration="cv", which '
                'fits 10 times, or "split"'
            )
        blank = self.unfitted()
        scores = run_in_processes(_score_fold, [(blank, X, plan.groups, *fold) for fold in plan.folds], n_jobs)
        rows = np.concatenate([test for _, test in plan.folds])
        order = np.argsort(rows)
        return rows[order], np.concatenate(scores)[order]

    def own_threshold(self, sensitivity: float) -> float | None:
        """Threshold that replaces the quantile of the training scores if none are held out; None if there is none."""
        return None

    def own_p_values(self, scores: Floats) -> Floats | None:
        """P-values that replace ranks among the training scores if none are held out; None if there are none."""
        return None

    def unfitted(self) -> Self:
        """Copy the parameters only."""
        return type(self)(**{each.name: clone(getattr(self, each.name), safe=False) for each in fields(self)})


def fit_without(
    description: Description, X: Rows, groups: Indices | None, train: Indices | None, test: Indices
) -> Description:
    """Fit a copy of a description to the rows `train`; None stands for all but `test`."""
    if train is None:
        train = np.delete(np.arange(count_rows(X)), test)
    copy = description.unfitted()
    if hasattr(copy, "n_jobs"):
        copy.n_jobs = 1  # folds run in parallel, not the fits in them
    return copy.fit(take_rows(X, train), None if groups is None else groups[train])


def _score_fold(
    description: Description, X: Rows, groups: Indices | None, train: Indices | None, test: Indices
) -> Floats:
    return fit_without(description, X, groups, train, test).score(take_rows(X, test))
