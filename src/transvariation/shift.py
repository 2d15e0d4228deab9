"""Calibration for another population than the known samples: weights for a covariate shift, offsets of means."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from transvariation._typing import Bools, Floats, Indices
from transvariation.exceptions import SmallOverlap, warn_user
from transvariation.validation import check_same_columns

MIN_EFFECTIVE = 20  # samples: with fewer, the p-values of most new samples are too coarse for a sensitivity of 0.95
_N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class DensityRatio:
    """Weights that make known samples resemble another population.

    Attributes
    ----------
    known : ndarray of shape (n_known,)
        The weight of each known sample: how much more often samples like it occur in the new population.
    new : ndarray of shape (n_new,)
        The same for each new sample.
    effective_sample_size : float
        How many equally weighted samples the known ones are worth: ``known.sum() ** 2 / (known ** 2).sum()``, or
        ``known.sum() / median(new)`` if that is less, as it is where the populations do not overlap.

    See Also
    --------
    transvariation.density_ratio : Compute it.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import density_ratio
    >>> rng = np.random.default_rng(0)
    >>> known, new = rng.normal(size=(500, 2)), rng.normal(0.5, 1, size=(300, 2))
    >>> ratio = density_ratio(known, new)
    >>> round(ratio.effective_sample_size, -1)  # the true ratio: 500 / exp(0.5) = 303
    240.0
    """

    known: Floats
    new: Floats

    @property
    def effective_sample_size(self) -> float:
        """How many equally weighted samples the known ones are worth."""
        total = self.known.sum()
        return float(min(total**2 / (self.known**2).sum(), total / np.median(self.new)))

    def __str__(self) -> str:
        return (
            f"{len(self.known):,} known samples, worth {self.effective_sample_size:.0f} samples of the population of "
            f"the {len(self.new):,} new ones"
        )


def density_ratio(
    known: ArrayLike, new: ArrayLike, *, classifier: BaseEstimator | None = None, random_state: int | None = 0
) -> DensityRatio:
    """Estimate how much more often each sample occurs in a new population than among the known samples.

    A probabilistic classifier learns to tell new from known samples; its odds are the ratio of the densities (Bickel et
    al., 2009). Each sample gets the odds of a classifier that was fitted without it, in five folds. With these weights,
    ``p_values(X, weights=ratio)`` is valid for targets of the new population if the ratio is right (Tibshirani et al.,
    2019), and close to it if it is estimated well: if known and new targets differ in how often the same kinds of
    samples occur, not in kinds that never occurred. The new samples should be mostly targets.

    Parameters
    ----------
    known : array-like of shape (n_known, n_features)
        The samples that the classifier was fitted to, in the same order.
    new : array-like of shape (n_new, n_features)
        Samples of the new population, such as the batch that is judged.
    classifier : scikit-learn classifier, optional
        With `predict_proba`. By default logistic regression on standardized features, which is right for populations
        that differ in their means.
    random_state : int or None, default=0
        Draws the folds.

    Returns
    -------
    DensityRatio

    Warns
    -----
    SmallOverlap
        If the effective sample size is below 20.

    See Also
    --------
    transvariation.exchangeability_test : Test whether samples are exchangeable.

    References
    ----------
    Bickel, S., Brückner, M. and Scheffer, T. (2009). Discriminative learning under covariate shift. JMLR 10, 2137-2155.

    Tibshirani, R. J., Barber, R. F., Candès, E. J. and Ramdas, A. (2019). Conformal prediction under covariate shift.
    NeurIPS 32.

    Examples
    --------
    >>> import numpy as np
    >>> from transvariation import NeighborTOCC, density_ratio
    >>> rng = np.random.default_rng(3)
    >>> known = rng.normal(size=(600, 2))
    >>> summer = rng.normal([1, 0], 1, size=(400, 2))
    >>> classifier = NeighborTOCC().fit(known)
    >>> ratio = density_ratio(known, summer)
    >>> print(ratio)
    600 known samples, worth 219 samples of the population of the 400 new ones
    >>> rejected = classifier.p_values(summer) <= 0.1
    >>> weighted = classifier.p_values(summer, weights=ratio) <= 0.1
    >>> round(float(rejected.mean()), 2), round(float(weighted.mean()), 2)
    (0.21, 0.13)
    """
    parts = [
        check_array(each, ensure_min_samples=_N_FOLDS, input_name=name)
        for each, name in ((known, "known"), (new, "new"))
    ]
    check_same_columns(new, known, "new", "known")
    n, m = map(len, parts)
    model = make_pipeline(StandardScaler(), LogisticRegression()) if classifier is None else clone(classifier)
    folds = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=random_state)
    labels = np.repeat([0, 1], [n, m])
    p = cross_val_predict(model, np.concatenate(parts), labels, cv=folds, method="predict_proba")[:, 1]
    odds = np.clip(p, 1e-9, 1 - 1e-9) / (1 - np.clip(p, 1e-9, 1 - 1e-9)) * n / m
    ratio = DensityRatio(odds[:n], odds[n:])
    if ratio.effective_sample_size < MIN_EFFECTIVE:
        warn_user(
            f"the new samples overlap too little with the known ones, or are too few for {parts[0].shape[1]} features: "
            f"{n:,} known samples are worth {math.floor(ratio.effective_sample_size)}, and weighted p-values are too "
            "coarse or wrong; recalibrate with target samples of the new population, or fit to them",
            SmallOverlap,
        )
    return ratio


def weight_pair(weights: object) -> tuple[ArrayLike, ArrayLike]:
    """Return the weights of the known and of the new samples, given as a DensityRatio or as a pair."""
    pair = (weights.known, weights.new) if isinstance(weights, DensityRatio) else weights
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ValueError(
            "weights must be a density_ratio(known, new), or a pair of arrays: the weight of each training sample and "
            f"of each sample of X; not {type(weights).__name__}"
        )
    return pair[0], pair[1]


def mean_offsets(
    known: ArrayLike, new: ArrayLike, units: Indices, categorical: Bools | None = None
) -> tuple[Floats, Floats]:
    """Compute how far the mean of new samples lies from that of known ones; missing values are left out.

    Parameters
    ----------
    known, new : array-like of shape (n_samples, n_features)
    units : ndarray of int of shape (n_new,)
        The item 0, 1, ... that each new sample is a replicate of.
    categorical : ndarray of bool of shape (n_features,), optional
        Features that have no mean: their offset is 0, as is that of features without values.

    Returns
    -------
    offset : ndarray of shape (n_features,)
    of_others : ndarray of shape (n_new, n_features)
        For each new sample, the offset of all other units.

    Examples
    --------
    >>> offset, of_others = mean_offsets([[0.0], [2.0]], [[3.0], [5.0], [10.0]], np.array([0, 0, 1]))
    >>> offset, of_others.T
    (array([5.]), array([[9., 9., 3.]]))
    """
    if not units.max():
        raise ValueError("align='mean' needs at least 2 new samples: the offset of each is computed from the others")
    by_unit = pd.DataFrame(np.asarray(new, dtype=float)).groupby(units)
    totals, counts = by_unit.sum().to_numpy(), by_unit.count().to_numpy()
    center = np.nan_to_num(pd.DataFrame(np.asarray(known, dtype=float)).mean().to_numpy())
    numeric = np.ones(len(center), dtype=bool) if categorical is None else ~np.asarray(categorical)

    def offset(total: Floats, count: Indices) -> Floats:
        return np.where(numeric & (count > 0), total / np.maximum(count, 1) - center, 0.0)

    total, count = totals.sum(axis=0), counts.sum(axis=0)
    return offset(total, count), offset(total - totals, count - counts)[units]
