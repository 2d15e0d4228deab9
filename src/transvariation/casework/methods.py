"""The rules that a case can be judged by, each in a name, a rule and a sentence."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from sklearn.pipeline import make_pipeline

from transvariation.base import OneClassClassifier
from transvariation.calibrated import CalibratedOCC
from transvariation.decomposition.minor_components import MinorComponents
from transvariation.density.box_probability import TooManyVariables
from transvariation.density.gaussian_mixture import GaussianMixtureBIC
from transvariation.density_tocc import DensityTOCC
from transvariation.feature_selection.varsel import VarSel
from transvariation.feature_selection.vip import VIPSelector
from transvariation.kernel_tocc import KernelTOCC
from transvariation.pam_tocc import PAMTOCC
from transvariation.projection_ensemble import ProjectionEnsemble
from transvariation.tables import TableError
from transvariation.tocc import TOCC

DEFAULT = "kernel"  # of the rules here the one that keeps its promise and still rejects; see the page on calibration


class Method(NamedTuple):
    """A way to judge: how to make the rule, and what it does in plain words."""

    make: Callable[[int], OneClassClassifier]
    words: str


METHODS: dict[str, Method] = {
    "kernel": Method(
        lambda seed: KernelTOCC(),
        "Every control object is a small cloud; together they describe where objects like the control lie. An object "
        "is rated by two things: its transvariation probability (tp), the share of the cloud that lies farther from "
        "the centre in the object's direction, and how crowded the cloud is around it.",
    ),
    "tocc": Method(
        lambda seed: TOCC(calibration="loo"),
        "An object's transvariation probability (tp) is the share of control objects that lie farther from the centre "
        "than the object, in its direction and in every variable at once.",
    ),
    "pam": Method(
        lambda seed: PAMTOCC(calibration="loo"),
        "The control objects are grouped around typical ones. An object's transvariation probability (tp) is the share "
        "of objects of the closest group that lie farther from its middle, in every variable at once.",
    ),
    "mixture": Method(
        lambda seed: DensityTOCC(density="mixture", calibration="cv", engine="compiled"),
        "The control objects are described by a mixture of normal distributions. An object's transvariation "
        "probability (tp) says how much of it lies farther from the centre than the object, in its direction.",
    ),
    "projections": Method(
        lambda seed: ProjectionEnsemble(TOCC(), random_state=seed, calibration="cv"),
        "The control objects are looked at in many planes in which they lie close together; the planes vote.",
    ),
}

REDUCTIONS: dict[str, tuple[Callable[[int], Any], str]] = {
    "minor": (lambda seed: MinorComponents(2), "the two combinations of variables in which the control varies least"),
    "vip": (
        lambda seed: VIPSelector(2, kappa=0.5, random_state=seed),
        "the two most important variables in projection",
    ),
    "varsel": (
        lambda seed: VarSel(2, mixture=GaussianMixtureBIC(random_state=0, engine="compiled")),
        "the two variables that a mixture model singles out",
    ),
}


def make_rule(method: str, reduce: str | None, sensitivity: float, seed: int) -> tuple[OneClassClassifier, str]:
    """Make the rule that the names ask for, and its description."""
    if method not in METHODS:
        raise ValueError(f"method={method!r} is unknown; choose one of {', '.join(METHODS)}")
    rule, words = METHODS[method].make(seed), METHODS[method].words
    if reduce is not None:
        if reduce not in REDUCTIONS:
            raise ValueError(f"reduce={reduce!r} is unknown; choose one of {', '.join(REDUCTIONS)}")
        step, what = REDUCTIONS[reduce]
        words = f"The variables were first reduced to {what}, anew in every part of the calibration. {words}"
        rule = CalibratedOCC(make_pipeline(step(seed), rule.set_params(calibration="resubstitution")), calibration="cv")
    return rule.set_params(sensitivity=sensitivity), words


# The page says these in its own words.
FEWER = "use fewer variables (--features, --reduce) or the method kernel"
AS_THEY_ARE = "judge by the variables as they are, without --reduce"

# What the rules say of parameters that a case does not have (by some words of it), and what a case can do about it.
IN_A_CASE = {
    "n_features=1;": f"one variable is too few for this method or reduction; {AS_THEY_ARE}, by the method kernel",
    "kappa=": "the reduction vip finds no two variables that vary and are not strongly correlated among these control "
    f"objects; {AS_THEY_ARE}, or take the reduction minor",
    "principal components in which": "the reduction minor finds no two combinations of the variables that vary among "
    f"these control objects; {AS_THEY_ARE}",
    "carry information of their own": "the reduction varsel finds no two variables that vary, and not with each other, "
    f"among these control objects; {AS_THEY_ARE}",
    "n_clusters=": "the method pam groups the control objects around 5 of them; as many that differ have to remain "
    "when one is left out, with its replicates; take the method kernel",
    "no mixture could be fitted": "no mixture of normal distributions can be fitted to so few control objects, or to "
    "variables that determine each other; leave out variables that add nothing, or take the method kernel",
}


@contextmanager
def saying_the_remedy() -> Iterator[None]:
    """Where a rule cannot be had, say what a case can do: it has no tolerance to raise and no parameters."""
    try:
        yield
    except TooManyVariables as error:
        raise TooManyVariables(error.args[0], FEWER) from error
    except TableError:
        raise
    except ValueError as error:
        for theirs, ours in IN_A_CASE.items():
            if theirs in str(error):
                raise ValueError(ours) from error
        raise
