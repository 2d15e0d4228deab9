"""The paper's glass cells, as our readings of it reproduce them: AUC and specificity at sensitivity >= 0.9."""

import numpy as np
import pytest

from transvariation import PAMTOCC, TOCC, auc, load_glass, specificity_at_sensitivity


def _plane(name):
    glass = load_glass()
    control, recovered = glass.control.to_numpy(), glass.recovered.to_numpy()
    if name == "PCA":  # the last two principal components of the control's covariance matrix
        last = np.linalg.eigh(np.cov(control.T))[1][:, :2]
        return (control - control.mean(axis=0)) @ last, (recovered - control.mean(axis=0)) @ last
    names = name.split(",")
    return glass.control[names].to_numpy(), glass.recovered[names].to_numpy()


@pytest.mark.parametrize(
    ("classifier", "plane", "area", "specificity"),
    [
        (TOCC(ties="literal"), "PCA", 0.949, 0.882),
        (TOCC(ties="literal"), "K,Mg", 1.000, 1.000),
        (TOCC(ties="literal"), "Si,Mg", 0.987, 0.961),
        (PAMTOCC(4, ties="literal"), "PCA", 0.964, 0.922),
        (PAMTOCC(4, ties="literal"), "K,Mg", 0.985, 0.980),
        (PAMTOCC(4, ties="literal"), "Si,Mg", 0.988, 0.980),
        # Proper ties differ where objects share a coordinate with the center, a data point in these planes.
        (TOCC(), "PCA", 0.949, 0.882),
        (TOCC(), "K,Mg", 1.000, 1.000),
        (TOCC(), "Si,Mg", 0.986, 0.961),
        (PAMTOCC(4), "PCA", 0.964, 0.922),
        (PAMTOCC(4), "K,Mg", 0.995, 0.980),
    ],
)
def test_cell_equals_the_printed_one(classifier, plane, area, specificity):
    control, recovered = _plane(plane)
    classifier.fit(control)
    tp_control, tp_recovered = (
        classifier.transvariation_probability(control),
        classifier.transvariation_probability(recovered),
    )
    assert round(auc(tp_control, tp_recovered), 3) == area
    assert round(specificity_at_sensitivity(tp_control, tp_recovered), 3) == specificity


def test_roc_equals_r(reference):
    for name, case in reference.case("case11_roc").items():
        expected = case["tocc_df"]
        target, other = reference.table(name), reference.table(f"{name}_nontarget")
        classifier = TOCC(ties="literal").fit(target)
        if expected["centre_kind"] == "data point":
            assert classifier.center_.tolist() == expected["centre"]
        tp = classifier.transvariation_probability(target)
        np.testing.assert_allclose(tp, expected["target"], rtol=0, atol=1e-12, err_msg=name)
        assert auc(tp, classifier.transvariation_probability(other)) == pytest.approx(expected["auc"], abs=1e-12)
