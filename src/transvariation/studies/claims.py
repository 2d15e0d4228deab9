"""What the paper says about the simulation, held against the results."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

TOCCS = ["TOCC_df", "TOCC_db", "PAM-TOCC_df"]
COMPARABLE = 0.05  # two median specificities this close are called comparable
SETTING = ["scenario", "shift", "size"]


class Claim(NamedTuple):
    """A statement of the paper, whether the results bear it out, and the numbers that say so."""

    claim: str
    holds: bool
    evidence: str


def check_claims(table: pd.DataFrame) -> pd.DataFrame:
    """Judge each of the paper's claims by the results of a simulation; claims on scenarios not run are left out."""
    medians = table.groupby([*SETTING, "method"])["specificity"].median().unstack()
    checks: list[Callable[[pd.DataFrame], list[Claim]]] = [
        _never_worse,
        _pam_best_where_hard,
        _uniform_above,
        _pam_best_uniform,
        _kde_poor,
        _banana_adaptive,
    ]
    claims = [claim for check in checks for claim in check(medians)]
    return pd.DataFrame([*claims, _promised_sensitivity(table)])


def _of(medians: pd.DataFrame, scenarios: str, shift: float | None = None) -> pd.DataFrame:
    found = medians[medians.index.get_level_values("scenario").isin(list(scenarios))]
    return found if shift is None else found[found.index.get_level_values("shift") == shift]


def _never_worse(medians: pd.DataFrame) -> list[Claim]:
    best_rival = medians.drop(columns=TOCCS).max(axis=1)
    claims = []
    for method in TOCCS:
        ahead = medians[method] - best_rival
        fine = ahead >= -COMPARABLE
        scenario, shift, size = ahead.index[int(ahead.argmin())]
        claims.append(
            Claim(
                f"{method} is better than or comparable with every rival in all settings",
                bool(fine.all()),
                f"in {fine.sum()} of {len(fine)} settings its median specificity is at most {COMPARABLE:.2f} below the "
                f"best rival's; worst in scenario ({scenario}), shift {shift:g}, n = {size}: {ahead.min():+.2f}",
            )
        )
    return claims


def _best_count(medians: pd.DataFrame, method: str) -> tuple[int, int]:
    return int((medians[method] >= medians.max(axis=1)).sum()), len(medians)


def _pam_best_where_hard(medians: pd.DataFrame) -> list[Claim]:
    hard = _of(medians, "abcd", 1.0)
    if hard.empty:
        return []
    best, of = _best_count(hard, "PAM-TOCC_df")
    return [
        Claim(
            "PAM-TOCC_df outperforms the other methods where non-targets mix with targets (a-d, small shift)",
            best > of / 2,
            f"highest median specificity in {best} of {of} settings",
        )
    ]


def _uniform_above(medians: pd.DataFrame) -> list[Claim]:
    uniform = _of(medians, "efgh")
    if uniform.empty:
        return []
    overall = uniform.median(axis=1)
    return [
        Claim(
            "With non-targets scattered uniformly (e-h) the median specificity is above 75 % overall",
            bool((overall > 0.75).all()),
            f"the median over methods lies between {overall.min():.2f} and {overall.max():.2f}",
        )
    ]


def _pam_best_uniform(medians: pd.DataFrame) -> list[Claim]:
    uniform = _of(medians, "efgh")
    if uniform.empty:
        return []
    best, of = _best_count(uniform, "PAM-TOCC_df")
    return [
        Claim(
            "PAM-TOCC_df finds the most non-targets in (e)-(h)",
            best > of / 2,
            f"highest median specificity in {best} of {of} settings",
        )
    ]


def _kde_poor(medians: pd.DataFrame) -> list[Claim]:
    place = medians.rank(axis=1, ascending=False, method="min")["KDE"]
    low = int((place > 6).sum())
    return [
        Claim(
            "KDE performs poorly almost everywhere",
            low > 0.75 * len(place),
            f"among the last three of nine in {low} of {len(place)} settings; its median place is {place.median():g}",
        )
    ]


def _banana_adaptive(medians: pd.DataFrame) -> list[Claim]:
    banana = _of(medians, "i")
    if banana.empty:
        return []
    adaptive = ["PAM-TOCC_df", "Mix-Gauss", "SOM"]
    center = banana.median()
    others = center.drop(adaptive)
    return [
        Claim(
            "In (i) the adaptive methods (PAM-TOCC_df, Mix-Gauss, SOM) do better than the others",
            bool(center[adaptive].min() > others.max()),
            "; ".join(f"{name} {value:.2f}" for name, value in center.sort_values(ascending=False).items()),
        )
    ]


def _promised_sensitivity(table: pd.DataFrame) -> Claim:
    reached = table.groupby("method")["fresh_sensitivity"].mean().sort_values()
    return Claim(
        "A rule that keeps 90 % of its training targets keeps 90 % of new ones (implied, not tested, in the paper)",
        bool((reached >= 0.89).all()),
        "; ".join(f"{name} {value:.2f}" for name, value in reached.items()),
    )
