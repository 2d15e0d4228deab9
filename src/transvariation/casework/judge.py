"""Judge recovered objects by control objects."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from transvariation.casework.methods import make_rule
from transvariation.casework.result import CaseResult, Reason, Verdict
from transvariation.classifiers import TOCC, OneClassClassifier
from transvariation.studies.provenance import provenance
from transvariation.table import Pair, read_pair
from transvariation.threshold import required

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


def judge(
    control: Any,
    recovered: Any,
    *,
    method: str = "kde",
    reduce: str | None = None,
    sensitivity: float = 0.9,
    features: Sequence[str] | None = None,
    missing: str = "error",
    seed: int = 0,
    command: str = "transvariation.casework.judge",
    **options: Any,
) -> CaseResult:
    """Judge which recovered objects could come from the same source as the control objects.

    Parameters
    ----------
    control, recovered : path, bytes or DataFrame
        The two tables; see :func:`transvariation.table.read_table` for what is understood.
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
    command : str
        What to name in the result as the command that made it.
    **options
        Further options of :func:`transvariation.table.read_pair`.

    Examples
    --------
    >>> from transvariation import load_glass
    >>> glass = load_glass()
    >>> result = judge(glass.control[["K", "Mg"]], glass.recovered[["K", "Mg"]])
    >>> len(result.verdicts), len(result.rejected) > 45
    (51, True)
    """
    pair = read_pair(control, recovered, features=features, missing=missing, **options)
    rule, words = make_rule(method, reduce, sensitivity, seed)
    known, unknown = pair.control.to_frame(), pair.recovered.to_frame()
    rule, heard = _fit(rule, known, pair.control.sources)
    return CaseResult(
        question="Could the recovered objects come from the same source as the control objects?",
        propositions=(
            "The recovered object comes from the source of the control objects.",
            "The recovered object comes from some other source.",
        ),
        control=pair.control.summary(),
        recovered=pair.recovered.summary(),
        features=pair.features,
        units=dict(pair.control.units),
        values=_columns(known),
        recovered_values=_columns(unknown),
        method=method if reduce is None else f"{reduce} + {method}",
        method_words=words,
        sensitivity=sensitivity,
        threshold=float(rule.offset_),
        coverage=rule.coverage_report(),
        verdicts=_verdicts(rule, known, unknown, pair, sensitivity),
        **_together(rule, unknown, pair, sensitivity),
        warnings=(*heard, *_cautions(len(known), sensitivity)),
        limitations=LIMITATIONS,
        made_by=provenance(command, seed=seed),
    )


def _fit(
    rule: OneClassClassifier, known: pd.DataFrame, sources: Sequence[str] | None
) -> tuple[OneClassClassifier, list[str]]:
    """Fit with replicates kept together; what the rule warns of is for the reader of the result."""
    several = sources is not None and 1 < len(set(sources)) < len(sources)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rule.fit(known, groups=np.asarray(sources) if several else None)
    return rule, list(dict.fromkeys(str(warning.message) for warning in caught))


def _cautions(n: int, sensitivity: float) -> list[str]:
    need = required(sensitivity)
    return [] if n >= 3 * need else [f"{n} control objects are few for a sensitivity of {sensitivity:g}."]


def _columns(table: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    return {str(name): tuple(map(float, table[name])) for name in table.columns}


def _verdicts(
    rule: OneClassClassifier, known: pd.DataFrame, unknown: pd.DataFrame, pair: Pair, sensitivity: float
) -> tuple[Verdict, ...]:
    # Whatever the rule, the reasons are those of single variables, counted on the control objects.
    table = TOCC(sensitivity=sensitivity).fit(known).explain(unknown)
    tp = rule.transvariation_probability(unknown) if hasattr(rule, "transvariation_probability") else None
    p = len(pair.features)
    scores, p_values, labels = rule.score_samples(unknown), rule.p_values(unknown), rule.predict(unknown)
    return tuple(
        Verdict(
            id=pair.recovered.ids[i],
            source=None if pair.recovered.sources is None else pair.recovered.sources[i],
            accepted=bool(labels[i] == 1),
            p_value=float(p_values[i]),
            tp=None if tp is None else float(tp[i]),
            score=float(scores[i]),
            reasons=_reasons(table.iloc[i * p : (i + 1) * p]),
        )
        for i in range(len(unknown))
    )


def _reasons(table: pd.DataFrame) -> tuple[Reason, ...]:
    ordered = table.sort_values("tp", kind="stable")
    return tuple(
        Reason(str(r.variable), float(r.value), float(r.median), str(r.side), float(r.tp), bool(r.rejected_alone))
        for r in ordered.itertuples()
    )
