"""What CONTRIBUTING.md shows works as printed: a classifier, an option of casework, a benchmark."""

import doctest
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.utils.estimator_checks import check_estimator

from transvariation.casework.settings import CaseSettings, comparing
from transvariation.tables.settings import with_fields

GUIDE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::transvariation.exceptions.TooFewSamples")  # some checks fit few samples
@pytest.mark.filterwarnings("ignore::transvariation.exceptions.OrderedScores")  # or clusters in order
def test_the_classifier_of_the_guide_passes_the_estimator_checks(monkeypatch):
    module = ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)  # where pickle looks for its classes
    guide = doctest.DocTestParser().get_doctest(GUIDE, vars(module), "CONTRIBUTING.md", None, 0)
    guide.globs = vars(module)  # the parser copied them
    assert doctest.DocTestRunner().run(guide, clear_globs=False).failed == 0
    results = check_estimator(module.BoxOCC(), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


def test_an_option_is_one_field():
    @dataclass(frozen=True, kw_only=True)
    class Further(CaseSettings):
        patience: float = comparing(0.5, "number", "How long to wait")

    @with_fields(Further)
    def judge(**fields):
        """Judge.

        Parameters
        ----------
        **fields
        """
        return Further.build(None, fields)

    assert judge(patience=2).to_dict()["patience"] == 2.0
    assert "patience : float, default=0.5\n        How long to wait" in judge.__doc__
    with pytest.raises(ValueError, match="patience=-1 must be a finite number, at least 0"):
        judge(patience=-1)


def test_the_benchmark_of_the_guide_runs():
    (code,) = re.findall(r"```python\n(\"\"\"How long.*?)```", GUIDE, re.DOTALL)
    exec(code, section := {})
    (table,) = section["run"](short=True)
    assert table.name == "quantiles"
    assert table.rows[0]["times np.sort"] > 0
