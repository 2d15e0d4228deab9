"""Would the same features be chosen again? A selection repeated over seeds or over bootstrap samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from transvariation.parallel import run_in_processes
from transvariation.validation import check_count, column_names

RESAMPLINGS = ("seeds", "bootstrap")


@dataclass(frozen=True)
class SelectionStability:
    """How often each feature, and each set of features, was chosen.

    Attributes
    ----------
    frequency : DataFrame
        One row per feature: ``chosen`` (how many times), ``share`` of the repetitions that came to a selection.
    sets : DataFrame
        One row per set of features that was chosen at least once: ``variables``, ``chosen``, ``share``; the most
        frequent first.
    n_repeats : int
        How many repetitions there were.
    n_refused : int
        In how many of them the selector refused the data.

    See Also
    --------
    transvariation.selection_stability : Repeat a selection.

    Examples
    --------
    >>> from transvariation import VIPSelector, load_glass, selection_stability
    >>> selector = VIPSelector(2, kappa=0.5)
    >>> result = selection_stability(selector, load_glass().control, 20, rng=0)
    >>> result.sets
      variables  chosen  share
    0    Mg, Si      18    0.9
    1    Na, Ca       2    0.1
    """

    frequency: pd.DataFrame
    sets: pd.DataFrame
    n_repeats: int
    n_refused: int


def selection_stability(
    selector: BaseEstimator,
    X: ArrayLike,
    n_repeats: int = 100,
    *,
    resample: str = "seeds",
    rng: np.random.Generator | int | None = None,
    n_jobs: int | None = None,
) -> SelectionStability:
    """Repeat a selection of features and count what is chosen.

    Parameters
    ----------
    selector : scikit-learn selector
        Anything with ``fit`` and ``get_support``.
    X : array-like or DataFrame of shape (n, p)
        The target samples.
    n_repeats : int
        Number of selections.
    resample : {"seeds", "bootstrap"}
        ``"seeds"``: the same samples with another `random_state` each time, to see how much depends on chance.
        ``"bootstrap"``: as many samples drawn with replacement, and another `random_state`, to see how much depends on
        the samples.
    rng : Generator, int or None
        A generator, or the seed of one.
    n_jobs : int or None
        The number of processes; the result is the same for every number.

    Returns
    -------
    SelectionStability

    See Also
    --------
    transvariation.VIPSelector : Select features by projections.
    transvariation.VarSel : Select features by mixtures.

    Examples
    --------
    >>> from transvariation import VIPSelector, load_glass, selection_stability
    >>> selector = VIPSelector(2, kappa=0.5)
    >>> result = selection_stability(selector, load_glass().control, 20, rng=0)
    >>> result.sets.head(1)
      variables  chosen  share
    0    Mg, Si      18    0.9
    """
    check_count("n_repeats", n_repeats)
    if resample not in RESAMPLINGS:
        raise ValueError(f"resample={resample!r} is unknown; choose one of {', '.join(RESAMPLINGS)}")
    if resample == "seeds" and "random_state" not in selector.get_params():
        raise ValueError(
            f"{type(selector).__name__} draws no random numbers, so that every seed gives the same; "
            'use resample="bootstrap"'
        )
    columns = column_names(X)
    names = None if columns is None else [str(name) for name in columns]
    streams = np.random.default_rng(rng).spawn(n_repeats)
    supports = run_in_processes(_once, [(selector, X, resample, stream) for stream in streams], n_jobs)
    return _count([support for support in supports if support is not None], names, np.shape(X)[1], n_repeats)


def _once(selector: BaseEstimator, X: ArrayLike, resample: str, stream: np.random.Generator) -> np.ndarray | None:
    selector = clone(selector)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=int(stream.integers(2**31 - 1)))
    if resample == "bootstrap":
        n = np.shape(X)[0]
        rows = stream.integers(n, size=n)
        X = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
    try:
        return selector.fit(X).get_support()
    except ValueError:
        if resample == "seeds":
            raise
        return None  # a bootstrap sample may, for instance, leave a variable constant


def _count(supports: list[np.ndarray], names: list[str] | None, p: int, n_repeats: int) -> SelectionStability:
    names = names or [f"x{u}" for u in range(p)]
    if not supports:
        raise ValueError(f"all {n_repeats} bootstrap samples were refused; fit the selector once to see the reason")
    table = np.array(supports)
    chosen = table.sum(axis=0)
    frequency = pd.DataFrame({"chosen": chosen, "share": chosen / len(table)}, index=pd.Index(names, name="variable"))
    sets, counts = np.unique(table, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return SelectionStability(
        frequency,
        pd.DataFrame(
            {
                "variables": [", ".join(np.array(names)[sets[i]]) for i in order],
                "chosen": counts[order],
                "share": counts[order] / len(table),
            }
        ),
        n_repeats,
        n_repeats - len(supports),
    )
