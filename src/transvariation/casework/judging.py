"""Judge recovered objects by control objects."""

import warnings
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from transvariation.base import OneClassClassifier
from transvariation.casework.duplicates import same_objects
from transvariation.casework.likelihood_ratio import LikelihoodSystem, by_source
from transvariation.casework.methods import DEFAULT, make_rule, saying_the_remedy
from transvariation.casework.pooled_thresholds import FALSE_DISCOVERY_RATE, poolings
from transvariation.casework.result import CaseResult, Reason, Verdict
from transvariation.casework.selected_features import having_a_say, tp_of
from transvariation.casework.univariate import reasons, smallest_alone
from transvariation.casework.warnings_ import remedy
from transvariation.conformal import RejectsNothing, TooFewSamples, required_n
from transvariation.provenance import provenance
from transvariation.tables import Pair, TableError, read_pair, read_table
from transvariation.tables.pairing import unit_problems

LIMITATIONS = (
    "A rejected object differs from the control more than the control's own objects do from each other. It does not "
    "follow where it comes from.",
    "An accepted object cannot be told apart from the control by these measurements. Objects from other sources may "
    "be just as alike: without a background population nothing is said about how rare that is.",
    "A p-value is the share of control-like objects that would look at least as foreign. It is not the probability "
    "that the object comes from the control's source.",
    "The promise on error rates assumes that new objects from the control's source were drawn and measured as the "
    "control objects were.",
)

NAME_SHEETS = "Sheets of one workbook have to be named (sheets; --control-sheet, --recovered-sheet)."  # as options


@saying_the_remedy()
def judge(
    control: Any,
    recovered: Any,
    *,
    method: str = DEFAULT,
    reduce: str | None = None,
    sensitivity: float = 0.9,
    features: Sequence[str] | None = None,
    missing: str = "error",
    seed: int = 0,
    background: Any = None,
    background_sheet: str | int | None = None,
    decimal: str | None = None,
    command: str = "transvariation.casework.judge",
    progress: Callable[[str], None] = lambda words: None,
    **options: Any,
) -> CaseResult:
    """Judge which recovered objects could come from the same source as the control objects.

    Parameters
    ----------
    control, recovered : path, bytes or DataFrame
        The two tables; see :func:`transvariation.tables.read_table` for what is understood.
    method : str
        A key of `METHODS`.
    reduce : str, optional
        A key of `REDUCTIONS`: fewer variables before the rule.
    sensitivity : float in (0, 1]
        The share of objects from the control's own source to accept.
    features : sequence of str, optional
        The variables to use; by default all that both tables have.
    missing : {"error", "drop", "impute"}
        What becomes of missing and below-detection values.
    seed : int
        For methods that draw random numbers.
    background : path, bytes or DataFrame, optional
        Many sources of the same kind, each measured repeatedly, with a column that names the source. Adds likelihood
        ratios.
    background_sheet : str or int, optional
        Its Excel sheet, by title or number from 1; by default the first.
    decimal : {",", "."}, optional
        The decimal mark of all these tables; by default recognised in each. ``decimals`` is a pair of marks for the
        control and the recovered table alone.
    command : str
        What to name in the result as the command that made it.
    progress : callable
        Told in words what is being done.
    **options
        Further options of :func:`transvariation.tables.read_pair`.

    Examples
    --------
    >>> from transvariation import load_glass
    >>> glass = load_glass()
    >>> result = judge(glass.control[["K", "Mg"]], glass.recovered[["K", "Mg"]])
    >>> len(result.verdicts), len(result.rejected) > 45
    (51, True)
    """
    options.setdefault("names", tuple(_name(*given) for given in ((control, "control"), (recovered, "recovered"))))
    if background is None and background_sheet is not None:
        raise ValueError(f"background_sheet={background_sheet!r} is a sheet of nothing; give the background, too")
    how = {"missing": missing, "decimal": decimal, "sheet": background_sheet}
    pair = read_pair(control, recovered, features=features, missing=missing, decimal=decimal, **options)
    rule, words = make_rule(method, reduce, sensitivity, seed)
    known, unknown = pair.control.to_frame(), pair.recovered.to_frame()
    progress(f"describing {len(known)} control objects by {known.shape[1]} variables")
    rule, heard = fit_rule(rule, known, pair.control.groups)
    groups, say = groups_of(pair.control.groups), having_a_say(rule, pair.features)
    answers = poolings(rule, unknown, pair, remedy(method, known, groups))
    why = reasons(known[list(say.features)], unknown[list(say.features)], groups, seed, progress)
    heard += same_table(pair) or same_objects(pair)
    weighed, left_out = ({}, []) if background is None else _weighed(pair, background, seed, **how)
    return CaseResult(
        question="Could the recovered objects come from the same source as the control objects?",
        propositions=(
            "The recovered object comes from the source of the control objects.",
            "The recovered object comes from some other source.",
        ),
        control=pair.control.summary(),
        recovered=pair.recovered.summary(),
        features=say.features,
        no_say=say.no_say,
        combinations=say.combinations,
        smallest_alone=smallest_alone(len(known), groups, seed),
        units=dict(pair.control.units),
        values=_columns(known),
        recovered_values=_columns(unknown),
        method=method if reduce is None else f"{reduce} + {method}",
        method_words=" ".join(filter(None, (words, say.reduced()))),
        sensitivity=sensitivity,
        coverage=answers[0].coverage,
        verdicts=_verdicts(rule, unknown, pair, answers[0].p_values, why),
        false_discovery_rate=FALSE_DISCOVERY_RATE,
        selected=answers[0].selected,
        combined_p_value=answers[0].combined_p_value,
        warnings=(*heard, *left_out),
        cautions=answers[0].cautions,
        limitations=LIMITATIONS,
        made_by=provenance(command, seed=seed),
        poolings=answers if len(answers) > 1 else (),
        **weighed,
    ).at(sensitivity)


def _name(source: Any, role: str) -> str | None:
    """Files have names; tables in memory are called by their role."""
    return None if isinstance(source, str | PathLike) else role


def same_table(pair: Pair) -> list[str]:
    """Warn of a control judged by itself. Two sheets of one workbook have the SHA-256 in common: the values tell."""
    one, other = pair.control, pair.recovered
    if one.ids != other.ids or not np.array_equal(one.X, other.X):
        return []
    return [
        "The control and the recovered table are the same: the control objects are judged by themselves, and nothing "
        f"is said about others. {NAME_SHEETS}"
    ]


def fit_rule(
    rule: OneClassClassifier, known: pd.DataFrame, sources: Sequence[str] | None
) -> tuple[OneClassClassifier, list[str]]:
    """Fit with replicates kept together; what the rule warns of is for the reader of the result."""
    if len(known) < 2:
        raise ValueError(
            "one control object does not show how much objects from one source differ; give at least 2, and "
            f"{required_n(0.9):.0f} for a sensitivity of 0.9"
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own speak of arrays, not of the case
        warnings.simplefilter("always", UserWarning)
        rule.fit(known, groups=groups_of(sources))
    # That they are too few, and that nothing can be rejected, are among the cautions, for every sensitivity that the
    # case may be moved to.
    cautions = (RejectsNothing, TooFewSamples)
    heard = [w for w in caught if issubclass(w.category, UserWarning) and not issubclass(w.category, cautions)]
    return rule, list(dict.fromkeys(str(warning.message) for warning in heard))


def groups_of(sources: Sequence[str] | None) -> NDArray | None:
    """Say which objects are replicates of one source, if there are such and several sources."""
    return np.asarray(sources) if sources is not None and 1 < len(set(sources)) < len(sources) else None


def _weighed(pair: Pair, background: Any, seed: int, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """Weigh the recovered sources against the control, which counts as one source; warn of what was left out."""
    units = pair.control.units
    name = _name(background, "background")
    table = read_table(background, features=pair.features, units=units, name=name, **options)
    found = table.found(pair.features, units)
    table = table.select(found).rename(dict(zip(found, pair.features, strict=True)))  # in the control's order
    if problems := unit_problems(units, pair.control.name, table, pair.features):
        raise TableError(problems)
    if table.source is None:
        raise ValueError(
            f"{table.name} has no column that names the source of each row; a background needs one, such as 'source'"
        )
    system = LikelihoodSystem(seed, names=pair.features).fit(table.X, np.asarray(table.source))
    recovered = by_source(pair.recovered.X, pair.recovered.groups or pair.recovered.ids)
    return {
        "background": table.summary(),
        "likelihood_ratios": system.weigh(pair.control.X, recovered),
        "likelihood_bounds": system.bounds_,
    }, _unweighed(system.left_out_, table.name)


def _unweighed(variables: list[str], name: str) -> list[str]:
    if not variables:
        return []
    return [
        f"The likelihood ratios leave out {', '.join(variables)}: within the sources of {name} replicates differ "
        "nowhere, or in too few of them, so that nothing is known of how much they may. A difference between control "
        "and recovered objects counts there in the verdicts alone."
    ]


def _columns(table: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    return {str(name): tuple(map(float, table[name])) for name in table.columns}


def _verdicts(
    rule: OneClassClassifier,
    unknown: pd.DataFrame,
    pair: Pair,
    ranks: Sequence[float],
    why: list[tuple[Reason, ...]],
) -> tuple[Verdict, ...]:
    """Rate every recovered object; which are accepted is decided last, by `CaseResult.at`."""
    tp, scores = tp_of(rule, unknown), rule._score(rule._validated(unknown))
    sources = pair.recovered.groups
    return tuple(
        Verdict(
            id=name,
            source=None if sources is None else sources[i],
            accepted=False,
            p_value=ranks[i],
            tp=None if tp is None else float(tp[i]),
            score=float(scores[i]),
            reasons=why[i],
        )
        for i, name in enumerate(pair.recovered.ids)
    )
