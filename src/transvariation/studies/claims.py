"""Check the paper's claims against the results of the simulation and of the glass analysis."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd

Tabular = TypeVar("Tabular", pd.Series, pd.DataFrame)

TOCCS = ["TOCC_df", "TOCC_db", "PAM-TOCC_df"]
NOMINAL_SENSITIVITY = 0.9
COMPARABLE_GAP = 0.05  # two median specificities this close are called comparable
SETTING = ["scenario", "shift", "size"]


class Claim(NamedTuple):
    """A claim of the paper, whether the results support it, and the numbers."""

    claim: str
    holds: bool
    evidence: str


def check_claims(table: pd.DataFrame) -> pd.DataFrame:
    """Check the paper's claims against a simulation; claims on scenarios that were not run are left out."""
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
    return pd.DataFrame([*claims, _nominal_sensitivity(table)])


def _of(medians: pd.DataFrame, scenarios: str, shift: float | None = None) -> pd.DataFrame:
    found = medians[medians.index.get_level_values("scenario").isin(list(scenarios))]
    return found if shift is None else found[found.index.get_level_values("shift") == shift]


def _never_worse(medians: pd.DataFrame) -> list[Claim]:
    best_competitor = medians.drop(columns=TOCCS).max(axis=1)
    claims = []
    for method in TOCCS:
        ahead = medians[method] - best_competitor
        fine = ahead >= -COMPARABLE_GAP
        scenario, shift, size = ahead.index[int(ahead.argmin())]
        claims.append(
            Claim(
                f"{method} is better than or comparable with every competitor in all settings",
                bool(fine.all()),
                f"in {fine.sum()} of {len(fine)} settings its median specificity is at most {COMPARABLE_GAP:.2f} below "
                f"that of the best competitor; largest difference {ahead.min():+.2f} in scenario ({scenario}), "
                f"shift {shift:g}, n = {size}",
            )
        )
    return claims


def _pam_best(claim: str, medians: pd.DataFrame) -> list[Claim]:
    if medians.empty:
        return []
    best, of = int((medians["PAM-TOCC_df"] >= medians.max(axis=1)).sum()), len(medians)
    return [Claim(claim, best > of / 2, f"highest median specificity in {best} of {of} settings")]


def _pam_best_where_hard(medians: pd.DataFrame) -> list[Claim]:
    return _pam_best(
        "PAM-TOCC_df outperforms the other methods where non-targets mix with targets (a-d, small shift)",
        _of(medians, "abcd", 1.0),
    )


def _pam_best_uniform(medians: pd.DataFrame) -> list[Claim]:
    return _pam_best("PAM-TOCC_df rejects the most non-targets in (e)-(h)", _of(medians, "efgh"))


def _uniform_above(medians: pd.DataFrame) -> list[Claim]:
    uniform = _of(medians, "efgh")
    if uniform.empty:
        return []
    settings, overall = uniform.median(axis=1), float(np.median(uniform))
    return [
        Claim(
            "With non-targets scattered uniformly (e-h) the median specificity is above 75% overall",
            overall > 0.75,
            f"{overall:.2f} over all methods and settings; {settings.min():.2f} to {settings.max():.2f} by setting",
        )
    ]


def _kde_poor(medians: pd.DataFrame) -> list[Claim]:
    place = medians.rank(axis=1, ascending=False, method="min")["KDE"]
    low = int((place > 6).sum())
    return [
        Claim(
            "KDE performs poorly almost everywhere",
            low > 0.75 * len(place),
            f"among the last three of nine in {low} of {len(place)} settings; median rank {place.median():g}",
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
            listed(center),
        )
    ]


def _nominal_sensitivity(table: pd.DataFrame) -> Claim:
    reached = table.groupby("method")["fresh_sensitivity"].mean()
    return Claim(
        "A classifier that accepts 90% of its training targets accepts 90% of new ones (implied, not tested)",
        bool(_reached(reached).all()),
        listed(reached),
    )


def check_glass_claims(cells: pd.DataFrame, held_out: pd.DataFrame, chosen: dict[str, list[str]]) -> pd.DataFrame:
    """Check the paper's claims on the glass by our cells, by held-out fragments and by the variables selected."""
    area = cells.pivot(index="classifier", columns="reduction", values="AUC")
    rate = cells.pivot(index="classifier", columns="reduction", values="specificity")
    seconds = cells.pivot(index="classifier", columns="reduction", values="seconds")
    selecting, reducing = area[["varSel", "kappa-VIP"]].to_numpy().mean(), area[["PCA", "RP"]].to_numpy().mean()
    fresh = held_out[held_out["calibration"] == "resubstitution"].pivot(
        index="classifier", columns="reduction", values="sensitivity"
    )
    quickest, middle = seconds.idxmin(), float(np.median(rate))
    pam = "PAM-TOCC_df"
    accepted, rejected = float(fresh["PCA"][pam]), float(rate["RP"][pam])
    return pd.DataFrame(
        [
            Claim(
                "Almost all fragments that are not from windows are rejected",
                bool(middle >= 0.95),
                f"specificity from {rate.min().min():.3f} to {rate.max().max():.3f}, median {middle:.3f}",
            ),
            Claim(
                "Selecting variables does slightly better than reducing dimensions",
                bool(selecting > reducing),
                f"mean AUC {selecting:.3f} (varSel, kappa-VIP) against {reducing:.3f} (PCA, RP)",
            ),
            Claim(
                "varSel chooses potassium and magnesium, kappa-VIP silicon and magnesium",
                set(chosen["varSel"]) == {"K", "Mg"} and set(chosen["kappa-VIP"]) == {"Si", "Mg"},
                f"varSel {', '.join(chosen['varSel'])}; kappa-VIP {', '.join(chosen['kappa-VIP'])}",
            ),
            Claim(
                "Where the classes overlap (PCA), PAM-TOCC_df is to be preferred",
                bool(area["PCA"].idxmax() == pam),
                f"AUC {listed(area['PCA'])}; but it accepts {accepted:.2f} of unseen windows at a nominal 0.90",
            ),
            Claim(
                "PAM-TOCC_df with random projections rejects every fragment that is not from a window",
                rejected == 1,
                f"specificity {rejected:.3f} (median over seeds), with a threshold that accepts 90% of the fragments "
                "it was trained on",
            ),
            Claim(
                "PAM-TOCC_df takes the least time",
                bool((quickest == pam).all()),
                "quickest: " + "; ".join(f"{reduction} {name}" for reduction, name in quickest.items()),
            ),
            Claim(
                "A classifier that accepts 90% of its training fragments accepts 90% of new ones (implied, not tested)",
                bool(_reached(fresh).all(axis=None)),
                "unseen windows accepted, mean over reductions: " + listed(fresh.mean(axis=1)),
            ),
        ]
    )


def _reached(reached: Tabular) -> Tabular:
    """Return where the nominal sensitivity is reached, also where a mean misses it by its last digit."""
    return reached.round(12) >= NOMINAL_SENSITIVITY


def listed(values: pd.Series) -> str:
    """Format names and values, the largest first."""
    return "; ".join(f"{name} {value:.2f}" for name, value in values.sort_values(ascending=False).items())
