"""Preprocessing pipelines from short descriptions, as ``--preprocess`` of the command line takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from transvariation.preprocessing.base import SpectrumTransformer
from transvariation.preprocessing.filters import AsymmetricLeastSquares, Detrend, SavitzkyGolay
from transvariation.preprocessing.normalization import Normalization, RegionScaling
from transvariation.preprocessing.scatter import EMSC, MSC, SNV


class Step(NamedTuple):
    """A step that a description may name.

    Attributes
    ----------
    make : callable
        Takes the axis and the arguments of the step, as text, and returns the transformer.
    words : str
        What was done, for reports.
    readable : bool
        Whether a spectrum still looks like one afterwards; derivatives do not.
    """

    make: Callable[..., SpectrumTransformer]
    words: str
    readable: bool = True


def _filter(deriv: int) -> Callable[..., SpectrumTransformer]:
    return lambda axis, window="11", degree="2": SavitzkyGolay(int(window), int(degree), deriv, axis)


def _region(text: str) -> tuple[float, float]:
    low, _, high = text.partition("-")
    return float(low), float(high)


def _norm(name: str) -> Callable[..., SpectrumTransformer]:
    return lambda axis, region=None: Normalization(name, region=region and _region(region), axis=axis)


STEPS: dict[str, Step] = {
    "snv": Step(lambda axis: SNV(), "each spectrum was centered and divided by its standard deviation (SNV)"),
    "msc": Step(
        lambda axis: MSC(), "the offset and slope of each spectrum against the mean spectrum were removed (MSC)"
    ),
    "emsc": Step(
        lambda axis, degree="2": EMSC(int(degree), axis),
        "the slope of each spectrum against the mean spectrum and a polynomial background were removed (EMSC)",
    ),
    "detrend": Step(
        lambda axis, degree="2": Detrend(int(degree), axis), "a fitted polynomial was subtracted (detrending)"
    ),
    "als": Step(
        lambda axis, smoothness="1e5", asymmetry="0.01": AsymmetricLeastSquares(
            float(smoothness), float(asymmetry), axis=axis
        ),
        "a baseline was subtracted (asymmetric least squares)",
    ),
    "area": Step(_norm("area"), "each spectrum was divided by its area"),
    "peak": Step(_norm("peak"), "each spectrum was divided by its highest peak"),
    "length": Step(_norm("length"), "each spectrum was divided by its length as a vector"),
    "regions": Step(
        lambda axis, *regions: RegionScaling([_region(r) for r in regions] or None, axis=axis),
        "regions were scaled to the same variance",
    ),
    "sg": Step(_filter(0), "spectra were smoothed (Savitzky-Golay)"),
    "sg1": Step(_filter(1), "first derivatives were taken (Savitzky-Golay)", readable=False),
    "sg2": Step(_filter(2), "second derivatives were taken (Savitzky-Golay)", readable=False),
}


def make_preprocessing(steps: str, axis: ArrayLike | None = None) -> Pipeline:
    """Build a preprocessing pipeline from a short description, as ``--preprocess`` of the command line takes it.

    Parameters
    ----------
    steps : str
        Steps separated by commas, applied from left to right, each with its arguments after colons:

        - ``snv``, ``msc``, ``emsc:2`` (degree of the polynomial): scatter correction;
        - ``detrend:2`` (degree), ``als:1e5:0.01`` (smoothness, asymmetry): trend and baseline;
        - ``area``, ``peak``, ``length``, each with a region if needed (``peak:1640-1660``): normalization;
        - ``regions:800-1200:1400-1800``: the same variance for each region, by default between gaps of the axis;
        - ``sg``, ``sg1``, ``sg2``: smoothing, first and second derivative, with a window length and a polynomial
          degree (``sg1:15:2``; the default is ``:11:2``).
    axis : array-like of shape (n_features,), optional
        Wavelengths, wavenumbers or shifts. By default the first step takes the numbers in the names of the features,
        and later steps, which see no names, 0, 1, 2, ...: give the axis where bands are missing.

    Returns
    -------
    Pipeline
        Its steps are named like the parts of the description.

    See Also
    --------
    transvariation.preprocessing.SavitzkyGolay : Smoothing and derivatives.
    transvariation.preprocessing.SNV : Scatter correction.

    Examples
    --------
    >>> from transvariation.preprocessing import make_preprocessing
    >>> make_preprocessing("snv,sg1:15")
    Pipeline(steps=[('snv', SNV()),
                    ('sg1:15', SavitzkyGolay(deriv=1, window_length=15))])
    """
    names = [name.strip().lower() for name in steps.split(",")]
    if len(set(names)) < len(names):
        raise ValueError(f"preprocessing {steps!r} names a step twice; give each step once")
    return Pipeline([(name, _make(name, axis)) for name in names])


def _make(name: str, axis: ArrayLike | None) -> SpectrumTransformer:
    kind, *arguments = name.split(":")
    if kind not in STEPS:
        raise ValueError(f"unknown preprocessing step {name!r}; the steps are {', '.join(STEPS)}")
    try:
        return STEPS[kind].make(axis, *arguments)
    except (TypeError, ValueError) as error:
        examples = "sg1:15:2, emsc:2, detrend:1, als:1e5:0.01, peak:1640-1660 or regions:800-1200:1400-1800"
        raise ValueError(
            f"preprocessing step {name!r} has arguments that {kind} does not take; write it like {examples}"
        ) from error
