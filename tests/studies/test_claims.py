"""Claims follow from the numbers."""

import pandas as pd

from transvariation.studies import glass
from transvariation.studies.claims import check_claims, check_glass_claims
from transvariation.studies.simulation import methods


def _cells(pam):
    """Cells in which PAM-TOCC_df does as well as claimed and the others do not."""
    rows = [
        {"classifier": classifier, "reduction": reduction, "AUC": 0.5, "specificity": 0.5, "seconds": 1.0}
        for classifier in glass.CLASSIFIERS
        for reduction in ("PCA", "RP", "varSel", "kappa-VIP")
    ]
    cells = pd.DataFrame(rows)
    cells.loc[cells["classifier"] == "PAM-TOCC_df", ["AUC", "specificity", "seconds"]] = pam
    return cells


def test_claims_on_the_glass_follow_from_the_numbers():
    unseen = pd.DataFrame(
        [(classifier, "PCA", "resubstitution", 0.9, 1.0) for classifier in glass.CLASSIFIERS],
        columns=["classifier", "reduction", "calibration", "sensitivity", "specificity"],
    )
    chosen = {"varSel": ["Mg", "K"], "kappa-VIP": ["Mg", "Si"]}
    good = check_glass_claims(_cells((1.0, 1.0, 0.5)), unseen, chosen)["holds"].tolist()
    assert good == [False, False, True, True, True, True, True]
    bad = check_glass_claims(_cells((0.1, 0.1, 2.0)), unseen.assign(sensitivity=0.5), {"varSel": [], "kappa-VIP": []})
    assert not bad["holds"].any()
    nearly = check_glass_claims(_cells((1.0, 1.0, 0.5)), unseen.assign(sensitivity=0.899), chosen)
    assert not nearly["holds"].iloc[-1]


def _made_up(values):
    """Results in which every method has a fixed specificity in every setting."""
    rows = [
        {
            "scenario": s,
            "shift": shift,
            "size": 100,
            "repeat": 0,
            "method": m,
            "specificity": v,
            "fresh_sensitivity": 0.9,
        }
        for s, shift in [("a", 1.0), ("e", 0.0), ("i", 0.0)]
        for m, v in values.items()
    ]
    return pd.DataFrame(rows)


def test_claims_follow_from_the_numbers():
    good = {"TOCC_df": 0.9, "TOCC_db": 0.9, "PAM-TOCC_df": 0.99, "Mix-Gauss": 0.93, "SOM": 0.92}
    good |= {"Gauss": 0.8, "KM": 0.8, "SVDD": 0.8, "KDE": 0.1}
    assert check_claims(_made_up(good))["holds"].tolist() == [True] * 9
    bad = {name: 1 - value for name, value in good.items()}
    verdicts = check_claims(_made_up(bad))
    assert not verdicts["holds"][:3].any()
    assert len(verdicts["evidence"].unique()) > 5


def test_a_sensitivity_just_below_the_nominal_one_fails():
    table = _made_up(dict.fromkeys(methods(), 0.5))
    assert check_claims(table)["holds"].iloc[-1]
    assert not check_claims(table.assign(fresh_sensitivity=0.899))["holds"].iloc[-1]
