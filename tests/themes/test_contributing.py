"""What CONTRIBUTING.md shows works as printed: a classifier, an option of casework, a benchmark, commit messages."""

import doctest
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.utils.estimator_checks import check_estimator

from transvariation.casework.settings import CaseSettings, comparing
from transvariation.tables.settings import with_fields

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


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


@pytest.mark.parametrize(
    ("message", "refusal"),
    [
        ("Say how a threshold is chosen\n\nReaders asked.\n", ""),
        ("x" * 72 + "\n\nReaders asked.", ""),
        ("x" * 73 + "\n\nReaders asked.", "has 73 characters; at most 72"),
        ("Say how a threshold is chosen", "body is missing"),
        ("Say how a threshold is chosen\nReaders asked.", "after an empty line"),
        ("Say how\n\n# Please enter the commit message\n# ------------------------ >8 ---\ndiff", "body is missing"),
        ("Merge branch 'main' into thresholds\n", ""),
        ("fixup! Say how a threshold is chosen\n", ""),
    ],
)
def test_a_commit_has_a_short_subject_and_a_reason(tmp_path, message, refusal):
    (tmp_path / "message").write_text(message, encoding="utf-8")
    command = [sys.executable, ROOT / "packaging" / "commit_message.py", tmp_path / "message"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refusal in checked.stderr
    assert checked.returncode == bool(refusal)
