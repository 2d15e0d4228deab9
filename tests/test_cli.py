"""The command line as a person types it."""

import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from transvariation.cli import main


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
def case(tmp_path):
    """A folder with control.csv, recovered.csv and a rule kept in rule.tv."""
    values = np.random.default_rng(0).normal(size=(34, 2)).round(2)
    lines = [f"F{i},{a},{b}\n" for i, (a, b) in enumerate(values)]
    (tmp_path / "control.csv").write_text("id,Na,Mg\n" + "".join(lines[4:]))
    (tmp_path / "recovered.csv").write_text("id,Na,Mg\n" + "".join(lines[:4]))
    assert _run("fit", tmp_path / "control.csv", tmp_path / "rule.tv").exit_code == 0
    return tmp_path


def _files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "typed",
    [
        "judge control.csv recovered.csv --json control.csv",
        "judge control.csv recovered.csv --json linked.csv",
        "judge control.csv recovered.csv --background many.csv --json many.csv",
        "judge control.csv recovered.csv --report new.html --json new.html",
        "fit control.csv control.csv",
        "fit control.csv recovered.csv",
        "score rule.tv recovered.csv --out recovered.csv",
        "score rule.tv recovered.csv --out rule.tv",
    ],
)
def test_no_output_takes_the_place_of_an_input(case, monkeypatch, typed):
    monkeypatch.chdir(case)
    (case / "many.csv").write_text("source,Na,Mg\n")
    (case / "linked.csv").symlink_to(case / "control.csv")
    before = _files(case)
    done = _run(*typed.split())
    assert done.exit_code == 2
    assert "name" in done.output
    assert typed.split()[-1] in done.output
    assert _files(case) == before


def test_a_rule_replaces_an_older_rule_or_an_empty_file(case):
    (case / "empty").touch()
    for name in ("rule.tv", "empty"):
        assert _run("fit", case / "control.csv", case / name, "--sensitivity", "0.8").exit_code == 0
        assert b'"sensitivity": 0.8' in (case / name).read_bytes()
