"""The classifier that CONTRIBUTING.md shows works as printed and passes scikit-learn's estimator checks."""

import doctest
import sys
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.utils.estimator_checks import check_estimator


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.TooFewSamples")  # some checks fit few samples
@pytest.mark.filterwarnings("ignore::transvariation.exceptions.OrderedScores")  # or clusters in order
def test_the_classifier_of_the_guide_passes_the_estimator_checks(monkeypatch):
    module = ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)  # where pickle looks for its classes
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    guide = doctest.DocTestParser().get_doctest(text, vars(module), "CONTRIBUTING.md", None, 0)
    guide.globs = vars(module)  # the parser copied them
    assert doctest.DocTestRunner().run(guide, clear_globs=False).failed == 0
    results = check_estimator(module.BoxOCC(), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
