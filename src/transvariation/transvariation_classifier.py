"""What all transvariation-based classifiers share: the raw tp, and reasons variable by variable."""

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transvariation.base import OneClassClassifier
from transvariation.conformal import conformal_threshold

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


class TransvariationClassifier(OneClassClassifier):
    """A classifier whose score is a transvariation probability.

    A subclass says how tp is computed (`_tp`), jointly and for each variable alone (`_univariate_tp`), and keeps the
    target objects in `_X`.
    """

    _X: Floats

    @abstractmethod
    def _tp(self, X: Floats) -> Floats:
        """Compute tp of validated objects, all variables together."""

    @abstractmethod
    def _univariate_tp(self, X: Floats) -> Floats:
        """Compute tp of validated objects in each variable alone: shape (n, p)."""

    def _score(self, X: Floats) -> Floats:
        return self._tp(X)

    def _lowest(self) -> float:
        return 0.0

    def transvariation_probability(self, Z: ArrayLike) -> Floats:
        """Compute tp of each object with respect to the target class: 1 at its centre, 0 beyond its edge."""
        return self._tp(self._validated(Z))

    def explain(self, Z: ArrayLike) -> "pd.DataFrame":
        """Say, variable by variable, how each object compares with the target class.

        Returns
        -------
        DataFrame
            One row per object and variable: ``object`` (the index of `Z`, or its row number), ``variable``, ``value``,
            ``median`` of the target objects (of the object's own cluster, where there are several), ``side`` of it
            (below, at, above), ``tp`` in this variable alone, and ``rejected_alone``: whether this variable alone, at
            the same sensitivity, would have rejected the object.
        """
        import pandas as pd

        rows = self._validated(Z)
        strata, known = (np.zeros(len(A), np.intp) if (k := self._stratum(A)) is None else k for A in (rows, self._X))
        n_strata = int(known.max()) + 1
        medians = np.array([np.median(self._X[known == k], axis=0) for k in range(n_strata)])[strata]
        tp = self._univariate_tp(rows)
        index = Z.index if isinstance(Z, pd.DataFrame) else pd.RangeIndex(len(rows))
        names = getattr(self, "feature_names_in_", [f"x{u}" for u in range(rows.shape[1])])
        return pd.DataFrame(
            {
                "object": np.repeat(index.to_numpy(), rows.shape[1]),
                "variable": np.tile(np.asarray(names, dtype=object), len(rows)),
                "value": rows.ravel(),
                "median": medians.ravel(),
                "side": np.array(["below", "at", "above"])[np.sign(rows - medians).astype(int) + 1].ravel(),
                "tp": tp.ravel(),
                "rejected_alone": (tp < self._univariate_thresholds(known, n_strata)[strata]).ravel(),
            }
        )

    def _univariate_thresholds(self, known: NDArray[np.intp], n_strata: int) -> Floats:
        """Cut each variable's own tp as the joint tp is cut: shape (strata, p)."""
        tp = self._univariate_tp(self._X)
        shares = np.broadcast_to(np.asarray(self._sensitivity, dtype=float), n_strata)
        return np.array(
            [[conformal_threshold(column, shares[k]) for column in tp[known == k].T] for k in range(n_strata)]
        )
