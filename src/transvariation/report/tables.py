"""The tables of a case, which the screen, the report and the CSV file lay out each in its own way."""

import pandas as pd

from transvariation.casework.result import CaseResult, Verdict

AGAINST = "variables that speak against it"
# Three decimals would make nothing of a p-value among 4000 control objects, or of tp in many variables.
FORMS = {"p-value": ".3g", "tp": ".3g"}


def word(verdict: Verdict) -> str:
    """Say it in a word."""
    return "accepted" if verdict.accepted else "rejected"


def verdict_frame(result: CaseResult, shown: int | None = None) -> pd.DataFrame:
    """One row per recovered object; of the variables that speak against it `shown` are named, or all."""
    verdicts, selected = result.verdicts, set(result.selected)
    table = pd.DataFrame(
        {
            "object": [v.id for v in verdicts],
            "source": [v.source for v in verdicts],
            "verdict": [word(v) for v in verdicts],
            "p-value": [v.p_value for v in verdicts],
            "tp": [float("nan") if v.tp is None else v.tp for v in verdicts],
            "named foreign": ["yes" if v.id in selected else "no" for v in verdicts],
            AGAINST: [_against(v, shown) for v in verdicts],
        }
    )
    idle = ["source"] * (result.recovered["sources"] is None) + ["named foreign"] * (len(verdicts) < 2)
    return table.drop(columns=idle)


def _against(verdict: Verdict, shown: int | None) -> str:
    names = verdict.deciding
    if not names:
        return "" if verdict.accepted else "none alone: their combination"
    more = len(names) - (len(names) if shown is None else shown)
    return ", ".join(names[:shown]) + (f" and {more} more" if more > 0 else "")


def ratio_frame(result: CaseResult) -> pd.DataFrame:
    """One row per recovered source: the likelihood ratios by both systems, on the log10 scale and in words."""
    return pd.DataFrame(
        [
            {
                "recovered": ratio.id,
                "log10 LR, two-level": ratio.two_level,
                "in words": ratio.two_level_words,
                "log10 LR, from tp": ratio.score_based,
                "in words ": ratio.score_based_words,
            }
            for ratio in result.likelihood_ratios
        ]
    )


def data_frame(result: CaseResult) -> pd.DataFrame:
    """One row per table that was read."""
    return pd.DataFrame(
        [
            {
                "table": name,
                "file": t["file"],
                "objects": t["objects"],
                "left out": len(t["dropped"]),
                "sources": "–" if t["sources"] is None else t["sources"],
            }
            for name, t in result.tables.items()
        ]
    )


def note_frame(result: CaseResult) -> pd.DataFrame:
    """The variables used, and one row per note on a table."""
    notes = [note for table in result.tables.values() for note in table["notes"]]
    rows = [{"file": n["table"], "column": n["column"] or "", "note": n["message"]} for n in notes]
    mixed = f", in {result.combinations} combinations" if result.combinations else ""
    say = {f"variables used{mixed}": result.features, "without a say: left out by the reduction": result.no_say}
    used = [{"file": "all", "column": ", ".join(names), "note": note} for note, names in say.items() if names]
    return pd.DataFrame([*used, *rows])
