"""Several control sources: each is compared by itself, and all together answer "any of these?"."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from transvariation.casework.background.rates import Rate, measure_rate
from transvariation.casework.decision import Conclusion, Model, is_accepted
from transvariation.casework.fragments import gather_fragments
from transvariation.casework.reading import CaseTables
from transvariation.casework.settings import CaseSettings, words_for


@dataclass(frozen=True)
class AnySource:
    """Whether a recovered fragment could come from any of the control sources.

    Attributes
    ----------
    fragment : str
    accepted : bool or None
        Whether it is not excluded from at least one source; None if no conclusion is drawn on one and all others
        exclude it.
    p_value : float or None
        The largest over the sources; None if one source has none. A fragment of one of the sources has a p-value of at
        most a level no more often than by its own source.
    sources : tuple of str
        The sources from which it is not excluded.
    """

    fragment: str
    accepted: bool | None
    p_value: float | None
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Joint:
    """The answers to "any of these sources?", and how often they are wrong.

    Attributes
    ----------
    sources : tuple of str
        The control sources.
    conclusions : tuple of AnySource
        One per recovered fragment.
    false_exclusion : float
        At most this share of fragments of the sources is excluded from all of them: the larger of the promised shares.
    false_inclusion : Rate or None
        The share of background sources whose fragments are not excluded from all of them; None where the background
        calibrates nothing.
    """

    sources: tuple[str, ...]
    conclusions: tuple[AnySource, ...]
    false_exclusion: float
    false_inclusion: Rate | None


def split_control(tables: CaseTables, settings: CaseSettings) -> dict[str, CaseTables]:
    """Divide a case by its control sources; empty if they are judged as one.

    Sources are compared one by one where asked for, or where the control names several sources and their fragments and
    the case is about sources. A source without labels of fragments then has a fragment in each row.
    """
    table, known = tables.control_table, tables.control
    if table.source is None or len(set(table.source)) < 2:
        return {}
    labeled = table.fragment is not None and len(known.names) > len(set(table.source))
    spectral = tables.axis is not None
    chosen = settings.controls or ("each" if labeled and words_for(settings, spectral) == "case" else "together")
    if chosen == "together":
        return {}
    found = {}
    for name in dict.fromkeys(table.source):
        mask = np.array([source == name for source in table.source])
        own = table.keep(mask)
        keys = own.fragment_names or (own.ids if table.replicate is None else own.source) or own.ids
        found[name] = replace(tables, control_table=own, control=gather_fragments(known.X[mask], keys, own.source))
    return found


def join(sources: Sequence[str], conclusions: Sequence[Sequence[Conclusion]], models: Sequence[Model]) -> Joint:
    """Answer for every recovered fragment whether it could come from any of the control sources.

    The conclusions and the model by each of them are in the same order, and so are the fragments.
    """
    answers = []
    for several in zip(*conclusions, strict=True):
        kept = tuple(name for name, c in zip(sources, several, strict=True) if c.accepted)
        unknown = any(c.accepted is None for c in several)
        p_values = [c.p_value for c in several if c.p_value is not None]
        answers.append(
            AnySource(
                several[0].fragment,
                True if kept else None if unknown else False,
                max(p_values) if len(p_values) == len(several) else None,
                kept,
            )
        )
    return Joint(tuple(sources), tuple(answers), max(1 - m.sensitivity_used for m in models), _inclusion(models))


def _inclusion(models: Sequence[Model]) -> Rate | None:
    """Measure how many background sources cannot be distinguished from one or more of the control sources."""
    if not all(model.conclusive and model.basis == "background" for model in models):
        return None
    alike = {
        name
        for model in models
        for name, p in model.calibrating.source_p_values.items()
        if is_accepted(p, model.sensitivity_used)
    }
    n = models[0].calibrating.n_compared
    return measure_rate(np.arange(n) < len(alike), np.arange(n))
