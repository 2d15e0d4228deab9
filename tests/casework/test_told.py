"""What a case says of itself: reasons, cautions, and errors in words that a case has an answer to."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from rich.console import Console

from transvariation import load_glass
from transvariation.casework import judge
from transvariation.casework.model_file import fit_model
from transvariation.cli import main
from transvariation.report.case import case_html
from transvariation.report.tables import AGAINST, verdict_frame
from transvariation.web.preview import plain

TWICE = """
import numpy as np, pandas as pd
from transvariation.casework import judge
rng = np.random.default_rng(2)
turn = rng.normal(size=(4, 4))
table = pd.DataFrame(rng.normal(size=(48, 4)) @ turn, columns=list("abcd"))
one, two = (judge(table[:40], table[40:], reduce="varsel") for _ in range(2))
assert one.features == two.features, (one.features, two.features)
assert one.verdicts == two.verdicts
"""


def _normal(n, p, seed=0):
    values = np.random.default_rng(seed).normal(size=(n, p))
    return pd.DataFrame(values, columns=[f"v{j}" for j in range(p)])


def test_a_case_judged_twice_in_one_process_is_judged_alike():
    # In a process of its own: in that of the tests the machine code has long taken over.
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


@pytest.mark.parametrize("grouped", [False, True])
def test_what_rejects_alone_does_so_at_sensitivities_beyond_its_lot(grouped):
    control = _normal(4000, 1)
    if grouped:
        control["source"] = np.maximum(np.arange(4000) - 1, 0)  # the first two are replicates
    far = pd.DataFrame({"v0": [50.0, 0.0]})
    found = judge(control, far, sensitivity=0.9997)
    assert [v.deciding for v in found.verdicts] == [("v0",), ()]
    assert found.at(0.9).at(0.9997) == found


def test_an_accepted_object_has_what_speaks_against_it_named():
    glass = load_glass()
    found = judge(glass.control, glass.recovered.iloc[:4], method="tocc")
    assert not found.rejected
    named = verdict_frame(found)[AGAINST]
    assert named.tolist() == [", ".join(v.deciding) for v in found.verdicts]
    assert named[0]
    page = case_html(found)
    assert f"{found.verdicts[0].id}: accepted all the same, p-value" in page
    plainly = judge(glass.control, glass.control.iloc[[4]].median().to_frame().T)
    assert verdict_frame(plainly)[AGAINST].tolist() == [""]
    assert ": accepted, p-value" in case_html(plainly)


@pytest.mark.parametrize(
    ("n", "p", "options", "words"),
    [
        (20, 1, {"reduce": "minor"}, "one variable"),
        (20, 1, {"reduce": "vip"}, "one variable"),
        (20, 1, {"reduce": "varsel"}, "one variable"),
        (20, 1, {"method": "projections"}, "one variable"),
        (2, 3, {"reduce": "minor"}, "minor finds no two combinations"),
        (2, 3, {"reduce": "vip"}, "vip finds no two variables"),
        (2, 3, {"reduce": "varsel"}, "varsel finds no two variables"),
        (5, 2, {"method": "pam"}, "the method pam groups"),
        (2, 2, {"method": "mixture"}, "no mixture of normal distributions"),
    ],
)
def test_errors_name_no_parameters_that_a_case_does_not_have(n, p, options, words, tmp_path):
    table = _normal(n, p)
    for work in (lambda: judge(table, table + 1, **options), lambda: fit_model(table, tmp_path / "rule", **options)):
        with pytest.raises(ValueError, match=words) as caught:
            work()
        assert "=" not in str(caught.value)
        assert "kernel" in str(caught.value) or "without --reduce" in str(caught.value)
        assert "--" not in plain(str(caught.value))


def test_correlated_variables_that_vip_cannot_choose_from_have_a_remedy():
    one = _normal(30, 1)
    table = pd.concat([one, one + 0.1 * _normal(30, 1, 1)], axis=1).set_axis(["a", "b"], axis=1)
    with pytest.raises(ValueError, match=r"not strongly correlated .* without --reduce, or take the reduction minor"):
        judge(table, table + 1, reduce="vip")


def test_what_numpy_says_of_arrays_is_no_caution():
    found = judge(_normal(2, 2), _normal(3, 2, 1), method="projections")
    assert not any("slice" in words or "divide" in words for words in found.warnings)


def test_groups_in_parts_are_counted_in_few_digits():
    glass = load_glass()
    found = judge(glass.control.assign(source=np.arange(87) // 3), glass.recovered, method="pam")
    assert any(n != round(n) for pooling in found.poolings for n in pooling.coverage.n_per_stratum)
    words = [word for pooling in found.poolings for caution in pooling.cautions for word in caution.words.split()]
    assert not any(len(word.partition(".")[2]) > 4 for word in words)


def test_fitting_and_writing_say_that_they_are_at_work(tmp_path, monkeypatch):
    said = []
    status = Console.status
    monkeypatch.setattr(Console, "status", lambda self, words, **more: said.append(words) or status(self, words))
    paths = [str(tmp_path / name) for name in ("control.csv", "recovered.csv")]
    for path in paths:
        _normal(12, 2).to_csv(path, index=False)
    CliRunner().invoke(main, ["fit", paths[0], str(tmp_path / "rule")], catch_exceptions=False)
    asked = ["judge", *paths, "--report", str(tmp_path / "case.html")]
    CliRunner().invoke(main, asked, catch_exceptions=False)
    assert said == ["fitting", "judging", "writing the report"]


def test_a_long_case_says_how_far_it_is():
    said = []
    judge(_normal(12, 2), _normal(3, 2, 1), progress=said.append)
    alone = [f"judging by each variable alone, {i} of 2 done" for i in range(2)]
    assert said == ["describing 12 control objects by 2 variables", *alone]


def test_the_manual_names_all_that_the_json_file_holds():
    page = Path(__file__).parents[2].joinpath("docs", "casework.md").read_text(encoding="utf-8")
    rows = dict(line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `"))
    found = judge(_normal(12, 2), _normal(3, 2, 1)).to_dict()
    for key, value in found.items():
        assert any(f"`{key}`" in name for name in rows), key
        of_it = " ".join(said for name, said in rows.items() if f"`{key}`" in name)
        if key in ("control", "coverage"):
            assert not [inner for inner in value if f"`{inner}`" not in of_it]
