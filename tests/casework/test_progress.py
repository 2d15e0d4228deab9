"""Steps are codes with numbers, and the share of the work done never falls."""

import pandas as pd

from transvariation.casework import judge
from transvariation.casework.batch import BatchCase, judge_batch
from transvariation.casework.progress import ProgressStep


def test_steps_and_the_share_done_are_reported(glass):
    known, questioned, background = glass
    steps = []
    judge(known, questioned, background=background, log=True, progress=lambda *step: steps.append(step))
    assert steps[0] == (ProgressStep("reading"), 0)
    assert ProgressStep("background", {"fragment": 2, "of": 3}) in [step for step, _ in steps]
    shares = [share for _, share in steps]
    assert shares == sorted(shares)
    assert shares[-1] < 1
    steps.clear()
    judge(known, questioned, log=True, progress=lambda *step: steps.append(step))
    assert [(step.code, share) for step, share in steps] == [("reading", 0), ("control", None), ("checks", 0.9)]


def test_steps_name_the_case_and_the_control_source_they_belong_to(rng):
    values = pd.DataFrame(rng.normal(size=(24, 2)), columns=["Na", "Mg"])
    control = values.assign(source=["A"] * 12 + ["B"] * 12, fragment=[f"f{i}" for i in range(24)])
    steps = []
    cases = [BatchCase(name, control, values[:2]) for name in ("first", "second")]
    assert len(list(judge_batch(cases, progress=lambda *step: steps.append(step)))) == 2
    seen = [(step.code, step.within, share) for step, share in steps]
    assert seen[0] == ("reading", ("first",), 0)
    assert ("checks", ("second", "B"), (1 + (1 + 0.9) / 2) / 2) in seen
    shares = [share for *_, share in seen]
    assert shares == sorted(shares)
