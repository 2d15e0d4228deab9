"""The command line as a person types it."""

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from transvariation.casework import judge
from transvariation.cli import main
from transvariation.saving import read_about


def _run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)


def test_demo_prints_a_table_and_saves_a_figure_and_a_report(tmp_path):
    result = _run("demo", "--out", tmp_path / "new" / "folder")
    assert result.exit_code == 0
    assert "headlamp" in result.output
    assert "51 recovered objects" in result.output
    figure = tmp_path / "new" / "folder" / "glass.png"
    assert str(figure) in result.output.replace("\n", "")
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert "<title>" in (figure.parent / "report.html").read_text()


@pytest.mark.parametrize("arguments", [[], ["demo"]])
def test_every_command_has_help(arguments):
    result = _run(*arguments, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output


def test_help_loads_no_heavy_library():
    code = (
        "import sys; from transvariation.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'sklearn', 'scipy', 'pandas', 'matplotlib', 'numpy', 'rich', 'numba'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def thousandths(tmp_path):
    """Refractive indices to three decimals with a comma, of which no reader can tell that they are no thousands."""
    values = np.random.default_rng(0).normal([1.518, 13.6], [0.002, 0.2], size=(31, 2)).round(3)
    lines = [f"F{i};{ri:.3f};{na:.3f}\n".replace(".", ",") for i, (ri, na) in enumerate(values)]
    paths = tmp_path / "control.csv", tmp_path / "recovered.csv"
    for path, part in zip(paths, (lines[1:], lines[:1]), strict=True):
        path.write_text("id;RI;Na\n" + "".join(part))
    return paths


def test_the_decimal_mark_that_is_asked_for_can_be_given(thousandths, tmp_path):
    refused = _run("judge", *thousandths)
    assert refused.exit_code == 2
    assert 'say decimal="," (--decimal comma), for 1' in refused.output
    file = tmp_path / "case.json"
    expected = judge(*thousandths, decimal=",").to_dict()
    for word in (",", "comma"):
        done = _run("judge", *thousandths, "--decimal", word, "--json", file)
        assert done.exit_code == 0, done.output
        found = json.loads(file.read_text())
        assert found["verdicts"][0]["p_value"] == expected["verdicts"][0]["p_value"]
        assert 1.51 < found["values"]["RI"][0] < 1.53
        for role in ("control", "recovered"):
            assert "read with the comma as decimal mark, as was asked" in str(found[role]["notes"])


def test_the_recorded_command_says_the_decimal_mark(thousandths, tmp_path, monkeypatch):
    typed = ["judge", *map(str, thousandths), "--decimal", ",", "--json", str(tmp_path / "case.json")]
    monkeypatch.setattr(sys, "argv", ["transvariation", *typed])
    assert _run(*typed).exit_code == 0
    command = json.loads((tmp_path / "case.json").read_text())["made_by"]["command"]
    assert command == " ".join(["transvariation", *typed])


def test_fit_and_score_take_the_decimal_mark(thousandths, tmp_path):
    control, recovered = thousandths
    model, out = tmp_path / "rule.tvm", tmp_path / "scores.csv"
    assert _run("fit", control, model).exit_code == 2
    assert _run("fit", control, model, "--decimal", "comma").exit_code == 0
    assert "the comma as decimal mark" in str(read_about(model))
    assert _run("score", model, recovered, "--out", out).exit_code == 2
    assert _run("score", model, recovered, "--out", out, "--decimal", ",").exit_code == 0
    (verdict,) = judge(*thousandths, decimal=",").verdicts
    assert float(out.read_text().splitlines()[1].split(",")[2]) == verdict.p_value


def test_the_point_makes_no_number_of_what_may_be_thousands(thousandths):
    refused = _run("judge", *thousandths, "--decimal", "point")
    assert refused.exit_code == 2
    assert "no column holds numbers" in refused.output
    assert _run("judge", *thousandths, "--decimal", ";").exit_code == 2


def test_the_decimal_mark_is_that_of_the_background_too(thousandths, tmp_path):
    background = tmp_path / "background.csv"
    background.write_text("RI;Na\n1,518;13,641\n1,519;13,642\n")
    refused = _run("judge", *thousandths, "--decimal", ",", "--background", background)
    assert "no column that names the source" in refused.output  # so its numbers were read
